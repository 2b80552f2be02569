// Multigrid on a lattice, and conjugate gradients preconditioned by one V-cycle of it.
#pragma once

#include "wind/project_solvers.h"

/// Takes every array of every level from the arena.
void wgi_multigrid_carve(wgi_multigrid* m, wgi_project_grid finest, wgi_arena* arena);

/// Clears the arrays and fills the finest weights: the compact Laplacian of a projection, or the
/// part of the wide operator on the cells whose places along x, y, z have the given parities
/// (0: 1, 3, 5...; 1: 2, 4, ...). Then builds the coarser levels.
void wgi_multigrid_compact(wgi_multigrid* m, const wgi_projection* p);
void wgi_multigrid_wide(wgi_multigrid* m, const wgi_projection* p, const int32_t parity[3]);

/// Takes up a set-up that an earlier call has left in the arrays.
void wgi_multigrid_restart(wgi_multigrid* m);

typedef struct wgi_cg_goal {
    int32_t iterations; // cap
    double norm;        // stop at this norm of the residual
} wgi_cg_goal;

/// Solves A solution = b by conjugate gradients. level[0].b holds the residual of `solution`, which
/// is where it starts; both are updated. Stops where rounding leaves nothing to gain.
/// @param[out] norm  of the residual it ends with
/// @return iterations done
int32_t wgi_multigrid_solve(
    wgi_multigrid* m, const wg_exec* exec, float* solution, wgi_cg_goal goal, double* norm);
