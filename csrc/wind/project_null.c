// Null modes: right sides that no pressure can answer.
//
// Both operators are graph Laplacians with edges of weight one, grounded where phi = 0 is fixed:
// compact, an edge for each open face; consistent, an edge across each air cell and axis, between
// the cells on its two sides. The null space of such a matrix is spanned by the indicators of the
// components without a ground: their mean must leave the right side, and phi is free by a constant
// there. Components are found by union-find; the ground is index 0, which is never a cell.
#include <string.h>

#include "wind/marks.h"
#include "wind/project_solvers.h"

static int32_t find_root(int32_t* parent, int32_t n)
{
    while (parent[n] != n) {
        parent[n] = parent[parent[n]];
        n = parent[n];
    }
    return n;
}

// The smaller index becomes the root, so that the ground wins and the order is fixed.
static void unite(int32_t* parent, int32_t a, int32_t b)
{
    const int32_t ra = find_root(parent, a), rb = find_root(parent, b);
    if (ra < rb)
        parent[rb] = ra;
    else
        parent[ra] = rb;
}

// ---- what a ground reaches ------------------------------------------------------------------
//
// Nearly always all of it. Rows of bits, 64 cells a word, border included, are filled from the ground
// until nothing changes; components are looked for only among the cells that are left.

typedef struct bit_rows {
    int32_t words;    // a row
    size_t row, slab; // from row to row along y, z
    uint64_t *air, *reached;
} bit_rows;

// In the memory of the components, which has at least 64 bytes a row.
static bit_rows carve_bits(const wgi_projection* p, int32_t* memory)
{
    const wgi_project_grid* g = &p->grid;
    bit_rows b = { .words = (g->nx + 2 + 63) / 64 };
    b.row = (size_t)b.words;
    b.slab = b.row * ((size_t)g->ny + 2);
    b.air = (uint64_t*)memory;
    b.reached = b.air + b.slab * ((size_t)g->nz + 2);
    return b;
}

static uint64_t read_bits(const uint8_t* solid, int32_t count)
{
    uint64_t bits = 0;
    int32_t n = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    // The lowest bits of eight bytes, moved side by side.
    for (; n + 8 <= count; n += 8) {
        const uint64_t air = ~wgi_full_bytes(wgi_load_marks(solid + n)) & 0x0101010101010101u;
        bits |= (air * 0x0102040810204080u >> 56) << n;
    }
#endif
    for (; n < count; ++n)
        bits |= (uint64_t)(solid[n] == 0) << n;
    return bits;
}

// Bits of a row's interior in one word.
static uint64_t interior_bits(int32_t nx, int32_t word)
{
    uint64_t bits = ~(uint64_t)0;
    const int32_t left = nx + 1 - 64 * word; // cell nx is bit nx
    if (word == 0)
        bits &= ~(uint64_t)1;
    return left >= 64 ? bits : left <= 0 ? 0 : bits & (((uint64_t)1 << left) - 1);
}

// Compact: all border air is ground. Consistent: everything but the unknowns is.
static void start_bits(const wgi_projection* p, const bit_rows* b)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2;
    for (int32_t k = 0; k <= g->nz + 1; ++k)
        for (int32_t j = 0; j <= g->ny + 1; ++j) {
            const bool inside = k >= 1 && k <= g->nz && j >= 1 && j <= g->ny;
            const uint8_t* solid =
                p->solid ? p->solid + ((size_t)k * ((size_t)g->ny + 2) + (size_t)j) * row : NULL;
            for (int32_t w = 0; w < b->words; ++w) {
                const int32_t left = g->nx + 2 - 64 * w, count = left < 64 ? left : 64;
                const uint64_t all = count < 64 ? ((uint64_t)1 << count) - 1 : ~(uint64_t)0;
                const uint64_t inner = inside ? interior_bits(g->nx, w) : 0;
                const uint64_t air = solid ? read_bits(solid + 64 * w, count) : all;
                const size_t at = (size_t)k * b->slab + (size_t)j * b->row + (size_t)w;
                b->air[at] = p->consistent ? air & inner : air;
                b->reached[at] = p->consistent ? ~(air & inner) : air & ~inner;
            }
        }
}

// Spreads bits upwards: to the bit `step` above where `open` has that one.
static uint64_t fill_up(uint64_t bits, uint64_t open, int step)
{
    for (; step < 64; step *= 2) {
        bits |= (bits << step) & open;
        open &= open << step;
    }
    return bits;
}

static uint64_t fill_down(uint64_t bits, uint64_t open, int step)
{
    for (; step < 64; step *= 2) {
        bits |= (bits >> step) & open;
        open &= open >> step;
    }
    return bits;
}

// The word's bits moved up or down by one, with what comes in from its neighbours.
static uint64_t moved_up(const uint64_t* row, int32_t w)
{
    return row[w] << 1 | (w > 0 ? row[w - 1] >> 63 : 0);
}

static uint64_t moved_down(const uint64_t* row, int32_t w, int32_t words)
{
    return row[w] >> 1 | (w + 1 < words ? row[w + 1] << 63 : 0);
}

// Compact: through every open face.
static uint64_t spread_faces(const bit_rows* b, size_t row, int32_t w)
{
    const uint64_t* r = b->reached + row + w;
    const uint64_t air = b->air[row + (size_t)w];
    uint64_t bits = r[0] | (*(r - b->row) | r[b->row] | *(r - b->slab) | r[b->slab]);
    bits |= moved_up(b->reached + row, w) | moved_down(b->reached + row, w, b->words);
    return r[0] | fill_down(fill_up(bits & air, air, 1), air, 1);
}

// Consistent: from a cell over the one beside it, if that is air, to the next.
static uint64_t spread_across(const bit_rows* b, size_t row, int32_t w, const bool far[4])
{
    const uint64_t *r = b->reached + row + w, *air = b->air + row + w;
    uint64_t bits = r[0];
    const size_t step[2] = { b->row, b->slab };
    for (int n = 0; n < 2; ++n) {
        bits |= far[2 * n] ? *(air - step[n]) & *(r - 2 * step[n]) : 0;
        bits |= far[2 * n + 1] ? air[step[n]] & r[2 * step[n]] : 0;
    }
    const uint64_t up = moved_up(b->air + row, w), down = moved_down(b->air + row, w, b->words);
    const uint64_t below = w > 0 ? *(r - 1) >> 62 : 0;
    const uint64_t above = w + 1 < b->words ? r[1] << 62 : 0;
    bits |= (below & up) | (above & down);
    return fill_down(fill_up(bits, up, 2), down, 2);
}

// One pass over all rows, in one order or the other; whether any bit has changed.
static bool spread_once(const wgi_projection* p, const bit_rows* b, bool backwards)
{
    const int32_t ny = p->grid.ny, nz = p->grid.nz, rows = ny * nz;
    bool changed = false;
    for (int32_t n = 0; n < rows; ++n) {
        const int32_t at = backwards ? rows - 1 - n : n, k = at / ny + 1, j = at % ny + 1;
        const size_t row = (size_t)k * b->slab + (size_t)j * b->row;
        const bool far[4] = { j > 1, j<ny, k> 1, k < nz };
        for (int32_t w = 0; w < b->words; ++w) {
            const uint64_t before = b->reached[row + (size_t)w];
            const uint64_t after =
                p->consistent ? spread_across(b, row, w, far) : spread_faces(b, row, w);
            b->reached[row + (size_t)w] = after;
            changed = changed || after != before;
        }
    }
    return changed;
}

// Whether there is an air cell that no ground reaches.
static bool find_unreached(const wgi_projection* p, const bit_rows* b)
{
    start_bits(p, b);
    for (bool backwards = false; spread_once(p, b, backwards); backwards = !backwards)
        continue;
    const size_t words = b->slab * ((size_t)p->grid.nz + 2);
    for (size_t n = 0; n < words; ++n)
        if (b->air[n] & ~b->reached[n])
            return true;
    return false;
}

// ---- components of the rest ----------------------------------------------------------------

// Cells that no ground reaches become their own roots; everything else is the ground. `parent` is
// where the bits are, so that these move to `spare` first.
static void start_roots(const wgi_projection* p, bit_rows b, int32_t* parent, void* spare)
{
    const wgi_project_grid* g = &p->grid;
    const size_t words = b.slab * ((size_t)g->nz + 2);
    memcpy(spare, b.air, 2 * words * sizeof(uint64_t));
    b.air = spare;
    b.reached = b.air + words;
    memset(parent, 0, g->size * sizeof *parent);
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = (size_t)k * b.slab + (size_t)j * b.row;
            for (int32_t i = 1; i <= g->nx; ++i) {
                const size_t cell = wgi_project_cell(g, i, j, k), w = row + (size_t)i / 64;
                if ((b.air[w] & ~b.reached[w]) >> (i % 64) & 1)
                    parent[cell] = (int32_t)cell;
            }
        }
}

// Compact: every face between two of them.
static void unite_faces(const wgi_projection* p, int32_t* parent)
{
    const wgi_project_grid* g = &p->grid;
    const size_t step[3] = { 1, g->slab, g->pitch };
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k)
            for (int32_t i = 1; i <= g->nx; ++i) {
                const size_t cell = wgi_project_cell(g, i, j, k);
                for (int axis = 0; axis < 3 && parent[cell]; ++axis)
                    if (parent[cell - step[axis]])
                        unite(parent, (int32_t)cell, (int32_t)(cell - step[axis]));
            }
}

// Consistent: across every air cell, along each axis.
static void unite_across(const wgi_projection* p, int32_t* parent)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    const size_t step[3] = { 1, g->slab, g->pitch };
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k)
            for (int32_t i = 1; i <= g->nx; ++i) {
                if (p->solid && p->solid[(size_t)k * plane + (size_t)j * row + (size_t)i])
                    continue;
                const size_t cell = wgi_project_cell(g, i, j, k);
                for (int axis = 0; axis < 3; ++axis)
                    if (parent[cell - step[axis]] && parent[cell + step[axis]])
                        unite(parent, (int32_t)(cell - step[axis]), (int32_t)(cell + step[axis]));
            }
}

// Turns roots into component numbers, counted in the order of the cells; -1 on the ground.
static int32_t number_components(const wgi_project_grid* g, int32_t* parent)
{
    int32_t count = 0;
    parent[0] = -1;
    for (size_t n = 1; n < g->size; ++n) {
        if (parent[n] == (int32_t)n)
            parent[n] = count++; // a root: smaller than all its members
        else
            parent[n] = parent[parent[n]]; // of a smaller index, so numbered already
    }
    return count;
}

// Roots must be found before any is renumbered: afterwards an index could be taken for a number.
static void flatten(const wgi_project_grid* g, int32_t* parent)
{
    for (size_t n = 1; n < g->size; ++n)
        parent[n] = parent[parent[n]];
}

int32_t wgi_null_find(const wgi_projection* p, int32_t* component, void* spare)
{
    const bit_rows bits = carve_bits(p, component);
    if (!find_unreached(p, &bits)) {
        memset(component, 0xff, p->grid.size * sizeof *component); // -1
        return 0;
    }
    start_roots(p, bits, component, spare);
    if (p->consistent)
        unite_across(p, component);
    else
        unite_faces(p, component);
    flatten(&p->grid, component);
    return number_components(&p->grid, component);
}

void wgi_null_remove(const wgi_null* null, const wgi_project_grid* g, float* field)
{
    if (null->count == 0)
        return;
    memset(null->sum, 0, (size_t)null->count * sizeof *null->sum);
    memset(null->cells, 0, (size_t)null->count * sizeof *null->cells);
    for (size_t n = 0; n < g->size; ++n)
        if (null->component[n] >= 0) {
            null->sum[null->component[n]] += (double)field[n];
            ++null->cells[null->component[n]];
        }
    for (int32_t c = 0; c < null->count; ++c)
        null->sum[c] /= (double)null->cells[c];
    for (size_t n = 0; n < g->size; ++n)
        if (null->component[n] >= 0)
            field[n] = (float)((double)field[n] - null->sum[null->component[n]]);
}
