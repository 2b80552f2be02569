#include "windgrove/pack.h"

#include <string.h>

void wg_shuffle4(const void* in, size_t count, uint8_t* out)
{
    const uint8_t* from = in;
    uint8_t *a = out, *b = out + count, *c = out + 2 * count, *d = out + 3 * count;
    for (size_t i = 0; i < count; ++i) {
        uint32_t word;
        memcpy(&word, from + 4 * i, 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap32(word);
#endif
        a[i] = (uint8_t)word;
        b[i] = (uint8_t)(word >> 8);
        c[i] = (uint8_t)(word >> 16);
        d[i] = (uint8_t)(word >> 24);
    }
}

static uint32_t fold(uint64_t sum)
{
    // 2^16 is 1 modulo 65535. A sum that is a multiple of it stays 65535, as in HDF5.
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)sum;
}

uint32_t wg_fletcher32(const void* data, size_t bytes)
{
    enum { BLOCK = 4096 }; // words; 64-bit sums hold far more
    const uint8_t* at = data;
    uint64_t first = 0, second = 0;
    for (size_t words = bytes / 2; words > 0;) {
        const size_t count = words < BLOCK ? words : BLOCK;
        uint64_t sum = 0, weighted = 0;
        for (size_t i = 0; i < count; ++i) {
            const uint64_t word = (uint64_t)at[2 * i] << 8 | at[2 * i + 1];
            sum += word;
            weighted += word * (count - i);
        }
        second = fold(second + count * first + weighted);
        first = fold(first + sum);
        at += 2 * count;
        words -= count;
    }
    if (bytes % 2) {
        first = fold(first + ((uint64_t)*at << 8));
        second = fold(second + first);
    }
    return (uint32_t)(second << 16 | first);
}
