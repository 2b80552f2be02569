// Where the air of a cell came from, for one cell: the definition that the eight-lane form in
// advect_strips.c repeats operation by operation, so that both give the same bits.
#pragma once

#include <math.h>
#include <string.h>

#include "support/simd.h"
#include "wind/flow_types.h"

// Displacements below this many cells need neither clamping nor rounding to whole cells.
#define WGI_SHORT_TRACE (1.0f - 0x1p-20f)
// Relative distance at which a displacement counts as a whole number of cells.
#define WGI_WHOLE_CELLS 0x1p-22f
// Adding and subtracting it rounds a float below 2^22 to the nearest whole number.
#define WGI_ROUNDING 0x1.8p23f

WGI_INLINE float wgi_lerp(float a, float b, float t)
{
    return a + t * (b - a);
}

/// All components of `count` cells from `from`, which lies as the output does.
WGI_INLINE void
wgi_advect_copy(const wgi_advect_job* job, const float* from, ptrdiff_t at, int32_t count)
{
    for (int32_t c = 0; c < job->components; ++c)
        memcpy(
            job->out + c * job->cells + at, from + c * job->cells + at,
            (size_t)count * sizeof(float));
}

/// One axis of a displacement: from the cell `near` steps away, `fraction` of the way to `far`.
typedef struct wgi_trace {
    int32_t near, far;
    float fraction;
    bool left; // the place lies beyond the outermost centres, or nowhere (NaN)
} wgi_trace;

/// The displacement of cell `index` along an axis of `cells` cells, for the velocity along it.
WGI_INLINE wgi_trace
wgi_trace_axis(float velocity, float cells_per_velocity, int32_t index, int32_t cells)
{
    const float step = -(velocity * cells_per_velocity);
    const float low = (float)-index, high = (float)(cells - 1 - index);
    float inside = step > low ? step : low;
    inside = inside < high ? inside : high;
    const float whole = (inside + WGI_ROUNDING) - WGI_ROUNDING;
    if (fabsf(inside - whole) <= WGI_WHOLE_CELLS * fabsf(inside))
        inside = whole;

    wgi_trace trace;
    trace.left = !(step >= low && step <= high);
    trace.near = (int32_t)inside;
    trace.far = trace.near + (signbit(step) ? -1 : 1);
    // The far cell may lie outside only where its fraction is 0.
    trace.far = trace.far < -index ? -index : trace.far;
    trace.far = trace.far > cells - 1 - index ? cells - 1 - index : trace.far;
    trace.fraction = isnan(step) ? step : fabsf(inside) - fabsf((float)trace.near);
    return trace;
}

/// The share of the second of two places in their common value, when their weights (1 in air, 0 in
/// solids) are `a` and `b` and the first lies `fraction` before the value's place; 0 where both are
/// solid. `weight` gets what is left of the pair's weight: 1 where both are air, and then the share
/// is the fraction to the bit.
WGI_INLINE float wgi_share(float a, float b, float fraction, float* weight)
{
    const float second = fraction * b;
    *weight = (1.0f - fraction) * a + second;
    return *weight == 0.0f ? 0.0f : second / *weight;
}
