// Multigrid for lattices with any pattern of missing edges.
//
// Coarse cells are 2 x 2 x 2 fine ones. A coarse edge has the weights of the fine edges that cross
// its face, summed and halved (half the gradient over twice the distance, four times the area);
// edges to fixed phi = 0 go to the diagonal in the same way. One V-cycle: a red-black sweep,
// the coarse correction by trilinear interpolation, a black-red sweep: symmetric, so that it may
// precondition conjugate gradients, which take care of what a coarse cell cannot know (a wall or a
// one-cell gap inside it). McAdams, Sifakis and Teran, "A parallel multigrid Poisson solver for
// fluids simulation on large grids", SCA 2010, have the idea for domains with solids.
#include "wind/project_multigrid.h"

#include <math.h>
#include <string.h>

#include "support/parallel.h"

enum { SLAB_GRAIN = 4, COARSEST_SWEEPS = 4, COARSEST_CELLS = 8 };

// ---- set-up --------------------------------------------------------------------------------

static int32_t halved(int32_t n)
{
    return (n + 1) / 2;
}

static void carve_level(wgi_lattice* l, wgi_project_grid grid, wgi_arena* arena)
{
    const size_t bytes = grid.size * sizeof(float);
    l->grid = grid;
    for (int axis = 0; axis < 3; ++axis)
        l->weight[axis] = wgi_arena_take(arena, bytes);
    l->diagonal = wgi_arena_take(arena, bytes);
    l->reciprocal = wgi_arena_take(arena, bytes);
    l->x = wgi_arena_take(arena, bytes);
    l->b = wgi_arena_take(arena, bytes);
    l->r = wgi_arena_take(arena, bytes);
}

void wgi_multigrid_carve(wgi_multigrid* m, wgi_project_grid finest, wgi_arena* arena)
{
    wgi_project_grid g = finest;
    m->level_count = 0;
    for (;;) {
        carve_level(&m->level[m->level_count++], g, arena);
        const int64_t cells = (int64_t)g.nx * g.ny * g.nz;
        if (cells <= COARSEST_CELLS || m->level_count == WGI_MULTIGRID_LEVELS)
            break;
        g = wgi_project_make_grid(halved(g.nx), halved(g.ny), halved(g.nz));
    }
    m->direction = wgi_arena_take(arena, finest.size * sizeof(float));
    m->solution = wgi_arena_take(arena, finest.size * sizeof(float));
    m->slab_sums = wgi_arena_take(arena, (size_t)finest.ny * sizeof(double));
}

static void clear_level(wgi_lattice* l)
{
    const size_t bytes = l->grid.size * sizeof(float);
    float* const all[] = { l->weight[0],  l->weight[1], l->weight[2], l->diagonal,
                           l->reciprocal, l->x,         l->b,         l->r };
    for (size_t n = 0; n < sizeof all / sizeof *all; ++n)
        memset(all[n], 0, bytes);
}

// During the set-up x, b and r hold, per axis, the weights of a cell's edges to fixed phi = 0.
static float* ground(const wgi_lattice* l, int axis)
{
    return axis == 0 ? l->x : axis == 1 ? l->b : l->r;
}

static void axis_steps(const wgi_project_grid* g, size_t step[3])
{
    step[0] = 1;
    step[1] = g->slab;
    step[2] = g->pitch;
}

// Puts one edge along `axis` between the cell at `at` and the one before it.
static void put_edge(wgi_lattice* l, int axis, size_t at, size_t step, bool before, bool after)
{
    if (before && after)
        l->weight[axis][at] = 1.0f;
    else if (before)
        ground(l, axis)[at - step] += 1.0f;
    else if (after)
        ground(l, axis)[at] += 1.0f;
}

static void finish_level(wgi_lattice* l)
{
    const wgi_project_grid* g = &l->grid;
    size_t step[3];
    axis_steps(g, step);
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (size_t at = row; at < row + (size_t)g->nx; ++at) {
                float sum = 0.0f;
                for (int axis = 0; axis < 3; ++axis)
                    sum += l->weight[axis][at] + l->weight[axis][at + step[axis]] +
                           ground(l, axis)[at];
                l->diagonal[at] = sum;
                l->reciprocal[at] = sum > 0.0f ? 1.0f / sum : 0.0f;
            }
        }
}

// Coarse cell of a fine place, and whether the fine edge before it crosses into that cell.
static int32_t coarse_place(int32_t fine, int32_t fine_size, bool* crosses)
{
    if (fine_size == 1) {
        *crosses = true;
        return fine;
    }
    *crosses = fine % 2 == 1;
    return (fine + 1) / 2;
}

// Adds one fine cell's edges and ground to the coarse level.
static void coarsen_cell(
    const wgi_lattice* fine, wgi_lattice* coarse, const int32_t place[3], const float scale[3])
{
    const wgi_project_grid* g = &fine->grid;
    const int32_t size[3] = { g->nx, g->ny, g->nz };
    int32_t own[3];
    bool crosses[3];
    for (int axis = 0; axis < 3; ++axis)
        own[axis] = coarse_place(place[axis], size[axis], &crosses[axis]);
    const size_t from = wgi_project_cell(g, place[0], place[1], place[2]);
    const size_t to = wgi_project_cell(&coarse->grid, own[0], own[1], own[2]);
    for (int axis = 0; axis < 3; ++axis) {
        ground(coarse, axis)[to] += scale[axis] * ground(fine, axis)[from];
        if (crosses[axis])
            coarse->weight[axis][to] += scale[axis] * fine->weight[axis][from];
    }
}

static void coarsen(const wgi_lattice* fine, wgi_lattice* coarse)
{
    const wgi_project_grid* g = &fine->grid;
    const float scale[3] = { g->nx > 1 ? 0.5f : 1.0f, g->ny > 1 ? 0.5f : 1.0f,
                             g->nz > 1 ? 0.5f : 1.0f };
    for (int32_t j = 1; j <= g->ny; ++j)
        for (int32_t k = 1; k <= g->nz; ++k)
            for (int32_t i = 1; i <= g->nx; ++i)
                coarsen_cell(fine, coarse, (int32_t[3]){ i, j, k }, scale);
}

void wgi_multigrid_restart(wgi_multigrid* m)
{
    const size_t bytes = m->level[0].grid.size * sizeof(float);
    memset(m->direction, 0, bytes);
    memset(m->solution, 0, bytes);
}

static void build_levels(wgi_multigrid* m)
{
    for (int32_t n = 0; n < m->level_count; ++n) {
        if (n > 0) {
            clear_level(&m->level[n]);
            coarsen(&m->level[n - 1], &m->level[n]);
        }
        finish_level(&m->level[n]);
    }
    for (int32_t n = 0; n < m->level_count; ++n)
        for (int axis = 0; axis < 3; ++axis)
            memset(ground(&m->level[n], axis), 0, m->level[n].grid.size * sizeof(float));
    wgi_multigrid_restart(m);
}

// Reading the caller's solid marks; a NULL array is all air.
typedef struct marks {
    const uint8_t* solid;
    size_t row, plane;
    int32_t size[3];
} marks;

static marks read_marks(const wgi_projection* p)
{
    const wgi_project_grid* g = &p->grid;
    const size_t row = (size_t)g->nx + 2;
    return (marks){ p->solid, row, row * ((size_t)g->ny + 2), { g->nx, g->ny, g->nz } };
}

static bool is_air(const marks* m, const int32_t place[3])
{
    return !m->solid ||
           !m->solid[(size_t)place[2] * m->plane + (size_t)place[1] * m->row + (size_t)place[0]];
}

static bool is_inside(const marks* m, const int32_t place[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (place[axis] < 1 || place[axis] > m->size[axis])
            return false;
    return true;
}

// One edge of the compact Laplacian: the face before a cell, which may be a border cell.
static void compact_edge(wgi_lattice* l, const marks* m, const int32_t place[3], int axis)
{
    int32_t before[3] = { place[0], place[1], place[2] };
    --before[axis];
    if (!is_air(m, place) || !is_air(m, before))
        return;
    size_t step[3];
    axis_steps(&l->grid, step);
    const size_t at = wgi_project_cell(&l->grid, place[0], place[1], place[2]);
    put_edge(l, axis, at, step[axis], is_inside(m, before), is_inside(m, place));
}

void wgi_multigrid_compact(wgi_multigrid* m, const wgi_projection* p)
{
    wgi_lattice* l = &m->level[0];
    const marks s = read_marks(p);
    clear_level(l);
    for (int axis = 0; axis < 3; ++axis) {
        int32_t last[3] = { s.size[0], s.size[1], s.size[2] };
        ++last[axis]; // the face before the far border
        for (int32_t j = 1; j <= last[1]; ++j)
            for (int32_t k = 1; k <= last[2]; ++k)
                for (int32_t i = 1; i <= last[0]; ++i)
                    compact_edge(l, &s, (int32_t[3]){ i, j, k }, axis);
    }
    build_levels(m);
}

// One edge of the wide operator: across the cell before `place` of the lattice, if that is air.
static void
wide_edge(wgi_lattice* l, const marks* m, const int32_t place[3], const int32_t parity[3], int axis)
{
    int32_t after[3], middle[3], before[3];
    for (int a = 0; a < 3; ++a)
        before[a] = middle[a] = after[a] = 2 * place[a] - 1 + parity[a];
    middle[axis] -= 1;
    before[axis] -= 2;
    if (!is_inside(m, middle) || !is_air(m, middle))
        return;
    size_t step[3];
    axis_steps(&l->grid, step);
    const size_t at = wgi_project_cell(&l->grid, place[0], place[1], place[2]);
    put_edge(
        l, axis, at, step[axis], is_inside(m, before) && is_air(m, before),
        is_inside(m, after) && is_air(m, after));
}

void wgi_multigrid_wide(wgi_multigrid* m, const wgi_projection* p, const int32_t parity[3])
{
    wgi_lattice* l = &m->level[0];
    const marks s = read_marks(p);
    clear_level(l);
    for (int axis = 0; axis < 3; ++axis) {
        int32_t last[3] = { l->grid.nx, l->grid.ny, l->grid.nz };
        ++last[axis];
        for (int32_t j = 1; j <= last[1]; ++j)
            for (int32_t k = 1; k <= last[2]; ++k)
                for (int32_t i = 1; i <= last[0]; ++i)
                    wide_edge(l, &s, (int32_t[3]){ i, j, k }, parity, axis);
    }
    build_levels(m);
}

// ---- one V-cycle ---------------------------------------------------------------------------

typedef struct lattice_job {
    const wgi_lattice *fine, *coarse;
    int32_t colour;
} lattice_job;

static void start_slabs(size_t begin, size_t end, void* context)
{
    const lattice_job* job = context;
    wgi_kernels()->lattice_start(job->fine, (int32_t)begin + 1, (int32_t)end + 1);
}

static void sweep_slabs(size_t begin, size_t end, void* context)
{
    const lattice_job* job = context;
    wgi_kernels()->lattice_sweep(job->fine, job->colour, (int32_t)begin + 1, (int32_t)end + 1);
}

static void residual_slabs(size_t begin, size_t end, void* context)
{
    const lattice_job* job = context;
    wgi_kernels()->lattice_residual(job->fine, (int32_t)begin + 1, (int32_t)end + 1);
}

static void restrict_slabs(size_t begin, size_t end, void* context)
{
    const lattice_job* job = context;
    wgi_kernels()->lattice_restrict(job->fine, job->coarse, (int32_t)begin + 1, (int32_t)end + 1);
}

static void prolong_slabs(size_t begin, size_t end, void* context)
{
    const lattice_job* job = context;
    wgi_kernels()->lattice_prolong(job->fine, job->coarse, (int32_t)begin + 1, (int32_t)end + 1);
}

static void over(const wg_exec* exec, int32_t slabs, wgi_range_function* kernel, lattice_job job)
{
    wgi_parallel_for(exec, (size_t)slabs, SLAB_GRAIN, kernel, &job);
}

static void solve_coarsest(const wgi_lattice* l)
{
    const int32_t ny = l->grid.ny;
    lattice_job job = { l, NULL, 0 };
    over(NULL, ny, start_slabs, job);
    for (int n = 0; n < 2 * COARSEST_SWEEPS; ++n) {
        // red-black sweeps down, then black-red ones up: symmetric
        const int32_t first = n < COARSEST_SWEEPS ? 0 : 1;
        for (int32_t half = 0; half < 2; ++half) {
            job.colour = half == 0 ? first : 1 - first;
            over(NULL, ny, sweep_slabs, job);
        }
    }
}

static void cycle(const wgi_multigrid* m, int32_t level, const wg_exec* exec)
{
    const wgi_lattice* l = &m->level[level];
    if (level == m->level_count - 1) {
        solve_coarsest(l);
        return;
    }
    const wgi_lattice* below = &m->level[level + 1];
    const int32_t ny = l->grid.ny;
    over(exec, ny, start_slabs, (lattice_job){ l, below, 0 });
    over(exec, ny, sweep_slabs, (lattice_job){ l, below, 1 });
    over(exec, ny, residual_slabs, (lattice_job){ l, below, 0 });
    over(exec, below->grid.ny, restrict_slabs, (lattice_job){ l, below, 0 });
    cycle(m, level + 1, exec);
    over(exec, ny, prolong_slabs, (lattice_job){ l, below, 0 });
    over(exec, ny, sweep_slabs, (lattice_job){ l, below, 1 });
    over(exec, ny, sweep_slabs, (lattice_job){ l, below, 0 });
}

// ---- conjugate gradients -------------------------------------------------------------------

static void apply_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->cg_apply(context, (int32_t)begin + 1, (int32_t)end + 1);
}

static void advance_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->cg_advance(context, (int32_t)begin + 1, (int32_t)end + 1);
}

static void dot_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->cg_dot(context, (int32_t)begin + 1, (int32_t)end + 1);
}

static void turn_slabs(size_t begin, size_t end, void* context)
{
    wgi_kernels()->cg_turn(context, (int32_t)begin + 1, (int32_t)end + 1);
}

static double summed(const wg_exec* exec, wgi_range_function* kernel, wgi_cg* cg)
{
    const size_t slabs = (size_t)cg->lattice->grid.ny;
    wgi_parallel_for(exec, slabs, SLAB_GRAIN, kernel, cg);
    double sum = 0.0;
    for (size_t j = 0; j < slabs; ++j)
        sum += cg->slab_sums[j];
    return sum;
}

int32_t wgi_multigrid_solve(
    wgi_multigrid* m, const wg_exec* exec, float* solution, wgi_cg_goal goal, double* norm)
{
    const wgi_lattice* l = &m->level[0];
    wgi_cg cg = { .lattice = l,
                  .solution = solution,
                  .direction = m->direction,
                  .image = l->r,
                  .residual = l->b,
                  .preconditioned = l->x,
                  .slab_sums = m->slab_sums };
    double before = 0.0;
    int32_t done = 0;
    while (done<goal.iterations&& * norm> goal.norm) {
        cycle(m, 0, exec);
        const double now = summed(exec, dot_slabs, &cg);
        cg.factor = done > 0 ? (float)(now / before) : 0.0f;
        before = now;
        wgi_parallel_for(exec, (size_t)l->grid.ny, SLAB_GRAIN, turn_slabs, &cg);
        const double curvature = summed(exec, apply_slabs, &cg);
        // Rounding has eaten the direction, or a value is not a number: no step is left.
        if (!(curvature > 0.0) || !(now > 0.0))
            break;
        cg.factor = (float)(now / curvature);
        *norm = sqrt(summed(exec, advance_slabs, &cg));
        ++done;
    }
    return done;
}
