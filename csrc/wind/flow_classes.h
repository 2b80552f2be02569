// What solids leave of the surroundings of a cell, in two bytes: found for 32 cells at a time.
//
// `sides` tells which of the six neighbours are solid, and whether the cell itself is. `corners`
// tells for each octant whether the eight cells from the cell towards it are anything but what
// those neighbours make of them: a place in an even octant (bit 0) is read as if the axes whose
// neighbour is solid were not there; in an uneven one each corner has a weight of its own.
#pragma once

#include "support/simd.h"
#include "wind/marks.h"

// Bits of `sides`: the neighbours at x + 1, x - 1, y + 1, y - 1, z + 1, z - 1; the cell itself.
#define WGI_SIDE_OWN 0x40
// Bit of an octant in `corners`: 1 where x decreases, 2 where y does, 4 where z does, added up.

typedef uint8_t wgi_bytes32 __attribute__((vector_size(32)));
typedef uint8_t wgi_bytes8 __attribute__((vector_size(8)));

// The air marks (0 or 0xff) of the 27 cells around each cell at `p`, dx + 3 dy + 9 dz from the cell
// itself in the middle.
#define WGI_LOAD_AIR(bytes, air, p, y, z)                                                          \
    do {                                                                                           \
        for (int n = 0; n < 27; ++n) {                                                             \
            bytes mark;                                                                            \
            memcpy(                                                                                \
                &mark, (p) + (n % 3 - 1) + (n / 3 % 3 - 1) * (y) + (n / 9 - 1) * (z),              \
                sizeof mark);                                                                      \
            (air)[n] = (bytes)(mark == (bytes){ 0 });                                              \
        }                                                                                          \
    } while (0)

#define WGI_CLASSIFY(name, bytes)                                                                  \
    WGI_INLINE void name(                                                                          \
        const uint8_t* p, ptrdiff_t y, ptrdiff_t z, uint8_t* sides, uint8_t* corners)              \
    {                                                                                              \
        bytes air[27], side, corner = (bytes){ 0 };                                                \
        WGI_LOAD_AIR(bytes, air, p, y, z);                                                         \
        side = (~air[14] & 0x01) | (~air[12] & 0x02) | (~air[16] & 0x04) | (~air[10] & 0x08) |     \
               (~air[22] & 0x10) | (~air[4] & 0x20) | (~air[13] & WGI_SIDE_OWN);                   \
        for (int octant = 0; octant < 8; ++octant) {                                               \
            const int x = octant & 1 ? -1 : 1, up = octant & 2 ? -3 : 3, on = octant & 4 ? -9 : 9; \
            const bytes a = air[13 + x], b = air[13 + up], c = air[13 + on], ab = a & b;           \
            const bytes uneven = (air[13 + x + up] ^ ab) | (air[13 + x + on] ^ (a & c)) |          \
                                 (air[13 + up + on] ^ (b & c)) |                                   \
                                 (air[13 + x + up + on] ^ (ab & c));                               \
            corner |= uneven & (uint8_t)(1 << octant);                                             \
        }                                                                                          \
        memcpy(sides, &side, sizeof side);                                                         \
        memcpy(corners, &corner, sizeof corner);                                                   \
    }

WGI_CLASSIFY(wgi_classify_32, wgi_bytes32)
WGI_CLASSIFY(wgi_classify_8, wgi_bytes8)

/// Classes of `count` interior cells of a row, eight at least; the last vector repeats what the one
/// before it wrote.
WGI_INLINE void wgi_classify_run(
    const uint8_t* solid, ptrdiff_t y, ptrdiff_t z, int32_t count, uint8_t* sides, uint8_t* corners)
{
    const int32_t width = count >= 32 ? 32 : 8;
    for (int32_t next = 0; next < count; next += width) {
        const int32_t n = next + width <= count ? next : count - width;
        if (width == 32)
            wgi_classify_32(solid + n, y, z, sides + n, corners + n);
        else
            wgi_classify_8(solid + n, y, z, sides + n, corners + n);
    }
}
