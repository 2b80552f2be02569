// Argument structs of the flow kernels.
#pragma once

#include "windgrove/flow.h"

struct wgi_lane_wind;

typedef struct wgi_wind_sample_job {
    const struct wgi_lane_wind* wind;
    const double* points; ///< [count][3]
    size_t count;
    float* out; ///< [count][3]
} wgi_wind_sample_job;

/// True where a view's sizes and numbers are in range.
bool wgi_wind_view_fits(const wg_wind_view* view);
