#include <string.h>

#include "support/kernel_table.h"
#include "support/parallel.h"

wg_status wg_confine_vorticity(
    const wg_flow_grid* grid, const float* velocity, double dt, double epsilon, float* out,
    const wg_exec* exec)
{
    if (!wgi_flow_grid_fits(grid) || !wgi_flow_step_fits(grid, dt) || !(epsilon >= 0.0) ||
        !(dt * epsilon <= WGI_LARGEST_STEP))
        return WG_ERR_VALUE;
    const int32_t columns = grid->nx - 4, rows = grid->ny - 4;
    wgi_confine_job job = {
        .nx = grid->nx,
        .ny = grid->ny,
        .nz = grid->nz,
        .slab = (ptrdiff_t)grid->nx * grid->ny,
        .cells = (ptrdiff_t)grid->nx * grid->ny * grid->nz,
        .strength = (float)(0.5 * dt * epsilon),
        .solid = wgi_flow_solid(grid),
        .classes = grid->classes,
        .velocity = velocity,
        .out = out,
    };
    if (columns < 1 || rows < 1 || grid->nz < 5 || job.strength == 0.0f) {
        memcpy(out, velocity, 3 * (size_t)job.cells * sizeof *out);
        return WG_OK;
    }
    // Even tiles, one a thread at least; their number changes no bit.
    const int32_t threads = exec ? exec->threads : 1;
    int32_t down = (rows + WGI_CONFINE_ROWS - 1) / WGI_CONFINE_ROWS;
    down = down < threads ? (threads < rows ? threads : rows) : down;
    job.tile_rows = (rows + down - 1) / down;
    down = (rows + job.tile_rows - 1) / job.tile_rows;
    job.tiles_across = columns / WGI_CONFINE_COLUMNS;
    job.tiles_across +=
        columns % WGI_CONFINE_COLUMNS >= WGI_CONFINE_LEAST_COLUMNS || job.tiles_across == 0;
    wgi_parallel_for(
        exec, (size_t)down * (size_t)job.tiles_across, 1, wgi_kernels()->confine_tiles, &job);
    return WG_OK;
}
