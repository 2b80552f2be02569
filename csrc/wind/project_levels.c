// The levels of the multigrid: their arrays, and their edges from the marks down.
//
// Coarse cells are 2 x 2 x 2 fine ones. A coarse edge has the weights of the fine edges that cross
// its face, summed and halved (half the gradient over twice the distance, four times the area);
// edges to phi = 0 inside solids go to the diagonal in the same way. The border's phi = 0 is nearer to
// a coarse cell than its neighbours are, and its edges are stronger for it. McAdams, Sifakis and Teran,
// "A parallel multigrid Poisson solver for fluids simulation on large grids", SCA 2010, have the
// idea for domains with solids.
#include <string.h>

#include "wind/project_multigrid.h"

enum { COARSEST_CELLS = 8 };

// ---- arrays --------------------------------------------------------------------------------

static int32_t halved(int32_t n)
{
    return (n + 1) / 2;
}

static wgi_halves carve_halves(const wgi_project_grid* half, wgi_arena* arena)
{
    wgi_halves h;
    for (int colour = 0; colour < 2; ++colour)
        h.colour[colour] = wgi_arena_take(arena, half->size * sizeof(float));
    return h;
}

// Where a row does not fill its vectors, its end serves as the zeros before the next one.
static wgi_project_grid make_half(const wgi_project_grid* g)
{
    wgi_project_grid half = wgi_project_make_grid(halved(g->nx), g->ny, g->nz);
    if (half.nx % 8 == 0)
        return half;
    half.pitch -= 8;
    half.slab = half.pitch * ((size_t)half.nz + 1);
    half.size = half.slab * ((size_t)half.ny + 2) + half.pitch + 16;
    return half;
}

static void carve_fields(wgi_lattice* l, wgi_project_grid grid, wgi_arena* arena)
{
    *l = (wgi_lattice){ .grid = grid, .half = make_half(&grid) };
    for (int colour = 0; colour < 2; ++colour) {
        l->x[colour] = wgi_arena_take(arena, l->half.size * sizeof(float));
        l->b[colour] = wgi_arena_take(arena, l->half.size * sizeof(float));
    }
}

void wgi_lattice_carve_counted(wgi_lattice* l, wgi_project_grid grid, wgi_arena* arena)
{
    carve_fields(l, grid, arena);
    l->counted = true;
    for (int colour = 0; colour < 2; ++colour)
        l->open[colour] = wgi_arena_take(arena, l->half.size);
}

static void carve_weighted(wgi_lattice* l, wgi_project_grid grid, wgi_arena* arena)
{
    carve_fields(l, grid, arena);
    const size_t bytes = l->half.size * sizeof(float);
    for (int n = 0; n < 6; ++n)
        l->weight[n] = wgi_arena_take(arena, bytes);
    for (int colour = 0; colour < 2; ++colour) {
        l->diagonal[colour] = wgi_arena_take(arena, bytes);
        l->reciprocal[colour] = wgi_arena_take(arena, bytes);
    }
}

static void carve_coarse(wgi_lattice* l, bool compact, wgi_arena* arena)
{
    const size_t cells = (size_t)l->grid.nx * (size_t)l->grid.ny * (size_t)l->grid.nz;
    l->joined = wgi_arena_take(arena, l->grid.size * sizeof(float));
    if (!compact)
        return;
    l->dead.count = wgi_arena_take(arena, sizeof *l->dead.count);
    l->dead.at = wgi_arena_take(arena, cells * sizeof(int32_t));
    l->dead.reciprocal = wgi_arena_take(arena, cells * sizeof(float));
    l->dead.value = wgi_arena_take(arena, cells * sizeof(float));
}

static void carve_edges(wgi_edges* e, const wgi_project_grid* g, bool ground, wgi_arena* arena)
{
    for (int axis = 0; axis < 3; ++axis)
        e->weight[axis] = wgi_arena_take(arena, g->size * sizeof(float));
    for (int axis = 0; axis < 3 && ground; ++axis)
        e->ground[axis] = wgi_arena_take(arena, g->size * sizeof(float));
}

void wgi_multigrid_carve(wgi_multigrid* m, wgi_project_grid finest, bool counted, wgi_arena* arena)
{
    wgi_project_grid g = finest;
    m->level_count = 0;
    for (;;) {
        wgi_lattice* l = &m->level[m->level_count++];
        if (counted && m->level_count == 1)
            wgi_lattice_carve_counted(l, g, arena);
        else
            carve_weighted(l, g, arena);
        if (m->level_count > 1)
            carve_coarse(l, counted, arena);
        const int64_t cells = (int64_t)g.nx * g.ny * g.nz;
        if (cells <= COARSEST_CELLS || m->level_count == WGI_MULTIGRID_LEVELS)
            break;
        g = wgi_project_make_grid(halved(g.nx), halved(g.ny), halved(g.nz));
    }
    const wgi_project_grid* half = &m->level[0].half;
    m->solution = carve_halves(half, arena);
    m->direction = carve_halves(half, arena);
    m->image = carve_halves(half, arena);
    for (int n = 0; n < 2; ++n)
        m->slab_sums[n] = wgi_arena_take(arena, (size_t)finest.ny * sizeof(double));
    // Even levels use the first set of edges while they are built, odd ones the second.
    carve_edges(&m->edges[0], &finest, !counted, arena);
    if (m->level_count > 1)
        carve_edges(&m->edges[1], &m->level[1].grid, !counted, arena);
}

// The zeros before each row, the row between slabs, and the slabs at both ends. Before the rows are
// written: they may share these zeros.
void wgi_clear_around(const wgi_project_grid* g, void* array, size_t bytes)
{
    char* at = array;
    const size_t first = wgi_project_cell(g, 1, 1, 1) - 8;
    const size_t last = wgi_project_cell(g, 1, g->ny, g->nz) + g->pitch - 8;
    memset(at, 0, first * bytes);
    memset(at + last * bytes, 0, (g->size - last) * bytes);
    for (int32_t j = 1; j <= g->ny; ++j) {
        for (int32_t k = 1; k <= g->nz; ++k)
            memset(at + (wgi_project_cell(g, 1, j, k) - 8) * bytes, 0, 8 * bytes);
        if (j > 1)
            memset(at + (wgi_project_cell(g, 1, j, 0) - 8) * bytes, 0, g->pitch * bytes);
    }
}

// Rows are written before they are read.
static void clear_fields(const wgi_lattice* l)
{
    for (int colour = 0; colour < 2; ++colour) {
        wgi_clear_around(&l->half, l->x[colour], sizeof(float));
        wgi_clear_around(&l->half, l->b[colour], sizeof(float));
    }
    if (l->joined)
        wgi_clear_around(&l->grid, l->joined, sizeof(float));
}

void wgi_lattice_zero(const wgi_lattice* l, const wgi_halves* field)
{
    for (int colour = 0; colour < 2; ++colour)
        memset(field->colour[colour], 0, l->half.size * sizeof(float));
}

void wgi_multigrid_restart(wgi_multigrid* m)
{
    wgi_lattice_zero(&m->level[0], &m->solution);
}

// ---- coarser levels ------------------------------------------------------------------------

// How far the border's phi = 0 is from the outermost cell centre, in cells of the level. The far one
// may lie inside a last cell that holds few fine ones, or none of its half: it stays a cell's border.
static float border_distance(int32_t finest, int32_t cells, int32_t level, int side)
{
    const float size = (float)((int64_t)1 << level);
    if (side == 0)
        return 0.5f / size + 0.5f;
    const float far = ((float)finest + 0.5f) / size - (float)cells + 0.5f;
    return far < 0.25f ? 0.25f : far;
}

static wgi_coarsening plan(const wgi_multigrid* m, int32_t level)
{
    const wgi_project_grid* g[3] = { &m->level[0].grid, &m->level[level].grid,
                                     &m->level[level + 1].grid };
    const int32_t size[3][3] = { { g[0]->nx, g[0]->ny, g[0]->nz },
                                 { g[1]->nx, g[1]->ny, g[1]->nz },
                                 { g[2]->nx, g[2]->ny, g[2]->nz } };
    wgi_coarsening c = { .fine = m->edges[level % 2], .coarse = m->edges[1 - level % 2] };
    for (int axis = 0; axis < 3; ++axis) {
        const bool coarsened = size[1][axis] > 1;
        c.scale[axis] = coarsened ? 0.5f : 1.0f;
        for (int side = 0; side < 2; ++side)
            c.border[axis][side] =
                coarsened ? border_distance(size[0][axis], size[1][axis], level, side) /
                                border_distance(size[0][axis], size[2][axis], level + 1, side)
                          : 1.0f;
    }
    return c;
}

// Whether there is an unknown at a place; 0 and places past the end are none.
static bool is_unknown(const wgi_lattice* l, int32_t i, int32_t j, int32_t k)
{
    const int32_t colour = (i + j + k + 1) & 1;
    return l->reciprocal[colour][wgi_project_cell(&l->half, (i + 1) / 2, j, k)] > 0.0f;
}

static int32_t find_dead(wgi_lattice* l)
{
    const wgi_project_grid* g = &l->grid;
    int32_t count = 0;
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k)
            for (int32_t i = 1; i <= g->nx; ++i) {
                if (is_unknown(l, i, j, k))
                    continue;
                const int beside = is_unknown(l, i - 1, j, k) + is_unknown(l, i + 1, j, k) +
                                   is_unknown(l, i, j - 1, k) + is_unknown(l, i, j + 1, k) +
                                   is_unknown(l, i, j, k - 1) + is_unknown(l, i, j, k + 1);
                if (beside == 0)
                    continue;
                l->dead.at[count] = (int32_t)wgi_project_cell(g, i, j, k);
                l->dead.reciprocal[count++] = 1.0f / (float)beside;
            }
    return count;
}

static void finish_weighted(wgi_lattice* l, const wgi_edges* edges)
{
    clear_fields(l);
    for (int n = 0; n < 6; ++n)
        wgi_clear_around(&l->half, l->weight[n], sizeof(float));
    for (int colour = 0; colour < 2; ++colour)
        wgi_clear_around(&l->half, l->reciprocal[colour], sizeof(float));
    wgi_kernels()->lattice_split_edges(l, edges, 1, l->grid.ny + 1);
}

// All levels below the finest, from its edges.
static void build_coarse(wgi_multigrid* m, bool solid)
{
    for (int32_t n = 1; n < m->level_count; ++n) {
        wgi_lattice* l = &m->level[n];
        m->edges[n % 2].grid = l->grid;
        const wgi_coarsening c = plan(m, n - 1);
        wgi_kernels()->lattice_coarsen(&c);
        finish_weighted(l, &m->edges[n % 2]);
        if (l->dead.count)
            *l->dead.count = solid ? find_dead(l) : 0;
    }
}

// ---- the finest level ----------------------------------------------------------------------

void wgi_lattice_fill_counted(wgi_lattice* l, const wgi_projection* p)
{
    clear_fields(l);
    for (int colour = 0; colour < 2; ++colour)
        memset(l->open[colour], 0, l->half.size);
    wgi_kernels()->lattice_split_counts(l, p->open, 1, l->grid.ny + 1);
}

void wgi_lattice_describe(wgi_lattice* l, const wgi_projection* p)
{
    l->counts = p->open;
    l->plain = !p->solid && p->grid.nx % 16 == 0;
}

void wgi_multigrid_compact(wgi_multigrid* m, const wgi_projection* p)
{
    wgi_lattice_fill_counted(&m->level[0], p);
    m->edges[0].grid = m->level[0].grid;
    wgi_kernels()->lattice_face_edges(&m->edges[0], p->faces);
    build_coarse(m, p->solid != NULL);
}

void wgi_multigrid_wide(wgi_multigrid* m, const wgi_projection* p, const int32_t parity[3])
{
    wgi_lattice* l = &m->level[0];
    wgi_edges* e = &m->edges[0];
    e->grid = l->grid;
    wgi_kernels()->lattice_wide_edges(e, &p->grid, p->faces, parity);
    finish_weighted(l, e);
    build_coarse(m, false);
}
