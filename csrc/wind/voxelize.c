// Boxes, balls and ground in closed form.
#include "wind/voxels.h"

wg_status wg_voxelize_box(const wg_voxel_grid* grid, const double low[3], const double high[3])
{
    if (!wgi_voxel_grid_fits(grid))
        return WG_ERR_VALUE;
    const double shrink = wgi_voxel_shrink(grid);
    int32_t begin[3], end[3];
    for (int axis = 0; axis < 3; ++axis) {
        if (!wgi_voxel_place_fits(low[axis]) || !wgi_voxel_place_fits(high[axis]) ||
            !(low[axis] < high[axis]))
            return WG_ERR_VALUE;
        wgi_voxel_range(grid, axis, low[axis], high[axis], &begin[axis], &end[axis]);
        while (begin[axis] < end[axis] &&
               wgi_voxel_edge(grid, axis, begin[axis] + 1) - shrink <= low[axis])
            ++begin[axis];
        while (begin[axis] < end[axis] &&
               wgi_voxel_edge(grid, axis, end[axis] - 1) + shrink >= high[axis])
            --end[axis];
    }
    for (int32_t k = begin[2]; k < end[2]; ++k)
        for (int32_t j = begin[1]; j < end[1]; ++j)
            for (int32_t i = begin[0]; i < end[0]; ++i)
                grid->mark[wgi_voxel_index(grid, i, j, k)] = 1;
    return WG_OK;
}

// Square of the distance along an axis from `centre` to the shrunk cell n.
static double
square_away(const wg_voxel_grid* grid, int axis, int32_t n, double centre, double shrink)
{
    const double below = wgi_voxel_edge(grid, axis, n) + shrink - centre;
    const double above = centre - (wgi_voxel_edge(grid, axis, n + 1) - shrink);
    const double away = fmax(fmax(below, above), 0.0);
    return away * away;
}

wg_status wg_voxelize_sphere(const wg_voxel_grid* grid, const double centre[3], double radius)
{
    if (!wgi_voxel_grid_fits(grid) || !wgi_positive(radius) || !wgi_voxel_place_fits(radius))
        return WG_ERR_VALUE;
    int32_t begin[3], end[3];
    for (int axis = 0; axis < 3; ++axis) {
        if (!wgi_voxel_place_fits(centre[axis]))
            return WG_ERR_VALUE;
        wgi_voxel_range(
            grid, axis, centre[axis] - radius, centre[axis] + radius, &begin[axis], &end[axis]);
    }
    const double shrink = wgi_voxel_shrink(grid);
    for (int32_t k = begin[2]; k < end[2]; ++k) {
        const double z2 = square_away(grid, 2, k, centre[2], shrink);
        for (int32_t j = begin[1]; j < end[1]; ++j) {
            const double yz2 = z2 + square_away(grid, 1, j, centre[1], shrink);
            for (int32_t i = begin[0]; i < end[0]; ++i)
                if (yz2 + square_away(grid, 0, i, centre[0], shrink) < radius * radius)
                    grid->mark[wgi_voxel_index(grid, i, j, k)] = 1;
        }
    }
    return WG_OK;
}

static double height_at(const wg_terrain* terrain, double x, double y)
{
    const double at[2] = { x, y };
    const int32_t points[2] = { terrain->nx, terrain->ny };
    int32_t low[2], high[2];
    double share[2];
    for (int axis = 0; axis < 2; ++axis) {
        const double last = points[axis] - 1;
        const double place = (at[axis] - terrain->origin[axis]) / terrain->spacing;
        const double inside = fmin(fmax(place, 0.0), last);
        low[axis] = (int32_t)inside;
        high[axis] = low[axis] + 1 < points[axis] ? low[axis] + 1 : low[axis];
        share[axis] = inside - low[axis];
    }
    const double* near = terrain->height + (size_t)low[1] * (size_t)terrain->nx;
    const double* far = terrain->height + (size_t)high[1] * (size_t)terrain->nx;
    const double a = near[low[0]] + share[0] * (near[high[0]] - near[low[0]]);
    const double b = far[low[0]] + share[0] * (far[high[0]] - far[low[0]]);
    return a + share[1] * (b - a);
}

// The next place where the surface may have a maximum after `at` within an interval: a lattice line,
// or the interval's end. On each patch a bilinear surface is highest at a corner of the patch.
static double next_break(double at, double end, double origin, double spacing)
{
    const double line = origin + spacing * (floor((at - origin) / spacing) + 1.0);
    return line > at && line < end ? line : end;
}

static double
highest(const wg_terrain* terrain, double x_begin, double x_end, double y_begin, double y_end)
{
    double best = height_at(terrain, x_begin, y_begin);
    for (double y = y_begin;; y = next_break(y, y_end, terrain->origin[1], terrain->spacing)) {
        for (double x = x_begin;; x = next_break(x, x_end, terrain->origin[0], terrain->spacing)) {
            best = fmax(best, height_at(terrain, x, y));
            if (x >= x_end)
                break;
        }
        if (y >= y_end)
            return best;
    }
}

wg_status wg_voxelize_terrain(const wg_voxel_grid* grid, const wg_terrain* terrain)
{
    if (!wgi_voxel_grid_fits(grid) || terrain->nx < 1 || terrain->ny < 1 ||
        !wgi_positive(terrain->spacing) || !isfinite(terrain->origin[0]) ||
        !isfinite(terrain->origin[1]))
        return WG_ERR_VALUE;
    for (size_t n = 0; n < (size_t)terrain->nx * (size_t)terrain->ny; ++n)
        if (!isfinite(terrain->height[n]))
            return WG_ERR_VALUE;
    const double shrink = wgi_voxel_shrink(grid);
    for (int32_t j = grid->begin[1]; j < grid->end[1]; ++j)
        for (int32_t i = grid->begin[0]; i < grid->end[0]; ++i) {
            const double ground = highest(
                terrain, wgi_voxel_edge(grid, 0, i) + shrink,
                wgi_voxel_edge(grid, 0, i + 1) - shrink, wgi_voxel_edge(grid, 1, j) + shrink,
                wgi_voxel_edge(grid, 1, j + 1) - shrink);
            for (int32_t k = grid->begin[2];
                 k < grid->end[2] && wgi_voxel_edge(grid, 2, k) + shrink < ground; ++k)
                grid->mark[wgi_voxel_index(grid, i, j, k)] = 1;
        }
    return WG_OK;
}
