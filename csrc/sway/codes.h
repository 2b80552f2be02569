// Numbers of the packed state, eight at a time, each the upper 24 bits of a 32-bit word: a swing's
// component is a fixed-point number, rates and changes of a swing are floats of 16 significant bits.
#pragma once

#include "sway/rotation.h"

/// Bytes of eight codes; every row of codes is a whole number of these.
enum { WGI_CODE_BYTES = 3, WGI_CODES_BYTES = 24 };

/// The upper three bytes of eight words, the lowest of them first.
WGI_INLINE void wgi_store_codes(uint8_t* to, wgi8 words)
{
#if defined(__AVX2__)
    const __m256i upper = _mm256_setr_epi8(
        1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, -1, -1, -1, -1, 1, 2, 3, 5, 6, 7, 9, 10, 11, 13,
        14, 15, -1, -1, -1, -1);
    const __m256i joined = _mm256_permutevar8x32_epi32(
        _mm256_shuffle_epi8((__m256i)words, upper), _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7));
    _mm_storeu_si128((__m128i*)to, _mm256_castsi256_si128(joined));
    _mm_storel_epi64((__m128i*)(to + 16), _mm256_extracti128_si256(joined, 1));
#else
    for (int lane = 0; lane < WGI_LANES; ++lane)
        for (int byte = 0; byte < 3; ++byte)
            to[3 * lane + byte] = (uint8_t)((uint32_t)words[lane] >> (8 * byte + 8));
#endif
}

WGI_INLINE wgi8 wgi_load_codes(const uint8_t* from)
{
#if defined(__AVX2__)
    // The second half from eight bytes on, so that nothing is read beyond the 24.
    const __m256i bytes = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i*)from)),
        _mm_loadu_si128((const __m128i*)(from + 8)), 1);
    return (wgi8)_mm256_shuffle_epi8(
        bytes, _mm256_setr_epi8(
                   -1, 0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 4, 5, 6, -1, 7, 8, 9,
                   -1, 10, 11, 12, -1, 13, 14, 15));
#else
    wgi8 words;
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        const uint32_t low = from[3 * lane], middle = from[3 * lane + 1], top = from[3 * lane + 2];
        words[lane] = (int32_t)(low << 8 | middle << 16 | top << 24);
    }
    return words;
#endif
}

/// Steps of pi / 2^22 = 7.5e-7 rad; what is not finite, or beyond pi, is the least number.
WGI_INLINE wgi8 wgi_swing_code(wgf8 angle)
{
    const wgi8 fine = (wgi8)(wgf8_abs(angle) <= wgf8_set(3.1415928f));
    // Adding 1.5 2^23 rounds to whole steps, to even, and leaves them in the lower bits.
    const wgf8 steps = angle * wgf8_set(1335088.46f) + wgf8_set(12582912.0f);
    const wgi8 code = (wgf8_bits(steps) << 8) - wgi8_set(0x40000000);
    return (wgi8)wgf8_select(fine, (wgf8)code, (wgf8)wgi8_set(INT32_MIN));
}

WGI_INLINE wgf8 wgi_swing_value(wgi8 code)
{
    const wgf8 angle = wgf8_from_int(code) * wgf8_set(2.925836159e-09f);
    return wgf8_from_bits(wgf8_bits(angle) | (code == wgi8_set(INT32_MIN)));
}

/// Relative error 2^-16; infinities and NaN stay.
WGI_INLINE wgi8 wgi_float_code(wgf8 value)
{
    return wgf8_bits(value) + (wgi8_set(128) & (wgi8)(value == value));
}

WGI_INLINE wgf8 wgi_float_value(wgi8 code)
{
    return wgf8_from_bits(code);
}
