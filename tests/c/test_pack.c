#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "windgrove/pack.h"

enum { MOST = 70001 };

static uint32_t plain_adler(const uint8_t* data, size_t bytes)
{
    uint32_t first = 1, second = 0;
    for (size_t i = 0; i < bytes; ++i) {
        first = (first + data[i]) % 65521;
        second = (second + first) % 65521;
    }
    return second << 16 | first;
}

// As HDF5 has it: sums are folded, so that multiples of 65535 do not become 0.
static uint32_t plain_fletcher(const uint8_t* data, size_t bytes)
{
    uint32_t first = 0, second = 0;
    for (size_t i = 0; i < bytes; i += 2) {
        first += (uint32_t)data[i] << 8 | (i + 1 < bytes ? data[i + 1] : 0);
        first = (first & 0xffff) + (first >> 16);
        second += first;
        second = (second & 0xffff) + (second >> 16);
    }
    return second << 16 | first;
}

static void checksums_are_those_of_the_plain_loops(void)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 31, 32, 63, 64, 65, 8191, 16384, 16385, MOST };
    uint8_t* data = malloc(MOST);
    for (int kind = 0; kind < 3; ++kind) {
        uint32_t random = 1;
        for (size_t i = 0; i < MOST; ++i) {
            random = random * 1664525u + 1013904223u;
            data[i] = kind == 0 ? (uint8_t)(random >> 24) : kind == 1 ? 0xff : 0;
        }
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            CHECK(wg_adler32(data, sizes[k]) == plain_adler(data, sizes[k]));
            CHECK(wg_fletcher32(data, sizes[k]) == plain_fletcher(data, sizes[k]));
        }
    }
    free(data);
}

static void planes_hold_the_bytes_of_the_items(void)
{
    uint32_t items[37];
    uint8_t out[4 * 37];
    for (uint32_t i = 0; i < 37; ++i)
        items[i] = 0x01020300u * (i + 1) + i;
    wg_shuffle4(items, 37, out);
    for (size_t i = 0; i < 37; ++i)
        for (size_t k = 0; k < 4; ++k)
            CHECK(out[37 * k + i] == (uint8_t)(items[i] >> (8 * k)));
}

static void nothing_is_written_beyond_the_room(void)
{
    for (size_t count = 1; count < 3000; count = count * 3 / 2 + 1) {
        const size_t room = wg_pack_room(count);
        float* items = malloc(count * sizeof *items);
        uint8_t *planes = malloc(4 * count), *out = malloc(room + 16);
        for (size_t i = 0; i < count; ++i)
            items[i] = (float)(i * i) * (i % 2 ? -1e-3f : 1e7f);
        const wg_chunk chunk = { items, 1, count, count, 1, count };
        for (int coded = 0; coded < 2; ++coded) {
            memset(out, 0xa5, room + 16);
            CHECK(wg_pack_chunk(&chunk, coded, planes, out) <= room);
            for (size_t i = 0; i < 16; ++i)
                CHECK(out[room + i] == 0xa5);
        }
        free(items);
        free(planes);
        free(out);
    }
}

int main(void)
{
    checksums_are_those_of_the_plain_loops();
    planes_hold_the_bytes_of_the_items();
    nothing_is_written_beyond_the_room();
    return check_report();
}
