// One vector vocabulary of eight floats for every instruction set.
//
// Written with the compilers' vector extension: the same text becomes one AVX register, two SSE or
// NEON registers, or scalar code, always eight lanes wide, so that every set gives the same bits.
// No approximate instruction is used, and products and sums are not contracted (-ffp-contract=off);
// where a kernel is defined by fused multiply-adds it says so with support/fused.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define WGI_STRING_(x) #x
#define WGI_STRING(x) WGI_STRING_(x)
#define WGI_LANES 8
#define WGI_INLINE static inline __attribute__((always_inline))

typedef float wgf8 __attribute__((vector_size(32)));
typedef int32_t wgi8 __attribute__((vector_size(32)));
typedef uint32_t wgu8 __attribute__((vector_size(32)));

WGI_INLINE wgf8 wgf8_set(float x)
{
    return (wgf8){ x, x, x, x, x, x, x, x };
}

WGI_INLINE wgi8 wgi8_set(int32_t x)
{
    return (wgi8){ x, x, x, x, x, x, x, x };
}

WGI_INLINE wgf8 wgf8_load(const float* p)
{
    wgf8 v;
    memcpy(&v, p, sizeof v);
    return v;
}

WGI_INLINE void wgf8_store(float* p, wgf8 v)
{
    memcpy(p, &v, sizeof v);
}

WGI_INLINE wgi8 wgf8_bits(wgf8 v)
{
    wgi8 r;
    memcpy(&r, &v, sizeof r);
    return r;
}

WGI_INLINE wgf8 wgf8_from_bits(wgi8 v)
{
    wgf8 r;
    memcpy(&r, &v, sizeof r);
    return r;
}

/// Lanes of `a` where the mask is all ones, else of `b`.
WGI_INLINE wgf8 wgf8_select(wgi8 mask, wgf8 a, wgf8 b)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return wgf8_from_bits((wgf8_bits(a) & mask) | (wgf8_bits(b) & ~mask));
#endif
}

/// Lanes of `a` where the sign bit of `sign` is set, else of `b`.
WGI_INLINE wgf8 wgf8_select_negative(wgf8 sign, wgf8 a, wgf8 b)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)sign);
#else
    return wgf8_select(wgf8_bits(sign) >> 31, a, b);
#endif
}

/// The sign bit of each lane, lane 0 lowest: the lanes of a mask that are set.
WGI_INLINE int wgi8_mask(wgi8 mask)
{
#if defined(__AVX2__)
    return _mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
    __m128 half[2];
    memcpy(half, &mask, sizeof half);
    return _mm_movemask_ps(half[0]) | _mm_movemask_ps(half[1]) << 4;
#else
    int bits = 0;
    for (int i = 0; i < 8; ++i)
        bits |= (mask[i] < 0) << i;
    return bits;
#endif
}

/// True where any lane of a mask is set.
WGI_INLINE bool wgi8_any(wgi8 mask)
{
    return wgi8_mask(mask) != 0;
}

/// The smaller (larger) of each lane; the second operand where one is NaN, as x86 has it.
WGI_INLINE wgf8 wgf8_min(wgf8 a, wgf8 b)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return wgf8_select(a < b, a, b);
#endif
}

WGI_INLINE wgf8 wgf8_max(wgf8 a, wgf8 b)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return wgf8_select(a > b, a, b);
#endif
}

/// Eight bytes as integers.
WGI_INLINE wgi8 wgi8_load_bytes(const uint8_t* p)
{
#if defined(__AVX2__)
    return (wgi8)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p));
#elif defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    const __m128i words = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i*)p), zero);
    const __m128i half[2] = { _mm_unpacklo_epi16(words, zero), _mm_unpackhi_epi16(words, zero) };
    wgi8 v;
    memcpy(&v, half, sizeof v);
    return v;
#else
    return (wgi8){ p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] };
#endif
}

/// The larger integer of each lane.
WGI_INLINE wgi8 wgi8_max(wgi8 a, wgi8 b)
{
#if defined(__AVX2__)
    return (wgi8)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    const wgi8 larger = a > b;
    return (a & larger) | (b & ~larger);
#endif
}

WGI_INLINE wgf8 wgf8_abs(wgf8 a)
{
    return wgf8_from_bits(wgf8_bits(a) & wgi8_set(0x7fffffff));
}

/// IEEE square root, correctly rounded on every set.
WGI_INLINE wgf8 wgf8_sqrt(wgf8 a)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_sqrt_ps((__m256)a);
#else
    wgf8 r;
    for (int i = 0; i < 8; ++i)
        r[i] = __builtin_sqrtf(a[i]);
    return r;
#endif
}

WGI_INLINE wgf8 wgf8_from_int(wgi8 a)
{
    return __builtin_convertvector(a, wgf8);
}

/// Truncation towards zero; |a| < 2^31.
WGI_INLINE wgi8 wgi8_truncate(wgf8 a)
{
    return __builtin_convertvector(a, wgi8);
}

/// Values at eight indices.
WGI_INLINE wgf8 wgf8_gather(const float* base, wgi8 index)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_i32gather_ps(base, (__m256i)index, 4);
#else
    wgf8 v;
    for (int i = 0; i < 8; ++i)
        v[i] = base[index[i]];
    return v;
#endif
}

/// Largest integer not above a; |a| < 2^31.
WGI_INLINE wgf8 wgf8_floor(wgf8 a)
{
    const wgf8 t = wgf8_from_int(wgi8_truncate(a));
    return t - wgf8_select(t > a, wgf8_set(1.0f), wgf8_set(0.0f));
}

/// Lanes picked by constants from two vectors: 0 to 7 from `a`, 8 to 15 from `b`.
#if defined(__clang__)
#define wgf8_shuffle(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define wgf8_shuffle(a, b, ...) __builtin_shuffle(a, b, (wgi8){ __VA_ARGS__ })
#endif
