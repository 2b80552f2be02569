// Strips: eight neighbouring cells of a row, advected together.
//
// Where all eight places lie in the same cell offset, the values of a strip are contiguous loads.
// Along an axis on which the eight also move the same way the far values are one load; on a mixed
// axis both sides are worked out and chosen from lane by lane.
#pragma once

#include "support/simd.h"
#include "wind/advect_trace.h"

// How the eight cells of a strip move along an axis: which of their neighbours is the far cell. The
// last is for code that is too large to be compiled for each direction.
enum { FORWARD = 0, BACKWARD = 1, MIXED = 2, ONE_WAY = 3 };

// Eight displacements that share their near cell's offset.
typedef struct strip {
    wgf8 step[3]; // in cells; its sign says which neighbour is the far cell
    wgf8 fraction[3];
    ptrdiff_t near;   // offset of the near cells from their own
    ptrdiff_t far[3]; // offset of the far cells from the near ones where an axis is ONE_WAY
    ptrdiff_t stride[3];
} strip;

// The ways of the three axes, known where code is compiled: 2 bits each.
#define WAYS(x, y, z) ((x) | (y) << 2 | (z) << 4)
#define WAY(ways, axis) ((ways) >> 2 * (axis)&3)

WGI_INLINE wgf8 lerp(wgf8 a, wgf8 b, wgf8 t)
{
    return a + t * (b - a);
}

// A value that is used twice is loaded once: these loops wait for loads.
WGI_INLINE wgf8 load_once(const float* p)
{
    wgf8 v = wgf8_load(p);
#if defined(__AVX512VL__)
    __asm__("" : "+v"(v));
#elif defined(__AVX2__)
    __asm__("" : "+x"(v));
#endif
    return v;
}

WGI_INLINE wgf8 value_at(const float* near, const strip* s, int ways)
{
    (void)s, (void)ways;
    return load_once(near);
}

// The value of eight lanes along x, then in the plane of x and y, then in space; `near` is the first
// lane's nearer cell.
#define VALUE_ALONG(name, inner, axis)                                                             \
    WGI_INLINE wgf8 name(const float* near, const strip* s, int ways)                              \
    {                                                                                              \
        const ptrdiff_t stride = axis == 0 ? 1 : s->stride[axis];                                  \
        const wgf8 own = inner(near, s, ways);                                                     \
        wgf8 far;                                                                                  \
        if (WAY(ways, axis) == FORWARD)                                                            \
            far = inner(near + stride, s, ways);                                                   \
        else if (WAY(ways, axis) == BACKWARD)                                                      \
            far = inner(near - stride, s, ways);                                                   \
        else if (WAY(ways, axis) == ONE_WAY)                                                       \
            far = inner(near + s->far[axis], s, ways);                                             \
        else                                                                                       \
            far = wgf8_select_negative(                                                            \
                s->step[axis], inner(near - stride, s, ways), inner(near + stride, s, ways));      \
        return lerp(own, far, s->fraction[axis]);                                                  \
    }

VALUE_ALONG(value_along_x, value_at, 0)
VALUE_ALONG(value_in_plane, value_along_x, 1)
VALUE_ALONG(strip_value, value_in_plane, 2)

WGI_INLINE strip strip_at(const wgi_advect_job* job, ptrdiff_t at)
{
    strip s = { .near = 0, .stride = { 1, job->nx, job->slab } };
    const wgf8 scale = wgf8_set(-job->cells_per_velocity);
    const float* velocity = job->velocity + at;
    for (int axis = 0; axis < 3; ++axis, velocity += job->cells) {
        s.step[axis] = wgf8_load(velocity) * scale;
        s.fraction[axis] = wgf8_abs(s.step[axis]);
    }
    return s;
}

// Sets the far offset of the axes on which all eight lanes move the first one's way.
WGI_INLINE void set_far(const wgi_advect_job* job, ptrdiff_t at, strip* s)
{
    for (int axis = 1; axis < 3; ++axis) {
        int32_t bits;
        memcpy(&bits, job->velocity + axis * job->cells + at, sizeof bits);
        s->far[axis] = bits < 0 ? s->stride[axis] : -s->stride[axis];
    }
}

WGI_INLINE bool is_long(const strip* s)
{
    const wgi8 longest = wgi8_max(
        wgi8_max(wgf8_bits(s->fraction[0]), wgf8_bits(s->fraction[1])), wgf8_bits(s->fraction[2]));
    // As integers NaN is larger than any number.
    return wgi8_any(longest >= wgf8_bits(wgf8_set(WGI_SHORT_TRACE)));
}
