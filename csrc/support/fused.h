// Fused multiply-add on eight lanes with the same bits on every instruction set.
//
// a b + c is rounded once. Processors with the instruction use it; the baseline of x86-64 works it
// out in double, where the product of two floats is exact. Rounding the sum to double and then to
// float would go wrong only where the double lies half-way between two floats without being the
// exact sum (or where the float is subnormal). Such lanes are rare; they round the double to odd
// first, after which the second rounding is right: Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums: proved algorithms using rounding to odd", IEEE Transactions on Computers
// 57, 2008.
#pragma once

#include "support/simd.h"

#if defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__SSE2__) && !defined(__FMA__)
// The sum of `product` and `term` rounded to odd. Its error is Knuth's, "The Art of Computer
// Programming", volume 2, section 4.2.2; the comparisons are false for infinities and NaN.
static inline __m128d wgi_sum_to_odd(__m128d product, __m128d term, __m128d sum)
{
    const __m128d zero = _mm_setzero_pd();
    const __m128i one = _mm_set1_epi64x(1), bits = _mm_castpd_si128(sum);
    const __m128d part = _mm_sub_pd(sum, product);
    const __m128d error =
        _mm_add_pd(_mm_sub_pd(product, _mm_sub_pd(sum, part)), _mm_sub_pd(term, part));
    const __m128d inexact = _mm_or_pd(_mm_cmplt_pd(error, zero), _mm_cmplt_pd(zero, error));
    const __m128i even = _mm_sub_epi64(_mm_and_si128(bits, one), one);
    // One place away from zero where error and sum have the same sign, else towards it.
    const __m128i towards = _mm_srli_epi64(_mm_castpd_si128(_mm_xor_pd(error, sum)), 63);
    const __m128i step = _mm_sub_epi64(one, _mm_add_epi64(towards, towards));
    const __m128i change = _mm_and_si128(_mm_and_si128(_mm_castpd_si128(inexact), even), step);
    return _mm_castsi128_pd(_mm_add_epi64(bits, change));
}

// All ones where rounding `sum` to float once more might go wrong: the bits below a float's last
// one are 1000... , or the sum is below the normal floats.
static inline __m128i wgi_doubtful(__m128d sum)
{
    const __m128i kept = _mm_set1_epi64x(0x7fffffff1fffffff);
    const __m128i half = _mm_set1_epi64x((int64_t)0xffffffff10000000u);
    const __m128i least = _mm_set1_epi64x(0x3810000000000000);
    const __m128i bits = _mm_and_si128(_mm_castpd_si128(sum), kept);
    return _mm_or_si128(_mm_cmpeq_epi32(bits, half), _mm_cmpgt_epi32(least, bits));
}

WGI_INLINE __m128 wgi_fma4(__m128 a, __m128 b, __m128 c)
{
    const __m128d low = _mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b));
    const __m128d high =
        _mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), _mm_cvtps_pd(_mm_movehl_ps(b, b)));
    const __m128d c_low = _mm_cvtps_pd(c), c_high = _mm_cvtps_pd(_mm_movehl_ps(c, c));
    __m128d sum_low = _mm_add_pd(low, c_low), sum_high = _mm_add_pd(high, c_high);
    if (_mm_movemask_epi8(_mm_or_si128(wgi_doubtful(sum_low), wgi_doubtful(sum_high)))) {
        sum_low = wgi_sum_to_odd(low, c_low, sum_low);
        sum_high = wgi_sum_to_odd(high, c_high, sum_high);
    }
    return _mm_movelh_ps(_mm_cvtpd_ps(sum_low), _mm_cvtpd_ps(sum_high));
}
typedef __m128 wgi_four;
#elif defined(__ARM_NEON) && defined(__aarch64__)
WGI_INLINE float32x4_t wgi_fma4(float32x4_t a, float32x4_t b, float32x4_t c)
{
    return vfmaq_f32(c, a, b);
}
typedef float32x4_t wgi_four;
#endif

/// a b + c in one rounding.
WGI_INLINE wgf8 wgf8_fma(wgf8 a, wgf8 b, wgf8 c)
{
#if defined(__FMA__)
    return (wgf8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__SSE2__) || (defined(__ARM_NEON) && defined(__aarch64__))
    wgi_four x[2], y[2], z[2];
    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    memcpy(z, &c, sizeof z);
    for (int i = 0; i < 2; ++i)
        z[i] = wgi_fma4(x[i], y[i], z[i]);
    memcpy(&c, z, sizeof z);
    return c;
#else
    for (int i = 0; i < 8; ++i)
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
#endif
}
