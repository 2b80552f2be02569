// Eight instances side by side: rows of eight branches of one instance against vectors of eight
// instances of one branch. The state stays in rows; kernels turn tiles of 8 x 8 in registers.
#pragma once

#include "sway/rotation.h"

/// out[j][i] = in[i][j]: `in` holds eight rows `in_stride` floats apart, `out` eight of them.
WGI_INLINE void
wgi_transpose8(const float* const in[WGI_LANES], size_t at, float* out, size_t out_stride)
{
#if defined(__AVX2__)
    __m256 r[8], t[8];
    for (int i = 0; i < 8; ++i)
        r[i] = _mm256_loadu_ps(in[i] + at);
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
        _mm256_storeu_ps(
            out + (size_t)i * out_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(
            out + (size_t)(i + 4) * out_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
#else
    for (size_t j = 0; j < 8; ++j)
        for (size_t i = 0; i < 8; ++i)
            out[j * out_stride + i] = in[i][at + j];
#endif
}
