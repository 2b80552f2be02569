// Multigrid on a lattice, and conjugate gradients preconditioned by one V-cycle of it.
#pragma once

#include "wind/project_solvers.h"

/// Takes every array of every level from the arena. `counted`: the finest level is the compact
/// Laplacian, whose weights are 0 and 1.
void wgi_multigrid_carve(wgi_multigrid* m, wgi_project_grid finest, bool counted, wgi_arena* arena);

/// The arrays of the finest level of the compact Laplacian alone, for sweeps; and its set-up from
/// the marks of `p`. x is 0 afterwards.
void wgi_lattice_carve_counted(wgi_lattice* l, wgi_project_grid grid, wgi_arena* arena);
void wgi_lattice_fill_counted(wgi_lattice* l, const wgi_projection* p);

/// Takes the right side, and phi where the start is not 0, into a lattice of the compact Laplacian;
/// and a solution out of it into phi.
void wgi_lattice_load(wgi_project_call* call, const wgi_lattice* l, bool from_zero);
void wgi_lattice_unload(wgi_project_call* call, const wgi_lattice* l, const float* const from[2]);

/// Builds all levels for the compact Laplacian of a projection, or for the part of the wide operator
/// on the cells whose places along x, y, z have the given parities (0: 1, 3, 5...; 1: 2, 4, ...).
void wgi_multigrid_compact(wgi_multigrid* m, const wgi_projection* p);
void wgi_multigrid_wide(wgi_multigrid* m, const wgi_projection* p, const int32_t parity[3]);

/// Sets m->solution to 0.
void wgi_multigrid_restart(wgi_multigrid* m);

typedef struct wgi_cg_goal {
    int32_t iterations; // cap
    double norm;        // stop at this norm of the residual
} wgi_cg_goal;

/// V-cycles for A x = b on the finest level, from its x or from 0. With `watched` it stops at the
/// goal's norm.
/// @param[out] norm  of the residual it ends with, where watched
/// @return cycles done
int32_t wgi_multigrid_cycles(
    wgi_multigrid* m, const wg_exec* exec, bool from_zero, wgi_cg_goal goal, bool watched,
    double* norm);

/// Conjugate gradients from m->solution, whose residual is in level[0].b; both are updated. Stops
/// where rounding leaves nothing to gain.
/// @param[in,out] norm  of the residual
/// @return iterations done
int32_t
wgi_multigrid_gradients(wgi_multigrid* m, const wg_exec* exec, wgi_cg_goal goal, double* norm);

/// Replaces level[0].b by the residual of its x, and makes x the solution.
/// @return norm of the residual
double wgi_multigrid_take_residual(wgi_multigrid* m, const wg_exec* exec);
