// The vector work of conjugate gradients on a lattice, and the way between its two layouts.
#include "wind/project_kernels.h"

#include "wind/project_lattice_rows.h"

// ---- layouts -------------------------------------------------------------------------------

WGI_INLINE void split_row(
    const wgi_lattice* l, const float* whole, wgf8 factor, const wgi_halves* out, int32_t j,
    int32_t k)
{
    const int32_t odd = (j + k) & 1;
    const size_t from = wgi_project_cell(&l->grid, 1, j, k);
    const size_t to = wgi_project_cell(&l->half, 1, j, k);
    for (int32_t h = 0; h < l->half.nx; h += 8) {
        const float* at = whole + from + 2 * (size_t)h;
        const wgf8 first = wgf8_load(at);
        const wgf8 second = 2 * h + 8 < l->grid.nx ? wgf8_load(at + 8) : wgf8_set(0.0f);
        wgf8_store(out->colour[odd] + to + h, factor * wgi_odd_places(first, second));
        wgf8_store(out->colour[1 - odd] + to + h, factor * wgi_even_places(first, second));
    }
}

/// Takes a field of all cells, 0 beside them, apart into its colours, times `factor`.
void WGI_ISA(lattice_split)(
    const wgi_lattice* l, const float* whole, float factor, const wgi_halves* out, int32_t begin,
    int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= l->grid.nz; ++k)
            split_row(l, whole, wgf8_set(factor), out, j, k);
}

// Every second of sixteen values, from the first.
WGI_INLINE wgf8 every_other(const float* at)
{
    return wgi_odd_places(wgf8_load(at), wgf8_load(at + 8));
}

/// Takes the cells of one lattice out of a field of the whole grid, times -4, into b. Slab sums of
/// their squares.
void WGI_ISA(lattice_deal)(
    const wgi_lattice* l, const wgi_project_grid* g, const float* whole, const int32_t parity[3],
    double* slab_sums, int32_t begin, int32_t end)
{
    const wgi8 lane = { 0, 2, 4, 6, 8, 10, 12, 14 };
    const wgf8 factor = wgf8_set(-4.0f), zero = wgf8_set(0.0f);
    for (int32_t j = begin; j < end; ++j) {
        wgi_slab_sum sum = wgi_no_sum();
        for (int32_t k = 1; k <= l->grid.nz; ++k) {
            const float* from =
                whole +
                wgi_project_cell(g, 1 + parity[0], 2 * j - 1 + parity[1], 2 * k - 1 + parity[2]);
            const size_t to = wgi_project_cell(&l->half, 1, j, k);
            const int32_t odd = (j + k) & 1;
            for (int32_t h = 0; h < l->half.nx; h += 8) {
                const float* at = from + 4 * (size_t)h;
                const wgf8 first = every_other(at), second = every_other(at + 16);
                const int32_t left = l->grid.nx - 2 * h;
                const wgf8 a = wgf8_select(
                    lane < wgi8_set(left), factor * wgi_odd_places(first, second), zero);
                const wgf8 b = wgf8_select(
                    lane < wgi8_set(left - 1), factor * wgi_even_places(first, second), zero);
                wgf8_store(l->b[odd] + to + h, a);
                wgf8_store(l->b[1 - odd] + to + h, b);
                wgi_sum_product(&sum, a, a);
                wgi_sum_product(&sum, b, b);
            }
        }
        slab_sums[j - 1] = wgi_slab_total(&sum);
    }
}

// Cells without an open face keep what `whole` holds, a phi that no equation knows.
WGI_INLINE void join_row(
    const wgi_lattice* l, const wgi_halves* from, float* whole, int32_t j, int32_t k,
    const wgi_edge_kind kind)
{
    const int32_t odd = (j + k) & 1;
    const size_t to = wgi_project_cell(&l->grid, 1, j, k);
    const size_t at = wgi_project_cell(&l->half, 1, j, k);
    for (int32_t h = 0; h < l->half.nx; h += 8) {
        const size_t out = to + 2 * (size_t)h;
        const wgf8 o = wgf8_load(from->colour[odd] + at + h);
        const wgf8 e = wgf8_load(from->colour[1 - odd] + at + h);
        const wgf8 value[2] = { wgf8_shuffle(o, e, 0, 8, 1, 9, 2, 10, 3, 11),
                                wgf8_shuffle(o, e, 4, 12, 5, 13, 6, 14, 7, 15) };
        const size_t vectors = 2 * h + 8 < l->grid.nx ? 2 : 1;
        for (size_t n = 0; n < vectors; ++n) {
            const wgi8 none = kind == WGI_COUNTED
                                  ? wgi_counts(l->counts + out + 8 * n) == wgi8_set(0)
                                  : wgi8_set(0);
            const wgf8 before = wgf8_load(whole + out + 8 * n);
            wgf8_store(whole + out + 8 * n, wgf8_select(none, before, value[n]));
        }
    }
}

WGI_INLINE void join_slab(
    const wgi_lattice* l, const wgi_halves* from, float* whole, int32_t j, const wgi_edge_kind kind)
{
    for (int32_t k = 1; k <= l->grid.nz; ++k)
        join_row(l, from, whole, j, k, kind);
}

/// Puts a field's colours together.
void WGI_ISA(lattice_join)(
    const wgi_lattice* l, const wgi_halves* from, float* whole, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(l, join_slab, l, from, whole, j)
}

// ---- conjugate gradients -------------------------------------------------------------------

typedef struct image_sums {
    wgi_slab_sum curvature, descent;
} image_sums;

WGI_INLINE void apply_side(
    const wgi_cg* cg, const int32_t colour, int32_t j, image_sums* sums, const wgi_edge_kind kind)
{
    const wgi_lattice* l = cg->lattice;
    wgi_side s = wgi_lattice_side(l, colour);
    s.x = cg->direction.colour[colour];
    s.other = cg->direction.colour[1 - colour];
    float* image = cg->image.colour[colour];
    const size_t first = wgi_project_cell(&l->half, 1, j, 1);
    const int32_t nx = l->half.nx, nz = l->half.nz;
    for (int32_t k = 0; k < nz; ++k)
        for (int32_t h = 0; h < nx; h += 8) {
            const size_t at = first + (size_t)k * s.pitch + (size_t)h;
            const wgf8 p = wgf8_load(s.x + at);
            const wgf8 around = wgi_lattice_around(s, (j + k + 1) & 1, at, kind);
            const wgf8 q = -wgi_lattice_masked(s, at, around, p, kind);
            wgf8_store(image + at, q);
            wgi_sum_product(&sums->curvature, p, q);
            wgi_sum_product(&sums->descent, p, wgf8_load(s.b + at));
        }
}

WGI_INLINE void apply_slab(const wgi_cg* cg, int32_t j, const wgi_edge_kind kind)
{
    image_sums sums = { wgi_no_sum(), wgi_no_sum() };
    apply_side(cg, 0, j, &sums, kind);
    apply_side(cg, 1, j, &sums, kind);
    cg->slab_sums[0][j - 1] = wgi_slab_total(&sums.curvature);
    cg->slab_sums[1][j - 1] = wgi_slab_total(&sums.descent);
}

/// image = A direction; slab sums of direction . image and direction . residual.
void WGI_ISA(cg_apply)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(cg->lattice, apply_slab, cg, j)
}

// The rows of one slab.
typedef struct slab_rows {
    size_t first, pitch;
    int32_t nx, nz;
} slab_rows;

WGI_INLINE slab_rows rows_of(const wgi_cg* cg, int32_t j)
{
    const wgi_project_grid* g = &cg->lattice->half;
    return (slab_rows){ wgi_project_cell(g, 1, j, 1), g->pitch, g->nx, g->nz };
}

#define FOR_EACH_EIGHT(rows, at)                                                                   \
    for (int32_t k_ = 0; k_ < (rows).nz; ++k_)                                                     \
        for (size_t at = (rows).first + (size_t)k_ * (rows).pitch, end_ = at + (size_t)(rows).nx;  \
             at < end_; at += 8)

/// solution += factor direction, residual -= factor image; slab sums of the residual's squares.
void WGI_ISA(cg_advance)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    const wgf8 step = wgf8_set(cg->factor);
    for (int32_t j = begin; j < end; ++j) {
        const slab_rows rows = rows_of(cg, j);
        wgi_slab_sum sum = wgi_no_sum();
        for (int colour = 0; colour < 2; ++colour) {
            float *solution = cg->solution.colour[colour], *residual = cg->lattice->b[colour];
            const float* direction = cg->direction.colour[colour];
            const float* image = cg->image.colour[colour];
            FOR_EACH_EIGHT(rows, at)
            {
                wgf8_store(
                    solution + at, wgf8_load(solution + at) + step * wgf8_load(direction + at));
                const wgf8 r = wgf8_load(residual + at) - step * wgf8_load(image + at);
                wgf8_store(residual + at, r);
                wgi_sum_product(&sum, r, r);
            }
        }
        cg->slab_sums[0][j - 1] = wgi_slab_total(&sum);
    }
}

/// Slab sums of preconditioned . image.
void WGI_ISA(cg_dot)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        const slab_rows rows = rows_of(cg, j);
        wgi_slab_sum sum = wgi_no_sum();
        for (int colour = 0; colour < 2; ++colour) {
            const float *x = cg->lattice->x[colour], *image = cg->image.colour[colour];
            FOR_EACH_EIGHT(rows, at)
            wgi_sum_product(&sum, wgf8_load(x + at), wgf8_load(image + at));
        }
        cg->slab_sums[0][j - 1] = wgi_slab_total(&sum);
    }
}

/// direction = preconditioned - factor direction.
void WGI_ISA(cg_turn)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    const wgf8 factor = wgf8_set(cg->factor);
    for (int32_t j = begin; j < end; ++j) {
        const slab_rows rows = rows_of(cg, j);
        for (int colour = 0; colour < 2; ++colour) {
            const float* preconditioned = cg->lattice->x[colour];
            float* direction = cg->direction.colour[colour];
            FOR_EACH_EIGHT(rows, at)
            wgf8_store(
                direction + at,
                wgf8_load(preconditioned + at) - factor * wgf8_load(direction + at));
        }
    }
}
