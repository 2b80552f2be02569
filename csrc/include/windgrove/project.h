// windgrove/project.h - pressure projection: takes the divergence out of a grid's velocity.
//
// Grids are cell-centred and [z][y][x] with x fastest; sizes include the one-cell border, whose
// cells keep their velocity and have phi = 0. A border cell inside a solid is solid.
//
// Two discretisations of  lap phi = div u,  u -= grad phi  (phi in m^2/s, h the spacing):
//
// WG_COMPACT (Bridson 2008, adapted to cell centres). A face velocity is the mean of its two cells;
//   a face between air and solid is closed and carries the solid's velocity (what the velocity
//   array holds in the solid cell). div = sum of outward face velocities / h; lap = sum over open
//   faces of (phi_neighbour - phi) / h^2. A cell's correction along an axis is the mean of its two
//   face gradients, 0 at a closed face. Exact at faces; at cells a part of the divergence stays
//   whatever the solver, see docs/numerics/projection.md.
//
// WG_CONSISTENT. Central differences D u = 0 in air cells, the velocity of solid and border cells
//   fixed: (-D M G) phi = -D u with G = -D^T and M the mask of air cells. An orthogonal
//   projection: it adds no energy and repeating it changes nothing.
#pragma once

#include "windgrove/base.h"

typedef enum wg_discretisation { WG_COMPACT = 0, WG_CONSISTENT = 1 } wg_discretisation;

typedef enum wg_project_method {
    WG_PROJECT_JACOBI = 0,    ///< compact: the published solver (Jacobi sweeps)
    WG_PROJECT_SOR = 1,       ///< compact: red-black successive over-relaxation
    WG_PROJECT_MULTIGRID = 2, ///< compact: V-cycles, then conjugate gradients around them
    WG_PROJECT_PCG = 3,       ///< consistent: conjugate gradients, preconditioned
    WG_PROJECT_DIRECT = 4,    ///< both, where no cell is solid: transforms and tridiagonal solves
} wg_project_method;

typedef struct wg_project_parameters {
    int32_t method;         ///< a wg_project_method
    int32_t discretisation; ///< a wg_discretisation
    int32_t iterations;     ///< sweeps or cycles, at least 1; the cap where tolerance is set
    double tolerance;       ///< residual norm over right side norm to stop at; 0 for none
} wg_project_parameters;

/// Jacobi, compact, 20 iterations, no tolerance.
WG_API wg_project_parameters wg_project_defaults(void);

/// The arrays of one grid, borrowed.
typedef struct wg_project_fields {
    int32_t nx, ny, nz;    ///< cells with the border, at least 1
    double spacing;        ///< m, > 0 and finite
    const float* velocity; ///< [3][nz][ny][nx] m/s
    const uint8_t* solid;  ///< [nz][ny][nx], not 0 where solid; NULL for no solid
    float* pressure;       ///< [nz][ny][nx] phi, m^2/s: read as the start, then written; or NULL
    float* out;            ///< [3][nz][ny][nx] m/s; may be `velocity` itself
    bool from_zero;        ///< the pressure is not read: the start is 0
} wg_project_fields;

/// What a projection did.
typedef struct wg_project_result {
    int32_t iterations; ///< done
    int32_t null_modes; ///< independent right sides that no pressure can answer
    double right_side;  ///< rms divergence before, 1/s, over the air cells inside the border
    double null_part;   ///< share of the right side's norm that was removed with the null modes
    double residual;    ///< of the solver, over the norm of the rest of the right side
} wg_project_result;

/// Bytes of scratch that wg_project needs: depends on nothing but these arguments.
/// @param solid  whether fields will carry a solid array
/// @return 0 where the sizes or the combination are not valid
WG_API size_t wg_project_scratch_size(
    int32_t nx, int32_t ny, int32_t nz, const wg_project_parameters* parameters, bool solid);

/// Projects the velocity of one grid.
///
/// Sources: 20 Jacobi sweeps and phi = 0 on the border, the wind of the published system; closed
/// faces beside solids, Bridson, "Fluid Simulation for Computer Graphics", 2008; red-black order
/// and the optimal factor, Young 1971; multigrid and conjugate gradients around it, McAdams, Sifakis
/// and Teran 2010, Notay 2000; direct solution by diagonalising two directions, Lynch, Rice and Thomas 1964.
/// Cost: no allocation; the set-up of the multigrid methods is worth two iterations. Deterministic: the
/// same bits for every number of threads.
///
/// @param fields      checked; nothing is kept after the call
/// @param parameters  checked
/// @param scratch     wg_project_scratch_size() bytes, any alignment. Zero its first 256 bytes before
///                    the first call, and leave it alone between calls: the multigrid methods then
///                    set up only when sizes, method or solid marks differ from those of the last
///                    call with this scratch. It changes no bit of the result
/// @param result      out, or NULL: then the residual is computed only where tolerance asks for it
/// @param exec        threads, NULL for one
/// @return WG_OK; WG_NOT_CONVERGED where the tolerance was not reached (the best result is written);
///         WG_ERR_VALUE for a bad size or parameter; WG_ERR_UNSUPPORTED where method,
///         discretisation and solids do not go together. Nothing is written on an error.
///         NaN or infinity in the velocity of an air cell or its neighbours reaches every cell
///         that the method connects with it, at worst all air cells; iterations that stop by the
///         norm of the right side (multigrid, pcg) then give NaN in all air cells.
WG_API wg_status wg_project(
    const wg_project_fields* fields, const wg_project_parameters* parameters, void* scratch,
    wg_project_result* result, const wg_exec* exec);

/// Jacobi sweeps alone, of the compact form: the solver of wg_project's default.
///
/// From fields->pressure (or 0 with from_zero), as often as asked, with phi = 0 in border and solid
/// cells:  phi = (sum of phi over open faces - h^2 divergence) / open faces.
/// fields->velocity and fields->out are not used. Cost: 8 flop a cell and sweep; no allocation.
/// The same bits for every number of threads and instruction set.
///
/// @param divergence  [nz][ny][nx] 1/s; border and solid cells are not read; NaN spreads one cell a
///                    sweep
/// @param iterations  at least 1
/// @param scratch     as for wg_project with wg_project_defaults() and these sizes
/// @return WG_OK, or WG_ERR_VALUE for a bad size or number, or without a pressure
WG_API wg_status wg_jacobi_sweeps(
    const wg_project_fields* fields, const float* divergence, int32_t iterations, void* scratch,
    const wg_exec* exec);

/// Divergence (1/s) by central differences in air cells inside the border, 0 elsewhere.
///
/// With fields->pressure, and fields->velocity from before the projection: the divergence of the
/// corrected face velocities instead, which is the compact residual  div u - lap phi.
/// fields->out is not used.
///
/// @param out  [nz][ny][nx] 1/s; must not overlap an input
/// @return WG_OK or WG_ERR_VALUE
WG_API wg_status wg_divergence(const wg_project_fields* fields, float* out);
