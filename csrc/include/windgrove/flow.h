// windgrove/flow.h - what a grid of air does in a step before its pressure is solved, and sampling.
//
// Grids are cell-centred and [z][y][x] with x fastest; fields of several components are component
// first. Sizes include the one-cell border. Every function allocates nothing, and gives the same
// bits for every thread count and instruction set.
#pragma once

#include "windgrove/base.h"
#include "windgrove/wind.h"

/// Most cells along one axis. A grid also has fewer than 2^31 cells in all.
#define WG_MAX_CELLS 1048576

/// One grid of a step. Border cells (the outermost layer) and solid cells are not simulated.
typedef struct wg_flow_grid {
    int32_t nx, ny, nz;   ///< cells with the border, each 3 to WG_MAX_CELLS
    double spacing;       ///< m, > 0 and finite
    const uint8_t* solid; ///< [nz][ny][nx], non-zero is solid; NULL where there is none
    /// What wg_flow_classify found for `solid` as it is now, or NULL: then each call looks anew at
    /// what it needs. It changes no bit.
    const uint8_t* classes;
} wg_flow_grid;

/// Bytes of memory that wg_flow_classify works in; 0 for sizes out of range.
WG_API size_t wg_flow_classes_size(int32_t nx, int32_t ny, int32_t nz);

/// Finds out what solids leave of the surroundings of each cell, where the marks changed.
///
/// Advection and confinement run cells without solids around them by the code of open air, pass over
/// wholly solid strips of eight, and read from the classes what is left of the others.
/// Cost: a comparison of the marks with those of the last call; where they differ, some 10
/// operations a cell.
///
/// @param grid    its `classes` is set: they lie in `memory`; NULL where `solid` is NULL
/// @param memory  wg_flow_classes_size() bytes, any alignment. Zero its first 64 bytes before the
///                first call, and leave it alone between calls
/// @param exec    threads, NULL for one
/// @return WG_OK, or WG_ERR_VALUE for a size out of range: then nothing is written
WG_API wg_status wg_flow_classify(wg_flow_grid* grid, void* memory, const wg_exec* exec);

/// Moves a field with the air for one time step, semi-Lagrangian with trilinear reading.
///
/// The value at a cell centre x is read where the air was a step before:
///
///     out(x) = field(x - dt velocity(x))
///
/// Places that left the grid are moved to the nearest place on the outermost centres. Of the eight
/// cells around the place those in solids have weight 0 and the rest is renormalised; where nothing
/// is left the cell keeps its value. Where those left are a face, an edge or the near cell of the
/// eight, an axis is left out and no weight is rounded. Border and solid cells are copied.
/// A displacement within 2^-22 of a whole number of cells, relative, is taken as whole: u dt / h
/// seldom rounds to a whole number by itself, and whole cells are moved to the bit.
/// Each pair of values is read as a + t (b - a) from the nearer cell's side of the displacement,
/// so that mirrored input gives mirrored bits, and a constant stays to the bit.
/// What it does not conserve, and its numerical viscosity: docs/numerics/advection.md.
/// Source: Stam, "Stable Fluids", SIGGRAPH 1999, section 2.2.
/// Cost: 21 lerps a component and cell, no allocation, rows in parallel.
///
/// @param grid        see wg_flow_grid
/// @param field       [components][nz][ny][nx]; may be the velocity itself
/// @param components  at least 1
/// @param velocity    [3][nz][ny][nx] m/s, x y z
/// @param dt          s, > 0 and at most 1e30 s/m times the spacing
/// @param out         [components][nz][ny][nx]; must not overlap an input
/// @param exec        threads, NULL for one
/// @return WG_OK, or WG_ERR_VALUE for a number out of range: then nothing is written.
///         A velocity that is not finite never leaves the arrays: NaN gives NaN in its cell,
///         infinity reads the border. A value that is not finite reaches the cells that read it.
WG_API wg_status wg_advect(
    const wg_flow_grid* grid, const float* field, int32_t components, const float* velocity,
    double dt, float* out, const wg_exec* exec);

/// The same, with MacCormack's correction: second order where the field is smooth.
///
///     a = advect(field, velocity),  b = advect(a, -velocity),  out = a + (field - b) / 2
///
/// and out is kept between the smallest and the largest of the eight values that a was read from, so
/// that no new extremum appears. It is a alone where one of the places of the two passes lies beyond
/// the outermost centres or beside a solid. A constant and whole cells are still exact to the bit.
/// It keeps most of the energy of eddies of a few cells that wg_advect takes:
/// docs/numerics/advection.md.
/// Source: Selle, Fedkiw, Kim, Liu, Rossignac, "An Unconditionally Stable MacCormack Method",
/// J. Scientific Computing 35, 2008: sections 2 and 3 (the limiter).
/// Cost: about three times wg_advect.
///
/// @param scratch  [components][nz][ny][nx], written; must not overlap anything else
/// The other arguments, the result and values that are not finite: see wg_advect.
WG_API wg_status wg_advect_maccormack(
    const wg_flow_grid* grid, const float* field, int32_t components, const float* velocity,
    double dt, float* scratch, float* out, const wg_exec* exec);

/// Gives back to eddies some of what advection takes from them (vorticity confinement).
///
///     omega = curl velocity,  N = grad |omega| / |grad |omega||,  f = epsilon h (N x omega)
///     out = velocity + dt f
///
/// Derivatives are central differences over two cells. The force is 0 in border and solid cells and
/// in air cells with one of these among their six neighbours. N is 0 where |omega| changes by less
/// than 2^-19 of |omega| + |velocity| / h from cell to cell: below that its direction would be
/// nothing but the rounding of float velocities.
/// Source: Fedkiw, Stam, Jensen, "Visual Simulation of Smoke", SIGGRAPH 2001, equations 9 to 11.
/// Cost: 50 flop, a square root each for |omega| and N and one division a cell; no allocation.
///
/// @param grid      see wg_flow_grid
/// @param velocity  [3][nz][ny][nx] m/s
/// @param dt        s, > 0 and at most 1e30 s/m times the spacing
/// @param epsilon   strength, dimensionless, >= 0; dt epsilon at most 1e30 s; a source of energy
/// @param out       [3][nz][ny][nx]; must not overlap an input
/// @param exec      threads, NULL for one
/// @return WG_OK, or WG_ERR_VALUE for a number out of range: then nothing is written.
///         A velocity that is not finite reaches the cells within two cells of it.
WG_API wg_status wg_confine_vorticity(
    const wg_flow_grid* grid, const float* velocity, double dt, double epsilon, float* out,
    const wg_exec* exec);

/// A field sampled at points, borrowed.
typedef struct wg_field_view {
    int32_t nx, ny, nz;  ///< cells with the border, each 1 to WG_MAX_CELLS
    int32_t components;  ///< at least 1
    double origin[3];    ///< m, low corner of cell [0][0][0], x y z; finite
    double spacing;      ///< m, > 0 and finite
    const float* values; ///< [components][nz][ny][nx]
} wg_field_view;

/// Samples a field at points, trilinear between the eight cell centres around each.
///
/// A point beyond the outermost centres reads the nearest place on them. A point on a centre gives
/// that cell's value to the bit. Points are reduced to a cell and a fraction in double precision, so
/// that a grid far from 0 loses nothing; the fractions and sums are float.
/// Cost: 24 flop a component and point.
///
/// @param field   see wg_field_view
/// @param points  [count][3] m
/// @param count   number of points
/// @param out     [count][components]; must not overlap the inputs
/// @param exec    threads, NULL for one
/// @return WG_OK, or WG_ERR_VALUE for a view out of range: then nothing is written.
///         A point with a NaN gives NaN in its row alone; infinite coordinates clamp. A value that
///         is not finite reaches the points within one cell of it.
WG_API wg_status wg_sample(
    const wg_field_view* field, const double* points, size_t count, float* out,
    const wg_exec* exec);

/// Samples nested grids and the wind around them: what every consumer of wind reads.
///
/// The value is that of the finest grid around the point, trilinear. Over the last interior cell
/// before a grid's border it fades linearly into the next coarser grid, and on the coarsest into the
/// prevailing wind, so that it is continuous everywhere: with p the distance in cells to the nearest
/// face between interior and border, the grid's share is min(p, 1), and 0 outside.
/// A wind that is the same on all grids and outside is returned unchanged, to the bit.
/// Cost: 100 flop and 24 loads a grid that a point touches; eight points at a time.
///
/// @param wind    see windgrove/wind.h; level 0 is the finest
/// @param points  [count][3] m, in double precision; reduced against each grid's origin before they
///                become float, so that a world far from 0 loses nothing
/// @param count   number of points
/// @param out     [count][3] m/s; must not overlap the inputs
/// @param exec    threads, NULL for one
/// @return WG_OK, or WG_ERR_VALUE for a view out of range: then nothing is written.
///         A point with a NaN gives NaN in its row alone; infinite coordinates are outside.
WG_API wg_status wg_wind_sample(
    const wg_wind_view* wind, const double* points, size_t count, float* out, const wg_exec* exec);

/// The velocities of a grid with the components of a cell side by side, for wg_grid_view.cells.
///
/// A sample reads eight cells; so they lie in a third of the cache lines. Making them takes 1.5 ns a
/// cell and saves some 3 ns a sample: it pays from about half a sample a cell on. Samples have the
/// same bits with and without.
/// @param out  [nz][ny][nx][4]: x, y, z and 0; 16-byte aligned
/// @return WG_OK, or WG_ERR_VALUE for sizes out of range: then nothing is written.
WG_API wg_status wg_wind_cells(const wg_grid_view* grid, float* out, const wg_exec* exec);
