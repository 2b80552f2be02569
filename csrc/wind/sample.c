#include "windgrove/flow.h"

#include <math.h>

#include "support/kernel_table.h"
#include "support/parallel.h"
#include "wind/sample_lanes.h"

// Points a thread takes at a time: some 20 microseconds of work.
enum { POINTS_GRAIN = 512, CELLS_GRAIN = 8192 };

// Floats are counted in 32 bits.
enum { MOST_CELLS = 1 << 29 };

static bool finite3(const double v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

// The lower cell, the step to the upper one (0 at the end) and the fraction between them.
static size_t place_in_axis(double coordinate, int32_t cells, size_t* step, float* fraction)
{
    const double last = (double)cells - 1.0;
    double inside = coordinate > 0.0 ? coordinate : 0.0;
    inside = inside < last ? inside : last;
    const size_t low = (size_t)inside;
    *step = low + 1 < (size_t)cells ? 1 : 0;
    *fraction = isnan(coordinate) ? NAN : (float)(inside - (double)low);
    return low;
}

static float lerp(float a, float b, float t)
{
    return a + t * (b - a);
}

typedef struct sample_job {
    const wg_field_view* field;
    const double* points;
    float* out;
} sample_job;

static void sample_points(size_t begin, size_t end, void* context)
{
    const sample_job* job = context;
    const wg_field_view* field = job->field;
    const size_t nx = (size_t)field->nx, slab = nx * (size_t)field->ny;
    const size_t component = slab * (size_t)field->nz, count = (size_t)field->components;

    for (size_t n = begin; n < end; ++n) {
        size_t low[3], step[3];
        float t[3];
        const int32_t cells[3] = { field->nx, field->ny, field->nz };
        for (int axis = 0; axis < 3; ++axis) {
            const double cell =
                (job->points[3 * n + (size_t)axis] - field->origin[axis]) / field->spacing - 0.5;
            low[axis] = place_in_axis(cell, cells[axis], &step[axis], &t[axis]);
        }
        const float* corner = field->values + low[2] * slab + low[1] * nx + low[0];
        const size_t sx = step[0], sy = step[1] * nx, sz = step[2] * slab;
        for (size_t c = 0; c < count; ++c, corner += component) {
            const float* upper = corner + sz;
            const float below = lerp(
                lerp(corner[0], corner[sx], t[0]), lerp(corner[sy], corner[sy + sx], t[0]), t[1]);
            const float above =
                lerp(lerp(upper[0], upper[sx], t[0]), lerp(upper[sy], upper[sy + sx], t[0]), t[1]);
            job->out[n * count + c] = lerp(below, above, t[2]);
        }
    }
}

wg_status wg_sample(
    const wg_field_view* field, const double* points, size_t count, float* out, const wg_exec* exec)
{
    if (!wgi_size_fits(field->nx, field->ny, field->nz, 1) || field->components < 1 ||
        !wgi_positive(field->spacing) || !finite3(field->origin))
        return WG_ERR_VALUE;
    sample_job job = { field, points, out };
    wgi_parallel_for(exec, count, POINTS_GRAIN, sample_points, &job);
    return WG_OK;
}

bool wgi_wind_view_fits(const wg_wind_view* view)
{
    if (view->level_count < 0 || view->level_count > WG_MAX_LEVELS)
        return false;
    for (int32_t n = 0; n < view->level_count; ++n) {
        const wg_grid_view* grid = &view->level[n];
        if (!wgi_size_fits(grid->nx, grid->ny, grid->nz, 3) || !wgi_positive(grid->spacing) ||
            !finite3(grid->origin))
            return false;
    }
    const wg_prevailing* outside = &view->outside;
    if (outside->profile == WG_PROFILE_NONE)
        return true;
    return (outside->profile == WG_PROFILE_LOG || outside->profile == WG_PROFILE_POWER) &&
           isfinite(outside->ground) && wgi_positive(outside->reference_height) &&
           wgi_positive(outside->parameter);
}

typedef struct cells_job {
    const float *x, *y, *z;
    float* out;
} cells_job;

static void gather_cells(size_t begin, size_t end, void* context)
{
    const cells_job* job = context;
    const float* restrict x = job->x, * restrict y = job->y, * restrict z = job->z;
    float* restrict out = job->out;
    for (size_t n = begin; n < end; ++n) {
        out[4 * n] = x[n];
        out[4 * n + 1] = y[n];
        out[4 * n + 2] = z[n];
        out[4 * n + 3] = 0.0f;
    }
}

wg_status wg_wind_cells(const wg_grid_view* grid, float* out, const wg_exec* exec)
{
    const size_t cells = (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
    if (!wgi_size_fits(grid->nx, grid->ny, grid->nz, 3) || cells > MOST_CELLS)
        return WG_ERR_VALUE;
    cells_job job = { grid->velocity, grid->velocity + cells, grid->velocity + 2 * cells, out };
    wgi_parallel_for(exec, cells, CELLS_GRAIN, gather_cells, &job);
    return WG_OK;
}

wg_status wg_wind_sample(
    const wg_wind_view* wind, const double* points, size_t count, float* out, const wg_exec* exec)
{
    if (!wgi_wind_view_fits(wind))
        return WG_ERR_VALUE;
    wgi_lane_wind lanes;
    wgi_lane_wind_init(wind, &lanes);
    wgi_wind_sample_job job = { &lanes, points, count, out };
    wgi_parallel_for(exec, (count + 7) / 8, POINTS_GRAIN / 8, wgi_kernels()->wind_sample, &job);
    return WG_OK;
}
