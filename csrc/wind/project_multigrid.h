// Multigrid on a lattice, and conjugate gradients preconditioned by one V-cycle of it.
#pragma once

#include "wind/project_solvers.h"

/// Takes every array of every level from the arena. `counted`: the finest level is the compact
/// Laplacian, whose weights are 0 and 1.
void wgi_multigrid_carve(wgi_multigrid* m, wgi_project_grid finest, bool counted, wgi_arena* arena);

/// The arrays of the finest level of the compact Laplacian alone, for sweeps; and its set-up from
/// the marks of `p`.
void wgi_lattice_carve_counted(wgi_lattice* l, wgi_project_grid grid, wgi_arena* arena);
void wgi_lattice_fill_counted(wgi_lattice* l, const wgi_projection* p);

/// Sets what is around the rows of an array, of entries of some bytes each, to 0. In the layout of one
/// colour this is done before the rows are written.
void wgi_clear_around(const wgi_project_grid* g, void* array, size_t bytes);

/// Sets a field of a lattice to 0.
void wgi_lattice_zero(const wgi_lattice* l, const wgi_halves* field);

/// What a call says about such a lattice, whether or not its set-up is kept.
void wgi_lattice_describe(wgi_lattice* l, const wgi_projection* p);

/// A system in the layout of all cells: lap phi = right side, where A is minus the Laplacian.
typedef struct wgi_whole {
    const float* right_side;
    const float* start; // phi to start from, or NULL for 0
    float* found;       // phi
} wgi_whole;

/// Takes a system into a lattice of the compact Laplacian, and a solution out of it.
void wgi_lattice_load(const wgi_lattice* l, const wg_exec* exec, const wgi_whole* whole);
void wgi_lattice_unload(
    const wgi_lattice* l, const wg_exec* exec, const wgi_halves* from, float* found);

/// Builds all levels for the compact Laplacian of a projection, or for the part of the wide operator
/// on the cells whose places along x, y, z have the given parities (0: 1, 3, 5...; 1: 2, 4, ...). The
/// latter finds 0 around the rows of p->faces.
void wgi_multigrid_compact(wgi_multigrid* m, const wgi_projection* p);
void wgi_multigrid_wide(wgi_multigrid* m, const wgi_projection* p, const int32_t parity[3]);

/// Sets m->solution to 0.
void wgi_multigrid_restart(wgi_multigrid* m);

typedef struct wgi_cg_goal {
    int32_t iterations; // cap
    double norm;        // stop at this norm of the residual
} wgi_cg_goal;

/// V-cycles for a system, which is taken into the finest level: two of them, and more while each
/// takes three quarters of the residual or more. With all of the goal's iterations done phi is
/// written, else it is in x.
/// @param eager  look at the residual after the first of them too, and stop at the goal's norm
/// @param[in,out] norm  of the residual; not looked at after the last iteration
/// @return cycles done
int32_t wgi_multigrid_cycles(
    wgi_multigrid* m, const wg_exec* exec, const wgi_whole* whole, bool eager, wgi_cg_goal goal,
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
