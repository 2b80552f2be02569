// IEEE half precision: to nearest even, the same bits as the F16C instructions.
#pragma once

#include <string.h>

#include "support/simd.h"

static inline uint16_t wgi_half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | ((bits >> 13) & 0x3ffu));
    if (bits >= 0x477ff000u) // 65520 and above round to infinity
        return (uint16_t)(sign | 0x7c00u);
    if (bits < 0x38800000u) { // below 2^-14: the addition rounds to multiples of 2^-24
        float magnitude;
        memcpy(&magnitude, &bits, sizeof magnitude);
        magnitude += 0.5f;
        memcpy(&bits, &magnitude, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000u));
    }
    bits += 0xfffu + ((bits >> 13) & 1u);
    return (uint16_t)(sign | ((bits - 0x38000000u) >> 13));
}

static inline float wgi_float_from_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
    uint32_t bits = sign;
    float value;
    if (rest < 0x0400u) {
        const float magnitude = (float)rest * 5.960464477539063e-08f; // 2^-24
        memcpy(&bits, &magnitude, sizeof bits);
        bits |= sign;
    } else if (rest < 0x7c00u) {
        bits |= (rest << 13) + 0x38000000u;
    } else {
        bits |= 0x7f800000u | (rest & 0x3ffu) << 13;
        if (rest > 0x7c00u)
            bits |= 0x00400000u;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

WGI_INLINE wgf8 wgi_half8_load(const uint16_t* from)
{
#if defined(__F16C__)
    return (wgf8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#else
    float out[8];
    for (int i = 0; i < 8; ++i)
        out[i] = wgi_float_from_half(from[i]);
    return wgf8_load(out);
#endif
}

WGI_INLINE void wgi_half8_store(uint16_t* to, wgf8 value)
{
#if defined(__F16C__)
    _mm_storeu_si128((__m128i*)to, _mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT));
#else
    for (int i = 0; i < 8; ++i)
        to[i] = wgi_half_from_float(value[i]);
#endif
}
