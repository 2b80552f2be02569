// Eight cells anywhere in a tile, each with corners of its own: those beside solids whose octant is
// uneven, and those that the wind takes further than a cell. The operations are those of one cell.
#pragma once

#include "wind/advect_sort.h"

// Cells that are done by themselves, eight at a time, with room to fill up the last eight.
typedef struct cell_list {
    uint32_t count;
    uint16_t place[8 * TILE_STRIPS + 8];
} cell_list;

typedef struct eight {
    wgi8 at;
    wgi8 near[3], far[3]; // offsets along each axis
    wgf8 fraction[3];
    wgi8 corner[8];
    wgi8 air[8]; // masks: a corner is not solid
    wgi8 even;   // mask: the axes whose neighbour is solid are left out
    wgi8 keep;   // mask: the cell keeps its value
    wgf8 share[7];
} eight;

// wgi_trace_axis for eight cells; `stride` apart along the axis.
WGI_INLINE void trace_eight(
    const wgi_advect_job* job, eight* e, int axis, wgi8 index, int32_t cells, int32_t stride)
{
    const wgf8 velocity = wgf8_gather(job->velocity + axis * job->cells, e->at);
    const wgf8 step = velocity * wgf8_set(-job->cells_per_velocity);
    const wgi8 first = -index, last = wgi8_set(cells - 1) - index;
    wgf8 inside = wgf8_min(wgf8_max(step, wgf8_from_int(first)), wgf8_from_int(last));
    const wgf8 whole = (inside + wgf8_set(WGI_ROUNDING)) - wgf8_set(WGI_ROUNDING);
    const wgi8 snaps =
        (wgi8)(wgf8_abs(inside - whole) <= wgf8_set(WGI_WHOLE_CELLS) * wgf8_abs(inside));
    inside = wgf8_select(snaps, whole, inside);
    const wgi8 near = wgi8_truncate(inside);
    wgi8 far = near + (wgf8_bits(step) >> 31 | wgi8_set(1));
    far = wgi8_max(far, first);
    far = -wgi8_max(-far, -last);
    e->near[axis] = near * stride;
    e->far[axis] = far * stride;
    e->fraction[axis] =
        wgf8_select((wgi8)(step != step), step, wgf8_abs(inside) - wgf8_abs(wgf8_from_int(near)));
}

// wgi_share for eight lanes.
WGI_INLINE wgf8 share8(wgf8 a, wgf8 b, wgf8 fraction, wgf8* weight)
{
    const wgf8 none = wgf8_set(0.0f), second = fraction * b;
    *weight = (wgf8_set(1.0f) - fraction) * a + second;
    const wgi8 some = (wgi8)(*weight != none);
    return wgf8_from_bits(wgf8_bits(second / *weight) & some);
}

// The same for masks of air, without the division: the quotient is the fraction, 1 or 0.
WGI_INLINE wgf8 share_of_masks8(wgi8 a, wgi8 b, wgf8 fraction, wgf8* weight)
{
    const wgf8 one = wgf8_set(1.0f);
    *weight =
        wgf8_from_bits(wgf8_bits(one - fraction) & a) + wgf8_from_bits(wgf8_bits(fraction) & b);
    const wgi8 some = (wgi8)(*weight != wgf8_set(0.0f));
    return wgf8_from_bits(wgf8_bits(wgf8_select(a, fraction, one)) & b & some);
}

WGI_INLINE wgi8 air_at(const wgi_advect_job* job, wgi8 cell)
{
#if defined(__AVX2__)
    // Four marks at a time; those of the last three cells are the upper ones of the last four.
    const wgi8 last = wgi8_set((int32_t)(job->cells - 4)), first = -wgi8_max(-cell, -last);
    const wgi8 four = (wgi8)_mm256_i32gather_epi32((const int*)job->solid, (__m256i)first, 1);
    return (four >> ((cell - first) << 3) & wgi8_set(0xff)) == wgi8_set(0);
#else
    wgi8 mark;
    for (int lane = 0; lane < 8; ++lane)
        mark[lane] = job->solid[cell[lane]];
    return mark == wgi8_set(0);
#endif
}

WGI_INLINE void weigh_eight(const wgi_advect_job* job, eight* e)
{
    wgi8* air = e->air;
    for (int n = 0; n < 8; ++n)
        air[n] = air_at(job, e->corner[n]);
    const wgi8 x = air[1], y = air[2], z = air[4];
    e->even = air[0] & ~((air[3] ^ (x & y)) | (air[5] ^ (x & z)) | (air[6] ^ (y & z)) |
                         (air[7] ^ (x & y & z)));
    wgf8 *share = e->share, row[4], face[2], all;
    for (int n = 0; n < 4; ++n)
        share[n] = share_of_masks8(air[2 * n], air[2 * n + 1], e->fraction[0], &row[n]);
    for (int n = 0; n < 2; ++n)
        share[4 + n] = share8(row[2 * n], row[2 * n + 1], e->fraction[1], &face[n]);
    share[6] = share8(face[0], face[1], e->fraction[2], &all);
    e->keep = ((wgi8)(all == wgf8_set(0.0f)) & ~e->even) | ~air_at(job, e->at);
    for (int axis = 0; axis < 3; ++axis)
        e->fraction[axis] = wgf8_from_bits(wgf8_bits(e->fraction[axis]) & air[1 << axis]);
    for (int n = 0; n < 7; ++n)
        share[n] = wgf8_select(e->even, e->fraction[n < 4 ? 0 : n < 6 ? 1 : 2], share[n]);
}

WGI_INLINE wgf8 value_of_shares8(const wgf8 v[8], const wgf8 share[7])
{
    const wgf8 low = lerp(lerp(v[0], v[1], share[0]), lerp(v[2], v[3], share[1]), share[4]);
    const wgf8 high = lerp(lerp(v[4], v[5], share[2]), lerp(v[6], v[7], share[3]), share[5]);
    return lerp(low, high, share[6]);
}

WGI_INLINE wgf8 value_of_eight(const float* field, const eight* e)
{
    wgf8 v[8];
    for (int n = 0; n < 8; ++n)
        v[n] = wgf8_from_bits(wgf8_bits(wgf8_gather(field, e->corner[n])) & (e->air[n] | e->even));
    const wgf8 value = value_of_shares8(v, e->share);
    if (!wgi8_any((wgi8)(value != value)))
        return value;
    for (int n = 0; n < 8; ++n)
        v[n] = wgf8_from_bits(wgf8_bits(v[n]) & e->air[n]);
    return wgf8_select((wgi8)(value != value), value_of_shares8(v, e->share), value);
}

WGI_INLINE void place_eight(
    const wgi_advect_job* job, const tile* t, const uint16_t place[8], eight* e, wgi8 index[3])
{
    typedef uint16_t places8 __attribute__((vector_size(16)));
    places8 given;
    memcpy(&given, place, sizeof given);
    const wgi8 n = __builtin_convertvector(given, wgi8);
    const wgi8 column = n & wgi8_set(TILE_COLUMNS - 1), line = n / TILE_COLUMNS;
    e->at = wgi8_set((int32_t)t->first) + line * job->nx + column;
    index[0] = wgi8_set(t->begin_x) + column;
    index[1] = wgi8_set(t->begin_y) + line;
    index[2] = wgi8_set(t->z);
}

// wgi_trace_axis for displacements below a cell.
WGI_INLINE void trace_short_eight(const wgi_advect_job* job, eight* e, int axis, int32_t stride)
{
    const wgf8 velocity = wgf8_gather(job->velocity + axis * job->cells, e->at);
    const wgf8 step = velocity * wgf8_set(-job->cells_per_velocity);
    const wgi8 back = wgf8_bits(step) >> 31;
    e->near[axis] = wgi8_set(0);
    e->far[axis] = (wgi8_set(stride) ^ back) - back;
    e->fraction[axis] = wgf8_abs(step);
}

// `inner`: the displacements are below a cell, and there are solids.
WGI_INLINE void
move_eight(const wgi_advect_job* job, const tile* t, const uint16_t place[8], bool inner)
{
    eight e;
    wgi8 index[3];
    place_eight(job, t, place, &e, index);
    const int32_t cells[3] = { job->nx, job->ny, job->nz };
    const int32_t stride[3] = { 1, job->nx, (int32_t)job->slab };
    for (int axis = 0; axis < 3; ++axis)
        if (inner)
            trace_short_eight(job, &e, axis, stride[axis]);
        else
            trace_eight(job, &e, axis, index[axis], cells[axis], stride[axis]);
    for (int n = 0; n < 8; ++n) {
        e.corner[n] = e.at + (n & 1 ? e.far[0] : e.near[0]) + (n & 2 ? e.far[1] : e.near[1]) +
                      (n & 4 ? e.far[2] : e.near[2]);
        e.air[n] = wgi8_set(-1);
    }
    for (int n = 0; n < 7; ++n)
        e.share[n] = e.fraction[n < 4 ? 0 : n < 6 ? 1 : 2];
    e.even = wgi8_set(-1);
    e.keep = wgi8_set(0);
    if (inner || job->solid)
        weigh_eight(job, &e);
    const bool keeps = wgi8_any(e.keep);
    for (int32_t c = 0; c < job->components; ++c) {
        const float* field = job->field + c * job->cells;
        wgf8 value = value_of_eight(field, &e);
        if (keeps)
            value = wgf8_select(e.keep, wgf8_gather(field, e.at), value);
        for (int lane = 0; lane < 8; ++lane)
            job->out[c * job->cells + e.at[lane]] = value[lane];
    }
}

static __attribute__((noinline)) void
advect_eight(const wgi_advect_job* job, const tile* t, const uint16_t place[8])
{
    move_eight(job, t, place, false);
}

static __attribute__((noinline)) void
advect_uneven_eight(const wgi_advect_job* job, const tile* t, const uint16_t place[8])
{
    move_eight(job, t, place, true);
}

typedef void eight_function(const wgi_advect_job* job, const tile* t, const uint16_t place[8]);

WGI_INLINE void
advect_listed(const wgi_advect_job* job, const tile* t, cell_list* l, eight_function* advect)
{
    // The last eight repeat a cell.
    for (unsigned n = 0; n < 8 && l->count; ++n)
        l->place[l->count + n] = l->place[l->count - 1];
    for (unsigned n = 0; n < l->count; n += 8)
        advect(job, t, l->place + n);
}

// Puts the lanes (bits) of a strip on the list.
WGI_INLINE void list_lanes(cell_list* l, unsigned place, unsigned lanes)
{
    for (; lanes != 0; lanes &= lanes - 1)
        l->place[l->count++] = (uint16_t)(place + (unsigned)__builtin_ctz(lanes));
}
