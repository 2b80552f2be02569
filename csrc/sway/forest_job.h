// What a run over the instances of one specimen hands to the kernels.
#pragma once

#include "sway/specimen.h"

struct wgi_lane_wind;

typedef struct wgi_forest_job {
    wgi_specimen tree;
    const wg_forest* forest;
    const wg_forest_options* options;
    const wg_forest_wind* wind;
    const struct wgi_lane_wind* lanes; ///< the view prepared, for series and view
    const wg_forest_record* record;    ///< NULL for none
    const float* drag;
    int32_t steps, chunks;
    char* scratch; ///< [chunks] of chunk_bytes
    size_t chunk_bytes;
    wg_forest_fault* fault; ///< [chunks], step -1 for none
} wgi_forest_job;

/// Instances of a chunk: [begin, end).
static inline size_t wgi_chunk_begin(const wgi_forest_job* job, size_t chunk)
{
    // Whole vectors of instances, so that few lanes are idle.
    const size_t count = (size_t)job->forest->instance_count, blocks = (count + 7) / 8;
    const size_t begin = 8 * (blocks * chunk / (size_t)job->chunks);
    return begin < count ? begin : count;
}
