// Sampling the wind at scattered points, eight at a time.
#include "support/kernel_table.h"
#include "wind/sample_lanes.h"

// Blocks of eight points; the last one repeats its last point.
void WGI_ISA(wind_sample)(size_t begin, size_t end, void* context)
{
    const wgi_wind_sample_job* job = context;
    for (size_t block = begin; block < end; ++block) {
        wgi_lane_anchor anchor;
        wgf8 local[3] = { { 0 }, { 0 }, { 0 } }, velocity[3];
        for (int lane = 0; lane < 8; ++lane) {
            const size_t wanted = 8 * block + (size_t)lane;
            const size_t n = wanted < job->count ? wanted : job->count - 1;
            const double* point = job->points + 3 * n;
            wgi_lane_anchor_set(job->wind, point, lane, &anchor);
            for (int axis = 0; axis < 3; ++axis)
                local[axis][lane] = isnan(point[axis]) ? NAN : 0.0f;
        }
        wgi_sample_wind8(job->wind, &anchor, local, velocity);

        const size_t left = job->count - 8 * block;
        for (size_t lane = 0; lane < (left < 8 ? left : 8); ++lane)
            for (int c = 0; c < 3; ++c)
                job->out[3 * (8 * block + lane) + (size_t)c] = velocity[c][lane];
    }
}
