// Bytes that mark solid cells, many at a time.
#pragma once

#include "support/simd.h"

WGI_INLINE uint64_t wgi_load_marks(const uint8_t* p)
{
    uint64_t marks;
    memcpy(&marks, p, 8);
    return marks;
}

WGI_INLINE wgi8 wgi_load_32_marks(const uint8_t* p)
{
    wgi8 marks;
    memcpy(&marks, p, sizeof marks);
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

/// How many of eight marks are set before the first that is not.
WGI_INLINE int32_t wgi_leading_marks(const uint8_t* p)
{
    int32_t count = 0;
    const uint64_t clear = ~wgi_full_bytes(wgi_load_marks(p));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    count = clear == 0 ? 8 : __builtin_ctzll(clear) / 8;
#else
    (void)clear;
    while (count < 8 && p[count])
        ++count;
#endif
    return count;
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
