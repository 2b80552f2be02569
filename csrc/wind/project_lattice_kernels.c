// Half sweeps, residuals and transfers of the multigrid; project_lattice.h has the layout.
//
// A correction is interpolated trilinearly between cell centres, with weights 3/4 and 1/4 along each
// axis; the right side of a coarse cell is the sum over the fine cells below it.
#include "wind/project_kernels.h"

#include "wind/project_lattice_rows.h"

// ---- smoothing -----------------------------------------------------------------------------

WGI_INLINE void start_rows(const wgi_lattice* l, wgf8 factor, int32_t j, const wgi_edge_kind kind)
{
    const wgi_project_grid* g = &l->half;
    for (int32_t k = 1; k <= g->nz; ++k)
        for (int32_t h = 1; h <= g->nx; h += 8) {
            const size_t at = wgi_project_cell(g, h, j, k);
            const wgf8 x = wgf8_load(l->b[0] + at) * wgi_lattice_reciprocals(l, 0, at, kind);
            wgf8_store(l->x[0] + at, factor * x);
        }
}

/// The first half sweep from x = 0, on colour 0: x = factor b / diagonal.
void WGI_ISA(lattice_start)(const wgi_lattice* l, float factor, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(l, start_rows, l, wgf8_set(factor), j)
}

// Up a column, so that the values above and below are those of the steps before and after.
WGI_INLINE void sweep_column(
    const wgi_lattice* l, const float factor, int32_t colour, int32_t j, size_t at,
    const bool whole, const wgi_edge_kind kind)
{
    const size_t pitch = l->half.pitch;
    const float *other = l->x[1 - colour], *b = l->b[colour];
    float* x = l->x[colour];
    wgf8 below = wgf8_load(other + at - pitch), here = wgf8_load(other + at);
    for (int32_t k = 1; k <= l->half.nz; ++k, at += pitch) {
        const wgf8 above = wgf8_load(other + at + pitch);
        const wgf8 around =
            wgi_lattice_sum(l, other, colour, (j + k) & 1, at, below, here, above, kind);
        const wgf8 solved =
            (wgf8_load(b + at) + around) * wgi_lattice_reciprocals(l, colour, at, kind);
        if (whole) {
            wgf8_store(x + at, solved);
        } else {
            const wgf8 before = wgf8_load(x + at);
            wgf8_store(x + at, before + wgf8_set(factor) * (solved - before));
        }
        below = here;
        here = above;
    }
}

WGI_INLINE void
sweep_slab(const wgi_lattice* l, float factor, int32_t colour, int32_t j, const wgi_edge_kind kind)
{
    for (int32_t h = 1; h <= l->half.nx; h += 8) {
        const size_t at = wgi_project_cell(&l->half, h, j, 1);
        if (factor == 1.0f)
            sweep_column(l, factor, colour, j, at, true, kind);
        else
            sweep_column(l, factor, colour, j, at, false, kind);
    }
}

/// One half sweep: each cell of a colour goes `factor` of the way to the value that solves it.
void WGI_ISA(lattice_sweep)(
    const wgi_lattice* l, float factor, int32_t colour, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(l, sweep_slab, l, factor, colour, j)
}

// ---- to the coarser level ------------------------------------------------------------------

WGI_INLINE wgf8 residual_at(
    const wgi_lattice* l, int32_t colour, int32_t parity, size_t at, const wgi_edge_kind kind)
{
    const size_t pitch = l->half.pitch;
    const float* other = l->x[1 - colour];
    const wgf8 around = wgi_lattice_sum(
        l, other, colour, parity, at, wgf8_load(other + at - pitch), wgf8_load(other + at),
        wgf8_load(other + at + pitch), kind);
    return wgi_lattice_masked(
        l, colour, at, wgf8_load(l->b[colour] + at) + around, wgf8_load(l->x[colour] + at), kind);
}

WGI_INLINE void residual_rows(
    const wgi_lattice* l, const wgi_halves* out, double* slab_sum, int32_t j,
    const wgi_edge_kind kind)
{
    wgi_product_sum sum = { { 0 }, { 0 } };
    for (int32_t colour = 0; colour < 2; ++colour)
        for (int32_t k = 1; k <= l->half.nz; ++k)
            for (int32_t h = 1; h <= l->half.nx; h += 8) {
                const size_t at = wgi_project_cell(&l->half, h, j, k);
                const wgf8 r = residual_at(l, colour, (j + k) & 1, at, kind);
                wgf8_store(out->colour[colour] + at, r);
                wgi_add_product(&sum, r, r);
            }
    *slab_sum = wgi_total(&sum);
}

/// out = b - A x; `out` may be b. Slab sums of its squares.
void WGI_ISA(lattice_residual)(
    const wgi_lattice* l, const wgi_halves* out, double* slab_sums, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(l, residual_rows, l, out, &slab_sums[j - 1], j)
}

// Sum of colour 0's residual over the rows below one coarse row, at eight places of a row: in
// natural order, since both cells of a place belong to the same coarse one.
WGI_INLINE wgf8
gathered(const wgi_lattice* fine, int32_t j, int32_t k, int32_t h, const wgi_edge_kind kind)
{
    const int32_t last_j = j < fine->half.ny ? j + 1 : j, last_k = k < fine->half.nz ? k + 1 : k;
    wgf8 total = wgf8_set(0.0f);
    for (int32_t y = j; y <= last_j; ++y)
        for (int32_t z = k; z <= last_k; ++z)
            total +=
                residual_at(fine, 0, (y + z) & 1, wgi_project_cell(&fine->half, h, y, z), kind);
    return total;
}

WGI_INLINE void restrict_slab(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t j, const wgi_edge_kind kind)
{
    const wgi_project_grid* g = &coarse->half;
    for (int32_t k = 1; k <= g->nz; ++k) {
        const int32_t odd = (j + k) & 1;
        for (int32_t h = 1; h <= g->nx; h += 8) {
            const size_t at = wgi_project_cell(g, h, j, k);
            const int32_t from = 2 * h - 1;
            const wgf8 first = gathered(fine, 2 * j - 1, 2 * k - 1, from, kind);
            wgf8 second = wgf8_set(0.0f);
            if (from + 8 <= fine->half.nx)
                second = gathered(fine, 2 * j - 1, 2 * k - 1, from + 8, kind);
            wgf8_store(coarse->b[odd] + at, wgi_odd_places(first, second));
            wgf8_store(coarse->b[1 - odd] + at, wgi_even_places(first, second));
        }
    }
}

/// The coarse right side after a sweep that has left no residual on colour 1; slabs of `coarse`.
void WGI_ISA(lattice_restrict)(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(fine, restrict_slab, fine, coarse, j)
}

// ---- to the finer level --------------------------------------------------------------------

// Four times the weight of the coarse cell over a fine one, and of the nearer of its neighbours;
// an axis of one cell is not coarsened.
typedef struct shares {
    wgf8 near, far;
} shares;

WGI_INLINE shares axis_shares(int32_t size)
{
    return size > 1 ? (shares){ wgf8_set(3.0f), wgf8_set(1.0f) }
                    : (shares){ wgf8_set(4.0f), wgf8_set(0.0f) };
}

typedef struct prolongation {
    const wgi_lattice* fine;
    const float *own, *other; // the coarse slab over the fine one, and the nearer beside it
    shares x, y, z;
    int32_t j;
} prolongation;

// Sixteen times the correction at the odd and even cells of eight places, along x and y alone.
WGI_INLINE void spread(const prolongation* p, size_t from, wgf8* odd, wgf8* even)
{
    wgf8 u[3];
    for (size_t n = 0; n < 3; ++n)
        u[n] = p->y.near * wgf8_load(p->own + from + n - 1) +
               p->y.far * wgf8_load(p->other + from + n - 1);
    *odd = p->x.near * u[1] + p->x.far * u[0];
    *even = p->x.near * u[1] + p->x.far * u[2];
}

WGI_INLINE void
add_to(const wgi_lattice* l, int32_t colour, size_t at, wgf8 correction, const wgi_edge_kind kind)
{
    wgf8 kept = wgf8_set(1.0f / 64.0f) * correction;
    if (kind != WGI_PLAIN)
        kept = wgf8_select(wgi_lattice_unknowns(l, colour, at, kind), kept, wgf8_set(0.0f));
    wgf8_store(l->x[colour] + at, wgf8_load(l->x[colour] + at) + kept);
}

WGI_INLINE void
add_row(const prolongation* p, size_t at, int32_t k, wgf8 odd, wgf8 even, const wgi_edge_kind kind)
{
    const int32_t odd_colour = (p->j + k) & 1;
    add_to(p->fine, odd_colour, at, odd, kind);
    add_to(p->fine, 1 - odd_colour, at, even, kind);
}

WGI_INLINE void prolong_column(
    const prolongation* p, size_t from, size_t from_pitch, size_t at, const wgi_edge_kind kind)
{
    const size_t pitch = p->fine->half.pitch;
    const int32_t nz = p->fine->half.nz;
    wgf8 odd[3], even[3];
    spread(p, from - from_pitch, &odd[0], &even[0]);
    spread(p, from, &odd[1], &even[1]);
    for (int32_t k = 1; k <= nz; k += 2, at += 2 * pitch) {
        from += from_pitch;
        spread(p, from, &odd[2], &even[2]);
        add_row(
            p, at, k, p->z.near * odd[1] + p->z.far * odd[0],
            p->z.near * even[1] + p->z.far * even[0], kind);
        if (k < nz)
            add_row(
                p, at + pitch, k + 1, p->z.near * odd[1] + p->z.far * odd[2],
                p->z.near * even[1] + p->z.far * even[2], kind);
        odd[0] = odd[1], even[0] = even[1];
        odd[1] = odd[2], even[1] = even[2];
    }
}

WGI_INLINE void prolong_slab(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t j, const wgi_edge_kind kind)
{
    const wgi_project_grid *f = &fine->half, *c = &coarse->grid;
    const int32_t own = (j + 1) / 2, other = j % 2 ? own - 1 : own + 1;
    const prolongation p = { .fine = fine,
                             .own = coarse->joined + (size_t)own * c->slab,
                             .other = coarse->joined + (size_t)other * c->slab,
                             .x = axis_shares(fine->grid.nx),
                             .y = axis_shares(f->ny),
                             .z = axis_shares(f->nz),
                             .j = j };
    for (int32_t h = 1; h <= f->nx; h += 8)
        prolong_column(
            &p, wgi_project_cell(c, h, 0, 1), c->pitch, wgi_project_cell(f, h, j, 1), kind);
}

/// Adds what coarse->joined interpolates to, on slabs of `fine`.
void WGI_ISA(lattice_prolong)(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(fine, prolong_slab, fine, coarse, j)
}
