// Eight instances side by side: rows of eight branches of one instance against vectors of eight
// instances of one branch. The state stays in rows; kernels turn tiles of 8 x 8 in registers.
#pragma once

#include "sway/rotation.h"

/// v[j][i] = v[i][j].
WGI_INLINE void wgi_turn8(wgf8 v[WGI_LANES])
{
#if defined(__AVX2__)
    __m256 r[8], t[8];
    for (int i = 0; i < 8; ++i)
        r[i] = (__m256)v[i];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
        v[i] = (wgf8)_mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        v[i + 4] = (wgf8)_mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
#else
    for (int j = 0; j < WGI_LANES; ++j)
        for (int i = 0; i < j; ++i) {
            const float kept = v[j][i];
            v[j][i] = v[i][j];
            v[i][j] = kept;
        }
#endif
}

/// Rows of eight branches to vectors of eight instances, `stride` floats apart.
WGI_INLINE void wgi_transpose8_in(wgf8 rows[WGI_LANES], float* out, size_t stride)
{
    wgi_turn8(rows);
    for (size_t i = 0; i < WGI_LANES; ++i)
        wgf8_store(out + i * stride, rows[i]);
}

/// Vectors of eight instances, `stride` floats apart, to rows of eight branches.
WGI_INLINE void wgi_transpose8_out(const float* in, size_t stride, wgf8 rows[WGI_LANES])
{
    for (size_t i = 0; i < WGI_LANES; ++i)
        rows[i] = wgf8_load(in + i * stride);
    wgi_turn8(rows);
}
