// Null modes: right sides that no pressure can answer.
//
// Both operators are graph Laplacians with edges of weight one, grounded where phi = 0 is fixed:
// compact, an edge for each open face; consistent, an edge across each air cell and axis, between
// the cells on its two sides. The null space of such a matrix is spanned by the indicators of the
// components without a ground: their mean must leave the right side, and phi is free by a constant
// there. Components are found by union-find; the ground is index 0, which is never a cell.
#include <string.h>

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

// Cells of the interior that are air become their own roots; everything else is the ground.
static void start_roots(const wgi_projection* p, int32_t* parent)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    memset(parent, 0, g->size * sizeof *parent);
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t from = (size_t)k * plane + (size_t)j * row;
            for (int32_t i = 1; i <= g->nx; ++i) {
                const size_t cell = wgi_project_cell(g, i, j, k);
                if (!p->solid || !p->solid[from + (size_t)i])
                    parent[cell] = (int32_t)cell;
            }
        }
}

// Compact: every face between two air cells; border air is the ground.
static void unite_faces(const wgi_projection* p, int32_t* parent)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    const size_t step[3] = { 1, g->slab, g->pitch }, caller_step[3] = { 1, row, plane };
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k)
            for (int32_t i = 1; i <= g->nx; ++i) {
                const size_t at = (size_t)k * plane + (size_t)j * row + (size_t)i;
                const size_t cell = wgi_project_cell(g, i, j, k);
                const int32_t last[3] = { g->nx, g->ny, g->nz }, place[3] = { i, j, k };
                if (p->solid[at])
                    continue;
                for (int axis = 0; axis < 3; ++axis) {
                    if (!p->solid[at - caller_step[axis]])
                        unite(parent, (int32_t)cell, parent[cell - step[axis]]);
                    if (place[axis] == last[axis] && !p->solid[at + caller_step[axis]])
                        unite(parent, (int32_t)cell, 0);
                }
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
                    unite(parent, parent[cell - step[axis]], parent[cell + step[axis]]);
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

int32_t wgi_null_find(const wgi_projection* p, int32_t* component)
{
    start_roots(p, component);
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
