// Jacobi iterations: two arrays in turn.
#include <math.h>

#include "support/parallel.h"
#include "wind/project_solvers.h"

enum { SLAB_GRAIN = 4 };

static void sweep_slabs(size_t begin, size_t end, void* context)
{
    const wgi_projection* p = context;
    wgi_kernels()->project_jacobi_sweep(p, p->phi, p->other, (int32_t)begin + 1, (int32_t)end + 1);
}

bool wgi_project_jacobi(wgi_project_call* call)
{
    wgi_projection* p = &call->projection;
    const double goal = call->parameters.tolerance * call->norm;
    const bool watched = call->parameters.tolerance > 0.0;
    double residual = NAN;
    int32_t done = 0;
    bool met = false;
    while (done < call->parameters.iterations && !met) {
        wgi_parallel_for(call->exec, (size_t)p->grid.ny, SLAB_GRAIN, sweep_slabs, p);
        float* swapped = p->phi;
        p->phi = p->other;
        p->other = swapped;
        ++done;
        if (watched) {
            residual = wgi_project_residual_norm(call);
            met = residual <= goal;
        }
    }
    if (call->measure && !watched)
        residual = wgi_project_residual_norm(call);
    call->result.iterations = done;
    call->result.residual = residual / call->norm;
    return met || !watched;
}
