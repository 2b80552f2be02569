// The direct solver where no cell is solid: tables, and the order of its passes.
//
// Lynch, Rice and Thomas, "Direct solution of partial difference equations by tensor product
// methods", Numerische Mathematik 6, 1964: diagonalise the operator along two axes, solve a
// tridiagonal system along the third for each pair of modes.
#include <math.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/project_solvers.h"

enum { SLAB_GRAIN = 4, ROW_GRAIN = 2 };

static int32_t round_up8(int32_t n)
{
    return (n + 7) / 8 * 8;
}

static void axis_sizes(wgi_direct_axis* axis, int32_t n, bool padded)
{
    axis->size[0] = (n + 1) / 2;
    axis->size[1] = n / 2;
    for (int c = 0; c < 2; ++c)
        axis->padded[c] = padded ? round_up8(axis->size[c]) : axis->size[c];
}

static void carve_axis(wgi_direct_axis* axis, wgi_arena* arena)
{
    size_t modes = 0;
    for (int c = 0; c < 2; ++c) {
        const size_t entries = (size_t)axis->size[c] * (size_t)axis->padded[c];
        axis->forward[c] = wgi_arena_take(arena, entries * sizeof(float));
        axis->inverse[c] = wgi_arena_take(arena, entries * sizeof(float));
        modes += (size_t)axis->padded[c];
    }
    axis->eigenvalue = wgi_arena_take(arena, modes * sizeof(float));
    const size_t cells = (size_t)(axis->size[0] + axis->size[1]);
    axis->quarter = wgi_arena_take(arena, (cells + 3) * sizeof(double));
}

void wgi_direct_carve(wgi_direct* d, const wgi_projection* p, wgi_arena* kept, wgi_arena* work)
{
    const wgi_project_grid* g = &p->grid;
    axis_sizes(&d->x, g->nx, true);
    axis_sizes(&d->z, g->nz, false);
    carve_axis(&d->x, kept);
    carve_axis(&d->z, kept);
    d->row = (size_t)(d->x.padded[0] + d->x.padded[1]);
    d->slab = d->row * (size_t)g->nz;
    d->pivot = wgi_arena_take(kept, d->slab * (size_t)g->ny * sizeof(float));
    d->work = wgi_arena_take(work, d->slab * (size_t)(g->ny > 2 ? g->ny : 2) * sizeof(float));
    d->edge = wgi_arena_take(work, 2 * d->slab * sizeof(float));
}

// Every line of unknowns ends in phi = 0 one step beyond ("fixed"), or in nothing ("free"):
//   fixed-fixed sin(t (j+1)), t = pi (k+1)/(m+1);   free-free cos(t (j+1/2)), t = pi k/m;
//   free-fixed cos(t (j+1/2)), t = pi (2k+1)/(2m+1), and its mirror image.
// The compact Laplacian has sin(t (j+1)), t = pi (2k+c+1)/(n+1), class 0 of which is symmetric about
// the middle. All of them are cosines of whole multiples of one angle, pi / unit:
//   cos(pi (step_k k + offset_k)(step_j j + offset_j) / unit - pi/2 where it is a sine)
typedef struct class_shape {
    int32_t unit;
    int32_t mode_step, mode_offset, cell_step, cell_offset;
    bool sine, mirrored;
    double norm;
} class_shape;

static class_shape wide_shape(int32_t m, bool free_low, bool free_high)
{
    if (!free_low && !free_high)
        return (class_shape){ 2 * (m + 1), 2, 2, 1, 1, true, false, 2.0 / (m + 1) };
    if (free_low && free_high)
        return (class_shape){ 2 * m, 1, 0, 2, 1, false, false, 2.0 / m };
    return (class_shape){ 2 * (2 * m + 1), 2, 1, 2, 1, false, !free_low, 4.0 / (2 * m + 1) };
}

static class_shape compact_shape(int32_t n, int c)
{
    return (class_shape){ 2 * (n + 1), 4, 2 * (c + 1), 1, 1, true, false, 2.0 / (n + 1) };
}

// cos(pi q / unit) for 0 <= q <= unit / 2; the rest follows by symmetry.
static void fill_cosines(double* quarter, int32_t unit)
{
    for (int32_t q = 0; q <= unit / 2; ++q)
        quarter[q] = cos(3.14159265358979323846 * q / unit);
}

// q modulo a whole turn, which is 2 unit.
static int32_t turned(int64_t q, int32_t unit)
{
    const int32_t r = (int32_t)(q % (2 * unit));
    return r < 0 ? r + 2 * unit : r;
}

static double cosine(const double* quarter, int32_t unit, int32_t turn)
{
    const int32_t r = turn > unit ? 2 * unit - turn : turn;
    return 2 * r > unit ? -quarter[unit - r] : quarter[r];
}

// Matrix entries of mode k, for both transforms; the forward one is `scale` times the plain one.
static void fill_mode(
    wgi_direct_axis* axis, int c, int32_t k, class_shape s, const double* quarter, bool x_layout,
    double scale)
{
    const int32_t m = axis->size[c];
    const size_t padded = (size_t)axis->padded[c];
    const int64_t mode = (int64_t)s.mode_step * k + s.mode_offset;
    // A constant mode has twice the norm of the others.
    const double norm = mode == 0 ? 0.5 * s.norm : s.norm;
    const int32_t step = turned(mode * s.cell_step, s.unit);
    int32_t turn = turned(mode * s.cell_offset - (s.sine ? s.unit / 2 : 0), s.unit);
    for (int32_t place = 0; place < m; ++place) {
        const int32_t j = s.mirrored ? m - 1 - place : place;
        const double value = cosine(quarter, s.unit, turn);
        const size_t cell_first = (size_t)j * padded + (size_t)k;
        const size_t mode_first = (size_t)k * padded + (size_t)j;
        axis->forward[c][x_layout ? cell_first : mode_first] = (float)(scale * value);
        axis->inverse[c][x_layout ? mode_first : cell_first] = (float)(norm * value);
        turn += step;
        turn = turn >= 2 * s.unit ? turn - 2 * s.unit : turn;
    }
}

static void fill_class(wgi_direct_axis* axis, int c, int32_t n, bool compact, bool x_layout)
{
    float* eigenvalue = axis->eigenvalue + (c == 0 ? 0 : axis->padded[0]);
    // The right side of the systems along y counts stride^2 times, a power of two.
    const double scale = !compact && !x_layout ? 4.0 : 1.0;
    const int32_t m = axis->size[c], padded = axis->padded[c];
    if (m == 0)
        return;
    // Wide: class 0 starts at cell 1, whose lower edge is missing; the high end mirrors that.
    const bool free_low = c == 0, free_high = (c == 0) == (n % 2 == 1);
    const class_shape s = compact ? compact_shape(n, c) : wide_shape(m, free_low, free_high);
    double* quarter = axis->quarter;
    fill_cosines(quarter, s.unit);
    for (int32_t k = 0; k < m; ++k) {
        // -(2 - 2 cos t), t the angle between neighbouring cells
        const int64_t angle = ((int64_t)s.mode_step * k + s.mode_offset) * s.cell_step;
        eigenvalue[k] = (float)(2.0 * cosine(quarter, s.unit, turned(angle, s.unit)) - 2.0);
        fill_mode(axis, c, k, s, quarter, x_layout, scale);
    }
    for (int32_t k = m; k < padded; ++k) {
        eigenvalue[k] = -1.0f;
        for (int32_t j = 0; j < m; ++j) {
            axis->forward[c][(size_t)j * (size_t)padded + (size_t)k] = 0.0f;
            axis->inverse[c][(size_t)j * (size_t)padded + (size_t)k] = 0.0f;
        }
    }
}

static void fill_axis(wgi_direct_axis* axis, int32_t n, bool compact, bool x_layout)
{
    for (int c = 0; c < 2; ++c)
        fill_class(axis, c, n, compact, x_layout);
}

void wgi_direct_fill(wgi_direct* d, const wgi_projection* p, bool tables)
{
    const wgi_project_grid* g = &p->grid;
    d->projection = p;
    d->stride = p->consistent ? 2 : 1;
    d->has_null = p->consistent && g->nx % 2 == 1 && g->ny % 2 == 1 && g->nz % 2 == 1;
    if (!tables)
        return;
    fill_axis(&d->x, g->nx, !p->consistent, true);
    fill_axis(&d->z, g->nz, !p->consistent, false);
    for (int32_t j = 1; j <= g->ny; ++j)
        wgi_kernels()->direct_pivots(d, j);
    // The last equation of the null mode says 0 = 0: its unknown is set to 0.
    if (d->has_null)
        d->pivot[(size_t)(g->ny - 1) * d->slab] = 0.0f;
}

static void forward_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->direct_forward(context, (int32_t)begin + 1, (int32_t)end + 1, false);
}

static void inverse_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->direct_inverse(context, (int32_t)begin + 1, (int32_t)end + 1, false);
}

static void solve_rows(size_t begin, size_t end, void* context)
{
    wgi_kernels()->direct_rows(context, (int32_t)begin, (int32_t)end);
}

void wgi_direct_solve(wgi_direct* d, const wg_exec* exec, const float* in, float* solution)
{
    d->in = in;
    d->solution = solution;
    memset(d->edge, 0, 2 * d->slab * sizeof(float));
    const size_t ny = (size_t)d->projection->grid.ny, nz = (size_t)d->projection->grid.nz;
    if (!exec || exec->threads <= 1) {
        // One pass over the slabs up and one down, so that each is met while it is in the cache.
        wgi_kernels()->direct_forward(d, 1, (int32_t)ny + 1, true);
        wgi_kernels()->direct_inverse(d, 1, (int32_t)ny + 1, true);
        return;
    }
    wgi_parallel_for(exec, ny, SLAB_GRAIN, forward_slabs, d);
    wgi_parallel_for(exec, nz, ROW_GRAIN, solve_rows, d);
    wgi_parallel_for(exec, ny, SLAB_GRAIN, inverse_slabs, d);
}
