// The solvers of the projection, one file each. Every solver finds `right_side` and `phi` (the
// start) ready, leaves its answer in projection->phi, and uses what wgi_project_carve gave it.
#pragma once

#include "support/kernel_table.h"
#include "windgrove/project.h"

/// Hands out pieces of the scratch, each on a cache line. With base NULL it only counts.
typedef struct wgi_arena {
    char* base;
    size_t used;
} wgi_arena;

void* wgi_arena_take(wgi_arena* arena, size_t bytes);

/// One call of wg_project: what the solvers share.
typedef struct wgi_project_call {
    wgi_projection projection;
    wg_project_parameters parameters;
    const wg_exec* exec;
    bool measure;       // the residual is wanted
    double* slab_sums;  // [ny]
    int32_t* component; // null components, see project_null.c; NULL where there are none
    double norm;        // of h^2 div without its null part, over all cells
    wg_project_result result;
} wgi_project_call;

/// Runs a kernel over all slabs, a few at a time.
typedef void wgi_slab_function(const wgi_projection* p, int32_t begin, int32_t end);
void wgi_project_over_slabs(const wgi_project_call* call, wgi_slab_function* kernel);

/// Norm of h^2 (div - lap phi) for the phi at hand.
double wgi_project_residual_norm(wgi_project_call* call);

/// Iterate until the tolerance or the cap; return whether the tolerance (if any) was met.
bool wgi_project_jacobi(wgi_project_call* call);
