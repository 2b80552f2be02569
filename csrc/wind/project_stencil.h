// What the per-instruction-set kernels of the projection share: counts of open faces and colours.
#pragma once

#include "support/simd.h"

static const float wgi_reciprocal_of[8] = { 0.0f,        1.0f,        1.0f / 2.0f, 1.0f / 3.0f,
                                            1.0f / 4.0f, 1.0f / 5.0f, 1.0f / 6.0f, 0.0f };

/// Eight bytes as integers.
WGI_INLINE wgi8 wgi_counts(const uint8_t* open)
{
    return wgi8_load_bytes(open);
}

/// 1 / count of eight cells, 0 where the count is 0.
WGI_INLINE wgf8 wgi_reciprocals(const uint8_t* open)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_permutevar8x32_ps(
        _mm256_loadu_ps(wgi_reciprocal_of), (__m256i)wgi_counts(open));
#else
    wgf8 r;
    for (int i = 0; i < 8; ++i)
        r[i] = wgi_reciprocal_of[open[i]];
    return r;
#endif
}

/// Sum over the six neighbours, in an order that mirroring and exchanging x and y do not change.
WGI_INLINE wgf8 wgi_neighbour_sum(const float* phi, size_t pitch, size_t slab)
{
    const wgf8 x = wgf8_load(phi - 1) + wgf8_load(phi + 1);
    const wgf8 y = wgf8_load(phi - slab) + wgf8_load(phi + slab);
    const wgf8 z = wgf8_load(phi - pitch) + wgf8_load(phi + pitch);
    return (x + y) + z;
}

/// All ones in the lanes of one colour, for a vector that starts at an odd place of a row.
/// Colour 0 holds cell (1, 1, 1).
WGI_INLINE wgi8 wgi_colour_lanes(int32_t j, int32_t k, int32_t colour)
{
    const int32_t odd = -(int32_t)((j + k + colour) & 1);
    return (wgi8){ ~odd, odd, ~odd, odd, ~odd, odd, ~odd, odd };
}

typedef double wgi_d4 __attribute__((vector_size(32)));
typedef float wgi_f4 __attribute__((vector_size(16)));

/// Sums of products in double; the eight lanes are added up in a fixed order in the end.
typedef struct wgi_product_sum {
    wgi_d4 low, high;
} wgi_product_sum;

WGI_INLINE void wgi_add_product(wgi_product_sum* sum, wgf8 a, wgf8 b)
{
    wgi_f4 part[4];
    memcpy(&part[0], &a, sizeof a);
    memcpy(&part[2], &b, sizeof b);
    sum->low += __builtin_convertvector(part[0], wgi_d4) * __builtin_convertvector(part[2], wgi_d4);
    sum->high +=
        __builtin_convertvector(part[1], wgi_d4) * __builtin_convertvector(part[3], wgi_d4);
}

WGI_INLINE double wgi_total(const wgi_product_sum* sum)
{
    const wgi_d4 s = sum->low + sum->high;
    return (s[0] + s[1]) + (s[2] + s[3]);
}
