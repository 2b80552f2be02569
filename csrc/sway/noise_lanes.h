// Gradient noise in one dimension for eight branches at once: what turns the wind.
//
// Perlin's construction (Perlin, "An Image Synthesizer", SIGGRAPH 1985, with the fade of "Improving
// Noise", 2002): slopes at whole numbers, ramps blended by 6t^5 - 15t^4 + 10t^3. Slopes come from an
// integer hash of key and cell in place of a table, so that every branch has its own noise. The
// hash is Wellons' lowbias32 (public domain, 2018).
#pragma once

#include "sway/rotation.h"

typedef double wgi_f64x8 __attribute__((vector_size(64)));
typedef uint32_t wgi_u32x8 __attribute__((vector_size(32)));

WGI_INLINE wgi_u32x8 wgi_hash8(wgi_u32x8 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

/// Key of a branch from its instance's key and its index.
WGI_INLINE wgi_u32x8 wgi_branch_key8(wgi_u32x8 instance_key, wgi_u32x8 branch)
{
    return wgi_hash8(instance_key ^ (branch * 0x9e3779b9u + 0x7f4a7c15u));
}

WGI_INLINE wgf8 wgi_slope8(wgi_u32x8 key, wgi_u32x8 cell)
{
    const wgi8 h = (wgi8)wgi_hash8(key + cell * 0x9e3779b9u);
    return wgf8_from_int(h) * wgf8_set(4.656612873e-10f); // 2^-31: slopes in [-1, 1]
}

/// Noise in [-1, 1] at frequency * time + phase(key); one cell is one period.
/// The cell is found in double precision and repeats after 2^24, so time never wears out.
WGI_INLINE wgf8 wgi_noise8(wgi_u32x8 key, wgf8 frequency, double time)
{
    const double wrap = 16777216.0;
    wgi_f64x8 x = __builtin_convertvector(frequency, wgi_f64x8) * time;
    const wgi8 turns = __builtin_convertvector(x * (1.0 / wrap), wgi8);
    x -= __builtin_convertvector(turns, wgi_f64x8) * wrap;
    wgi8 cell = __builtin_convertvector(x, wgi8);
    const wgf8 fraction =
        __builtin_convertvector(x - __builtin_convertvector(cell, wgi_f64x8), wgf8);

    const wgf8 phase = wgf8_from_int((wgi8)(key >> 8)) * wgf8_set(5.960464478e-08f); // 2^-24
    const wgf8 one = wgf8_set(1.0f);
    wgf8 t = fraction + phase;
    const wgi8 over = (wgi8)(t >= one);
    t = t - wgf8_select(over, one, wgf8_set(0.0f));
    cell -= over;

    const wgf8 low = wgi_slope8(key, (wgi_u32x8)cell) * t;
    const wgf8 high = wgi_slope8(key, (wgi_u32x8)(cell + 1)) * (t - one);
    const wgf8 fade = t * t * t * (t * (t * wgf8_set(6.0f) - wgf8_set(15.0f)) + wgf8_set(10.0f));
    const wgf8 value = low + fade * (high - low);
    return value + value;
}

/// `v` turned about the vertical by an angle of at most pi.
WGI_INLINE wgi_vec3 wgi_turn_level(wgi_vec3 v, wgf8 angle)
{
    const wgf8 zero = wgf8_set(0.0f);
    return wgi_quat_rotate(wgi_quat_from_vector((wgi_vec3){ zero, zero, angle }), v);
}
