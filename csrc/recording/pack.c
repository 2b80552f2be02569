#include "windgrove/pack.h"

#include "support/kernel_table.h"

void wg_shuffle4(const void* in, size_t count, uint8_t* out)
{
    wgi_kernels()->byte_planes(in, count, count, out);
}

uint32_t wg_fletcher32(const void* data, size_t bytes)
{
    return wgi_kernels()->fletcher32(data, bytes);
}

uint32_t wg_adler32(const void* data, size_t bytes)
{
    return wgi_kernels()->adler32(data, bytes);
}

size_t wg_pack_room(size_t count)
{
    return 2 + wg_deflate_room(4 * count) + 4 + 4;
}

// NaN, as the recorder fills: 0x7fc00000.
static void blank(uint8_t* planes, size_t plane, size_t begin, size_t end)
{
    static const uint8_t bytes[4] = { 0x00, 0x00, 0xc0, 0x7f };
    for (size_t k = 0; k < 4; ++k)
        for (size_t i = begin; i < end; ++i)
            planes[k * plane + i] = bytes[k];
}

size_t wg_pack_chunk(const wg_chunk* chunk, bool coded, uint8_t* planes, uint8_t* out)
{
    const size_t run = chunk->chunk_run, count = run * chunk->chunk_frames;
    for (size_t f = 0; f < chunk->frames; ++f) {
        wgi_kernels()->byte_planes(
            chunk->items + f * chunk->stride, chunk->run, count, planes + f * run);
        blank(planes, count, f * run + chunk->run, (f + 1) * run);
    }
    blank(planes, count, chunk->frames * run, count);
    uint8_t* end = out;
    *end++ = 0x78; // deflate, window of 32 KiB
    *end++ = 0x01; // fastest; makes the head a multiple of 31
    end += wg_deflate_literals(planes, coded ? 3 * count : 4 * count, coded ? count : 0, end);
    const uint32_t adler = wg_adler32(planes, 4 * count);
    for (int k = 3; k >= 0; --k)
        *end++ = (uint8_t)(adler >> (8 * k));
    const uint32_t sum = wg_fletcher32(out, (size_t)(end - out));
    for (int k = 0; k < 4; ++k)
        *end++ = (uint8_t)(sum >> (8 * k));
    return (size_t)(end - out);
}
