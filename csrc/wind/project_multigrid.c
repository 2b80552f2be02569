// V-cycles, and conjugate gradients around them.
//
// One cycle: a sweep over both colours, the coarse correction, another sweep, each over-relaxed on
// the first colour (Yavneh, "On red-black SOR smoothing in multigrid", SIAM J. Sci. Comput. 17,
// 1996) and exact on the second, so that a residual is left on the first one only. The cycle is not
// symmetric. Conjugate gradients therefore make each direction orthogonal to the one before, instead
// of trusting in it (Notay, "Flexible conjugate gradients", SIAM J. Sci. Comput. 22, 2000).
#include "wind/project_multigrid.h"

#include <math.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/project_pipeline.h"

enum { SLAB_GRAIN = 4, COARSEST_SWEEPS = 4, PLAIN_CYCLES = 2 };

// Cycles that leave more than this of a residual are better off inside conjugate gradients.
static const double good_rate = 0.25;

// Of the sweep before and the one after the coarse correction; see docs/numerics/projection.md.
static const float relax_before = 1.15f, relax_after = 1.35f;

// ---- one V-cycle ---------------------------------------------------------------------------

typedef struct lattice_job {
    const wgi_lattice *fine, *coarse;
    bool from_zero;
    const wgi_whole* load; // taken in on the way down from zero, or NULL
    float* found;          // written on the way up, or NULL
} lattice_job;

static void load_slabs(const wgi_lattice* l, const wgi_whole* whole, int32_t begin, int32_t end)
{
    const wgi_halves b = { { l->b[0], l->b[1] } }, x = { { l->x[0], l->x[1] } };
    wgi_kernels()->lattice_split(l, whole->right_side, -1.0f, &b, begin, end);
    if (whole->start)
        wgi_kernels()->lattice_split(l, whole->start, 1.0f, &x, begin, end);
}

static void go_down(const void* context, int32_t stage, int32_t j)
{
    const lattice_job* job = context;
    const wgi_lattice* l = job->fine;
    if (stage == 0 && job->from_zero) {
        if (job->load)
            load_slabs(l, job->load, j, j + 1);
        wgi_kernels()->lattice_start(l, relax_before, j, j + 1);
    } else if (stage == 0) {
        wgi_kernels()->lattice_sweep(l, relax_before, 0, j, j + 1);
    } else if (stage == 1) {
        wgi_kernels()->lattice_sweep(l, 1.0f, 1, j, j + 1);
    } else if (j % 2 == 0 || j == l->half.ny) {
        wgi_kernels()->lattice_restrict(l, job->coarse, (j + 1) / 2, (j + 1) / 2 + 1);
    }
}

static void go_up(const void* context, int32_t stage, int32_t j)
{
    const lattice_job* job = context;
    const wgi_halves x = { { job->fine->x[0], job->fine->x[1] } };
    if (stage == 0) {
        wgi_kernels()->lattice_prolong(job->fine, job->coarse, j, j + 1);
    } else if (stage == 1) {
        wgi_kernels()->lattice_sweep(job->fine, relax_after, 0, j, j + 1);
    } else {
        wgi_kernels()->lattice_sweep(job->fine, 1.0f, 1, j, j + 1);
        if (job->found)
            wgi_kernels()->lattice_join(job->fine, &x, job->found, j, j + 1);
    }
}

static void solve_coarsest(const wgi_lattice* l)
{
    const int32_t end = l->half.ny + 1;
    wgi_kernels()->lattice_start(l, 1.0f, 1, end);
    wgi_kernels()->lattice_sweep(l, 1.0f, 1, 1, end);
    for (int n = 1; n < COARSEST_SWEEPS; ++n)
        for (int32_t colour = 0; colour < 2; ++colour)
            wgi_kernels()->lattice_sweep(l, 1.0f, colour, 1, end);
}

// The correction of a coarse level in natural order, carried on into cells inside solids.
static void join_correction(const wgi_lattice* l)
{
    const wgi_halves x = { { l->x[0], l->x[1] } };
    const wgi_lattice_dead* dead = &l->dead;
    wgi_kernels()->lattice_join(l, &x, l->joined, 1, l->grid.ny + 1);
    const int32_t count = dead->count ? *dead->count : 0;
    for (int32_t n = 0; n < count; ++n) {
        const size_t pitch = l->grid.pitch, slab = l->grid.slab;
        const float* v = l->joined + dead->at[n];
        const float sum = ((v[-1] + v[1]) + (*(v - slab) + v[slab])) + (*(v - pitch) + v[pitch]);
        dead->value[n] = sum * dead->reciprocal[n];
    }
    for (int32_t n = 0; n < count; ++n)
        l->joined[dead->at[n]] = dead->value[n];
}

static void cycle(const wgi_multigrid* m, int32_t level, const wg_exec* exec, lattice_job job)
{
    const wgi_lattice* l = &m->level[level];
    const wgi_lattice* below = job.coarse = &m->level[level + 1];
    job.fine = l;
    wgi_pipeline(exec, l->half.ny, 3, go_down, &job);
    if (level + 2 < m->level_count)
        cycle(m, level + 1, exec, (lattice_job){ .from_zero = true });
    else
        solve_coarsest(below);
    join_correction(below);
    wgi_pipeline(exec, l->half.ny, 3, go_up, &job);
}

// One from zero, for the finest level's b.
static void precondition(const wgi_multigrid* m, const wg_exec* exec)
{
    if (m->level_count > 1)
        cycle(m, 0, exec, (lattice_job){ .from_zero = true });
    else
        solve_coarsest(&m->level[0]);
}

static void load_some(size_t begin, size_t end, void* context)
{
    const lattice_job* job = context;
    load_slabs(job->fine, job->load, (int32_t)begin + 1, (int32_t)end + 1);
}

void wgi_lattice_load(const wgi_lattice* l, const wg_exec* exec, const wgi_whole* whole)
{
    lattice_job job = { .fine = l, .load = whole };
    wgi_parallel_for(exec, (size_t)l->half.ny, SLAB_GRAIN, load_some, &job);
}

typedef struct unload_job {
    const wgi_lattice* lattice;
    const wgi_halves* from;
    float* found;
} unload_job;

static void unload_some(size_t begin, size_t end, void* context)
{
    const unload_job* job = context;
    wgi_kernels()->lattice_join(
        job->lattice, job->from, job->found, (int32_t)begin + 1, (int32_t)end + 1);
}

void wgi_lattice_unload(
    const wgi_lattice* l, const wg_exec* exec, const wgi_halves* from, float* found)
{
    unload_job job = { l, from, found };
    wgi_parallel_for(exec, (size_t)l->half.ny, SLAB_GRAIN, unload_some, &job);
}

typedef struct residual_job {
    const wgi_lattice* lattice;
    wgi_halves out;
    double* slab_sums;
} residual_job;

static void residual_slabs(size_t begin, size_t end, void* context)
{
    const residual_job* job = context;
    wgi_kernels()->lattice_residual(
        job->lattice, &job->out, job->slab_sums, (int32_t)begin + 1, (int32_t)end + 1);
}

static double total(const double* slab_sums, size_t slabs)
{
    double sum = 0.0;
    for (size_t j = 0; j < slabs; ++j)
        sum += slab_sums[j];
    return sum;
}

static double residual_norm(const wgi_multigrid* m, const wg_exec* exec, wgi_halves out)
{
    residual_job job = { &m->level[0], out, m->slab_sums[0] };
    const size_t slabs = (size_t)m->level[0].half.ny;
    wgi_parallel_for(exec, slabs, SLAB_GRAIN, residual_slabs, &job);
    return sqrt(total(m->slab_sums[0], slabs));
}

int32_t wgi_multigrid_cycles(
    wgi_multigrid* m, const wg_exec* exec, const wgi_whole* whole, bool eager, wgi_cg_goal goal,
    double* norm)
{
    const wgi_lattice* l = &m->level[0];
    const bool from_zero = !whole->start;
    // A single level is solved as a coarsest one, from zero, by what comes after.
    if (m->level_count == 1 || !from_zero)
        wgi_lattice_load(l, exec, whole);
    if (m->level_count == 1) {
        if (from_zero)
            wgi_lattice_zero(l, &(wgi_halves){ { l->x[0], l->x[1] } });
        return 0;
    }
    double wanted = *norm;
    int32_t done = 0;
    while (done < goal.iterations) {
        const bool first = done == 0, last = ++done == goal.iterations;
        cycle(
            m, 0, exec,
            (lattice_job){ .from_zero = first && from_zero,
                           .load = first && from_zero ? whole : NULL,
                           .found = last ? whole->found : NULL });
        wanted *= good_rate;
        if (last || (done < PLAIN_CYCLES && !eager))
            continue;
        *norm = residual_norm(m, exec, m->image);
        if (*norm <= goal.norm || (done >= PLAIN_CYCLES && *norm > wanted))
            break;
        wanted = *norm;
    }
    return done;
}

// ---- conjugate gradients -------------------------------------------------------------------

double wgi_multigrid_take_residual(wgi_multigrid* m, const wg_exec* exec)
{
    const wgi_lattice* l = &m->level[0];
    const double norm = residual_norm(m, exec, (wgi_halves){ { l->b[0], l->b[1] } });
    for (int colour = 0; colour < 2; ++colour)
        memcpy(m->solution.colour[colour], l->x[colour], l->half.size * sizeof(float));
    return norm;
}

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
    const size_t slabs = (size_t)cg->lattice->half.ny;
    wgi_parallel_for(exec, slabs, SLAB_GRAIN, kernel, cg);
    return total(cg->slab_sums[0], slabs);
}

int32_t
wgi_multigrid_gradients(wgi_multigrid* m, const wg_exec* exec, wgi_cg_goal goal, double* norm)
{
    const wgi_lattice* l = &m->level[0];
    const size_t slabs = (size_t)l->half.ny;
    wgi_cg cg = { .lattice = l,
                  .solution = m->solution,
                  .direction = m->direction,
                  .image = m->image,
                  .slab_sums = { m->slab_sums[0], m->slab_sums[1] } };
    wgi_lattice_zero(l, &cg.direction);
    double curvature = 0.0;
    int32_t done = 0;
    while (done<goal.iterations&& * norm> goal.norm) {
        precondition(m, exec);
        cg.factor = done > 0 ? (float)(summed(exec, dot_slabs, &cg) / curvature) : 0.0f;
        wgi_parallel_for(exec, slabs, SLAB_GRAIN, turn_slabs, &cg);
        curvature = summed(exec, apply_slabs, &cg);
        const double descent = total(cg.slab_sums[1], slabs);
        // Rounding has eaten the direction, or a value is not a number: no step is left.
        if (!(curvature > 0.0) || !(descent > 0.0))
            break;
        cg.factor = (float)(descent / curvature);
        *norm = sqrt(summed(exec, advance_slabs, &cg));
        ++done;
    }
    return done;
}
