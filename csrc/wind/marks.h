// Bytes that mark solid cells, many at a time.
#pragma once

#include "support/simd.h"

WGI_INLINE uint64_t wgi_load_marks(const uint8_t* p)
{
    uint64_t marks;
    memcpy(&marks, p, 8);
    return marks;
}

/// 0xff in each byte that is not 0.
WGI_INLINE uint64_t wgi_full_bytes(uint64_t x)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
    return (((((x & low) + low) | x) & ~low) >> 7) * 0xff;
}

/// Whether all eight marks are set.
WGI_INLINE bool wgi_all_marked(const uint8_t* p)
{
    const uint64_t m = wgi_load_marks(p);
    return ((m - 0x0101010101010101u) & ~m & 0x8080808080808080u) == 0;
}

/// Whether any of `count` marks is set; there are at least 32 of them.
WGI_INLINE bool wgi_any_mark(const uint8_t* marks, ptrdiff_t count)
{
    wgi8 found, word;
    memcpy(&found, marks + count - 32, 32);
    for (ptrdiff_t n = 0; n + 32 <= count; n += 32) {
        memcpy(&word, marks + n, 32);
        found |= word;
    }
    return wgi8_any(found != wgi8_set(0));
}
