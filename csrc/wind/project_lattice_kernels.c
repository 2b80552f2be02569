// Half sweeps, residuals and transfers of the multigrid; project_lattice.h has the layout.
//
// A correction is interpolated trilinearly between cell centres, with weights 3/4 and 1/4 along each
// axis; the right side of a coarse cell is the sum over the fine cells below it.
#include "wind/project_kernels.h"

#include "wind/project_lattice_rows.h"

// ---- smoothing -----------------------------------------------------------------------------

WGI_INLINE void start_rows(const wgi_lattice* l, wgf8 factor, int32_t j, const wgi_edge_kind kind)
{
    const wgi_side s = wgi_lattice_side(l, 0);
    const size_t first = wgi_project_cell(&l->half, 1, j, 1);
    const int32_t nx = l->half.nx, nz = l->half.nz;
    for (int32_t k = 0; k < nz; ++k)
        for (int32_t h = 0; h < nx; h += 8) {
            const size_t at = first + (size_t)k * s.pitch + (size_t)h;
            const wgf8 x = wgf8_load(s.b + at) * wgi_lattice_reciprocals(s, at, kind);
            wgf8_store(s.x + at, factor * x);
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
    const wgi_side s, const float factor, int32_t parity, size_t at, int32_t nz, const bool whole,
    const wgi_edge_kind kind)
{
    wgf8 below = wgf8_load(s.other + at - s.pitch), here = wgf8_load(s.other + at);
    for (int32_t k = 0; k < nz; ++k, at += s.pitch) {
        const wgf8 above = wgf8_load(s.other + at + s.pitch);
        const wgf8 around = wgi_lattice_sum(s, parity, at, below, here, above, kind);
        const wgf8 solved = (wgf8_load(s.b + at) + around) * wgi_lattice_reciprocals(s, at, kind);
        if (whole) {
            wgf8_store(s.x + at, solved);
        } else {
            const wgf8 before = wgf8_load(s.x + at);
            wgf8_store(s.x + at, before + wgf8_set(factor) * (solved - before));
        }
        below = here;
        here = above;
        parity = 1 - parity;
    }
}

WGI_INLINE void sweep_columns(
    const wgi_lattice* l, float factor, const int32_t colour, int32_t j, const bool whole,
    const wgi_edge_kind kind)
{
    const wgi_side s = wgi_lattice_side(l, colour);
    const size_t first = wgi_project_cell(&l->half, 1, j, 1);
    const int32_t nx = l->half.nx, nz = l->half.nz;
    for (int32_t h = 0; h < nx; h += 8)
        sweep_column(s, factor, (j + 1) & 1, first + (size_t)h, nz, whole, kind);
}

WGI_INLINE void
sweep_slab(const wgi_lattice* l, float factor, int32_t colour, int32_t j, const wgi_edge_kind kind)
{
    const bool whole = factor == 1.0f;
    if (colour == 0 && whole)
        sweep_columns(l, factor, 0, j, true, kind);
    else if (colour == 0)
        sweep_columns(l, factor, 0, j, false, kind);
    else if (whole)
        sweep_columns(l, factor, 1, j, true, kind);
    else
        sweep_columns(l, factor, 1, j, false, kind);
}

/// One half sweep: each cell of a colour goes `factor` of the way to the value that solves it.
void WGI_ISA(lattice_sweep)(
    const wgi_lattice* l, float factor, int32_t colour, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(l, sweep_slab, l, factor, colour, j)
}

// ---- to the coarser level ------------------------------------------------------------------

WGI_INLINE wgf8 residual_at(const wgi_side s, int32_t parity, size_t at, const wgi_edge_kind kind)
{
    const wgf8 around = wgi_lattice_around(s, parity, at, kind);
    return wgi_lattice_masked(s, at, wgf8_load(s.b + at) + around, wgf8_load(s.x + at), kind);
}

WGI_INLINE void residual_side(
    const wgi_lattice* l, const int32_t colour, float* out, wgi_slab_sum* sum, int32_t j,
    const wgi_edge_kind kind)
{
    const wgi_side s = wgi_lattice_side(l, colour);
    const size_t first = wgi_project_cell(&l->half, 1, j, 1);
    const int32_t nx = l->half.nx, nz = l->half.nz;
    for (int32_t k = 0; k < nz; ++k)
        for (int32_t h = 0; h < nx; h += 8) {
            const size_t at = first + (size_t)k * s.pitch + (size_t)h;
            const wgf8 r = residual_at(s, (j + k + 1) & 1, at, kind);
            wgf8_store(out + at, r);
            wgi_sum_product(sum, r, r);
        }
}

WGI_INLINE void residual_slab(
    const wgi_lattice* l, const wgi_halves* out, double* slab_sum, int32_t j,
    const wgi_edge_kind kind)
{
    wgi_slab_sum sum = wgi_no_sum();
    residual_side(l, 0, out->colour[0], &sum, j, kind);
    residual_side(l, 1, out->colour[1], &sum, j, kind);
    *slab_sum = wgi_slab_total(&sum);
}

/// out = b - A x; `out` may be b. Slab sums of its squares.
void WGI_ISA(lattice_residual)(
    const wgi_lattice* l, const wgi_halves* out, double* slab_sums, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(l, residual_slab, l, out, &slab_sums[j - 1], j)
}

// The rows of fine cells below a coarse row: two each way, or one at the far end of an odd size.
typedef struct rows_below {
    size_t first;
    bool both_y, both_z;
} rows_below;

// Sum of colour 0's residual over these rows at eight places: in natural order, since both cells of
// a place belong to the same coarse one. The first row has an even j + k.
WGI_INLINE wgf8 gathered(const wgi_side s, rows_below rows, size_t place, const wgi_edge_kind kind)
{
    const size_t at = rows.first + place;
    wgf8 total = residual_at(s, 0, at, kind);
    if (rows.both_z)
        total += residual_at(s, 1, at + s.pitch, kind);
    if (rows.both_y)
        total += residual_at(s, 1, at + s.slab, kind);
    if (rows.both_y && rows.both_z)
        total += residual_at(s, 0, at + s.slab + s.pitch, kind);
    return total;
}

WGI_INLINE void restrict_row(
    const wgi_side s, rows_below rows, int32_t fine_nx, float* odd, float* even, int32_t nx,
    const wgi_edge_kind kind)
{
    for (int32_t h = 0; h < nx; h += 8) {
        const wgf8 first = gathered(s, rows, 2 * (size_t)h, kind);
        wgf8 second = wgf8_set(0.0f);
        if (2 * h + 8 < fine_nx)
            second = gathered(s, rows, 2 * (size_t)h + 8, kind);
        wgf8_store(odd + h, wgi_odd_places(first, second));
        wgf8_store(even + h, wgi_even_places(first, second));
    }
}

WGI_INLINE void restrict_slab(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t j, const wgi_edge_kind kind)
{
    const wgi_side s = wgi_lattice_side(fine, 0);
    const wgi_project_grid *g = &coarse->half, *f = &fine->half;
    const int32_t ny = f->ny, nz = f->nz, fine_nx = f->nx, nx = g->nx, rows_up = g->nz;
    for (int32_t k = 1; k <= rows_up; ++k) {
        const int32_t colour = (j + k) & 1;
        const size_t to = wgi_project_cell(g, 1, j, k);
        float *odd = coarse->b[colour] + to, *even = coarse->b[1 - colour] + to;
        const size_t first = wgi_project_cell(f, 1, 2 * j - 1, 2 * k - 1);
        if (2 * j <= ny && 2 * k <= nz)
            restrict_row(s, (rows_below){ first, true, true }, fine_nx, odd, even, nx, kind);
        else
            restrict_row(
                s, (rows_below){ first, 2 * j <= ny, 2 * k <= nz }, fine_nx, odd, even, nx, kind);
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
    wgi_side odd, even;       // the colours at odd and even places of the first row
    const float *own, *other; // the coarse slab over the fine one, and the nearer beside it
    shares x, y, z;
    size_t from_pitch;
    int32_t nz;
} prolongation;

// Sixteen times the correction at the odd and even cells of eight places, along x and y alone.
WGI_INLINE void spread(const prolongation p, size_t from, wgf8* odd, wgf8* even)
{
    const wgf8 near = p.y.near, far = p.y.far;
    const float *own = p.own + from, *other = p.other + from;
    const wgf8 low = near * wgf8_load(own - 1) + far * wgf8_load(other - 1);
    const wgf8 here = near * wgf8_load(own) + far * wgf8_load(other);
    const wgf8 high = near * wgf8_load(own + 1) + far * wgf8_load(other + 1);
    *odd = p.x.near * here + p.x.far * low;
    *even = p.x.near * here + p.x.far * high;
}

WGI_INLINE void add_to(const wgi_side s, size_t at, wgf8 correction, const wgi_edge_kind kind)
{
    wgf8 kept = wgf8_set(1.0f / 64.0f) * correction;
    if (kind != WGI_PLAIN)
        kept = wgf8_select(wgi_lattice_unknowns(s, at, kind), kept, wgf8_set(0.0f));
    wgf8_store(s.x + at, wgf8_load(s.x + at) + kept);
}

WGI_INLINE void
prolong_column(const prolongation p, size_t from, size_t at, const wgi_edge_kind kind)
{
    const size_t pitch = p.odd.pitch;
    wgf8 odd[3], even[3];
    spread(p, from - p.from_pitch, &odd[0], &even[0]);
    spread(p, from, &odd[1], &even[1]);
    for (int32_t k = 1; k <= p.nz; k += 2, at += 2 * pitch) {
        from += p.from_pitch;
        spread(p, from, &odd[2], &even[2]);
        add_to(p.odd, at, p.z.near * odd[1] + p.z.far * odd[0], kind);
        add_to(p.even, at, p.z.near * even[1] + p.z.far * even[0], kind);
        if (k < p.nz) { // the next row has its colours the other way round
            add_to(p.even, at + pitch, p.z.near * odd[1] + p.z.far * odd[2], kind);
            add_to(p.odd, at + pitch, p.z.near * even[1] + p.z.far * even[2], kind);
        }
        odd[0] = odd[1], even[0] = even[1];
        odd[1] = odd[2], even[1] = even[2];
    }
}

WGI_INLINE void prolong_slab(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t j, const wgi_edge_kind kind)
{
    const wgi_project_grid *f = &fine->half, *c = &coarse->grid;
    const int32_t own = (j + 1) / 2, other = j % 2 ? own - 1 : own + 1, odd = (j + 1) & 1;
    const prolongation p = { .odd = wgi_lattice_side(fine, odd),
                             .even = wgi_lattice_side(fine, 1 - odd),
                             .own = coarse->joined + (size_t)own * c->slab,
                             .other = coarse->joined + (size_t)other * c->slab,
                             .x = axis_shares(fine->grid.nx),
                             .y = axis_shares(f->ny),
                             .z = axis_shares(f->nz),
                             .from_pitch = c->pitch,
                             .nz = f->nz };
    const size_t from = wgi_project_cell(c, 1, 0, 1), at = wgi_project_cell(f, 1, j, 1);
    const int32_t nx = f->nx;
    for (int32_t h = 0; h < nx; h += 8)
        prolong_column(p, from + (size_t)h, at + (size_t)h, kind);
}

/// Adds what coarse->joined interpolates to, on slabs of `fine`.
void WGI_ISA(lattice_prolong)(
    const wgi_lattice* fine, const wgi_lattice* coarse, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        WGI_BY_KIND(fine, prolong_slab, fine, coarse, j)
}
