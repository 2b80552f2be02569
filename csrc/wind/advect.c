#include "support/kernel_table.h"
#include "support/parallel.h"

// Cells a thread takes at a time: some 10 microseconds of work.
enum { CELLS_GRAIN = 4096 };

static bool make_job(
    const wg_flow_grid* grid, const float* field, int32_t components, const float* velocity,
    double dt, wgi_advect_job* job)
{
    if (!wgi_flow_grid_fits(grid) || components < 1 || !wgi_flow_step_fits(grid, dt))
        return false;
    *job = (wgi_advect_job){
        .nx = grid->nx,
        .ny = grid->ny,
        .nz = grid->nz,
        .slab = (ptrdiff_t)grid->nx * grid->ny,
        .cells = (ptrdiff_t)grid->nx * grid->ny * grid->nz,
        .cells_per_velocity = (float)(dt / grid->spacing),
        .components = components,
        .solid = wgi_flow_solid(grid),
        .classes = grid->classes,
        .field = field,
        .velocity = velocity,
    };
    return true;
}

static void for_rows(const wg_exec* exec, wgi_range_function* function, wgi_advect_job* job)
{
    const size_t rows = (size_t)job->ny * (size_t)job->nz;
    const size_t grain = (size_t)(CELLS_GRAIN / job->nx) + 1;
    wgi_parallel_for(exec, rows, grain, function, job);
}

wg_status wg_advect(
    const wg_flow_grid* grid, const float* field, int32_t components, const float* velocity,
    double dt, float* out, const wg_exec* exec)
{
    wgi_advect_job job;
    if (!make_job(grid, field, components, velocity, dt, &job))
        return WG_ERR_VALUE;
    job.out = out;
    for_rows(exec, wgi_kernels()->advect_rows, &job);
    return WG_OK;
}

wg_status wg_advect_maccormack(
    const wg_flow_grid* grid, const float* field, int32_t components, const float* velocity,
    double dt, float* scratch, float* out, const wg_exec* exec)
{
    wgi_advect_job job;
    if (!make_job(grid, field, components, velocity, dt, &job))
        return WG_ERR_VALUE;
    job.out = scratch;
    for_rows(exec, wgi_kernels()->advect_rows, &job);
    job.moved = scratch;
    job.out = out;
    for_rows(exec, wgi_kernels()->correct_rows, &job);
    return WG_OK;
}
