// windgrove/flow.h - what a grid of air does in a step before its pressure is solved, and sampling.
//
// Grids are cell-centred and [z][y][x] with x fastest; fields of several components are component
// first. Sizes include the one-cell border. Every function allocates nothing, and gives the same
// bits for every thread count and instruction set.
#pragma once

#include "windgrove/base.h"
#include "windgrove/wind.h"

/// A field sampled at points, borrowed.
typedef struct wg_field_view {
    int32_t nx, ny, nz;  ///< cells with the border, each 1 to WG_MAX_CELLS
    int32_t components;  ///< at least 1
    double origin[3];    ///< m, low corner of cell [0][0][0], x y z; finite
    double spacing;      ///< m, > 0 and finite
    const float* values; ///< [components][nz][ny][nx]
} wg_field_view;

/// Most cells along one axis. A grid also has fewer than 2^31 cells in all.
#define WG_MAX_CELLS 1048576

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
