// The two methods that stand on the multigrid: `multigrid` for the compact Laplacian and `pcg` for
// the consistent form.
#include <math.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/project_multigrid.h"

enum { SLAB_GRAIN = 4 };

// Below this share of the right side the residual of a float32 solution is rounding.
static const double rounding_floor = 2e-7;

// A solution that was thought to have met the tolerance is measured, and taken up again where
// rounding of the iteration has hidden the rest; more often than this does not help.
enum { PASSES = 4 };

static double share_of_goal(const wgi_project_call* call)
{
    return call->parameters.tolerance > 0.0 ? call->parameters.tolerance : rounding_floor;
}

static bool is_met(const wgi_project_call* call)
{
    return call->parameters.tolerance == 0.0 || call->result.residual <= call->parameters.tolerance;
}

// ---- compact -------------------------------------------------------------------------------

void wgi_multigrid_carve_compact(wgi_project_call* call, wgi_arena* arena)
{
    wgi_multigrid_carve(&call->multigrid[0], call->projection.grid, true, arena);
}

// One pass for the phi at hand; returns the iterations done. The first cycles correct phi as they
// are; then conjugate gradients take care of what a coarse cell cannot know, such as a wall or a
// one-cell gap inside it.
static int32_t improve(wgi_project_call* call, wgi_cg_goal goal, bool first, double* norm)
{
    wgi_projection* p = &call->projection;
    wgi_multigrid* m = &call->multigrid[0];
    const wgi_lattice* l = &m->level[0];
    const bool from_zero = first && !p->pressure, eager = call->parameters.tolerance > 0.0;
    const wgi_whole whole = { p->right_side, from_zero ? NULL : p->phi, p->phi };
    int32_t done = 0;
    if (first)
        done = wgi_multigrid_cycles(m, call->exec, &whole, eager, goal, norm);
    else
        wgi_lattice_load(l, call->exec, &whole);
    if (done == goal.iterations)
        return done;
    if (done > 0 && *norm <= goal.norm) {
        wgi_lattice_unload(l, call->exec, &(wgi_halves){ { l->x[0], l->x[1] } }, p->phi);
        return done;
    }
    *norm = wgi_multigrid_take_residual(m, call->exec);
    goal.iterations -= done;
    done += wgi_multigrid_gradients(m, call->exec, goal, norm);
    wgi_lattice_unload(l, call->exec, &m->solution, p->phi);
    return done;
}

bool wgi_project_multigrid(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    wgi_multigrid* m = &call->multigrid[0];
    wgi_lattice_describe(&m->level[0], p);
    if (!call->reuse)
        wgi_multigrid_compact(m, p);
    const double goal = share_of_goal(call) * call->norm;
    double norm = p->pressure ? wgi_project_residual_norm(call) : call->norm;
    int32_t left = call->parameters.iterations;
    for (int pass = 0; pass < PASSES && left > 0 && norm > goal; ++pass) {
        const int32_t done = improve(call, (wgi_cg_goal){ left, goal }, pass == 0, &norm);
        left -= done;
        norm = call->measure ? wgi_project_residual_norm(call) : norm;
        if (done == 0 || call->parameters.tolerance == 0.0)
            break;
    }
    call->result.iterations = call->parameters.iterations - left;
    call->result.residual = norm / call->norm;
    return is_met(call);
}

// ---- consistent ----------------------------------------------------------------------------

static wgi_project_grid part_grid(const wgi_project_grid* g, int32_t part)
{
    const int32_t size[3] = { g->nx, g->ny, g->nz };
    int32_t cells[3];
    for (int axis = 0; axis < 3; ++axis)
        cells[axis] = (size[axis] + 1 - ((part >> axis) & 1)) / 2;
    return wgi_project_make_grid(cells[0], cells[1], cells[2]);
}

static bool is_empty(const wgi_project_grid* g)
{
    return g->nx < 1 || g->ny < 1 || g->nz < 1;
}

void wgi_multigrid_carve_wide(wgi_project_call* call, wgi_arena* arena)
{
    for (int32_t part = 0; part < 8; ++part) {
        const wgi_project_grid g = part_grid(&call->projection.grid, part);
        if (!is_empty(&g))
            wgi_multigrid_carve(&call->multigrid[part], g, false, arena);
    }
}

// Where the cells of one row of a lattice are: those at odd places, counted from 1, and the others.
typedef struct lattice_row {
    size_t whole; // the first cell, in a field of the whole grid
    size_t half;  // the same in a field of a colour
    int32_t odd;  // the colour at odd places
} lattice_row;

static lattice_row
find_row(const wgi_project_grid* g, const wgi_lattice* l, int32_t part, int32_t j, int32_t k)
{
    const int32_t y = 2 * j - 1 + ((part >> 1) & 1), z = 2 * k - 1 + ((part >> 2) & 1);
    return (lattice_row){ .whole = wgi_project_cell(g, 1 + (part & 1), y, z),
                          .half = wgi_project_cell(&l->half, 1, j, k),
                          .odd = (j + k) & 1 };
}

static void gather(const wgi_project_grid* g, int32_t part, const wgi_multigrid* m, float* whole)
{
    const wgi_lattice* l = &m->level[0];
    for (int32_t j = 1; j <= l->grid.ny; ++j)
        for (int32_t k = 1; k <= l->grid.nz; ++k) {
            const lattice_row row = find_row(g, l, part, j, k);
            const float* odd = m->solution.colour[row.odd] + row.half;
            const float* even = m->solution.colour[1 - row.odd] + row.half;
            float* to = whole + row.whole;
            for (int32_t h = 0; 2 * h < l->grid.nx; ++h)
                to[4 * h] = odd[h];
            for (int32_t h = 0; 2 * h + 1 < l->grid.nx; ++h)
                to[4 * h + 2] = even[h];
        }
}

typedef struct wide_job {
    wgi_project_call* call;
    wgi_cg_goal goal;
    bool set_up;
    int32_t done[8];
} wide_job;

// The right side of one lattice from that of the whole grid; its norm.
static double deal(const wgi_projection* p, const wgi_multigrid* m, const int32_t parity[3])
{
    const wgi_lattice* l = &m->level[0];
    wgi_kernels()->lattice_deal(
        l, &p->grid, p->right_side, parity, m->slab_sums[0], 1, l->grid.ny + 1);
    double sum = 0.0;
    for (int32_t j = 0; j < l->grid.ny; ++j)
        sum += m->slab_sums[0][j];
    return sqrt(sum);
}

// The eight systems are independent: each is one task, solved on one thread from zero.
static void solve_parts(size_t begin, size_t end, void* context)
{
    wide_job* job = context;
    const wgi_projection* p = &job->call->projection;
    for (int32_t part = (int32_t)begin; part < (int32_t)end; ++part) {
        wgi_multigrid* m = &job->call->multigrid[part];
        job->done[part] = 0;
        if (m->level_count == 0)
            continue;
        const int32_t parity[3] = { part & 1, (part >> 1) & 1, (part >> 2) & 1 };
        if (job->set_up)
            wgi_multigrid_wide(m, p, parity);
        wgi_multigrid_restart(m);
        double norm = deal(p, m, parity);
        wgi_cg_goal goal = job->goal;
        if (goal.norm == 0.0)
            goal.norm = rounding_floor * norm;
        job->done[part] = wgi_multigrid_gradients(m, NULL, goal, &norm);
        gather(&p->grid, part, m, p->other);
    }
}

// One pass: solve for the divergence that is left, correct velocity and phi with the answer.
static int32_t correct(wgi_project_call* call, wide_job* job)
{
    wgi_projection* p = &call->projection;
    wgi_parallel_for(call->exec, 8, 1, solve_parts, job);
    float* total = p->phi;
    p->phi = p->other;
    wgi_project_over_slabs(call, wgi_kernels()->project_gradient);
    p->phi = total;
    for (size_t n = 0; n < p->grid.size; ++n)
        p->phi[n] += p->other[n];
    p->velocity = p->out;
    int32_t most = 0;
    for (int part = 0; part < 8; ++part)
        most = job->done[part] > most ? job->done[part] : most;
    return most;
}

bool wgi_project_pcg(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    double norm = call->norm;
    if (p->pressure) {
        wgi_project_over_slabs(call, wgi_kernels()->project_gradient);
        norm = wgi_project_divergence_left(call);
    }
    if (!call->reuse)
        wgi_clear_around(&p->grid, p->faces, 1);
    const double goal = call->parameters.tolerance * call->norm;
    int32_t left = call->parameters.iterations;
    // The first pass writes the velocity; a pressure given has done so above.
    const int least = p->pressure ? 0 : 1;
    for (int pass = 0; pass < least || (pass < PASSES && left > 0 && norm > goal); ++pass) {
        // Each of up to eight parts may keep an eighth of the square; a little less, since the
        // velocity is rounded after this.
        wide_job job = { .call = call,
                         .goal = { left, goal > 0.0 ? 4.0 * 0.95 * goal / sqrt(8.0) : 0.0 },
                         .set_up = pass == 0 && !call->reuse };
        const int32_t done = correct(call, &job);
        left -= done;
        if (!call->measure)
            break;
        norm = wgi_project_divergence_left(call);
        if (done == 0 || goal == 0.0)
            break;
    }
    call->result.iterations = call->parameters.iterations - left;
    call->result.residual = norm / call->norm;
    return is_met(call);
}
