// Loading and storing packed motion for eight instances. Included once, by forest_trees.c.
#pragma once

#include "sway/codes.h"
#include "sway/tile.h"

// Rows of codes of eight packed instances.
typedef struct packed_walk {
    uint8_t *swing[2][WGI_LANES], *change[2][WGI_LANES], *rate[3][WGI_LANES];
} packed_walk;

static void packed_set(packed_walk* w, const wgi_forest_job* job, int lane, size_t instance)
{
    const wg_packed* packed = job->forest->packed;
    const size_t row = WGI_CODE_BYTES * (size_t)job->tree.padded;
    const size_t inner = WGI_CODE_BYTES * (size_t)wgi_padded(job->tree.inner_count);
    for (size_t c = 0; c < 2; ++c) {
        w->swing[c][lane] = packed->swing + (2 * instance + c) * row;
        w->change[c][lane] = packed->change + (2 * instance + c) * inner;
    }
    for (size_t c = 0; c < 3; ++c)
        w->rate[c][lane] = packed->rate + (3 * instance + c) * row;
}

// Eight branches of a row in eight instances, to vectors [branch][8], `stride` floats apart.
WGI_INLINE void load_swings(uint8_t* const row[WGI_LANES], size_t at, float* out, size_t stride)
{
    wgf8 in[WGI_LANES];
    for (int lane = 0; lane < WGI_LANES; ++lane)
        in[lane] = wgi_swing_value(wgi_load_codes(row[lane] + WGI_CODE_BYTES * at));
    wgi_transpose8_in(in, out, stride);
}

WGI_INLINE void load_floats(uint8_t* const row[WGI_LANES], size_t at, float* out, size_t stride)
{
    wgf8 in[WGI_LANES];
    for (int lane = 0; lane < WGI_LANES; ++lane)
        in[lane] = wgi_float_value(wgi_load_codes(row[lane] + WGI_CODE_BYTES * at));
    wgi_transpose8_in(in, out, stride);
}

// The same, of rows that end before `end`: the last eight may be fewer.
WGI_INLINE void
load_changes(uint8_t* const row[WGI_LANES], size_t at, size_t end, float* out, size_t stride)
{
    if (at + WGI_LANES <= end) {
        load_floats(row, at, out, stride);
        return;
    }
    uint8_t copy[WGI_LANES][WGI_CODES_BYTES] = { 0 }, *whole[WGI_LANES];
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        memcpy(copy[lane], row[lane] + WGI_CODE_BYTES * at, WGI_CODE_BYTES * (end - at));
        whole[lane] = copy[lane];
    }
    load_floats(whole, 0, out, stride);
}

// Vectors [branch][8], `stride` floats apart, to eight codes in each of `used` instances.
WGI_INLINE void
store_swings(uint8_t* const row[WGI_LANES], size_t used, size_t at, const float* in, size_t stride)
{
    wgf8 turned[WGI_LANES];
    wgi_transpose8_out(in, stride, turned);
    for (size_t lane = 0; lane < used; ++lane)
        wgi_store_codes(row[lane] + WGI_CODE_BYTES * at, wgi_swing_code(turned[lane]));
}

// The same for `count` floats, where a row goes on with what may not be touched.
WGI_INLINE void store_floats(
    uint8_t* const row[WGI_LANES], size_t used, size_t at, size_t count, const float* in,
    size_t stride)
{
    wgf8 turned[WGI_LANES];
    wgi_transpose8_out(in, stride, turned);
    for (size_t lane = 0; lane < used; ++lane) {
        uint8_t* to = row[lane] + WGI_CODE_BYTES * at;
        const wgi8 codes = wgi_float_code(turned[lane]);
        if (count == WGI_LANES) {
            wgi_store_codes(to, codes);
        } else {
            uint8_t whole[WGI_CODES_BYTES];
            wgi_store_codes(whole, codes);
            memcpy(to, whole, WGI_CODE_BYTES * count);
        }
    }
}
