// windgrove/wind.h - nested grids of air velocity, as seen by those who sample them.
//
// Grids are cell-centred and [z][y][x] with x fastest; vector grids are component first. Sizes
// include the one-cell border. The centre of cell [k][j][i] lies at
// origin + spacing * (i + 1/2, j + 1/2, k + 1/2).
#pragma once

#include "windgrove/base.h"

#define WG_MAX_LEVELS 8

/// One grid, borrowed.
typedef struct wg_grid_view {
    int32_t nx, ny, nz;    ///< cells with the border, each at least 3
    double origin[3];      ///< m, low corner of cell [0][0][0], x y z
    double spacing;        ///< m, > 0
    const float* velocity; ///< [3][nz][ny][nx] m/s
    const float* cells;    ///< NULL, or the same from wg_wind_cells: many samples are faster then
} wg_grid_view;

/// How the prevailing wind varies with height above `ground`.
typedef enum wg_profile {
    WG_PROFILE_NONE = 0,  ///< the same at every height
    WG_PROFILE_LOG = 1,   ///< ln((z + z0) / z0) / ln((zr + z0) / z0), 0 below the ground
    WG_PROFILE_POWER = 2, ///< (z / zr)^p, 0 below the ground
} wg_profile;

/// Wind outside every grid.
typedef struct wg_prevailing {
    double velocity[3];      ///< m/s at the reference height
    int32_t profile;         ///< a wg_profile
    double ground;           ///< m, height of the ground
    double reference_height; ///< m above the ground, > 0 unless the profile is WG_PROFILE_NONE
    double parameter;        ///< roughness length z0 (m) or exponent p
} wg_prevailing;

/// Everything a consumer needs to sample the wind of one instant. Level 0 is the finest.
typedef struct wg_wind_view {
    int32_t level_count; ///< 0 to WG_MAX_LEVELS; 0 is the prevailing wind alone
    wg_grid_view level[WG_MAX_LEVELS];
    wg_prevailing outside;
} wg_wind_view;
