// Exchange between the grids of the cascade, and where they belong.
#include "windgrove/cascade.h"

#include <math.h>
#include <string.h>

#include "support/kernel_table.h"
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
    if (isfinite(floor) && !(fabs(floor) < spacing * 0x1p50))
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

static coarse_pair axis_pair(const wg_grid* fine, const wg_grid* coarse, int axis, int32_t n)
{
    const int64_t cell = fine->low[axis] - 1 + n;
    const int64_t half = cell >= 0 ? cell / 2 : -((1 - cell) / 2);
    const int64_t near = half - (coarse->low[axis] - 1);
    return (coarse_pair){ (int32_t)near, (int32_t)(cell == 2 * half ? near - 1 : near + 1) };
}

// This form gives back a constant to the bit.
static float toward(float near, float far)
{
    return near + 0.25f * (far - near);
}

enum { LINE_CHUNK = 128 };

// Blends four coarse lines: along the other horizontal axis first, then along z.
static inline void
blend_lines(const float* v, const size_t line[4], size_t stride, int32_t width, float* out)
{
    const float *a = v + line[0], *b = v + line[1], *c = v + line[2], *d = v + line[3];
    for (size_t n = 0; n < (size_t)width; ++n)
        out[n] = toward(toward(a[n * stride], b[n * stride]), toward(c[n * stride], d[n * stride]));
}

// Fine values from the blended coarse ones: `line` begins at coarse index `base`.
static void
spread_line(const float* line, coarse_pair first, int32_t base, int32_t count, float* out)
{
    const float* near = line + (first.near - base);
    int32_t n = 0;
    // A first fine centre on the far side of its coarse cell stands alone.
    if (first.far > first.near) {
        out[n++] = toward(near[0], near[1]);
        ++near;
    }
    for (; n + 1 < count; n += 2, ++near) {
        out[n] = toward(near[0], near[-1]);
        out[n + 1] = toward(near[0], near[1]);
    }
    if (n < count)
        out[n] = toward(near[0], near[-1]);
}

static void
store_line(const float* values, int32_t count, size_t stride, const uint8_t* solid, float* out)
{
    if (!solid) {
        for (size_t n = 0; n < (size_t)count; ++n)
            out[n * stride] = values[n];
        return;
    }
    // Without a branch: where houses begin and end cannot be foreseen.
    for (size_t n = 0; n < (size_t)count; ++n) {
        const float old = out[n * stride];
        out[n * stride] = solid[n * stride] ? old : values[n];
    }
}

static void coarser_chunk(
    const wg_grid* fine, const wg_grid* coarse, int axis, const int32_t from[3], int32_t count)
{
    const int other = 1 - axis;
    const coarse_pair first = axis_pair(fine, coarse, axis, from[axis]);
    const coarse_pair last = axis_pair(fine, coarse, axis, from[axis] + count - 1);
    const coarse_pair o = axis_pair(fine, coarse, other, from[other]);
    const coarse_pair z = axis_pair(fine, coarse, 2, from[2]);
    const int32_t base = first.near < first.far ? first.near : first.far;
    const int32_t width = (last.near > last.far ? last.near : last.far) - base + 1;
    const int32_t sides[4][2] = {
        { o.near, z.near }, { o.far, z.near }, { o.near, z.far }, { o.far, z.far }
    };
    size_t line[4];
    for (int n = 0; n < 4; ++n)
        line[n] = axis == 0 ? wgi_grid_index(coarse, base, sides[n][0], sides[n][1])
                            : wgi_grid_index(coarse, sides[n][0], base, sides[n][1]);
    const size_t at = wgi_grid_index(fine, from[0], from[1], from[2]);
    const uint8_t* solid = fine->solid ? fine->solid + at : NULL;
    const size_t fine_stride = axis == 0 ? 1 : (size_t)fine->nx;
    float blended[LINE_CHUNK / 2 + 3], values[LINE_CHUNK];
    for (size_t c = 0; c < 3; ++c) {
        const float* v = coarse->velocity + c * wgi_grid_cells(coarse);
        if (axis == 0)
            blend_lines(v, line, 1, width, blended);
        else
            blend_lines(v, line, (size_t)coarse->nx, width, blended);
        spread_line(blended, first, base, count, values);
        store_line(
            values, count, fine_stride, solid, fine->velocity + c * wgi_grid_cells(fine) + at);
    }
}

void wgi_coarser_line(
    const wg_grid* fine, const wg_grid* coarse, int axis, const int32_t from[3], int32_t count)
{
    int32_t start[3] = { from[0], from[1], from[2] };
    for (int32_t done = 0; done < count; done += LINE_CHUNK) {
        const int32_t rest = count - done;
        coarser_chunk(fine, coarse, axis, start, rest < LINE_CHUNK ? rest : LINE_CHUNK);
        start[axis] += LINE_CHUNK;
    }
}

typedef struct exchange_job {
    const wg_grid *fine, *coarse;
} exchange_job;

static void border_slabs(size_t begin, size_t end, void* context)
{
    const exchange_job* job = context;
    const wg_grid *fine = job->fine, *coarse = job->coarse;
    for (int32_t k = (int32_t)begin; k < (int32_t)end; ++k) {
        const bool whole = k == 0 || k == fine->nz - 1;
        for (int32_t j = 0; j < fine->ny; j += whole ? 1 : fine->ny - 1)
            wgi_coarser_line(fine, coarse, 0, (int32_t[]){ 0, j, k }, fine->nx);
        if (whole)
            continue;
        for (int32_t i = 0; i < fine->nx; i += fine->nx - 1)
            wgi_coarser_line(fine, coarse, 1, (int32_t[]){ i, 1, k }, fine->ny - 2);
    }
}

void wg_cascade_inner_border(const wg_grid* fine, const wg_grid* coarse, const wg_exec* exec)
{
    exchange_job job = { fine, coarse };
    wgi_parallel_for(exec, (size_t)fine->nz, 2, border_slabs, &job);
}

static void restrict_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->restrict_slabs(context, (int32_t)begin, (int32_t)end);
}

void wg_cascade_restrict(const wg_grid* coarse, const wg_grid* fine, const wg_exec* exec)
{
    wgi_restrict_job job = { .fine = fine->velocity,
                             .fine_solid = fine->solid,
                             .coarse = coarse->velocity,
                             .coarse_solid = coarse->solid,
                             .nx = fine->nx,
                             .ny = fine->ny,
                             .fine_cells = wgi_grid_cells(fine),
                             .coarse_cells = wgi_grid_cells(coarse),
                             .coarse_nx = coarse->nx,
                             .coarse_ny = coarse->ny };
    for (int axis = 0; axis < 3; ++axis)
        job.first[axis] = (int32_t)(fine->low[axis] / 2 - coarse->low[axis]) + 1;
    wgi_parallel_for(exec, (size_t)(fine->nz - 2) / 2, 1, restrict_slabs, &job);
}
