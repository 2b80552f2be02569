// What the voxel files share.
#pragma once

#include "wind/flow_types.h"
#include "windgrove/voxels.h"

/// Whether a coordinate is one that products of three do not overflow.
static inline bool wgi_voxel_place_fits(double coordinate)
{
    return fabs(coordinate) <= 1e100;
}

static inline bool wgi_voxel_grid_fits(const wg_voxel_grid* grid)
{
    const int32_t cells[3] = { grid->nx, grid->ny, grid->nz };
    if (!wgi_size_fits(grid->nx, grid->ny, grid->nz, 1) || !wgi_positive(grid->spacing))
        return false;
    for (int axis = 0; axis < 3; ++axis)
        if (!wgi_voxel_place_fits(grid->origin[axis]) || grid->begin[axis] < 0 ||
            grid->begin[axis] > grid->end[axis] || grid->end[axis] > cells[axis])
            return false;
    return true;
}

static inline size_t wgi_voxel_index(const wg_voxel_grid* grid, int32_t i, int32_t j, int32_t k)
{
    return ((size_t)k * (size_t)grid->ny + (size_t)j) * (size_t)grid->nx + (size_t)i;
}

/// Low edge of cell n along an axis.
static inline double wgi_voxel_edge(const wg_voxel_grid* grid, int axis, int32_t n)
{
    return grid->origin[axis] + grid->spacing * (double)n;
}

/// What a cell is shrunk by on every side: a millionth of its edge, and the rounding of its place.
static inline double wgi_voxel_shrink(const wg_voxel_grid* grid)
{
    const int32_t cells[3] = { grid->nx, grid->ny, grid->nz };
    double largest = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        largest = fmax(largest, fabs(grid->origin[axis]));
        largest = fmax(largest, fabs(wgi_voxel_edge(grid, axis, cells[axis])));
    }
    return 1e-6 * grid->spacing + 8.0 * 0x1p-52 * largest;
}

/// Cells of the range that the interval [low, high] may touch, one more on each side.
static inline void wgi_voxel_range(
    const wg_voxel_grid* grid, int axis, double low, double high, int32_t* begin, int32_t* end)
{
    const double first = grid->begin[axis], last = grid->end[axis];
    const double a = floor((low - grid->origin[axis]) / grid->spacing) - 1.0;
    const double b = floor((high - grid->origin[axis]) / grid->spacing) + 2.0;
    *begin = (int32_t)fmin(fmax(a, first), last);
    *end = (int32_t)fmin(fmax(b, first), last);
}
