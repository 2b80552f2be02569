// Argument structs of the kernels that carry values from grid to grid.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Coarse from fine: coarse cell `first` lies over the fine cells from (1, 1, 1).
typedef struct wgi_restrict_job {
    const float* fine;         ///< [3][nz][ny][nx] with border
    const uint8_t* fine_solid; ///< or NULL
    float* coarse;
    const uint8_t* coarse_solid; ///< or NULL
    int32_t nx, ny;              ///< of the fine grid, with border
    int32_t coarse_nx, coarse_ny;
    size_t fine_cells, coarse_cells;
    int32_t first[3];
} wgi_restrict_job;
