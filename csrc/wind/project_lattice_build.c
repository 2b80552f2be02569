// Edges of the levels, from the marks down; project_lattice.h has the layout.
#include "wind/project_kernels.h"

#include "wind/project_lattice_rows.h"
#include "wind/project_rows.h"

// ---- the finest level ----------------------------------------------------------------------

static void split_count_row(const wgi_lattice* l, const uint8_t* from, uint8_t* odd, uint8_t* even)
{
    for (int32_t h = 0; h < l->half.nx; h += 8, from += 16) {
        uint8_t cells[16] = { 0 };
        memcpy(cells, from, 2 * h + 8 < l->grid.nx ? 16 : 8);
        for (int n = 0; n < 8; ++n) {
            odd[h + n] = cells[2 * n];
            even[h + n] = cells[2 * n + 1];
        }
    }
}

/// Numbers of open faces, one colour each, from those of all cells.
void WGI_ISA(lattice_split_counts)(
    const wgi_lattice* l, const uint8_t* open, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= l->grid.nz; ++k) {
            const int32_t odd = (j + k) & 1;
            const size_t to = wgi_project_cell(&l->half, 1, j, k);
            split_count_row(
                l, open + wgi_project_cell(&l->grid, 1, j, k), l->open[odd] + to,
                l->open[1 - odd] + to);
        }
}

WGI_INLINE wgf8 flag(wgi8 bytes, const int bit)
{
    return wgf8_from_int((bytes >> bit) & wgi8_set(1));
}

static float one_flag(uint8_t byte, int bit)
{
    return (float)((byte >> bit) & 1);
}

/// The edges of the compact Laplacian from the bits of project_faces.
void WGI_ISA(lattice_face_edges)(const wgi_edges* e, const uint8_t* faces)
{
    const wgi_project_grid* g = &e->grid;
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k), last = row + (size_t)g->nx - 1;
            for (size_t at = row; at <= last; at += 8) {
                const wgi8 bytes = wgi_counts(faces + at);
                wgf8_store(e->weight[0] + at, flag(bytes, 0));
                wgf8_store(e->weight[1] + at, flag(bytes, 2));
                wgf8_store(e->weight[2] + at, flag(bytes, 4));
                if (j == g->ny)
                    wgf8_store(e->weight[1] + at + g->slab, flag(bytes, 3));
                if (k == g->nz)
                    wgf8_store(e->weight[2] + at + g->pitch, flag(bytes, 5));
            }
            e->weight[0][last + 1] = one_flag(faces[last], 1);
        }
}

// All ones where every other byte, eight of them from the first, is that of an air cell.
WGI_INLINE wgi8 every_other_air(const uint8_t* faces)
{
#if defined(__AVX2__)
    const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)faces));
    return ((wgi8)words & wgi8_set(WGI_AIR)) != wgi8_set(0);
#else
    wgi8 v;
    for (int n = 0; n < 8; ++n)
        v[n] = -(faces[2 * n] >> 6 & 1);
    return v;
#endif
}

WGI_INLINE wgf8 ones(wgi8 mask)
{
    return wgf8_select(mask, wgf8_set(1.0f), wgf8_set(0.0f));
}

// What an axis adds: an edge where the cells on both sides of an air cell are air, or one is and the
// other is in the border; ground where the other is solid.
typedef struct wide_axis {
    wgi8 own, low, beyond_low, high, beyond_high; // air: the cells, one and two away
    wgi8 first, last;                             // the cells beside the border
} wide_axis;

WGI_INLINE void store_axis(const wgi_edges* e, int axis, size_t at, wide_axis a)
{
    const wgi8 low = a.own & a.low, high = a.own & a.high;
    wgf8_store(e->weight[axis] + at, ones(low & (a.beyond_low | a.first)));
    wgf8_store(
        e->ground[axis] + at,
        ones(low & ~a.beyond_low & ~a.first) + ones(high & ~a.beyond_high & ~a.last));
}

typedef struct wide_rows {
    const uint8_t *own, *low[2], *beyond_low[2], *high[2], *beyond_high[2]; // along y, z
} wide_rows;

WGI_INLINE wgi8 all_if(bool condition)
{
    return wgi8_set(condition ? -1 : 0);
}

WGI_INLINE void
wide_row(const wgi_edges* e, wide_rows r, const int32_t place[3], const int32_t size[3])
{
    const wgi8 lane = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const size_t row = wgi_project_cell(&e->grid, 1, place[1], place[2]);
    const size_t step[3] = { 1, e->grid.slab, e->grid.pitch };
    for (int32_t i = 0; i < size[0]; i += 8) {
        const size_t at = row + (size_t)i, from = 2 * (size_t)i;
        const wgi8 number = lane + wgi8_set(i);
        const uint8_t* own = r.own + from;
        wide_axis a = { .own = every_other_air(own) & (number <= wgi8_set(size[0])),
                        .low = every_other_air(own - 1),
                        .beyond_low = every_other_air(own - 2),
                        .high = every_other_air(own + 1),
                        .beyond_high = every_other_air(own + 2),
                        .first = number == wgi8_set(1),
                        .last = number == wgi8_set(size[0]) };
        store_axis(e, 0, at, a);
        if (i + 8 >= size[0])
            e->weight[0][row + (size_t)size[0]] = ones(a.own & a.high)[(size[0] - 1) & 7];
        for (int n = 0; n < 2; ++n) {
            a.low = every_other_air(r.low[n] + from);
            a.beyond_low = every_other_air(r.beyond_low[n] + from);
            a.high = every_other_air(r.high[n] + from);
            a.beyond_high = every_other_air(r.beyond_high[n] + from);
            a.first = all_if(place[n + 1] == 1);
            a.last = all_if(place[n + 1] == size[n + 1]);
            store_axis(e, n + 1, at, a);
            if (place[n + 1] == size[n + 1])
                wgf8_store(e->weight[n + 1] + at + step[n + 1], ones(a.own & a.high));
        }
    }
}

static int32_t within(int32_t place, int32_t size)
{
    return place < 0 ? 0 : place > size + 1 ? size + 1 : place;
}

/// The edges of one lattice of the wide operator, from the bits of project_faces, which are 0 around
/// the rows. (Rows two beyond the border are not looked at, for the one between has no air.)
void WGI_ISA(lattice_wide_edges)(
    const wgi_edges* e, const wgi_project_grid* g, const uint8_t* faces, const int32_t parity[3])
{
    const int32_t size[3] = { e->grid.nx, e->grid.ny, e->grid.nz };
    const int32_t i = 1 + parity[0];
    for (int32_t y = 1; y <= size[1]; ++y)
        for (int32_t z = 1; z <= size[2]; ++z) {
            const int32_t j = 2 * y - 1 + parity[1], k = 2 * z - 1 + parity[2];
            const int32_t jl = within(j - 2, g->ny), jh = within(j + 2, g->ny);
            const int32_t kl = within(k - 2, g->nz), kh = within(k + 2, g->nz);
            const wide_rows r = {
                .own = faces + wgi_project_cell(g, i, j, k),
                .low = { faces + wgi_project_cell(g, i, j - 1, k),
                         faces + wgi_project_cell(g, i, j, k - 1) },
                .beyond_low = { faces + wgi_project_cell(g, i, jl, k),
                                faces + wgi_project_cell(g, i, j, kl) },
                .high = { faces + wgi_project_cell(g, i, j + 1, k),
                          faces + wgi_project_cell(g, i, j, k + 1) },
                .beyond_high = { faces + wgi_project_cell(g, i, jh, k),
                                 faces + wgi_project_cell(g, i, j, kh) },
            };
            wide_row(e, r, (int32_t[3]){ 0, y, z }, size);
        }
}

// ---- from level to level -------------------------------------------------------------------

// Sixteen fine cells of one kind of edge, summed over the rows below a coarse row.
typedef struct sixteen {
    wgf8 first, second;
} sixteen;

WGI_INLINE void add_sixteen(sixteen* sum, const float* row, bool both)
{
    sum->first += wgf8_load(row);
    if (both)
        sum->second += wgf8_load(row + 8);
}

WGI_INLINE wgf8 pairs(sixteen s)
{
    return wgi_odd_places(s.first, s.second) + wgi_even_places(s.first, s.second);
}

// Where a coarse row takes its edges from: the first of its two fine rows, and whether both are
// there. At the far border there is one row of edges, of the border alone.
typedef struct below {
    int32_t first, rows;
    float scale;
} below;

WGI_INLINE below
find_below(const wgi_coarsening* c, int axis, int32_t fine, int32_t coarse, int32_t n)
{
    below b = { 2 * n - 1, n < coarse || fine % 2 == 0 ? 2 : 1, c->scale[axis] };
    if (n > coarse) {
        b.first = fine + 1;
        b.rows = 1;
        b.scale *= c->border[axis][1];
    } else if (n == 1) {
        b.scale *= c->border[axis][0];
    }
    return b;
}

WGI_INLINE sixteen
sum_rows(const wgi_project_grid* g, const float* from, int32_t i, below y, below z, bool both)
{
    sixteen sum = { wgf8_set(0.0f), wgf8_set(0.0f) };
    for (int32_t j = y.first; j < y.first + y.rows; ++j)
        for (int32_t k = z.first; k < z.first + z.rows; ++k)
            add_sixteen(&sum, from + wgi_project_cell(g, i, j, k), both);
    return sum;
}

WGI_INLINE below one_row(below b)
{
    b.rows = 1;
    return b;
}

// Edges along x at the two borders, which are at fine places 1 and nx + 1.
static void border_edges(const wgi_coarsening* c, size_t row, below y, below z)
{
    const wgi_project_grid* f = &c->fine.grid;
    const int32_t nx = c->coarse.grid.nx;
    float* weight = c->coarse.weight[0] + row;
    float far = 0.0f;
    for (int32_t j = y.first; j < y.first + y.rows; ++j)
        for (int32_t k = z.first; k < z.first + z.rows; ++k)
            far += c->fine.weight[0][wgi_project_cell(f, f->nx + 1, j, k)];
    weight[0] *= c->border[0][0];
    weight[nx] = far * (c->scale[0] * c->border[0][1]);
}

static void coarsen_row(const wgi_coarsening* c, int32_t j, int32_t k)
{
    const wgi_project_grid *f = &c->fine.grid, *g = &c->coarse.grid;
    const below y = find_below(c, 1, f->ny, g->ny, j), z = find_below(c, 2, f->nz, g->nz, k);
    const bool inside_y = j <= g->ny, inside_z = k <= g->nz;
    const size_t row = wgi_project_cell(g, 1, j, k);
    for (int32_t i = 0; i < g->nx; i += 8) {
        const size_t at = row + (size_t)i;
        const int32_t from = 2 * i + 1;
        const bool both = from + 8 <= f->nx;
        if (inside_z)
            wgf8_store(
                c->coarse.weight[1] + at,
                wgf8_set(y.scale) *
                    pairs(sum_rows(f, c->fine.weight[1], from, one_row(y), z, both)));
        if (inside_y)
            wgf8_store(
                c->coarse.weight[2] + at,
                wgf8_set(z.scale) *
                    pairs(sum_rows(f, c->fine.weight[2], from, y, one_row(z), both)));
        if (!inside_y || !inside_z)
            continue;
        const sixteen x = sum_rows(f, c->fine.weight[0], from, y, z, both);
        wgf8_store(
            c->coarse.weight[0] + at, wgf8_set(c->scale[0]) * wgi_odd_places(x.first, x.second));
        for (int axis = 0; axis < 3 && c->fine.ground[axis]; ++axis)
            wgf8_store(
                c->coarse.ground[axis] + at,
                wgf8_set(c->scale[axis]) *
                    pairs(sum_rows(f, c->fine.ground[axis], from, y, z, both)));
    }
    if (inside_y && inside_z)
        border_edges(c, row, y, z);
}

/// The edges of the next level: those that cross a coarse face, summed.
void WGI_ISA(lattice_coarsen)(const wgi_coarsening* c)
{
    for (int32_t j = 1; j <= c->coarse.grid.ny + 1; ++j)
        for (int32_t k = 1; k <= c->coarse.grid.nz + 1; ++k)
            if (j <= c->coarse.grid.ny || k <= c->coarse.grid.nz)
                coarsen_row(c, j, k);
}

// ---- into colours --------------------------------------------------------------------------

typedef struct cell_edges {
    wgf8 weight[6], diagonal;
} cell_edges;

// All edges of eight cells in natural order; none of what is past the end of a row.
WGI_INLINE cell_edges read_cells(const wgi_edges* e, size_t at, int32_t left)
{
    const size_t step[3] = { 1, e->grid.slab, e->grid.pitch };
    const wgi8 inside = (wgi8){ 0, 1, 2, 3, 4, 5, 6, 7 } < wgi8_set(left);
    const wgf8 zero = wgf8_set(0.0f);
    cell_edges c;
    wgf8 pair[3], ground = zero;
    for (int axis = 0; axis < 3; ++axis) {
        const wgf8 low = wgf8_load(e->weight[axis] + at);
        const wgf8 high = wgf8_load(e->weight[axis] + at + step[axis]);
        c.weight[2 * axis] = wgf8_select(inside, low, zero);
        c.weight[2 * axis + 1] = wgf8_select(inside, high, zero);
        pair[axis] = c.weight[2 * axis] + c.weight[2 * axis + 1];
        if (e->ground[axis])
            ground += wgf8_select(inside, wgf8_load(e->ground[axis] + at), zero);
    }
    c.diagonal = ((pair[0] + pair[1]) + pair[2]) + ground;
    return c;
}

WGI_INLINE void store_diagonal(const wgi_lattice* l, int32_t colour, size_t at, wgf8 diagonal)
{
    const wgf8 zero = wgf8_set(0.0f), one = wgf8_set(1.0f);
    const wgi8 none = diagonal == zero;
    wgf8_store(l->diagonal[colour] + at, diagonal);
    wgf8_store(
        l->reciprocal[colour] + at,
        wgf8_select(none, zero, one / wgf8_select(none, one, diagonal)));
}

static void split_edge_row(const wgi_lattice* l, const wgi_edges* e, int32_t j, int32_t k)
{
    const int32_t odd = (j + k) & 1, nx = l->grid.nx;
    for (int32_t h = 1; h <= l->half.nx; h += 8) {
        const size_t to = wgi_project_cell(&l->half, h, j, k);
        const size_t from = wgi_project_cell(&l->grid, 2 * h - 1, j, k);
        const int32_t left = nx - 2 * (h - 1);
        const cell_edges a = read_cells(e, from, left);
        const cell_edges b = left > 8 ? read_cells(e, from + 8, left - 8) : (cell_edges){ 0 };
        store_diagonal(l, odd, to, wgi_odd_places(a.diagonal, b.diagonal));
        store_diagonal(l, 1 - odd, to, wgi_even_places(a.diagonal, b.diagonal));
        for (int n = 0; n < 6; ++n)
            wgf8_store(
                l->weight[n] + to, odd == 0 ? wgi_odd_places(a.weight[n], b.weight[n])
                                            : wgi_even_places(a.weight[n], b.weight[n]));
    }
}

/// Weights of colour 0, diagonals and their reciprocals.
void WGI_ISA(lattice_split_edges)(
    const wgi_lattice* l, const wgi_edges* edges, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= l->grid.nz; ++k)
            split_edge_row(l, edges, j, k);
}
