// Argument structs of the flow kernels, and checks that their callers share.
#pragma once

#include <math.h>

#include "windgrove/flow.h"

struct wgi_lane_wind;

typedef struct wgi_wind_sample_job {
    const struct wgi_lane_wind* wind;
    const double* points; ///< [count][3]
    size_t count;
    float* out; ///< [count][3]
} wgi_wind_sample_job;

typedef struct wgi_classify_job {
    int32_t nx, ny, nz;
    const uint8_t* solid;
    uint8_t* classes; ///< `sides` of all cells, then `corners`: flow_classes.h
} wgi_classify_job;

typedef struct wgi_advect_job {
    int32_t nx, ny, nz;
    ptrdiff_t slab, cells;    ///< cells in a slab and in the grid
    float cells_per_velocity; ///< dt / h
    int32_t components;
    const uint8_t* solid;   ///< may be NULL
    const uint8_t* classes; ///< of `solid`, or NULL: they are found where they are needed
    const float *field, *velocity;
    const float* moved; ///< MacCormack's second pass: the field as the first pass moved it
    float* out;
} wgi_advect_job;

/// Rows and columns of a vorticity tile: a tile may have up to fifteen columns more, and with the
/// cells around it fits 64 columns; 46 with the cells around them are whole vectors.
enum { WGI_CONFINE_ROWS = 8, WGI_CONFINE_COLUMNS = 46, WGI_CONFINE_LEAST_COLUMNS = 16 };

typedef struct wgi_confine_job {
    int32_t nx, ny, nz;
    ptrdiff_t slab, cells;           ///< cells in a slab and in the grid
    float strength;                  ///< dt epsilon / 2
    int32_t tile_rows, tiles_across; ///< tile_rows is at most WGI_CONFINE_ROWS
    const uint8_t* solid;            ///< may be NULL
    const uint8_t* classes;          ///< of `solid`, or NULL
    const float* velocity;
    float* out;
} wgi_confine_job;

/// A grid's marks; NULL where its classes say that no cell is solid.
const uint8_t* wgi_flow_solid(const wg_flow_grid* grid);

/// True where a view's sizes and numbers are in range.
bool wgi_wind_view_fits(const wg_wind_view* view);

/// True where the sizes are from `least` to WG_MAX_CELLS and the grid has fewer than 2^31 cells.
static inline bool wgi_size_fits(int32_t nx, int32_t ny, int32_t nz, int32_t least)
{
    return nx >= least && ny >= least && nz >= least && nx <= WG_MAX_CELLS && ny <= WG_MAX_CELLS &&
           nz <= WG_MAX_CELLS && (int64_t)nx * ny < INT32_MAX / nz;
}

static inline bool wgi_positive(double value)
{
    return isfinite(value) && value > 0.0;
}

/// Greatest dt / spacing (s/m) and dt epsilon (s): velocities to 1e8 m/s then stay within floats.
#define WGI_LARGEST_STEP 1e30

static inline bool wgi_flow_step_fits(const wg_flow_grid* grid, double dt)
{
    return wgi_positive(dt) && dt / grid->spacing <= WGI_LARGEST_STEP;
}

static inline bool wgi_flow_grid_fits(const wg_flow_grid* grid)
{
    return wgi_size_fits(grid->nx, grid->ny, grid->nz, 3) && wgi_positive(grid->spacing);
}
