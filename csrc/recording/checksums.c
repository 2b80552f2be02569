// Byte planes and the two checksums, written so that compilers make vectors of them.
#include <string.h>

#include "support/kernel_table.h"
#include "support/simd.h"

typedef uint16_t words8 __attribute__((vector_size(16)));
typedef uint32_t sums8 __attribute__((vector_size(32)));

// Columns summed side by side, and rows before a sum could leave 32 bits.
enum { VECTORS = 4, COLUMNS = 8 * VECTORS, ROWS = 256 };

// Sums over a block of rows of columns: of the items, and of those of all rows up to each.
typedef struct columns {
    sums8 sum[VECTORS], running[VECTORS];
} columns;

// The two sums modulo `base`, after the items of `rows` rows were added one by one. `pairs`: two
// vectors hold the even and the odd items of the same sixteen.
static void fold(
    const columns* block, size_t rows, bool pairs, uint64_t base, uint64_t* first, uint64_t* second)
{
    uint64_t sum = 0, weighted = 0;
    for (unsigned v = 0; v < VECTORS; ++v)
        for (unsigned lane = 0; lane < 8; ++lane) {
            const unsigned i = pairs ? 8 * (v & ~1u) + 2 * lane + v % 2 : 8 * v + lane;
            const uint64_t column = block->sum[v][lane];
            sum += column;
            // An item of row r and column i is counted COLUMNS (rows - r) - i times.
            weighted += COLUMNS * (uint64_t)block->running[v][lane] - i * column;
        }
    *second = (*second + rows * COLUMNS * *first + weighted) % base;
    *first = (*first + sum) % base;
}

static inline void add(columns* block, size_t v, words8 items)
{
    block->sum[v] += __builtin_convertvector(items, sums8);
    block->running[v] += block->sum[v];
}

static columns sum_bytes(const uint8_t* at, size_t rows)
{
    columns block;
    memset(&block, 0, sizeof block);
    for (size_t row = 0; row < rows; ++row)
#pragma GCC unroll 2
        for (size_t v = 0; v < VECTORS; v += 2) {
            words8 items;
            memcpy(&items, at + COLUMNS * row + 8 * v, sizeof items);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            items = items << 8 | items >> 8;
#endif
            add(&block, v, items & 0xff);
            add(&block, v + 1, items >> 8);
        }
    return block;
}

static columns sum_words(const uint8_t* at, size_t rows)
{
    columns block;
    memset(&block, 0, sizeof block);
    for (size_t row = 0; row < rows; ++row)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; ++v) {
            words8 items;
            memcpy(&items, at + 2 * (COLUMNS * row + 8 * v), sizeof items);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            items = items << 8 | items >> 8;
#endif
            add(&block, v, items);
        }
    return block;
}

void WGI_ISA(byte_planes)(const void* in, size_t count, size_t plane, uint8_t* out)
{
    const uint8_t* from = in;
    uint8_t *a = out, *b = out + plane, *c = out + 2 * plane, *d = out + 3 * plane;
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

uint32_t WGI_ISA(adler32)(const void* data, size_t bytes)
{
    enum { BASE = 65521 };
    const uint8_t* at = data;
    uint64_t first = 1, second = 0;
    for (size_t left = bytes / COLUMNS; left > 0;) {
        const size_t rows = left < ROWS ? left : ROWS;
        const columns block = sum_bytes(at, rows);
        fold(&block, rows, true, BASE, &first, &second);
        at += COLUMNS * rows;
        left -= rows;
    }
    for (size_t i = 0; i < bytes % COLUMNS; ++i) {
        first += at[i];
        second += first;
    }
    return (uint32_t)(second % BASE << 16 | first % BASE);
}

// Modulo 65535, where a sum that is a multiple of it stays 65535, as in HDF5.
static uint32_t kept(uint64_t sum, bool any)
{
    return (uint32_t)(sum == 0 && any ? 65535 : sum);
}

uint32_t WGI_ISA(fletcher32)(const void* data, size_t bytes)
{
    enum { BASE = 65535 };
    const uint8_t* at = data;
    uint64_t first = 0, second = 0;
    bool any = false;
    for (size_t left = bytes / (2 * COLUMNS); left > 0;) {
        const size_t rows = left < ROWS ? left : ROWS;
        const columns block = sum_words(at, rows);
        for (unsigned i = 0; i < COLUMNS; ++i)
            any |= block.sum[i / 8][i % 8] != 0;
        fold(&block, rows, false, BASE, &first, &second);
        at += 2 * COLUMNS * rows;
        left -= rows;
    }
    const size_t rest = bytes % (2 * COLUMNS);
    for (size_t i = 0; i < rest; i += 2) {
        const uint32_t word = (uint32_t)at[i] << 8 | (i + 1 < rest ? at[i + 1] : 0);
        any |= word != 0;
        first = (first + word) % BASE;
        second = (second + first) % BASE;
    }
    return kept(second, any) << 16 | kept(first, any);
}
