// Index arithmetic of a wg_grid, and what the cascade's files share.
#pragma once

#include <stdbool.h>

#include "windgrove/cascade.h"

static inline size_t wgi_grid_cells(const wg_grid* grid)
{
    return (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
}

static inline size_t wgi_grid_index(const wg_grid* grid, int32_t i, int32_t j, int32_t k)
{
    return ((size_t)k * (size_t)grid->ny + (size_t)j) * (size_t)grid->nx + (size_t)i;
}

/// World coordinate of the centres of the cells with index n along an axis.
static inline double wgi_grid_centre(const wg_grid* grid, int axis, int32_t n)
{
    return ((double)(grid->low[axis] - 1 + n) + 0.5) * grid->spacing;
}

/// Writes the inflow into `lines` lines of `cells` cells from `from`; lines run along x (0) or y (1)
/// and are stacked along another axis. Solid cells are left.
void wgi_inflow_block(
    const wg_grid* grid, const wg_inflow* inflow, int along, int stack, const int32_t from[3],
    int32_t cells, int32_t lines);

/// Writes the coarser grid's trilinear velocity into `count` cells from `from` along x (axis 0) or y
/// (axis 1), solid ones left. The cells lie in the coarser grid's interior or touch it.
void wgi_coarser_line(
    const wg_grid* fine, const wg_grid* coarse, int axis, const int32_t from[3], int32_t count);
