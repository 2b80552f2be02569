// Loading and storing packed motion for eight instances. Included once, by forest_trees.c.
#pragma once

#include "sway/half.h"
#include "sway/tile.h"

// Rows of one packed instance.
typedef struct packed_rows {
    float* swing;
    float* previous;
    uint16_t* omega;
} packed_rows;

static packed_rows packed_of(const wgi_forest_job* job, size_t instance)
{
    const wg_packed* packed = job->forest->packed;
    const size_t padded = (size_t)job->tree.padded;
    const size_t inner = (size_t)wgi_padded(job->tree.inner_count);
    return (packed_rows){ packed->swing + 2 * padded * instance,
                          packed->previous + 2 * inner * instance,
                          packed->angular_velocity + 3 * padded * instance };
}

// Two components of a swing to a rotation vector.
WGI_INLINE wgi_vec3 swing_to_vector(wgf8 s, wgf8 t, wgi_vec3 first, wgi_vec3 second)
{
    return wgi_vec3_add(wgi_vec3_scale(s, first), wgi_vec3_scale(t, second));
}

// Eight rows of halves into [branch][3][8].
static void load_omega(
    const packed_rows rows[WGI_LANES], size_t padded, size_t begin, size_t count,
    float (*out)[3][WGI_LANES])
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES)
        for (size_t c = 0; c < 3; ++c) {
            float in[WGI_LANES][WGI_LANES];
            const float* row[WGI_LANES];
            for (size_t lane = 0; lane < WGI_LANES; ++lane) {
                wgf8_store(in[lane], wgi_half8_load(rows[lane].omega + c * padded + begin + tile));
                row[lane] = in[lane];
            }
            wgi_transpose8(row, 0, out[tile][c], 3 * WGI_LANES);
        }
}

static void store_omega(
    const packed_rows rows[WGI_LANES], size_t used, size_t padded, size_t begin, size_t count,
    float (*from)[3][WGI_LANES])
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES)
        for (size_t c = 0; c < 3; ++c) {
            float out[WGI_LANES][WGI_LANES];
            const float* in[WGI_LANES];
            for (size_t i = 0; i < WGI_LANES; ++i)
                in[i] = from[tile + i][c];
            wgi_transpose8(in, 0, out[0], WGI_LANES);
            for (size_t lane = 0; lane < used; ++lane)
                wgi_half8_store(rows[lane].omega + c * padded + begin + tile, wgf8_load(out[lane]));
        }
}
