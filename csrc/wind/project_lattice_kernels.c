// Smoothing, residuals and transfers of the multigrid, and the vector work of conjugate gradients.
//
// A sweep over one colour computes all eight lanes and keeps those of the colour. Transfers are
// trilinear between cell centres: weights 3/4 and 1/4 along each axis; restriction is the transpose.
#include "wind/project_kernels.h"

#include "wind/project_stencil.h"

WGI_INLINE wgf8 reciprocals(const wgi_lattice* l, size_t at, const bool counted)
{
    if (!counted)
        return wgf8_load(l->reciprocal + at);
    return wgi_reciprocals(l->open + at);
}

WGI_INLINE wgf8 diagonals(const wgi_lattice* l, size_t at, const bool counted)
{
    return counted ? wgf8_from_int(wgi_counts(l->open + at)) : wgf8_load(l->diagonal + at);
}

// Weighted sum over the six neighbours, each axis' pair first.
WGI_INLINE wgf8 neighbours(const wgi_lattice* l, const float* x, size_t at, const bool counted)
{
    const size_t step[3] = { 1, l->grid.slab, l->grid.pitch };
    wgf8 pair[3];
    for (int axis = 0; axis < 3; ++axis) {
        wgf8 low = wgf8_load(x + at - step[axis]), high = wgf8_load(x + at + step[axis]);
        if (!counted) {
            low = low * wgf8_load(l->weight[axis] + at);
            high = high * wgf8_load(l->weight[axis] + at + step[axis]);
        }
        pair[axis] = low + high;
    }
    return (pair[0] + pair[1]) + pair[2];
}

// ---- smoothing -----------------------------------------------------------------------------

WGI_INLINE void start_rows(const wgi_lattice* l, int32_t begin, int32_t end, const bool counted)
{
    const wgi_project_grid* g = &l->grid;
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const wgi8 mine = wgi_colour_lanes(j, k, 0);
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                const wgf8 x = wgf8_load(l->b + at) * reciprocals(l, at, counted);
                wgf8_store(l->x + at, wgf8_select(mine, x, wgf8_set(0.0f)));
            }
        }
}

// The first half sweep from x = 0: colour 0 solved, colour 1 still zero.
void WGI_ISA(lattice_start)(const wgi_lattice* l, int32_t begin, int32_t end)
{
    if (l->counted)
        start_rows(l, begin, end, true);
    else
        start_rows(l, begin, end, false);
}

// Up a column: along a row the neighbours would be loaded from a vector that has just been stored,
// and wait for it. The vector below is taken as it was before its own update, which has not changed
// the lanes of the other colour.
WGI_INLINE void
sweep_column(const wgi_lattice* l, int32_t colour, int32_t j, size_t at, const bool counted)
{
    const size_t step[3] = { 1, l->grid.slab, l->grid.pitch };
    wgf8 below = wgf8_load(l->x + at - step[2]), here = wgf8_load(l->x + at);
    for (int32_t k = 1; k <= l->grid.nz; ++k, at += step[2]) {
        const wgf8 above = wgf8_load(l->x + at + step[2]);
        wgf8 low[3] = { wgf8_load(l->x + at - step[0]), wgf8_load(l->x + at - step[1]), below };
        wgf8 high[3] = { wgf8_load(l->x + at + step[0]), wgf8_load(l->x + at + step[1]), above };
        for (int axis = 0; axis < 3 && !counted; ++axis) {
            low[axis] = low[axis] * wgf8_load(l->weight[axis] + at);
            high[axis] = high[axis] * wgf8_load(l->weight[axis] + at + step[axis]);
        }
        const wgf8 around = ((low[0] + high[0]) + (low[1] + high[1])) + (low[2] + high[2]);
        const wgf8 x = (wgf8_load(l->b + at) + around) * reciprocals(l, at, counted);
        wgf8_store(l->x + at, wgf8_select(wgi_colour_lanes(j, k, colour), x, here));
        below = here;
        here = above;
    }
}

WGI_INLINE void
sweep_slabs(const wgi_lattice* l, int32_t colour, int32_t begin, int32_t end, const bool counted)
{
    for (int32_t j = begin; j < end; ++j)
        for (int32_t i = 0; i < l->grid.nx; i += 8)
            sweep_column(l, colour, j, wgi_project_cell(&l->grid, i + 1, j, 1), counted);
}

void WGI_ISA(lattice_sweep)(const wgi_lattice* l, int32_t colour, int32_t begin, int32_t end)
{
    if (l->counted)
        sweep_slabs(l, colour, begin, end, true);
    else
        sweep_slabs(l, colour, begin, end, false);
}

WGI_INLINE void residual_rows(const wgi_lattice* l, int32_t begin, int32_t end, const bool counted)
{
    const wgi_project_grid* g = &l->grid;
    const wgf8 zero = wgf8_set(0.0f);
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                const wgf8 d = diagonals(l, at, counted);
                const wgf8 r = (wgf8_load(l->b + at) + neighbours(l, l->x, at, counted)) -
                               d * wgf8_load(l->x + at);
                wgf8_store(l->r + at, wgf8_select(d == zero, zero, r));
            }
        }
}

/// r = b - A x.
void WGI_ISA(lattice_residual)(const wgi_lattice* l, int32_t begin, int32_t end)
{
    if (l->counted)
        residual_rows(l, begin, end, true);
    else
        residual_rows(l, begin, end, false);
}

// ---- transfers -----------------------------------------------------------------------------

// The two fine places a coarse cell covers and the two beyond, with their weights; one place where
// the axis has a single cell and is not coarsened.
typedef struct reach {
    int count;
    int32_t first;
    float weight[4];
} reach;

WGI_INLINE reach fine_reach(int32_t coarse, int32_t fine_size)
{
    if (fine_size == 1)
        return (reach){ 1, 1, { 1.0f, 0.0f, 0.0f, 0.0f } };
    reach r = { 4, 2 * coarse - 2, { 0.25f, 0.75f, 0.75f, 0.25f } };
    if (2 * coarse + 1 > fine_size + 1) // the last one covers a single fine cell
        r.count = 3;
    return r;
}

// Sum of the fine residual's rows below one coarse row, eight cells of it.
WGI_INLINE wgf8 gathered(const wgi_lattice* fine, const reach* y, const reach* z, int32_t i)
{
    wgf8 total = wgf8_set(0.0f);
    for (int b = 0; b < y->count; ++b) {
        wgf8 slab = wgf8_set(0.0f);
        for (int c = 0; c < z->count; ++c) {
            const size_t at = wgi_project_cell(&fine->grid, i, y->first + b, z->first + c);
            slab += wgf8_set(z->weight[c]) * wgf8_load(fine->r + at);
        }
        total += wgf8_set(y->weight[b]) * slab;
    }
    return total;
}

static void restrict_row(const wgi_lattice* fine, const wgi_lattice* coarse, int32_t j, int32_t k)
{
    const reach y = fine_reach(j, fine->grid.ny), z = fine_reach(k, fine->grid.nz);
    float* to = coarse->b + wgi_project_cell(&coarse->grid, 1, j, k);
    if (fine->grid.nx == 1) {
        to[0] = gathered(fine, &y, &z, 1)[0];
        return;
    }
    const wgf8 far = wgf8_set(0.25f), near = wgf8_set(0.75f);
    // Lane 7 of `before` is the fine cell just before the first one of the block.
    wgf8 before = wgf8_set(0.0f), here = gathered(fine, &y, &z, 1);
    for (int32_t i = 0; i < coarse->grid.nx; i += 8) {
        const int32_t first = 2 * i + 1, last = fine->grid.nx;
        const wgf8 zero = wgf8_set(0.0f);
        const wgf8 next = first + 8 <= last ? gathered(fine, &y, &z, first + 8) : zero;
        const wgf8 after = first + 16 <= last ? gathered(fine, &y, &z, first + 16) : zero;
        const wgf8 odd = wgf8_shuffle(here, next, 0, 2, 4, 6, 8, 10, 12, 14);
        const wgf8 even = wgf8_shuffle(here, next, 1, 3, 5, 7, 9, 11, 13, 15);
        const wgf8 low = wgf8_shuffle(before, even, 7, 8, 9, 10, 11, 12, 13, 14);
        const wgf8 high = wgf8_shuffle(odd, after, 1, 2, 3, 4, 5, 6, 7, 8);
        wgf8_store(to + i, near * (odd + even) + far * (low + high));
        before = next;
        here = after;
    }
}

// Cells of the coarse right side that are no unknowns are left 0 by their reciprocal later on.
void WGI_ISA(lattice_restrict)(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= coarse->grid.nz; ++k) {
            restrict_row(fine, coarse, j, k);
            float* row = coarse->b + wgi_project_cell(&coarse->grid, 1, j, k);
            for (size_t i = (size_t)coarse->grid.nx; i < coarse->grid.pitch - 8; ++i)
                row[i] = 0.0f;
        }
}

// The coarse cell over a fine one and the nearer of its neighbours.
typedef struct parents {
    int32_t place[2];
    float weight[2];
} parents;

WGI_INLINE parents coarse_parents(int32_t fine, int32_t fine_size)
{
    if (fine_size == 1)
        return (parents){ { 1, 1 }, { 1.0f, 0.0f } };
    const int32_t own = (fine + 1) / 2;
    return (parents){ { own, fine % 2 ? own - 1 : own + 1 }, { 0.75f, 0.25f } };
}

WGI_INLINE wgf8 spread(const wgi_lattice* coarse, const parents* y, const parents* z, int32_t i)
{
    wgf8 value[2];
    for (int b = 0; b < 2; ++b) {
        const float* own = coarse->x + wgi_project_cell(&coarse->grid, i, y->place[b], z->place[0]);
        const float* other =
            coarse->x + wgi_project_cell(&coarse->grid, i, y->place[b], z->place[1]);
        value[b] =
            wgf8_set(z->weight[0]) * wgf8_load(own) + wgf8_set(z->weight[1]) * wgf8_load(other);
    }
    return wgf8_set(y->weight[0]) * value[0] + wgf8_set(y->weight[1]) * value[1];
}

WGI_INLINE void
add_correction(const wgi_lattice* fine, size_t at, wgf8 correction, const bool counted)
{
    const wgf8 zero = wgf8_set(0.0f);
    const wgi8 fixed = counted ? wgi_counts(fine->open + at) == wgi8_set(0)
                               : wgf8_load(fine->reciprocal + at) == zero;
    const wgf8 x = wgf8_load(fine->x + at);
    wgf8_store(fine->x + at, wgf8_select(fixed, x, x + correction));
}

WGI_INLINE void prolong_row(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t j, int32_t k, const bool counted)
{
    const parents y = coarse_parents(j, fine->grid.ny), z = coarse_parents(k, fine->grid.nz);
    const size_t row = wgi_project_cell(&fine->grid, 1, j, k);
    if (fine->grid.nx == 1) {
        add_correction(fine, row, spread(coarse, &y, &z, 1), counted);
        return;
    }
    const wgf8 far = wgf8_set(0.25f), near = wgf8_set(0.75f);
    for (int32_t i = 0; i < coarse->grid.nx; i += 8) {
        const wgf8 own = spread(coarse, &y, &z, i + 1);
        const wgf8 odd = near * own + far * spread(coarse, &y, &z, i);
        const wgf8 even = near * own + far * spread(coarse, &y, &z, i + 2);
        const size_t at = row + 2 * (size_t)i;
        add_correction(fine, at, wgf8_shuffle(odd, even, 0, 8, 1, 9, 2, 10, 3, 11), counted);
        if (2 * i + 8 < fine->grid.nx)
            add_correction(
                fine, at + 8, wgf8_shuffle(odd, even, 4, 12, 5, 13, 6, 14, 7, 15), counted);
    }
}

void WGI_ISA(lattice_prolong)(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= fine->grid.nz; ++k) {
            if (fine->counted)
                prolong_row(fine, coarse, j, k, true);
            else
                prolong_row(fine, coarse, j, k, false);
        }
}

// ---- conjugate gradients -------------------------------------------------------------------

WGI_INLINE double apply_slab(const wgi_cg* cg, int32_t j, const bool counted)
{
    const wgi_lattice* l = cg->lattice;
    const wgi_project_grid* g = &l->grid;
    wgi_product_sum sum = { { 0 }, { 0 } };
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t row = wgi_project_cell(g, 1, j, k);
        for (int32_t i = 0; i < g->nx; i += 8) {
            const size_t at = row + (size_t)i;
            const wgf8 p = wgf8_load(cg->direction + at);
            const wgf8 d = diagonals(l, at, counted);
            wgf8 q = d * p - neighbours(l, cg->direction, at, counted);
            q = wgf8_select(d == wgf8_set(0.0f), wgf8_set(0.0f), q);
            wgf8_store(cg->image + at, q);
            wgi_add_product(&sum, p, q);
        }
    }
    return wgi_total(&sum);
}

/// image = A direction; slab sums of direction . image.
void WGI_ISA(cg_apply)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        cg->slab_sums[j - 1] =
            cg->lattice->counted ? apply_slab(cg, j, true) : apply_slab(cg, j, false);
}

/// solution += step direction, residual -= step image; slab sums of the residual's squares.
void WGI_ISA(cg_advance)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &cg->lattice->grid;
    const wgf8 step = wgf8_set(cg->factor);
    for (int32_t j = begin; j < end; ++j) {
        wgi_product_sum sum = { { 0 }, { 0 } };
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                wgf8_store(
                    cg->solution + at,
                    wgf8_load(cg->solution + at) + step * wgf8_load(cg->direction + at));
                const wgf8 r = wgf8_load(cg->residual + at) - step * wgf8_load(cg->image + at);
                wgf8_store(cg->residual + at, r);
                wgi_add_product(&sum, r, r);
            }
        }
        cg->slab_sums[j - 1] = wgi_total(&sum);
    }
}

/// Slab sums of residual . preconditioned.
void WGI_ISA(cg_dot)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &cg->lattice->grid;
    for (int32_t j = begin; j < end; ++j) {
        wgi_product_sum sum = { { 0 }, { 0 } };
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8)
                wgi_add_product(
                    &sum, wgf8_load(cg->residual + row + i),
                    wgf8_load(cg->preconditioned + row + i));
        }
        cg->slab_sums[j - 1] = wgi_total(&sum);
    }
}

/// direction = preconditioned + factor direction.
void WGI_ISA(cg_turn)(const wgi_cg* cg, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &cg->lattice->grid;
    const wgf8 factor = wgf8_set(cg->factor);
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                wgf8_store(
                    cg->direction + at,
                    wgf8_load(cg->preconditioned + at) + factor * wgf8_load(cg->direction + at));
            }
        }
}
