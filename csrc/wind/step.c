// One step of the cascade, stage after stage.
#include <string.h>

#include "wind/grid.h"
#include "windgrove/flow.h"

void wg_cascade_move(
    wg_cascade* cascade, const int64_t* low, const wg_inflow* inflow, const wg_exec* exec)
{
    const wg_grid* coarser = NULL;
    for (int32_t level = cascade->level_count - 1; level >= 0; --level) {
        wg_grid* grid = &cascade->grid[level];
        if (low)
            wg_cascade_recentre(grid, low + 3 * level, coarser, inflow, exec);
        if (!coarser)
            wg_cascade_inject(grid, inflow, exec);
        else if (low)
            wg_cascade_inner_border(grid, coarser, exec);
        coarser = grid;
    }
}

static wg_project_fields fields_of(const wg_grid* grid, const wg_project_parameters* parameters)
{
    // A direct solver knows no solids; for its consistent form solid border cells change nothing.
    const bool direct = parameters->method == WG_PROJECT_DIRECT;
    return (wg_project_fields){ .nx = grid->nx,
                                .ny = grid->ny,
                                .nz = grid->nz,
                                .spacing = grid->spacing,
                                .velocity = grid->velocity,
                                .solid = direct ? NULL : grid->solid,
                                .pressure = grid->pressure,
                                .out = grid->velocity };
}

static size_t
level_scratch_size(const wg_cascade* cascade, const wg_cascade_options* options, int32_t level)
{
    const wg_project_fields fields = fields_of(&cascade->grid[level], &options->projection[level]);
    const size_t bytes = wg_project_scratch_size(
        fields.nx, fields.ny, fields.nz, &options->projection[level], fields.solid != NULL);
    return (bytes + 63) / 64 * 64;
}

// The multigrid methods keep their set-up in the scratch from step to step: one piece a level. The
// others share the first piece, which then stays in the cache, with MacCormack's second pass.
static bool keeps_scratch(const wg_cascade_options* options, int32_t level)
{
    return options->projection[level].method == WG_PROJECT_MULTIGRID ||
           options->projection[level].method == WG_PROJECT_PCG;
}

// Where the piece of `level` begins; the size of all of them for level = level_count.
static size_t
scratch_offset(const wg_cascade* cascade, const wg_cascade_options* options, int32_t level)
{
    const size_t pass = (3 * wgi_grid_cells(&cascade->grid[0]) * sizeof(float) + 63) / 64 * 64;
    size_t shared = options->advection != 0 ? pass : 0, kept = 0;
    for (int32_t n = 0; n < cascade->level_count; ++n) {
        const size_t bytes = level_scratch_size(cascade, options, n);
        if (!keeps_scratch(options, n))
            shared = bytes > shared ? bytes : shared;
        else if (n < level)
            kept += bytes;
    }
    const bool in_shared = level < cascade->level_count && !keeps_scratch(options, level);
    return in_shared ? 0 : shared + kept;
}

size_t wg_cascade_scratch_size(const wg_cascade* cascade, const wg_cascade_options* options)
{
    for (int32_t level = 0; level < cascade->level_count; ++level)
        if (level_scratch_size(cascade, options, level) == 0)
            return 0;
    return scratch_offset(cascade, options, cascade->level_count);
}

// Ends in grid->velocity whether or not the confinement runs.
static wg_status advect_and_confine(
    const wg_cascade* cascade, int32_t level, const wg_cascade_options* options,
    const wg_exec* exec)
{
    const wg_grid* grid = &cascade->grid[level];
    float* other = cascade->other[level];
    const wg_flow_grid flow = { .nx = grid->nx,
                                .ny = grid->ny,
                                .nz = grid->nz,
                                .spacing = grid->spacing,
                                .solid = grid->solid };
    const float* u = grid->velocity;
    const wg_status status =
        options->advection == 0
            ? wg_advect(&flow, u, 3, u, options->dt, other, exec)
            : wg_advect_maccormack(
                  &flow, u, 3, u, options->dt, (float*)cascade->scratch, other, exec);
    if (status != WG_OK)
        return status;
    if (options->vorticity == 0.0) {
        memcpy(grid->velocity, other, 3 * wgi_grid_cells(grid) * sizeof(float));
        return WG_OK;
    }
    return wg_confine_vorticity(
        &flow, other, options->dt, options->vorticity, grid->velocity, exec);
}

static wg_status project_grid(
    wg_cascade* cascade, int32_t level, const wg_cascade_options* options,
    const wg_cascade_forces* forces, wg_project_result* result, const wg_exec* exec)
{
    const wg_grid* grid = &cascade->grid[level];
    const wg_project_parameters* parameters = &options->projection[level];
    if (!options->warm_start)
        memset(grid->pressure, 0, wgi_grid_cells(grid) * sizeof(float));
    // The projection of u - w, with w added back, is the one whose divergence is that of w: closed
    // faces carry -w in between, and so stay closed for the sum.
    for (int32_t n = 0; n < forces->blast_count; ++n)
        wg_cascade_add_blast(grid, &forces->blast[n], -1.0, exec);
    const wg_project_fields fields = fields_of(grid, parameters);
    char* scratch = (char*)cascade->scratch + scratch_offset(cascade, options, level);
    const wg_status status = wg_project(&fields, parameters, scratch, result, exec);
    for (int32_t n = 0; n < forces->blast_count; ++n)
        wg_cascade_add_blast(grid, &forces->blast[n], 1.0, exec);
    return status;
}

wg_status wg_cascade_step(
    wg_cascade* cascade, const wg_cascade_options* options, const wg_cascade_forces* forces,
    wg_project_result* result, const wg_exec* exec)
{
    const int32_t levels = cascade->level_count;
    // These stages touch one grid alone: taken grid by grid they find it still in the cache.
    for (int32_t level = 0; level < levels; ++level) {
        const wg_grid* grid = &cascade->grid[level];
        wg_status status = advect_and_confine(cascade, level, options, exec);
        if (status == WG_OK)
            status = wg_cascade_effect(
                grid, forces->effector, forces->effector_count, options->dt, exec);
        if (status != WG_OK)
            return status;
        if (cascade->drag[level])
            wg_cascade_drag(grid, cascade->drag[level], options->dt, exec);
    }
    for (int32_t level = levels - 2; level >= 0; --level)
        wg_cascade_inner_border(&cascade->grid[level], &cascade->grid[level + 1], exec);
    for (int32_t level = 0; level + 1 < levels; ++level)
        wg_cascade_restrict(&cascade->grid[level + 1], &cascade->grid[level], exec);

    wg_status worst = WG_OK;
    for (int32_t level = 0; level < levels; ++level) {
        const wg_status status =
            project_grid(cascade, level, options, forces, result ? &result[level] : NULL, exec);
        if (status < 0)
            return status;
        worst = status > worst ? status : worst;
    }
    return worst;
}
