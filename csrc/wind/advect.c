#include "support/kernel_table.h"
#include "support/parallel.h"

// Cells a thread takes at a time: some 10 microseconds of work.
enum { CELLS_GRAIN = 4096 };

wg_status wg_advect(
    const wg_flow_grid* grid, const float* field, int32_t components, const float* velocity,
    double dt, float* out, const wg_exec* exec)
{
    if (!wgi_flow_grid_fits(grid) || components < 1 || !wgi_positive(dt))
        return WG_ERR_VALUE;
    wgi_advect_job job = {
        .nx = grid->nx,
        .ny = grid->ny,
        .nz = grid->nz,
        .slab = (ptrdiff_t)grid->nx * grid->ny,
        .cells = (ptrdiff_t)grid->nx * grid->ny * grid->nz,
        .cells_per_velocity = (float)(dt / grid->spacing),
        .components = components,
        .solid = grid->solid,
        .field = field,
        .velocity = velocity,
        .out = out,
    };
    const size_t rows = (size_t)grid->ny * (size_t)grid->nz;
    const size_t grain = (size_t)(CELLS_GRAIN / grid->nx) + 1;
    wgi_parallel_for(exec, rows, grain, wgi_kernels()->advect_rows, &job);
    return WG_OK;
}
