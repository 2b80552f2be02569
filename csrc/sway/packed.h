// Loading and storing packed motion for eight instances. Included once, by forest_trees.c.
#pragma once

#include "sway/codes.h"
#include "sway/tile.h"

// Rows of one packed instance.
typedef struct packed_rows {
    int16_t *high, *high_before;
    uint8_t *low, *low_before;
    uint16_t* rate;
} packed_rows;

static packed_rows packed_of(const wgi_forest_job* job, size_t instance)
{
    const wg_packed* packed = job->forest->packed;
    const size_t padded = (size_t)job->tree.padded;
    const size_t inner = (size_t)wgi_padded(job->tree.inner_count);
    return (packed_rows){
        packed->high + 2 * padded * instance, packed->high_before + 2 * inner * instance,
        packed->low + 2 * padded * instance,  packed->low_before + 2 * inner * instance,
        packed->rate + 4 * padded * instance,
    };
}

// Two components of a swing to a rotation vector.
WGI_INLINE wgi_vec3 swing_to_vector(wgf8 s, wgf8 t, wgi_vec3 first, wgi_vec3 second)
{
    return wgi_vec3_add(wgi_vec3_scale(s, first), wgi_vec3_scale(t, second));
}

// Rows [lane][8 branches] of one quantity to vectors [branch][8 lanes], `stride` floats apart.
WGI_INLINE void turn_tile(float (*in)[WGI_LANES], float* out, size_t stride)
{
    const float* row[WGI_LANES];
    for (size_t i = 0; i < WGI_LANES; ++i)
        row[i] = in[i];
    wgi_transpose8(row, 0, out, stride);
}

// Swings [branch][2][8] and rates [branch][3][8] of a chunk.
static void load_codes(
    const packed_rows rows[WGI_LANES], size_t padded, size_t begin, size_t count,
    float (*swing)[2][WGI_LANES], float (*rate)[3][WGI_LANES])
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES) {
        float in[5][WGI_LANES][WGI_LANES];
        for (size_t lane = 0; lane < WGI_LANES; ++lane) {
            const packed_rows* r = &rows[lane];
            wgf8 omega[3];
            for (size_t c = 0; c < 2; ++c) {
                const size_t at = c * padded + begin + tile;
                wgf8_store(
                    in[c][lane], wgi_swing_value(wgi_load_code24(r->high + at, r->low + at)));
            }
            wgi_load_rates(r->rate + begin + tile, padded, omega);
            for (size_t c = 0; c < 3; ++c)
                wgf8_store(in[2 + c][lane], omega[c]);
        }
        for (size_t c = 0; c < 2; ++c)
            turn_tile(in[c], swing[tile][c], 2 * WGI_LANES);
        for (size_t c = 0; c < 3; ++c)
            turn_tile(in[2 + c], rate[tile][c], 3 * WGI_LANES);
    }
}

static void store_codes(
    const packed_rows rows[WGI_LANES], size_t used, size_t padded, size_t begin, size_t count,
    float (*swing)[2][WGI_LANES], float (*rate)[3][WGI_LANES])
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES) {
        float in[WGI_LANES][WGI_LANES], out[5][WGI_LANES][WGI_LANES];
        for (size_t c = 0; c < 5; ++c) {
            for (size_t i = 0; i < WGI_LANES; ++i)
                memcpy(in[i], c < 2 ? swing[tile + i][c] : rate[tile + i][c - 2], sizeof in[i]);
            turn_tile(in, out[c][0], WGI_LANES);
        }
        for (size_t lane = 0; lane < used; ++lane) {
            const packed_rows* r = &rows[lane];
            for (size_t c = 0; c < 2; ++c) {
                const size_t at = c * padded + begin + tile;
                wgi_store_code24(
                    r->high + at, r->low + at, wgi_swing_code(wgf8_load(out[c][lane])));
            }
            const wgf8 omega[3] = { wgf8_load(out[2][lane]), wgf8_load(out[3][lane]),
                                    wgf8_load(out[4][lane]) };
            wgi_store_rates(r->rate + begin + tile, padded, omega);
        }
    }
}

// The swing that a branch had a frame earlier, as [2][8].
static void
load_before(const packed_rows rows[WGI_LANES], size_t inner, size_t rank, float out[2][WGI_LANES])
{
    for (size_t c = 0; c < 2; ++c) {
        wgi8 code = wgi8_set(0);
        for (size_t lane = 0; lane < WGI_LANES; ++lane) {
            const size_t at = c * inner + rank;
            code[lane] = rows[lane].high_before[at] * 256 + rows[lane].low_before[at];
        }
        wgf8_store(out[c], wgi_swing_value(code));
    }
}

// Keeps the swing about to be overwritten.
static void keep_before(
    const packed_rows rows[WGI_LANES], size_t used, size_t padded, size_t inner, size_t branch,
    size_t rank)
{
    for (size_t lane = 0; lane < used; ++lane)
        for (size_t c = 0; c < 2; ++c) {
            rows[lane].high_before[c * inner + rank] = rows[lane].high[c * padded + branch];
            rows[lane].low_before[c * inner + rank] = rows[lane].low[c * padded + branch];
        }
}
