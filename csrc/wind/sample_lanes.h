// Sampling the wind at eight places at once, inside other kernels.
//
// For kernels that are compiled once per instruction set (the spring step, wg_wind_sample). The
// numbers are those of wg_wind_sample, whose contract in windgrove/flow.h says what is computed:
// the finest grid around the point, trilinear, faded over its last interior cell into the next
// coarser one, and the prevailing wind outside.
//
// How to use it:
//   1. Once a call, outside the loop:     wgi_lane_wind_init(view, &wind)
//   2. Once an anchor (a tree's place):   wgi_lane_anchor_set(&wind, place, lane, &anchor)
//      for each of the eight lanes. This is where double precision ends: a place is reduced against
//      each grid's origin, and only the small difference becomes float.
//   3. For each branch:                   wgi_sample_wind8(&wind, &anchor, local, velocity)
//      with `local` the point minus its lane's place, in metres, in world axes.
//
// Everything lies on the caller's stack; nothing is written but the outputs. The views' arrays are
// read while the samples are taken, so they may not change during the call.
#pragma once

#include <math.h>

#include "support/simd.h"
#include "windgrove/wind.h"

/// One grid as eight lanes read it.
typedef struct wgi_lane_grid {
    const float* velocity;
    size_t component; ///< floats between two components
    int32_t nx, slab; ///< floats between two rows and two slabs
    float last[3];    ///< largest cell coordinate, the last cell's centre: n - 1
    float cells_per_metre;
    double origin[3]; ///< m, centre of cell [0][0][0]
    double spacing;   ///< m
} wgi_lane_grid;

/// A whole wind as eight lanes read it.
typedef struct wgi_lane_wind {
    int32_t level_count;
    wgi_lane_grid level[WG_MAX_LEVELS];
    wg_prevailing outside;
} wgi_lane_wind;

/// Eight places in the coordinates of every grid.
typedef struct wgi_lane_anchor {
    wgf8 cell[WG_MAX_LEVELS][3]; ///< in cells from the centre of cell [0][0][0], x y z
    wgf8 height;                 ///< m above the prevailing wind's ground
} wgi_lane_anchor;

/// Prepares a view that was checked (wgi_wind_view_fits).
WGI_INLINE void wgi_lane_wind_init(const wg_wind_view* view, wgi_lane_wind* wind)
{
    wind->level_count = view->level_count;
    wind->outside = view->outside;
    for (int32_t n = 0; n < view->level_count; ++n) {
        const wg_grid_view* grid = &view->level[n];
        wgi_lane_grid* lanes = &wind->level[n];
        lanes->velocity = grid->velocity;
        lanes->nx = grid->nx;
        lanes->slab = grid->nx * grid->ny;
        lanes->component = (size_t)lanes->slab * (size_t)grid->nz;
        lanes->last[0] = (float)(grid->nx - 1);
        lanes->last[1] = (float)(grid->ny - 1);
        lanes->last[2] = (float)(grid->nz - 1);
        lanes->cells_per_metre = (float)(1.0 / grid->spacing);
        lanes->spacing = grid->spacing;
        for (int axis = 0; axis < 3; ++axis)
            lanes->origin[axis] = grid->origin[axis] + 0.5 * grid->spacing;
    }
}

/// A number of cells as float: far outside stays far outside without overflow, NaN stays NaN.
WGI_INLINE float wgi_lane_bounded(double cells)
{
    return (float)(cells < -1e9 ? -1e9 : cells > 1e9 ? 1e9 : cells);
}

/// Sets one lane of an anchor to a place [m].
WGI_INLINE void wgi_lane_anchor_set(
    const wgi_lane_wind* wind, const double place[3], int lane, wgi_lane_anchor* anchor)
{
    for (int32_t n = 0; n < wind->level_count; ++n)
        for (int axis = 0; axis < 3; ++axis)
            anchor->cell[n][axis][lane] = wgi_lane_bounded(
                (place[axis] - wind->level[n].origin[axis]) / wind->level[n].spacing);
    anchor->height[lane] = wgi_lane_bounded(place[2] - wind->outside.ground);
}

/// Loads the pair base[index], base[index + 1] of every lane: the first of each into `low`.
WGI_INLINE void wgi_load_pairs8(const float* base, const int32_t* index, wgf8* low, wgf8* high)
{
#if defined(__AVX2__)
    // Eight 64-bit loads and four shuffles: about as fast as two gathers where gathers are fast,
    // three times as fast where they are slow.
    __m128 p[4];
    for (int n = 0; n < 4; ++n) {
        p[n] = _mm_loadl_pi(_mm_setzero_ps(), (const __m64*)(base + index[2 * n]));
        p[n] = _mm_loadh_pi(p[n], (const __m64*)(base + index[2 * n + 1]));
    }
    const __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(p[0]), p[2], 1);
    const __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(p[1]), p[3], 1);
    *low = (wgf8)_mm256_shuffle_ps(a, b, 0x88);
    *high = (wgf8)_mm256_shuffle_ps(a, b, 0xdd);
#else
    for (int n = 0; n < 8; ++n) {
        (*low)[n] = base[index[n]];
        (*high)[n] = base[index[n] + 1];
    }
#endif
}

WGI_INLINE wgf8 wgi_lerp8(wgf8 a, wgf8 b, wgf8 t)
{
    return a + t * (b - a);
}

/// The fraction of a coordinate in its cell and that cell's lower index; clamps to [0, last] with
/// at least two cells (last >= 1). NaN gives the fraction NaN and a valid index.
WGI_INLINE wgf8 wgi_lane_cell8(wgf8 coordinate, float last, wgi8* index)
{
    const wgf8 inside = wgf8_min(wgf8_max(coordinate, wgf8_set(0.0f)), wgf8_set(last));
    *index = wgi8_truncate(wgf8_min(inside, wgf8_set(last - 1.0f)));
    const wgf8 fraction = inside - wgf8_from_int(*index);
    return wgf8_from_bits(wgf8_bits(fraction) | (wgi8)(coordinate != coordinate));
}

/// Trilinear velocity of one grid at eight points given in cells from the centre of cell [0][0][0].
/// Beyond the outermost centres it reads the nearest place on them. NaN in a lane stays in it.
WGI_INLINE void wgi_sample_grid8(const wgi_lane_grid* grid, const wgf8 cell[3], wgf8 out[3])
{
    wgi8 i, j, k;
    const wgf8 tx = wgi_lane_cell8(cell[0], grid->last[0], &i);
    const wgf8 ty = wgi_lane_cell8(cell[1], grid->last[1], &j);
    const wgf8 tz = wgi_lane_cell8(cell[2], grid->last[2], &k);
    const wgi8 flat = k * wgi8_set(grid->slab) + j * wgi8_set(grid->nx) + i;
    int32_t index[8];
    memcpy(index, &flat, sizeof index);

    for (int c = 0; c < 3; ++c) {
        const float* corner = grid->velocity + (size_t)c * grid->component;
        wgf8 row[4];
        for (int n = 0; n < 4; ++n) {
            wgf8 low, high;
            wgi_load_pairs8(
                corner + (n & 1) * grid->nx + (n >> 1) * (ptrdiff_t)grid->slab, index, &low, &high);
            row[n] = wgi_lerp8(low, high, tx);
        }
        out[c] = wgi_lerp8(wgi_lerp8(row[0], row[1], ty), wgi_lerp8(row[2], row[3], ty), tz);
    }
}

/// A grid's share of the wind at eight points: 1 inside, fading to 0 over the last interior cell.
WGI_INLINE wgf8 wgi_lane_share8(const wgi_lane_grid* grid, const wgf8 cell[3])
{
    wgf8 share = wgf8_set(1.0f);
    for (int axis = 0; axis < 3; ++axis) {
        share = wgf8_min(cell[axis] - wgf8_set(0.5f), share);
        share = wgf8_min(wgf8_set(grid->last[axis] - 0.5f) - cell[axis], share);
    }
    return wgf8_max(share, wgf8_set(0.0f));
}

/// Factor of the prevailing wind at a height [m] above its ground; in double, outside the grids only.
WGI_INLINE float wgi_lane_profile(const wg_prevailing* outside, float height)
{
    const double above = height > 0.0f ? (double)height : 0.0;
    if (outside->profile == WG_PROFILE_LOG)
        return (
            float)(log1p(above / outside->parameter) / log1p(outside->reference_height / outside->parameter));
    return (float)pow(above / outside->reference_height, outside->parameter);
}

/// The prevailing wind at eight heights [m] above its ground.
WGI_INLINE void wgi_lane_outside8(const wg_prevailing* outside, wgf8 height, wgf8 out[3])
{
    wgf8 factor = wgf8_set(1.0f);
    if (outside->profile != WG_PROFILE_NONE)
        for (int lane = 0; lane < 8; ++lane)
            factor[lane] = wgi_lane_profile(outside, height[lane]);
    for (int c = 0; c < 3; ++c)
        out[c] = factor * wgf8_set((float)outside->velocity[c]);
}

/// The wind at eight points: each lane's anchor plus `local` [m], velocity in m/s.
/// NaN in a lane of `local` gives NaN in that lane alone.
WGI_INLINE void wgi_sample_wind8(
    const wgi_lane_wind* wind, const wgi_lane_anchor* anchor, const wgf8 local[3], wgf8 out[3])
{
    wgf8 cell[WG_MAX_LEVELS][3], share[WG_MAX_LEVELS];
    const wgf8 one = wgf8_set(1.0f), none = wgf8_set(0.0f);
    int32_t level = 0;
    for (; level < wind->level_count; ++level) {
        const wgi_lane_grid* grid = &wind->level[level];
        for (int axis = 0; axis < 3; ++axis)
            cell[level][axis] =
                anchor->cell[level][axis] + local[axis] * wgf8_set(grid->cells_per_metre);
        share[level] = wgi_lane_share8(grid, cell[level]);
        if (!wgi8_any((wgi8)(share[level] < one)))
            break;
    }
    if (level == wind->level_count)
        wgi_lane_outside8(&wind->outside, anchor->height + local[2], out);
    else
        wgi_sample_grid8(&wind->level[level], cell[level], out);

    // From the coarsest grid to the finest. The selects keep a lane's bits free of the other lanes.
    while (level-- > 0) {
        const wgi8 some = (wgi8)(share[level] > none), whole = (wgi8)(share[level] >= one);
        if (!wgi8_any(some))
            continue;
        wgf8 own[3];
        wgi_sample_grid8(&wind->level[level], cell[level], own);
        for (int c = 0; c < 3; ++c) {
            const wgf8 faded = wgi_lerp8(out[c], own[c], share[level]);
            out[c] = wgf8_select(whole, own[c], wgf8_select(some, faded, out[c]));
        }
    }
    const wgi8 bad =
        (wgi8)(local[0] != local[0]) | (wgi8)(local[1] != local[1]) | (wgi8)(local[2] != local[2]);
    for (int c = 0; c < 3; ++c)
        out[c] = wgf8_from_bits(wgf8_bits(out[c]) | bad);
}
