// Exchange between the grids of the cascade, and where they belong.
#include "windgrove/cascade.h"

#include <math.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/grid.h"

// Half-integers round up, so that equal focus points always give equal places.
static int64_t nearest(double x)
{
    return (int64_t)floor(x + 0.5);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int64_t
place_axis(double focus, int32_t cells, double spacing, double floor_height, const int64_t* parent)
{
    const int64_t unit = parent ? 2 : 1;
    const double target = focus / spacing - 0.5 * (double)cells;
    int64_t low = unit * nearest(target / (double)unit);
    if (isfinite(floor_height)) {
        const int64_t ground = unit * nearest(floor_height / (spacing * (double)unit));
        low = low < ground ? ground : low;
    }
    return parent ? clamp(low, 2 * *parent, 2 * *parent + cells) : low;
}

wg_status wg_cascade_place(
    const double focus[3], const int32_t cells[3], int32_t levels, double spacing, double floor,
    int64_t* low)
{
    if (levels < 1 || levels > WG_MAX_LEVELS || !(spacing > 0.0) || !isfinite(spacing))
        return WG_ERR_VALUE;
    for (int axis = 0; axis < 3; ++axis)
        // Within 2^50 cells of the origin every index and every centre is exact.
        if (!(fabs(focus[axis]) < spacing * 0x1p50) || cells[axis] < 4 || cells[axis] % 2 != 0)
            return WG_ERR_VALUE;
    for (int32_t level = levels - 1; level >= 0; --level) {
        const double size = ldexp(spacing, level);
        const int64_t* parent = level + 1 < levels ? low + 3 * (level + 1) : NULL;
        for (int axis = 0; axis < 3; ++axis)
            low[3 * level + axis] = place_axis(
                focus[axis], cells[axis], size, axis == 2 ? floor : (double)NAN,
                parent ? parent + axis : NULL);
    }
    return WG_OK;
}

// A fine centre lies a quarter of a coarse cell on one side of the centre of the coarse cell that
// holds it: the near one counts 3/4, the neighbour on that side 1/4.
typedef struct coarse_pair {
    int32_t near, far;
} coarse_pair;

static coarse_pair pair_of(int64_t fine_cell, int64_t coarse_first, int32_t coarse_count)
{
    const int64_t half = fine_cell >= 0 ? fine_cell / 2 : -((1 - fine_cell) / 2);
    const int64_t near = half - coarse_first;
    const int64_t far = fine_cell - 2 * half == 0 ? near - 1 : near + 1;
    return (coarse_pair){ (int32_t)clamp(near, 0, coarse_count - 1),
                          (int32_t)clamp(far, 0, coarse_count - 1) };
}

static coarse_pair axis_pair(const wg_grid* fine, const wg_grid* coarse, int axis, int32_t n)
{
    const int32_t size = axis == 0 ? coarse->nx : axis == 1 ? coarse->ny : coarse->nz;
    return pair_of(fine->low[axis] - 1 + n, coarse->low[axis] - 1, size);
}

// This form gives back a constant to the bit.
static float toward(float near, float far)
{
    return near + 0.25f * (far - near);
}

void wgi_coarser_row(
    const wg_grid* fine, const wg_grid* coarse, int32_t i, int32_t j, int32_t k, int32_t count)
{
    const coarse_pair y = axis_pair(fine, coarse, 1, j), z = axis_pair(fine, coarse, 2, k);
    const size_t row[4] = { wgi_grid_index(coarse, 0, y.near, z.near),
                            wgi_grid_index(coarse, 0, y.far, z.near),
                            wgi_grid_index(coarse, 0, y.near, z.far),
                            wgi_grid_index(coarse, 0, y.far, z.far) };
    const size_t fine_cells = wgi_grid_cells(fine), coarse_cells = wgi_grid_cells(coarse);
    const size_t at = wgi_grid_index(fine, i, j, k);
    for (int32_t n = 0; n < count; ++n) {
        if (fine->solid && fine->solid[at + (size_t)n])
            continue;
        const coarse_pair x = axis_pair(fine, coarse, 0, i + n);
        for (int c = 0; c < 3; ++c) {
            const float* v = coarse->velocity + (size_t)c * coarse_cells;
            float line[4];
            for (int r = 0; r < 4; ++r)
                line[r] = toward(v[row[r] + (size_t)x.near], v[row[r] + (size_t)x.far]);
            fine->velocity[(size_t)c * fine_cells + at + (size_t)n] =
                toward(toward(line[0], line[1]), toward(line[2], line[3]));
        }
    }
}

typedef struct exchange_job {
    const wg_grid *fine, *coarse;
} exchange_job;

static void border_slabs(size_t begin, size_t end, void* context)
{
    const exchange_job* job = context;
    const wg_grid* fine = job->fine;
    for (int32_t k = (int32_t)begin; k < (int32_t)end; ++k)
        for (int32_t j = 0; j < fine->ny; ++j) {
            const bool whole = k == 0 || k == fine->nz - 1 || j == 0 || j == fine->ny - 1;
            wgi_coarser_row(fine, job->coarse, 0, j, k, whole ? fine->nx : 1);
            if (!whole)
                wgi_coarser_row(fine, job->coarse, fine->nx - 1, j, k, 1);
        }
}

void wg_cascade_inner_border(const wg_grid* fine, const wg_grid* coarse, const wg_exec* exec)
{
    exchange_job job = { fine, coarse };
    wgi_parallel_for(exec, (size_t)fine->nz, 2, border_slabs, &job);
}

// Sums in pairs: eight equal values give their mean exactly.
static float mean_of_air(const float* v, const size_t cell[8], const uint8_t* solid, int air)
{
    float sum[8];
    for (int n = 0; n < 8; ++n)
        sum[n] = solid && solid[cell[n]] ? 0.0f : v[cell[n]];
    const float total =
        ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    return air == 8 ? 0.125f * total : total / (float)air;
}

static void restrict_cell(
    const exchange_job* job, size_t coarse_at, int32_t fine_i, int32_t fine_j, int32_t fine_k)
{
    const wg_grid *fine = job->fine, *coarse = job->coarse;
    size_t cell[8];
    int air = 0;
    for (int n = 0; n < 8; ++n) {
        cell[n] = wgi_grid_index(fine, fine_i + (n & 1), fine_j + (n >> 1 & 1), fine_k + (n >> 2));
        air += !(fine->solid && fine->solid[cell[n]]);
    }
    if (air == 0)
        return;
    for (int c = 0; c < 3; ++c)
        coarse->velocity[(size_t)c * wgi_grid_cells(coarse) + coarse_at] =
            mean_of_air(fine->velocity + (size_t)c * wgi_grid_cells(fine), cell, fine->solid, air);
}

static void restrict_slabs(size_t begin, size_t end, void* context)
{
    const exchange_job* job = context;
    const wg_grid *fine = job->fine, *coarse = job->coarse;
    int32_t first[3];
    for (int axis = 0; axis < 3; ++axis)
        first[axis] = (int32_t)(fine->low[axis] / 2 - coarse->low[axis]) + 1;
    for (int32_t k = (int32_t)begin; k < (int32_t)end; ++k)
        for (int32_t j = 0; j < (fine->ny - 2) / 2; ++j)
            for (int32_t i = 0; i < (fine->nx - 2) / 2; ++i) {
                const size_t at = wgi_grid_index(coarse, first[0] + i, first[1] + j, first[2] + k);
                if (!(coarse->solid && coarse->solid[at]))
                    restrict_cell(job, at, 2 * i + 1, 2 * j + 1, 2 * k + 1);
            }
}

void wg_cascade_restrict(const wg_grid* coarse, const wg_grid* fine, const wg_exec* exec)
{
    exchange_job job = { fine, coarse };
    wgi_parallel_for(exec, (size_t)(fine->nz - 2) / 2, 1, restrict_slabs, &job);
}
