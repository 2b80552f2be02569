// Vectors of the confinement, which is the same for every cell: eight lanes, or sixteen where a set
// has registers of 64 bytes. The number of lanes changes no bit.
#pragma once

#include "support/simd.h"

#if defined(__AVX512F__)

enum { LANES = 16 };
typedef float lanes __attribute__((vector_size(64)));
typedef int32_t lane_mask __attribute__((vector_size(64)));

WGI_INLINE lanes lanes_load(const float* p)
{
    return (lanes)_mm512_loadu_ps(p);
}

WGI_INLINE void lanes_store(float* p, lanes v)
{
    _mm512_storeu_ps(p, (__m512)v);
}

WGI_INLINE lanes lanes_set(float x)
{
    return (lanes)_mm512_set1_ps(x);
}

WGI_INLINE lanes lanes_sqrt(lanes a)
{
    return (lanes)_mm512_sqrt_ps((__m512)a);
}

WGI_INLINE lanes lanes_select(lane_mask mask, lanes a, lanes b)
{
    return (lanes)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)a, (__m512i)b, 0xca);
}

WGI_INLINE lane_mask lanes_load_bytes(const uint8_t* p)
{
    return (lane_mask)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p));
}

#else

enum { LANES = WGI_LANES };
typedef wgf8 lanes;
typedef wgi8 lane_mask;

#define lanes_load wgf8_load
#define lanes_store wgf8_store
#define lanes_set wgf8_set
#define lanes_sqrt wgf8_sqrt
#define lanes_select wgf8_select
#define lanes_load_bytes wgi8_load_bytes

#endif
