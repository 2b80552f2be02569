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
    const float* cells; ///< the same as [nz][ny][nx][4], or NULL
    size_t component;   ///< floats between two components
    int32_t nx, slab;   ///< floats between two rows and two slabs
    float last[3];      ///< largest cell coordinate, the last cell's centre: n - 1
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
        lanes->cells = grid->cells;
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

/// Eight places in cells: the lower corner's index and how far beyond it.
typedef struct wgi_lane_spot {
    wgi8 index;
    wgf8 t[3];
} wgi_lane_spot;

/// `cell` in cells from the centre of cell [0][0][0]; beyond the outermost centres the nearest place
/// on them. NaN in a lane stays in it.
WGI_INLINE wgi_lane_spot wgi_lane_spot8(const wgi_lane_grid* grid, const wgf8 cell[3])
{
    wgi_lane_spot spot;
    wgi8 i, j, k;
    spot.t[0] = wgi_lane_cell8(cell[0], grid->last[0], &i);
    spot.t[1] = wgi_lane_cell8(cell[1], grid->last[1], &j);
    spot.t[2] = wgi_lane_cell8(cell[2], grid->last[2], &k);
    spot.index = k * wgi8_set(grid->slab) + j * wgi8_set(grid->nx) + i;
    return spot;
}

/// The same of coordinates that lie inside.
WGI_INLINE wgi_lane_spot wgi_lane_inner_spot8(const wgi_lane_grid* grid, const wgf8 cell[3])
{
    wgi_lane_spot spot;
    wgi8 index[3];
    for (int axis = 0; axis < 3; ++axis) {
        index[axis] = wgi8_truncate(cell[axis]);
        spot.t[axis] = cell[axis] - wgf8_from_int(index[axis]);
    }
    spot.index = index[2] * wgi8_set(grid->slab) + index[1] * wgi8_set(grid->nx) + index[0];
    return spot;
}

/// Trilinear velocity at eight spots of a grid whose components lie apart.
WGI_INLINE void wgi_blend_rows8(const wgi_lane_grid* grid, const wgi_lane_spot* spot, wgf8 out[3])
{
    int32_t index[8];
    memcpy(index, &spot->index, sizeof index);
    for (int c = 0; c < 3; ++c) {
        const float* corner = grid->velocity + (size_t)c * grid->component;
        wgf8 row[4];
        for (int n = 0; n < 4; ++n) {
            wgf8 low, high;
            wgi_load_pairs8(
                corner + (n & 1) * grid->nx + (n >> 1) * (ptrdiff_t)grid->slab, index, &low, &high);
            row[n] = wgi_lerp8(low, high, spot->t[0]);
        }
        out[c] = wgi_lerp8(
            wgi_lerp8(row[0], row[1], spot->t[1]), wgi_lerp8(row[2], row[3], spot->t[1]),
            spot->t[2]);
    }
}

/// The cells `a` and `b`, of four floats each.
WGI_INLINE wgf8 wgi_load_two_cells(const float* a, const float* b)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(a)), _mm_loadu_ps(b), 1);
#else
    return (wgf8){ a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3] };
#endif
}

/// The same as wgi_blend_rows8 where a cell's components lie side by side: a third of the cache
/// lines. Lanes n and n + 4 are blended together, and turned into components last.
WGI_INLINE void wgi_blend_cells8(const wgi_lane_grid* grid, const wgi_lane_spot* spot, wgf8 out[3])
{
    // Floats rather than cells, so that an index is an address as it is.
    const wgi8 floats = spot->index << 2;
    uint32_t at[8];
    memcpy(at, &floats, sizeof at);
    const float* rows[4];
    for (int r = 0; r < 4; ++r)
        rows[r] = grid->cells + 4 * ((r & 1) * grid->nx + (r >> 1) * (ptrdiff_t)grid->slab);
    wgf8 lane[4];
#define WGI_BLEND_LANE(n)                                                                          \
    {                                                                                              \
        wgf8 t[3], row[4];                                                                         \
        for (int axis = 0; axis < 3; ++axis)                                                       \
            t[axis] = wgf8_shuffle(                                                                \
                spot->t[axis], spot->t[axis], n, n, n, n, n + 4, n + 4, n + 4, n + 4);             \
        for (int r = 0; r < 4; ++r) {                                                              \
            const float *a = rows[r] + at[n], *b = rows[r] + at[n + 4];                            \
            row[r] = wgi_lerp8(wgi_load_two_cells(a, b), wgi_load_two_cells(a + 4, b + 4), t[0]);  \
        }                                                                                          \
        lane[n] =                                                                                  \
            wgi_lerp8(wgi_lerp8(row[0], row[1], t[1]), wgi_lerp8(row[2], row[3], t[1]), t[2]);     \
    }
    WGI_BLEND_LANE(0)
    WGI_BLEND_LANE(1)
    WGI_BLEND_LANE(2)
    WGI_BLEND_LANE(3)
#undef WGI_BLEND_LANE
    const wgf8 xy01 = wgf8_shuffle(lane[0], lane[1], 0, 8, 1, 9, 4, 12, 5, 13);
    const wgf8 xy23 = wgf8_shuffle(lane[2], lane[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const wgf8 z01 = wgf8_shuffle(lane[0], lane[1], 2, 10, 3, 11, 6, 14, 7, 15);
    const wgf8 z23 = wgf8_shuffle(lane[2], lane[3], 2, 10, 3, 11, 6, 14, 7, 15);
    out[0] = wgf8_shuffle(xy01, xy23, 0, 1, 8, 9, 4, 5, 12, 13);
    out[1] = wgf8_shuffle(xy01, xy23, 2, 3, 10, 11, 6, 7, 14, 15);
    out[2] = wgf8_shuffle(z01, z23, 0, 1, 8, 9, 4, 5, 12, 13);
}

/// Trilinear velocity of one grid at eight spots.
WGI_INLINE void wgi_blend8(const wgi_lane_grid* grid, const wgi_lane_spot* spot, wgf8 out[3])
{
    if (grid->cells)
        wgi_blend_cells8(grid, spot, out);
    else
        wgi_blend_rows8(grid, spot, out);
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

/// Eight points in the coordinates of a grid.
WGI_INLINE void wgi_lane_cells8(
    const wgi_lane_wind* wind, const wgi_lane_anchor* anchor, const wgf8 local[3], int32_t level,
    wgf8 cell[3])
{
    const wgf8 cells_per_metre = wgf8_set(wind->level[level].cells_per_metre);
    for (int axis = 0; axis < 3; ++axis)
        cell[axis] = anchor->cell[level][axis] + local[axis] * cells_per_metre;
}

/// Lanes within `margin` cells of the outermost centres; not those with NaN.
WGI_INLINE wgi8 wgi_lane_within8(const wgi_lane_grid* grid, const wgf8 cell[3], float margin)
{
    wgi8 within = wgi8_set(-1);
    for (int axis = 0; axis < 3; ++axis)
        within &= (wgi8)(cell[axis] >= wgf8_set(margin)) &
                  (wgi8)(cell[axis] <= wgf8_set(grid->last[axis] - margin));
    return within;
}

/// What most samples are: eight points in one grid, or some of them in the zone where the next finer
/// grid fades in.
typedef struct wgi_lane_plan {
    int32_t level, finer; ///< of the grids, -1 for none
    wgi_lane_spot spot, finer_spot;
    wgf8 share; ///< of the finer grid
} wgi_lane_plan;

/// False where the points need more than that.
WGI_INLINE bool wgi_lane_plan8(
    const wgi_lane_wind* wind, const wgi_lane_anchor* anchor, const wgf8 local[3],
    wgi_lane_plan* plan)
{
    plan->finer = -1;
    for (int32_t level = 0; level < wind->level_count; ++level) {
        const wgi_lane_grid* grid = &wind->level[level];
        wgf8 cell[3];
        wgi_lane_cells8(wind, anchor, local, level, cell);
        if (wgi8_mask(wgi_lane_within8(grid, cell, 1.5f)) == 0xff) {
            plan->level = level;
            plan->spot = wgi_lane_inner_spot8(grid, cell);
            return true;
        }
        const wgf8 share = wgi_lane_share8(grid, cell);
        if (!wgi8_any(~(wgi8)(share <= wgf8_set(0.0f))))
            continue;
        if (plan->finer >= 0)
            return false;
        plan->finer = level;
        plan->share = share;
        plan->finer_spot = wgi_lane_spot8(grid, cell);
    }
    return false;
}

/// The wind where a finer grid has a share of it; the selects keep a lane's bits free of the others.
WGI_INLINE void wgi_lane_fade8(wgf8 share, const wgf8 own[3], wgf8 out[3])
{
    const wgi8 some = (wgi8)(share > wgf8_set(0.0f)), whole = (wgi8)(share >= wgf8_set(1.0f));
    for (int c = 0; c < 3; ++c) {
        const wgf8 faded = wgi_lerp8(out[c], own[c], share);
        out[c] = wgf8_select(whole, own[c], wgf8_select(some, faded, out[c]));
    }
}

/// The wind at eight points that need several grids; any points may be given.
WGI_INLINE void wgi_sample_several8(
    const wgi_lane_wind* wind, const wgi_lane_anchor* anchor, const wgf8 local[3], wgf8 out[3])
{
    wgf8 cell[WG_MAX_LEVELS][3], share[WG_MAX_LEVELS];
    int32_t level = 0;
    for (; level < wind->level_count; ++level) {
        wgi_lane_cells8(wind, anchor, local, level, cell[level]);
        share[level] = wgi_lane_share8(&wind->level[level], cell[level]);
        if (!wgi8_any((wgi8)(share[level] < wgf8_set(1.0f))))
            break;
    }
    if (level == wind->level_count)
        wgi_lane_outside8(&wind->outside, anchor->height + local[2], out);
    else
        out[0] = out[1] = out[2] = wgf8_set(0.0f);

    // From the coarsest grid to the finest.
    for (int32_t n = level < wind->level_count ? level : level - 1; n >= 0; --n) {
        if (!wgi8_any((wgi8)(share[n] > wgf8_set(0.0f))))
            continue;
        wgf8 own[3];
        const wgi_lane_spot spot = wgi_lane_spot8(&wind->level[n], cell[n]);
        wgi_blend8(&wind->level[n], &spot, own);
        wgi_lane_fade8(share[n], own, out);
    }
    const wgi8 bad =
        (wgi8)(local[0] != local[0]) | (wgi8)(local[1] != local[1]) | (wgi8)(local[2] != local[2]);
    for (int c = 0; c < 3; ++c)
        out[c] = wgf8_from_bits(wgf8_bits(out[c]) | bad);
}

/// The wind at eight points: each lane's anchor plus `local` [m], velocity in m/s.
/// NaN in a lane of `local` gives NaN in that lane alone.
WGI_INLINE void wgi_sample_wind8(
    const wgi_lane_wind* wind, const wgi_lane_anchor* anchor, const wgf8 local[3], wgf8 out[3])
{
    wgi_lane_plan plan;
    if (!wgi_lane_plan8(wind, anchor, local, &plan)) {
        wgi_sample_several8(wind, anchor, local, out);
        return;
    }
    wgi_blend8(&wind->level[plan.level], &plan.spot, out);
    if (plan.finer < 0)
        return;
    wgf8 own[3];
    wgi_blend8(&wind->level[plan.finer], &plan.finer_spot, own);
    wgi_lane_fade8(plan.share, own, out);
}
