// Where the projection's arrays lie in the scratch, and what of it later calls may use again.
#include <math.h>
#include <string.h>

#include "wind/project_multigrid.h"

enum { CACHE_LINE = 64 };

void* wgi_arena_take(wgi_arena* arena, size_t bytes)
{
    char* piece = arena->base ? arena->base + arena->used : NULL;
    arena->used += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return piece;
}

bool wgi_project_exists(const wg_project_parameters* parameters)
{
    switch (parameters->method) {
    case WG_PROJECT_PCG:
        return parameters->discretisation == WG_CONSISTENT;
    case WG_PROJECT_JACOBI:
    case WG_PROJECT_SOR:
    case WG_PROJECT_MULTIGRID:
        return parameters->discretisation == WG_COMPACT;
    case WG_PROJECT_DIRECT:
        return parameters->discretisation == WG_COMPACT ||
               parameters->discretisation == WG_CONSISTENT;
    default:
        return false;
    }
}

bool wgi_project_sizes_fit(int32_t nx, int32_t ny, int32_t nz)
{
    const double cells = ((double)nx + 16.0) * ((double)ny + 2.0) * ((double)nz + 2.0);
    return nx >= 1 && ny >= 1 && nz >= 1 && cells < 2147483648.0;
}

bool wgi_project_numbers_fit(const wg_project_parameters* p)
{
    return p->iterations >= 1 && p->tolerance >= 0.0 && isfinite(p->tolerance);
}

wgi_project_grid wgi_project_make_grid(int32_t nx, int32_t ny, int32_t nz)
{
    wgi_project_grid g = { .nx = nx, .ny = ny, .nz = nz };
    g.pitch = ((size_t)g.nx + 7) / 8 * 8 + 8;
    g.slab = g.pitch * ((size_t)g.nz + 1);
    g.size = g.slab * ((size_t)g.ny + 2) + g.pitch + 8;
    return g;
}

// Whether components without a ground are looked for, where there can be any. The plain Jacobi
// iteration lives with them: its right side is left alone unless a tolerance needs it.
static bool wants_null(const wgi_project_call* call, bool solid)
{
    const wgi_project_grid* g = &call->projection.grid;
    const bool all_odd = g->nx % 2 == 1 && g->ny % 2 == 1 && g->nz % 2 == 1;
    const bool possible = solid || (call->parameters.discretisation == WG_CONSISTENT && all_odd);
    const int32_t method = call->parameters.method;
    return possible && (call->measure || method != WG_PROJECT_JACOBI);
}

// The multigrid methods use their arrays from call to call.
bool wgi_project_works_apart(const wg_project_parameters* parameters)
{
    return parameters->method != WG_PROJECT_MULTIGRID && parameters->method != WG_PROJECT_PCG;
}

static bool sweeps(const wgi_project_call* call)
{
    return call->parameters.method == WG_PROJECT_JACOBI ||
           call->parameters.method == WG_PROJECT_SOR;
}

static size_t marks_size(const wgi_project_grid* g)
{
    return ((size_t)g->nx + 2) * ((size_t)g->ny + 2) * ((size_t)g->nz + 2);
}

// ---- memory of earlier calls ---------------------------------------------------------------

// The address is part of it, so that a copied scratch is set up anew.
static uint64_t complete_magic(const wgi_project_call* call)
{
    return 0x77696e6467726f77u ^ (uint64_t)(uintptr_t)call->memory;
}

void wgi_project_recall(wgi_project_call* call)
{
    const wgi_projection* p = &call->projection;
    wgi_project_memory* m = call->memory;
    const wgi_project_memory wanted = { .magic = complete_magic(call),
                                        .nx = p->grid.nx,
                                        .ny = p->grid.ny,
                                        .nz = p->grid.nz,
                                        .method = call->parameters.method,
                                        .discretisation = call->parameters.discretisation,
                                        .marked = call->marks != NULL,
                                        .null_count = -1 };
    call->reuse = m->magic == wanted.magic && m->nx == wanted.nx && m->ny == wanted.ny &&
                  m->nz == wanted.nz && m->method == wanted.method &&
                  m->discretisation == wanted.discretisation && m->marked == wanted.marked &&
                  (!call->marks || memcmp(call->marks, p->solid, marks_size(&p->grid)) == 0);
    call->has_faces = call->reuse && m->has_faces;
    if (call->reuse)
        return;
    *m = wanted;
    m->magic = 0; // until the set-up is complete
    if (call->marks)
        memcpy(call->marks, p->solid, marks_size(&p->grid));
}

void wgi_project_remember(wgi_project_call* call)
{
    call->memory->has_faces = call->has_faces;
    call->memory->null_count = call->null.component ? call->null.count : -1;
    call->memory->magic = complete_magic(call);
}

// ---- places in the scratch -----------------------------------------------------------------

static void carve_faces(wgi_project_call* call, wgi_arena* arena)
{
    wgi_projection* p = &call->projection;
    const wgi_project_grid* g = &p->grid;
    const size_t eights = (size_t)g->ny * wgi_project_eights(g);
    p->open = wgi_arena_take(arena, g->size);
    p->faces = wgi_arena_take(arena, g->size);
    p->eights = wgi_arena_take(arena, eights * sizeof *p->eights);
    p->kinds = wgi_arena_take(arena, (size_t)g->ny * sizeof *p->kinds);
    if (sweeps(call)) {
        p->strip = wgi_arena_take(arena, eights * sizeof *p->strip);
        p->strips = wgi_arena_take(arena, (size_t)g->ny * sizeof *p->strips);
    }
}

static void carve_null(wgi_project_call* call, wgi_arena* arena)
{
    const size_t entries = call->projection.grid.size;
    call->null.component = wgi_arena_take(arena, entries * sizeof(int32_t));
    call->null.cells = wgi_arena_take(arena, entries * sizeof(int32_t));
    call->null.sum = wgi_arena_take(arena, entries * sizeof(double));
}

static void carve_fields(wgi_project_call* call, wgi_arena* arena)
{
    wgi_projection* p = &call->projection;
    const size_t bytes = p->grid.size * sizeof(float);
    p->right_side = wgi_arena_take(arena, bytes);
    p->phi = wgi_arena_take(arena, bytes);
    p->other = wgi_arena_take(arena, bytes);
    call->slab_sums = wgi_arena_take(arena, (size_t)p->grid.ny * sizeof(double));
}

// The same order counts the bytes where the arenas have no base. What a measured call keeps and
// another does not comes last.
static void carve(wgi_project_call* call, wgi_arena* kept, wgi_arena* work, bool solid)
{
    call->memory = wgi_arena_take(kept, sizeof *call->memory);
    if (solid)
        call->marks = wgi_arena_take(kept, marks_size(&call->projection.grid));
    carve_faces(call, kept);
    if (call->parameters.method == WG_PROJECT_DIRECT)
        wgi_direct_carve(&call->direct, &call->projection, kept, work);
    carve_fields(call, work);
    if (wants_null(call, solid))
        carve_null(call, kept);
    if (call->parameters.method == WG_PROJECT_SOR)
        wgi_lattice_carve_counted(&call->multigrid[0].level[0], call->projection.grid, work);
    if (call->parameters.method == WG_PROJECT_MULTIGRID)
        wgi_multigrid_carve_compact(call, kept);
    if (call->parameters.method == WG_PROJECT_PCG)
        wgi_multigrid_carve_wide(call, kept);
}

static char* aligned(void* base)
{
    return (char*)base + (size_t)(-(uintptr_t)base % CACHE_LINE);
}

void wgi_project_carve(wgi_project_call* call, wgi_project_place place)
{
    const bool solid = call->projection.solid != NULL;
    wgi_arena counted[2] = { { 0 }, { 0 } };
    wgi_project_call sizes = *call;
    if (!place.work)
        carve(&sizes, &counted[0], &counted[1], solid);
    wgi_arena kept = { .base = aligned(place.kept) };
    wgi_arena work = { .base = place.work ? aligned(place.work) : kept.base + counted[0].used };
    carve(call, &kept, &work, solid);
}

void wgi_project_sizes(
    int32_t nx, int32_t ny, int32_t nz, const wg_project_parameters* parameters, bool solid,
    size_t size[2])
{
    size[0] = size[1] = 0;
    if (!wgi_project_sizes_fit(nx, ny, nz) || !wgi_project_numbers_fit(parameters) ||
        !wgi_project_exists(parameters))
        return;
    size[0] = CACHE_LINE;
    if (nx < 3 || ny < 3 || nz < 3)
        return;
    wgi_project_call call = { .parameters = *parameters, .measure = true };
    call.projection.grid = wgi_project_make_grid(nx - 2, ny - 2, nz - 2);
    wgi_arena kept = { 0 }, work = { 0 };
    carve(&call, &kept, &work, solid);
    const bool apart = wgi_project_works_apart(parameters);
    size[0] = kept.used + (apart ? 0 : work.used) + CACHE_LINE;
    size[1] = apart ? work.used + CACHE_LINE : 0;
}

size_t wg_project_scratch_size(
    int32_t nx, int32_t ny, int32_t nz, const wg_project_parameters* parameters, bool solid)
{
    size_t size[2];
    wgi_project_sizes(nx, ny, nz, parameters, solid, size);
    return size[0] + size[1];
}
