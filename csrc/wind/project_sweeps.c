// The plain iterations of the compact Laplacian: Jacobi in two arrays in turn, red-black SOR in one.
#include <math.h>

#include "support/parallel.h"
#include "wind/project_solvers.h"

enum { SLAB_GRAIN = 4 };

typedef struct sor_job {
    const wgi_project_call* call;
    float factor;
    int32_t colour, first_colour;
} sor_job;

static void jacobi_slabs(size_t begin, size_t end, void* context)
{
    const wgi_projection* p = context;
    wgi_kernels()->project_jacobi_sweep(p, p->phi, p->other, (int32_t)begin + 1, (int32_t)end + 1);
}

static void sor_slabs(size_t begin, size_t end, void* context)
{
    const sor_job* job = context;
    wgi_kernels()->project_sor_sweep(
        &job->call->projection, job->factor, job->colour, (int32_t)begin + 1, (int32_t)end + 1);
}

static void jacobi_sweep(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    wgi_parallel_for(call->exec, (size_t)p->grid.ny, SLAB_GRAIN, jacobi_slabs, p);
    float* swapped = p->phi;
    p->phi = p->other;
    p->other = swapped;
}

static void sor_sweep(wgi_project_call* call, sor_job* job)
{
    const size_t slabs = (size_t)call->projection.grid.ny;
    for (int32_t half = 0; half < 2; ++half) {
        job->colour = half == 0 ? job->first_colour : 1 - job->first_colour;
        wgi_parallel_for(call->exec, slabs, SLAB_GRAIN, sor_slabs, job);
    }
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

bool wgi_project_sweeps(wgi_project_call* call)
{
    const bool jacobi = call->parameters.method == WG_PROJECT_JACOBI;
    sor_job job = { .call = call };
    if (!jacobi) {
        job.factor = (float)optimal_factor(&call->projection.grid);
        job.first_colour = first_colour(call);
    }
    const double goal = call->parameters.tolerance * call->norm;
    const bool watched = call->parameters.tolerance > 0.0;
    double residual = (double)NAN;
    int32_t done = 0;
    bool met = false;
    while (done < call->parameters.iterations && !met) {
        if (jacobi)
            jacobi_sweep(call);
        else
            sor_sweep(call, &job);
        ++done;
        if (watched) {
            residual = wgi_project_residual_norm(call);
            met = residual <= goal;
        }
    }
    if (call->measure && !watched) {
        wgi_null_remove(&call->null, &call->projection.grid, call->projection.right_side);
        residual = wgi_project_residual_norm(call);
    }
    call->result.iterations = done;
    call->result.residual = call->norm > 0.0 ? residual / call->norm : 0.0;
    return met || !watched;
}
