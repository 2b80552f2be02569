// Numbers of the packed state, eight at a time: a swing's component in 24 bits, a rate in 21.
#pragma once

#include "sway/rotation.h"

typedef int16_t wgi_i16x8 __attribute__((vector_size(16)));
typedef uint16_t wgi_u16x8 __attribute__((vector_size(16)));
typedef uint8_t wgi_u8x8 __attribute__((vector_size(8)));

/// Steps of pi / 2^22 = 7.5e-7 rad; the code of what is not finite is -2^23.
WGI_INLINE wgi8 wgi_swing_code(wgf8 angle)
{
    const wgf8 magic = wgf8_set(12582912.0f); // 1.5 2^23: the sum rounds to whole numbers
    const wgf8 steps = angle * wgf8_set(1335088.46f);
    const wgi8 code = wgi8_truncate((steps + magic) - magic);
    const wgi8 fine = (wgi8)(wgf8_abs(angle) <= wgf8_set(3.1415928f));
    return (code & fine) | (wgi8_set(-8388608) & ~fine);
}

WGI_INLINE wgf8 wgi_swing_value(wgi8 code)
{
    const wgf8 angle = wgf8_from_int(code) * wgf8_set(7.490140565e-07f);
    const wgi8 lost = code == wgi8_set(-8388608);
    return wgf8_from_bits(wgf8_bits(angle) | lost);
}

/// Sign, six bits of exponent and fourteen of fraction: relative error 2^-15 from 2^-29 to 2^32,
/// below that 0, above infinity. To nearest even.
WGI_INLINE wgi8 wgi_rate_code(wgf8 rate)
{
    const wgi8 bits = wgf8_bits(rate), size = bits & wgi8_set(0x7fffffff);
    const wgi8 sign = (bits >> 31) & wgi8_set(1 << 20);
    const wgi8 rounded = (size + 0xff + ((size >> 9) & 1)) >> 9;
    wgi8 code = rounded - (97 << 14);
    code &= size >= wgi8_set(98 << 23);
    const wgi8 large = code >= wgi8_set(63 << 14);
    const wgi8 lost = size > wgi8_set(0x7f800000);
    code = (code & ~large) | (wgi8_set(63 << 14) & large);
    return sign | code | (lost & 1);
}

WGI_INLINE wgf8 wgi_rate_value(wgi8 code)
{
    const wgi8 size = code & wgi8_set(0xfffff), top = size >= wgi8_set(63 << 14);
    wgi8 bits = (size + (97 << 14)) << 9;
    bits &= size >= wgi8_set(1 << 14);
    const wgi8 infinite = wgi8_set(0x7f800000) | ((size & 1) << 22);
    bits = (bits & ~top) | (infinite & top);
    return wgf8_from_bits(bits | ((code << 11) & wgi8_set(INT32_MIN)));
}

/// Rows of 24-bit codes: upper sixteen bits and lower eight apart.
WGI_INLINE wgi8 wgi_load_code24(const int16_t* high, const uint8_t* low)
{
    wgi_i16x8 h;
    wgi_u8x8 l;
    memcpy(&h, high, sizeof h);
    memcpy(&l, low, sizeof l);
    return (__builtin_convertvector(h, wgi8) << 8) | __builtin_convertvector(l, wgi8);
}

WGI_INLINE void wgi_store_code24(int16_t* high, uint8_t* low, wgi8 code)
{
    const wgi_i16x8 h = __builtin_convertvector(code >> 8, wgi_i16x8);
    const wgi_u8x8 l = __builtin_convertvector(code & 0xff, wgi_u8x8);
    memcpy(high, &h, sizeof h);
    memcpy(low, &l, sizeof l);
}

/// Three rates of eight branches in four rows of sixteen bits: the last holds the low five bits.
WGI_INLINE void wgi_load_rates(const uint16_t* row, size_t padded, wgf8 out[3])
{
    wgi_u16x8 part[4];
    for (size_t c = 0; c < 4; ++c)
        memcpy(&part[c], row + c * padded, sizeof part[c]);
    const wgi8 rest = __builtin_convertvector(part[3], wgi8);
    for (int c = 0; c < 3; ++c) {
        const wgi8 high = __builtin_convertvector(part[c], wgi8);
        out[c] = wgi_rate_value((high << 5) | ((rest >> (5 * c)) & 31));
    }
}

WGI_INLINE void wgi_store_rates(uint16_t* row, size_t padded, const wgf8 in[3])
{
    wgi8 rest = wgi8_set(0);
    for (int c = 0; c < 3; ++c) {
        const wgi8 code = wgi_rate_code(in[c]);
        const wgi_u16x8 high = __builtin_convertvector(code >> 5, wgi_u16x8);
        memcpy(row + (size_t)c * padded, &high, sizeof high);
        rest |= (code & 31) << (5 * c);
    }
    const wgi_u16x8 last = __builtin_convertvector(rest, wgi_u16x8);
    memcpy(row + 3 * padded, &last, sizeof last);
}
