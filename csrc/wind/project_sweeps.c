// The plain iterations of the compact Laplacian: Jacobi in two arrays in turn, red-black SOR in one.
#include <math.h>
#include <string.h>

#include "support/parallel.h"
#include "wind/project_multigrid.h"
#include "wind/project_pipeline.h"

enum { SLAB_GRAIN = 4 };

// Half sweeps in one pass through the cache.
enum { HALF_SWEEPS = 4 };

typedef struct sor_job {
    const wgi_lattice* lattice;
    float factor;
    int32_t first_colour;
} sor_job;

static void sor_stage(const void* context, int32_t stage, int32_t j)
{
    const sor_job* job = context;
    const int32_t colour = (job->first_colour + stage) % 2;
    wgi_kernels()->lattice_sweep(job->lattice, job->factor, colour, j, j + 1);
}

static void many_sor_sweeps(wgi_project_call* call, const sor_job* job, int32_t count)
{
    const wgi_lattice* l = job->lattice;
    for (int32_t left = 2 * count; left > 0; left -= HALF_SWEEPS)
        wgi_pipeline(
            call->exec, l->half.ny, left < HALF_SWEEPS ? left : HALF_SWEEPS, sor_stage, job);
    const wgi_halves x = { { l->x[0], l->x[1] } };
    wgi_lattice_unload(l, call->exec, &x, call->projection.phi);
}

// Young's optimal factor for a box with phi = 0 around it: 2 / (1 + sqrt(1 - rho^2)), rho the
// spectral radius of the Jacobi iteration. Solids only lower what is best, and not by much.
static double optimal_factor(const wgi_project_grid* g)
{
    const double pi = 3.14159265358979323846;
    const double rho = (cos(pi / (g->nx + 1)) + cos(pi / (g->ny + 1)) + cos(pi / (g->nz + 1))) / 3;
    return 2.0 / (1.0 + sqrt(1.0 - rho * rho));
}

// The colour whose right side is larger goes first. On even sizes mirroring exchanges the colours,
// so that a fixed order would give a mirrored field another result.
static int32_t first_colour(const wgi_project_call* call)
{
    const wgi_projection* p = &call->projection;
    wgi_kernels()->project_colour_balance(p, call->slab_sums, 1, p->grid.ny + 1);
    double balance = 0.0;
    for (int32_t j = 0; j < p->grid.ny; ++j)
        balance += call->slab_sums[j];
    return balance < 0.0 ? 1 : 0;
}

// ---- many sweeps in one pass -----------------------------------------------------------------
//
// A tile of slabs is swept several times while it is in the cache: sweep t follows sweep t - 1 one
// slab behind. Towards its neighbours a tile shrinks by one slab a sweep; the gaps, which grow from
// the seams at the same rate, are filled afterwards. With two arrays in turn a slab always finds
// its neighbours' last values in the other one, so that the result is that of whole sweeps.

enum { MOST_SWEEPS = 10, TILE_BYTES = 1 << 17 };

typedef struct tiling {
    const wgi_projection* projection;
    float* array[2];     // sweep t reads [t % 2] and writes [1 - t % 2]
    int32_t sweeps;      // a pass
    int32_t tile, tiles; // slabs of a tile but the last, number of tiles
} tiling;

static void sweep_band(const tiling* t, int32_t sweep, int32_t begin, int32_t end)
{
    wgi_kernels()->project_jacobi_sweep(
        t->projection, t->array[sweep % 2], t->array[1 - sweep % 2], begin, end);
}

static void shrinking_tiles(size_t begin, size_t end, void* context)
{
    const tiling* t = context;
    const int32_t ny = t->projection->grid.ny;
    for (int32_t n = (int32_t)begin; n < (int32_t)end; ++n) {
        const int32_t low = 1 + n * t->tile, low_shrinks = n > 0;
        const bool last = n == t->tiles - 1;
        const int32_t high = last ? ny : low + t->tile - 1, high_shrinks = !last;
        for (int32_t front = low; front < high + t->sweeps; ++front)
            for (int32_t s = 0; s < t->sweeps; ++s) {
                const int32_t j = front - s;
                if (j >= low + s * low_shrinks && j <= high - s * high_shrinks)
                    sweep_band(t, s, j, j + 1);
            }
    }
}

static void growing_gaps(size_t begin, size_t end, void* context)
{
    const tiling* t = context;
    for (int32_t n = (int32_t)begin + 1; n <= (int32_t)end; ++n) {
        const int32_t seam = 1 + n * t->tile;
        for (int32_t s = 1; s < t->sweeps; ++s)
            sweep_band(t, s, seam - s, seam + s);
    }
}

// As many sweeps a pass as keep its slabs in the cache, but not more than the tiles can shrink.
static void choose_tiles(tiling* t, int32_t left, bool parallel)
{
    const wgi_project_grid* g = &t->projection->grid;
    const size_t slab_bytes = 3 * g->slab * sizeof(float);
    const int32_t fit = (int32_t)(TILE_BYTES / slab_bytes);
    t->tiles = parallel && g->ny >= 32 ? 4 : 1;
    t->tile = g->ny / t->tiles;
    const int32_t most = t->tiles > 1 ? (t->tile + 1) / 2 : MOST_SWEEPS;
    t->sweeps = fit < 1 ? 1 : fit > MOST_SWEEPS ? MOST_SWEEPS : fit;
    t->sweeps = t->sweeps > most ? most : t->sweeps;
    t->sweeps = t->sweeps > left ? left : t->sweeps;
}

static void many_jacobi_sweeps(wgi_project_call* call, int32_t count)
{
    wgi_projection* p = &call->projection;
    tiling t = { .projection = p, .array = { p->phi, p->other } };
    const bool parallel = call->exec && call->exec->threads > 1;
    while (count > 0) {
        choose_tiles(&t, count, parallel);
        wgi_parallel_for(call->exec, (size_t)t.tiles, 1, shrinking_tiles, &t);
        wgi_parallel_for(call->exec, (size_t)t.tiles - 1, 1, growing_gaps, &t);
        count -= t.sweeps;
        if (t.sweeps % 2 == 1) {
            float* swapped = t.array[0];
            t.array[0] = t.array[1];
            t.array[1] = swapped;
        }
    }
    p->phi = t.array[0];
    p->other = t.array[1];
}

// ---- iterations ----------------------------------------------------------------------------

static bool watched_sweeps(wgi_project_call* call, const sor_job* job, double* residual)
{
    const double goal = call->parameters.tolerance * call->norm;
    bool met = false;
    while (call->result.iterations < call->parameters.iterations && !met) {
        if (call->parameters.method == WG_PROJECT_JACOBI)
            many_jacobi_sweeps(call, 1);
        else
            many_sor_sweeps(call, job, 1);
        ++call->result.iterations;
        *residual = wgi_project_residual_norm(call);
        met = *residual <= goal;
    }
    return met;
}

static void plain_jacobi_sweeps(wgi_project_call* call, int32_t count)
{
    if (call->bands > 0)
        wgi_project_sweep_bands(call, count);
    else if ((!call->exec || call->exec->threads <= 1) && wgi_skewed_sweeps(&call->projection.grid))
        wgi_project_sweep_skewed(call, count);
    else
        many_jacobi_sweeps(call, count);
}

bool wgi_project_sweeps(wgi_project_call* call)
{
    const bool jacobi = call->parameters.method == WG_PROJECT_JACOBI;
    wgi_lattice* l = &call->multigrid[0].level[0];
    sor_job job = { .lattice = l };
    if (!jacobi) {
        const wgi_projection* p = &call->projection;
        const wgi_whole whole = { p->right_side, p->pressure ? p->phi : NULL, p->phi };
        wgi_lattice_describe(l, p);
        wgi_lattice_fill_counted(l, p);
        if (!whole.start)
            wgi_lattice_zero(l, &(wgi_halves){ { l->x[0], l->x[1] } });
        wgi_lattice_load(l, call->exec, &whole);
        job.factor = (float)optimal_factor(&call->projection.grid);
        job.first_colour = first_colour(call);
    }
    double residual = (double)NAN;
    bool met = true;
    if (call->parameters.tolerance > 0.0) {
        met = watched_sweeps(call, &job, &residual);
    } else {
        call->result.iterations = call->parameters.iterations;
        if (jacobi)
            plain_jacobi_sweeps(
                call, call->parameters.iterations - (call->projection.sweep_at_once ? 1 : 0));
        else
            many_sor_sweeps(call, &job, call->parameters.iterations);
        if (call->measure) {
            wgi_null_remove(&call->null, &call->projection.grid, call->projection.right_side);
            residual = wgi_project_residual_norm(call);
        }
    }
    call->result.residual = call->norm > 0.0 ? residual / call->norm : 0.0;
    return met;
}
