// The direct solver where no cell is solid: tables, and the order of its passes.
//
// Lynch, Rice and Thomas, "Direct solution of partial difference equations by tensor product
// methods", Numerische Mathematik 6, 1964: diagonalise the operator along two axes, solve a
// tridiagonal system along the third for each pair of modes.
#include <math.h>

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
    d->hat = wgi_arena_take(work, d->slab * (size_t)g->ny * sizeof(float));
    d->pivot = wgi_arena_take(work, d->slab * (size_t)g->ny * sizeof(float));
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

static double cosine(const double* quarter, int32_t unit, int64_t q)
{
    int32_t r = (int32_t)(q % (2 * unit));
    r = r < 0 ? r + 2 * unit : r;
    r = r > unit ? 2 * unit - r : r;
    return 2 * r > unit ? -quarter[unit - r] : quarter[r];
}

// Matrix entry of cell j and mode k, for both transforms.
static void fill_mode(
    wgi_direct_axis* axis, int c, int32_t k, class_shape s, const double* quarter, bool x_layout)
{
    const int32_t m = axis->size[c];
    const size_t padded = (size_t)axis->padded[c];
    const int64_t mode = (int64_t)s.mode_step * k + s.mode_offset;
    // A constant mode has twice the norm of the others.
    const double norm = mode == 0 ? 0.5 * s.norm : s.norm;
    for (int32_t j = 0; j < m; ++j) {
        const int32_t place = s.mirrored ? m - 1 - j : j;
        const int64_t q = mode * (s.cell_step * place + s.cell_offset) - (s.sine ? s.unit / 2 : 0);
        const double value = cosine(quarter, s.unit, q);
        const size_t cell_first = (size_t)j * padded + (size_t)k;
        const size_t mode_first = (size_t)k * padded + (size_t)j;
        axis->forward[c][x_layout ? cell_first : mode_first] = (float)value;
        axis->inverse[c][x_layout ? mode_first : cell_first] = (float)(norm * value);
    }
}

static void
fill_class(wgi_direct_axis* axis, int c, int32_t n, bool compact, bool x_layout, float* eigenvalue)
{
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
        eigenvalue[k] = (float)(2.0 * cosine(quarter, s.unit, angle) - 2.0);
        fill_mode(axis, c, k, s, quarter, x_layout);
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
    fill_class(axis, 0, n, compact, x_layout, axis->eigenvalue);
    fill_class(axis, 1, n, compact, x_layout, axis->eigenvalue + axis->padded[0]);
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
}

static void forward_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->direct_forward(context, (int32_t)begin + 1, (int32_t)end + 1);
}

static void inverse_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->direct_inverse(context, (int32_t)begin + 1, (int32_t)end + 1);
}

static void solve_rows(size_t begin, size_t end, void* context)
{
    const wgi_direct* d = context;
    const int32_t ny = d->projection->grid.ny;
    for (int32_t j = 1; j <= ny; ++j)
        wgi_kernels()->direct_eliminate(d, j, (int32_t)begin, (int32_t)end);
    for (int32_t j = ny; j >= 1; --j)
        wgi_kernels()->direct_substitute(d, j, (int32_t)begin, (int32_t)end);
}

// One pass over the slabs up and one down, so that each is met while it is in the cache. The
// transform back of a slab uses its place in `pivot` and `hat`, which the slabs `stride` below still
// need: it trails by that much.
static void solve_fused(const wgi_direct* d)
{
    const wgi_kernel_table* kernels = wgi_kernels();
    const int32_t ny = d->projection->grid.ny, nz = d->projection->grid.nz;
    for (int32_t j = 1; j <= ny; ++j) {
        kernels->direct_forward(d, j, j + 1);
        kernels->direct_eliminate(d, j, 0, nz);
    }
    for (int32_t j = ny; j > -d->stride; --j) {
        if (j >= 1)
            kernels->direct_substitute(d, j, 0, nz);
        if (j + d->stride <= ny)
            kernels->direct_inverse(d, j + d->stride, j + d->stride + 1);
    }
}

void wgi_direct_solve(wgi_direct* d, const wg_exec* exec, const float* in, float* solution)
{
    d->in = in;
    d->solution = solution;
    if (!exec || exec->threads <= 1) {
        solve_fused(d);
        return;
    }
    const size_t ny = (size_t)d->projection->grid.ny, nz = (size_t)d->projection->grid.nz;
    wgi_parallel_for(exec, ny, SLAB_GRAIN, forward_slabs, d);
    wgi_parallel_for(exec, nz, ROW_GRAIN, solve_rows, d);
    wgi_parallel_for(exec, ny, SLAB_GRAIN, inverse_slabs, d);
}
