// Many steps of the instances of one specimen: eight at a time while there are enough, the rest one
// after the other. A tree has the same bits either way. Compiled once per instruction set.
#include "support/kernel_table.h"

#include "sway/lanes.h"

// From here on eight lanes are faster than so many trees by themselves, though some are idle.
enum { LEAST_LANES = 4 };

size_t WGI_ISA(forest_chunk_bytes)(int32_t branch_count)
{
    const size_t padded = (size_t)wgi_padded(branch_count), slots = (size_t)branch_count + 1;
    const size_t alone = slots * WGI_FRAME_FLOATS + 6 * padded;
    const size_t lanes = (slots * FRAME_ROWS + 6 * padded) * WGI_LANES + 9 * padded;
    return (sizeof(chunk_rows) + (lanes + alone) * sizeof(float) + 63) / 64 * 64;
}

static void note_fault(wg_forest_fault* fault, int32_t step, size_t instance, const walk* w)
{
    if (step >= 0 && (fault->step < 0 || step < fault->step))
        *fault = (wg_forest_fault){ step, (int32_t)instance, first_bad_branch(w) };
}

static void run_alone(
    const wgi_forest_job* job, size_t chunk, size_t instance, wgi_lane_wind* wind, int32_t from)
{
    walk w = alone_start(job, instance, job->scratch + chunk * job->chunk_bytes);
    note_fault(&job->fault[chunk], alone_run(&w, wind, from), instance, &w);
}

static void
run_lanes(const wgi_forest_job* job, size_t chunk, size_t first, size_t used, wgi_lane_wind* wind)
{
    char* scratch = job->scratch + chunk * job->chunk_bytes;
    lanes_walk w;
    bool good[WGI_LANES];
    lanes_start(&w, job, first, used, scratch);
    const int32_t step = lanes_run(&w, wind, good);
    if (step < 0)
        return;
    for (size_t lane = 0; lane < used; ++lane) {
        if (good[lane] && job->forest->packed)
            continue;
        if (good[lane]) {
            run_alone(job, chunk, first + lane, wind, step + 1);
        } else {
            walk failed = alone_start(job, first + lane, (char*)w.alone);
            failed.motion = lanes_rows(&w, lane);
            note_fault(&job->fault[chunk], step, first + lane, &failed);
        }
    }
}

void WGI_ISA(forest_trees)(const wgi_forest_job* job, size_t chunk)
{
    const size_t end = wgi_chunk_begin(job, chunk + 1);
    size_t i = wgi_chunk_begin(job, chunk);
    job->fault[chunk] = (wg_forest_fault){ -1, 0, 0 };
    if (i == end)
        return;
    wgi_lane_wind own;
    wgi_lane_wind* wind = NULL;
    if (job->lanes) {
        own = *job->lanes;
        wind = &own;
    }
    const size_t least = job->forest->packed ? 1 : LEAST_LANES;
    while (end - i >= least) {
        const size_t used = end - i < WGI_LANES ? end - i : WGI_LANES;
        run_lanes(job, chunk, i, used, wind);
        i += used;
    }
    for (; i < end; ++i)
        run_alone(job, chunk, i, wind, 0);
}
