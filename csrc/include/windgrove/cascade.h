// windgrove/cascade.h - nested grids: borders, recentring, exchange between levels, effectors.
//
// A grid's place is the integer `low`: the low corner of its interior in units of its own spacing,
// so that world coordinates are low * spacing and the grid can move by whole cells for ever without
// rounding. Level 0 is the finest; the spacing of level l + 1 is twice that of level l, and the
// `low` of every level but the coarsest is even: one coarse cell covers exactly eight fine ones.
// Equations and sources: docs/numerics/cascade.md.
#pragma once

#include "windgrove/base.h"
#include "windgrove/noise.h"
#include "windgrove/project.h"
#include "windgrove/wind.h"

/// One grid that may be written. Arrays are [z][y][x] with the border, x fastest.
typedef struct wg_grid {
    int32_t nx, ny, nz; ///< cells with the border; each interior side even, at least 4
    int64_t low[3];     ///< x y z, low corner of the interior in cells
    double spacing;     ///< m, > 0
    float* velocity;    ///< [3][nz][ny][nx] m/s
    float* pressure;    ///< [nz][ny][nx] m^2/s, or NULL
    uint8_t* solid;     ///< [nz][ny][nx] 0 or 1, or NULL for none; never written
} wg_grid;

/// Perlin noise at the border: three components, each its own permutation, on one lattice that
/// drifts with the wind. A strength of 0 switches it off and the rest is not read.
typedef struct wg_border_noise {
    wg_permutation permutation[3];
    double strength;  ///< amplitude per unit of noise, relative to the local prevailing speed
    double scale;     ///< m per lattice cell, > 0
    double offset[3]; ///< drift of the lattice in lattice cells, below 2^50; period 256
} wg_border_noise;

/// The wind that blows in from outside at one instant.
typedef struct wg_inflow {
    wg_prevailing prevailing;
    wg_border_noise noise;
} wg_inflow;

/// Factor of the height profile at z [m]: 1 without a profile, 0 at and below the ground.
WG_API double wg_profile_factor(const wg_prevailing* prevailing, double z);

/// Where the grids belong for a focus point.
///
/// Coarsest first, each grid is centred on the focus to the nearest place it may take (a multiple of
/// its own cell on the coarsest, of the parent's cell below) and kept inside its parent's interior.
/// With a finite `floor` no interior reaches below the multiple of the cell nearest to it.
///
/// @param cells   interior counts x y z, even and >= 4
/// @param spacing m, of level 0
/// @param floor   m, within 2^50 cells of 0, or NaN for none
/// @param low     out [levels][3]
WG_API wg_status wg_cascade_place(
    const double focus[3], const int32_t cells[3], int32_t levels, double spacing, double floor,
    int64_t* low);

/// Writes the prevailing wind into every border cell that is not solid.
///
///     u_c = f(z) (U_c + strength |U| n_c(p)),   p = x / scale - offset
///
/// with f the height profile and n_c Perlin's improved noise with permutation c. Without noise the
/// value is exactly (float)(f U_c).
WG_API void wg_cascade_inject(const wg_grid* grid, const wg_inflow* inflow, const wg_exec* exec);

/// The same for every cell that is not solid: the start of a run.
WG_API void wg_cascade_fill(const wg_grid* grid, const wg_inflow* inflow, const wg_exec* exec);

/// Moves a grid to `low`. Interior cells that were interior before keep velocity and pressure to the
/// bit at their world position. Newly exposed ones that are not solid take the trilinear value of
/// `coarser`, or the inflow where that is NULL; their pressure is 0. The border is not touched: fill
/// it afterwards. `grid->solid` must already be that of the new place.
WG_API void wg_cascade_recentre(
    wg_grid* grid, const int64_t low[3], const wg_grid* coarser, const wg_inflow* inflow,
    const wg_exec* exec);

/// Fills a grid's border cells that are not solid from the next coarser grid, trilinear: fine centres
/// lie a quarter of a coarse cell from the nearest coarse centre. Beyond the coarse array it clamps.
WG_API void
wg_cascade_inner_border(const wg_grid* fine, const wg_grid* coarse, const wg_exec* exec);

/// Coarse from fine: every coarse cell over the fine interior that is not solid takes the mean of its
/// eight fine cells, solid ones left out; with no air cell below it stays as it is. A coarse velocity
/// is written nowhere else. The mean of eight equal values is exact.
WG_API void wg_cascade_restrict(const wg_grid* coarse, const wg_grid* fine, const wg_exec* exec);

/// What an effector does to the air.
typedef enum wg_effector_kind {
    WG_EFFECTOR_LINEAR = 0, ///< along `direction`, in a capsule from `start` to `end`
    WG_EFFECTOR_VORTEX = 1, ///< around `direction` through `start`, in a cylinder
    WG_EFFECTOR_DISC = 2,   ///< along `direction`, in a cylinder (a rotor's disc)
} wg_effector_kind;

/// A force on the air at one instant. With s = r / radius and q(s) = (1 - s^2)^2 inside, 0 outside:
/// linear: a = acceleration q(r / radius) direction, r the distance from the capsule's axis;
/// vortex: a = acceleration w(r / radius) q(z / half_length) (direction x r) / r, where
///         w(s) = (25 sqrt(5) / 16) s q(s) has its maximum 1 at s = 1 / sqrt(5);
/// disc:   a = acceleration q(r / radius) q(z / half_length) direction.
typedef struct wg_effector {
    int32_t kind;
    double start[3], end[3]; ///< m
    double direction[3];     ///< unit vector
    double radius;           ///< m, > 0
    double half_length;      ///< m, > 0; along the axis (vortex and disc)
    double acceleration;     ///< m/s^2
} wg_effector;

/// u += dt a in every interior cell that is not solid, effector after effector.
WG_API wg_status wg_cascade_effect(
    const wg_grid* grid, const wg_effector* effector, int32_t count, double dt,
    const wg_exec* exec);

/// A ball that gives off air at the rate 7.5 (speed / radius) (1 - s^2) per second, s = r / radius < 1.
/// Its velocity in free space points outward and is speed (5 s - 3 s^3) / 2 inside, speed / s^2
/// outside: continuous with its first derivative, free of rotation, and free of divergence outside.
typedef struct wg_blast {
    double centre[3]; ///< m
    double radius;    ///< m, > 0
    double speed;     ///< m/s at r = radius
} wg_blast;

/// Adds factor times a blast's free-space velocity to every cell, border and solid ones included.
WG_API void wg_cascade_add_blast(
    const wg_grid* grid, const wg_blast* blast, double factor, const wg_exec* exec);

/// Slows the air by a linear drag of `rate` [1/s] per cell, implicitly: u /= 1 + dt rate, in interior
/// cells that are not solid. Never reverses the wind, whatever dt.
WG_API void wg_cascade_drag(const wg_grid* grid, const float* rate, double dt, const wg_exec* exec);

/// The nested grids, finest first, with what a step needs beside them.
typedef struct wg_cascade {
    int32_t level_count; ///< 1 to WG_MAX_LEVELS; all grids have the same cell counts
    wg_grid grid[WG_MAX_LEVELS];
    float* other[WG_MAX_LEVELS];      ///< [3][nz][ny][nx] work space; contents undefined
    const float* drag[WG_MAX_LEVELS]; ///< [nz][ny][nx] 1/s for wg_cascade_drag, or NULL
    void* scratch; ///< wg_cascade_scratch_size() bytes, aligned for float, zeroed before the first
                   ///< step and left alone between steps
} wg_cascade;

/// How a step moves the air.
typedef struct wg_cascade_options {
    double dt;         ///< s, > 0
    double vorticity;  ///< epsilon of the confinement, 0 for none
    int32_t advection; ///< 0 semi-Lagrangian, 1 limited MacCormack
    bool warm_start;   ///< start from the pressure found; otherwise it is zeroed first
    wg_project_parameters projection[WG_MAX_LEVELS]; ///< one for each grid
    bool unprojected; ///< leave the projection out, to see what it would be given
} wg_cascade_options;

/// What acts on the air within, during one step.
typedef struct wg_cascade_forces {
    const wg_effector* effector;
    int32_t effector_count;
    const wg_blast* blast; ///< sources of air: the projection keeps their divergence
    int32_t blast_count;
} wg_cascade_forces;

/// Bytes of scratch for the stages of a cascade's step; 0 where a combination is not valid.
WG_API size_t wg_cascade_scratch_size(const wg_cascade* cascade, const wg_cascade_options* options);

/// Stages 1 and 2 of a step: the inflow into the coarsest border, and all grids moved to `low`.
///
/// Coarsest first, each grid is recentred (wg_cascade_recentre) and its border filled at its new
/// place; without a move only the coarsest border is written. Solid markers must be those of the new
/// place; solid cells keep what they hold.
///
/// @param low  [level_count][3], NULL to stay
WG_API void wg_cascade_move(
    wg_cascade* cascade, const int64_t* low, const wg_inflow* inflow, const wg_exec* exec);

/// Stages 3 to 8: advection, vorticity confinement, forces and drag, inner borders, coarse from
/// fine, projection; each over all grids before the next (but for stages that touch one grid alone).
/// No allocation. Same bits for every thread count.
///
/// @param result  out [level_count], or NULL
/// @return WG_OK; WG_NOT_CONVERGED where a projection missed its tolerance; WG_ERR_VALUE or
///         WG_ERR_UNSUPPORTED for an option out of range: the grids are then in an undefined state
///         between stages.
WG_API wg_status wg_cascade_step(
    wg_cascade* cascade, const wg_cascade_options* options, const wg_cascade_forces* forces,
    wg_project_result* result, const wg_exec* exec);
