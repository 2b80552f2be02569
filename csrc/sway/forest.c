// Runs over the instances of one specimen: checks, chunks, faults.
#include <math.h>
#include <string.h>

#include "support/kernel_table.h"
#include "support/parallel.h"
#include "sway/forest_job.h"
#include "wind/flow_types.h"
#include "wind/sample_lanes.h"

enum { CHUNKS_PER_THREAD = 4 };

// Steps of branches, some 100 microseconds, below which waking threads takes longer than they save.
enum { LEAST_SHARED = 8192 };

static int32_t chunk_count(const wg_exec* exec)
{
    const int32_t threads = exec ? exec->threads : 1;
    return threads <= 1 ? 1 : threads * CHUNKS_PER_THREAD;
}

size_t wg_forest_scratch(int32_t branch_count, const wg_exec* exec)
{
    const size_t chunks = (size_t)chunk_count(exec);
    const size_t faults = (chunks * sizeof(wg_forest_fault) + 63) / 64 * 64;
    return faults + chunks * wgi_kernels()->forest_chunk_bytes(wgi_padded(branch_count));
}

static bool is_worth_threads(const wgi_forest_job* job)
{
    const double branches = (double)job->forest->instance_count * job->tree.padded;
    return job->forest->instance_count > WGI_LANES && branches * job->steps >= LEAST_SHARED;
}

static void run_chunk(size_t begin, size_t end, void* context)
{
    for (size_t chunk = begin; chunk < end; ++chunk)
        wgi_kernels()->forest_trees(context, chunk);
}

static bool options_fit(const wg_forest_options* options)
{
    return wgi_spring_options_are_valid(&options->spring) && isfinite(options->time) &&
           isfinite(options->noise) && options->noise >= 0.0f && options->noise <= 3.14159274f &&
           isfinite(options->drag_exponent) && isfinite(options->reference_speed) &&
           options->reference_speed > 0.0f;
}

static bool wind_fits(const wg_forest_wind* wind)
{
    switch (wind->kind) {
    case WG_WIND_SAMPLES:
        return wind->samples != NULL;
    case WG_WIND_SERIES:
        return wind->series && wind->view && wind->view->level_count == 0;
    case WG_WIND_VIEW:
        return wind->view && wgi_wind_view_fits(wind->view);
    default:
        return false;
    }
}

static bool record_fits(const wg_forest_record* record, const wgi_specimen* tree)
{
    if (!record)
        return true;
    for (int32_t n = 0; n < record->branch_count; ++n)
        if (record->branch[n] < 0 || record->branch[n] >= tree->count)
            return false;
    return record->every >= 1 && record->branch_count >= 0;
}

wg_status wg_forest_run(
    const wg_forest* forest, const wg_forest_options* options, const wg_forest_wind* wind,
    int32_t steps, const wg_forest_record* record, const float* drag, void* scratch,
    wg_forest_fault* fault, const wg_exec* exec)
{
    wgi_forest_job job = { .tree = wgi_specimen_open(forest->specimen),
                           .forest = forest,
                           .options = options,
                           .wind = wind,
                           .record = record,
                           .drag = drag,
                           .steps = steps,
                           .chunks = chunk_count(exec) };
    if (forest->packed && options->spring.torsion)
        return WG_ERR_VALUE;
    if (!options_fit(options) || !wind_fits(wind) || !record_fits(record, &job.tree) || steps < 0 ||
        (record && record->torque && !drag))
        return WG_ERR_VALUE;
    wgi_lane_wind lanes;
    if (wind->kind != WG_WIND_SAMPLES) {
        wgi_lane_wind_init(wind->view, &lanes);
        job.lanes = &lanes;
    }
    const size_t faults = ((size_t)job.chunks * sizeof(wg_forest_fault) + 63) / 64 * 64;
    job.fault = scratch;
    job.scratch = (char*)scratch + faults;
    job.chunk_bytes = wgi_kernels()->forest_chunk_bytes(wgi_padded(job.tree.count));
    wgi_parallel_for(is_worth_threads(&job) ? exec : NULL, (size_t)job.chunks, 1, run_chunk, &job);

    const wg_forest_fault* first = NULL;
    for (int32_t chunk = 0; chunk < job.chunks; ++chunk)
        if (job.fault[chunk].step >= 0 && (!first || job.fault[chunk].step < first->step))
            first = &job.fault[chunk];
    if (!first)
        return WG_OK;
    if (fault)
        *fault = *first;
    return WG_ERR_DIVERGED;
}

int32_t wg_specimen_inner_count(const void* specimen)
{
    return wgi_specimen_open(specimen).inner_count;
}

// Rows of one instance in arrays of all.
static wgi_motion_rows rows_at(const wgi_specimen* tree, size_t n, float* a, float* b, float* c)
{
    const size_t at = 3 * (size_t)tree->padded * n;
    return (wgi_motion_rows){ a + at, b + at, c + at };
}

void wg_forest_unpack(
    const wg_forest* forest, float* rotation, float* previous, float* angular_velocity)
{
    const wgi_specimen tree = wgi_specimen_open(forest->specimen);
    for (size_t n = 0; n < (size_t)forest->instance_count; ++n) {
        const wgi_motion_rows rows = rows_at(&tree, n, rotation, previous, angular_velocity);
        wgi_kernels()->unpack_motion(&tree, forest->packed, n, &rows);
    }
}

void wg_forest_pack(
    const wg_forest* forest, float* rotation, float* previous, float* angular_velocity)
{
    const wgi_specimen tree = wgi_specimen_open(forest->specimen);
    for (size_t n = 0; n < (size_t)forest->instance_count; ++n) {
        const wgi_motion_rows rows = rows_at(&tree, n, rotation, previous, angular_velocity);
        wgi_kernels()->pack_motion(&tree, forest->packed, n, &rows);
    }
}
