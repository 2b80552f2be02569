// Strips: eight neighbouring cells of a row, advected together.
//
// Where all eight places lie in the same cell offset, the values of a strip are contiguous loads.
// Along an axis on which the eight also move the same way the far values are one load; on a mixed
// axis both sides are loaded and chosen from lane by lane.
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
    wgi8 back[3];     // masks: the far cell is the neighbour before, not the one after
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

// Lanes of `a` where the mask is all ones, else of `b`: as many operations as a variable blend has
// within, and the loads are part of them.
WGI_INLINE wgf8 choose(wgi8 mask, wgf8 a, wgf8 b)
{
#if defined(__AVX512VL__)
    return wgf8_select(mask, a, b);
#else
    return wgf8_from_bits((wgf8_bits(a) & mask) | (wgf8_bits(b) & ~mask));
#endif
}

// Keeps the compiler from working out every address of a strip by itself, which takes more registers
// than there are.
#define OPAQUE(value) __asm__("" : "+r"(value))

// The rows around eight near cells: offsets of the rows at y - 1 and y + 1 (where y is ONE_WAY, of the
// far row twice), and the near cells in the slabs at z, z - 1 and z + 1 (the far slab twice).
typedef struct places {
    ptrdiff_t row[2];
    const float* slab[3];
} places;

WGI_INLINE places places_of(const float* near, const strip* s, int ways)
{
    const bool far_row = WAY(ways, 1) == ONE_WAY, far_slab = WAY(ways, 2) == ONE_WAY;
    const ptrdiff_t y = s->stride[1], z = s->stride[2];
    places p = { .row = { far_row ? s->far[1] : -y, far_row ? s->far[1] : y },
                 .slab = { near, near + (far_slab ? s->far[2] : -z),
                           near + (far_slab ? s->far[2] : z) } };
    for (int n = 0; n < 2; ++n)
        OPAQUE(p.row[n]);
    for (int n = 0; n < 3; ++n)
        OPAQUE(p.slab[n]);
    return p;
}

// The values of eight lanes at a corner of their octants: `far` says along which axes (1, 2, 4) it is
// the far one.
WGI_INLINE wgf8 corner_in_row(const float* near, const strip* s, int ways, int far)
{
    if (!(far & 1))
        return load_once(near);
    if (WAY(ways, 0) == MIXED)
        return choose(s->back[0], wgf8_load(near - 1), wgf8_load(near + 1));
    return wgf8_load(WAY(ways, 0) == FORWARD ? near + 1 : near - 1);
}

WGI_INLINE wgf8
corner_in_slab(const float* near, const places* p, const strip* s, int ways, int far)
{
    if (!(far & 2))
        return corner_in_row(near, s, ways, far);
    const wgf8 before = corner_in_row(near + p->row[0], s, ways, far);
    if (WAY(ways, 1) == ONE_WAY)
        return before;
    return choose(s->back[1], before, corner_in_row(near + p->row[1], s, ways, far));
}

WGI_INLINE wgf8 corner_of(const places* p, const strip* s, int ways, int far)
{
    if (!(far & 4))
        return corner_in_slab(p->slab[0], p, s, ways, far);
    const wgf8 before = corner_in_slab(p->slab[1], p, s, ways, far);
    if (WAY(ways, 2) == ONE_WAY)
        return before;
    return choose(s->back[2], before, corner_in_slab(p->slab[2], p, s, ways, far));
}

// The value of eight lanes: along x, then in the plane of x and y, then in space. `near` is the first
// lane's near cell.
WGI_INLINE wgf8 strip_value(const float* near, const strip* s, int ways)
{
    const places p = places_of(near, s, ways);
    wgf8 row[4];
    for (int n = 0; n < 4; ++n)
        row[n] =
            lerp(corner_of(&p, s, ways, 2 * n), corner_of(&p, s, ways, 2 * n + 1), s->fraction[0]);
    const wgf8 plane = lerp(row[0], row[1], s->fraction[1]);
    return lerp(plane, lerp(row[2], row[3], s->fraction[1]), s->fraction[2]);
}

WGI_INLINE strip strip_at(const wgi_advect_job* job, ptrdiff_t at)
{
    strip s = { .near = 0, .stride = { 1, job->nx, job->slab } };
    const wgf8 scale = wgf8_set(-job->cells_per_velocity);
    const float* velocity = job->velocity + at;
    for (int axis = 0; axis < 3; ++axis, velocity += job->cells) {
        s.step[axis] = wgf8_load(velocity) * scale;
        s.fraction[axis] = wgf8_abs(s.step[axis]);
        s.back[axis] = wgf8_bits(s.step[axis]) >> 31;
    }
    return s;
}

// Sets the far offset of the axes on which all lanes that count move the way of one of them.
WGI_INLINE void set_far(const wgi_advect_job* job, ptrdiff_t at, unsigned lane, strip* s)
{
    for (int axis = 1; axis < 3; ++axis) {
        int32_t bits;
        memcpy(&bits, job->velocity + axis * job->cells + at + lane, sizeof bits);
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
