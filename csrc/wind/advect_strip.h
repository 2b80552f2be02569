// Strips: eight neighbouring cells of a row, advected together.
//
// Where all eight places lie in the same cell offset, the corners of the strip are contiguous loads:
// along an axis on which the eight also move the same way, the far corners are one load; on a mixed
// axis they are chosen lane by lane from the loads on both sides.
#pragma once

#include "support/simd.h"
#include "wind/advect_trace.h"
#include "wind/marks.h"

// How the eight cells of a strip move along an axis: which of their neighbours is the far cell. The
// last is for code that is too large to be compiled for each direction.
enum { FORWARD = 0, BACKWARD = 1, MIXED = 2, ONE_WAY = 3 };
// Cells of a row whose surroundings are searched for solids at a time.
enum { SEARCH = 112 };

// What is in and around a strip.
typedef enum enclosure { OPEN, NEAR_SOLID, SOLID } enclosure;

// Eight displacements that share their near cell's offset.
typedef struct strip {
    wgf8 step[3]; // in cells; its sign says which neighbour is the far cell
    wgf8 fraction[3];
    ptrdiff_t near;   // offset of the near cells from their own
    ptrdiff_t far[3]; // offset of the far cells from the near ones on an axis that is not mixed
    ptrdiff_t stride[3];
    int way[3]; // FORWARD, BACKWARD or MIXED
} strip;

WGI_INLINE wgf8 lerp(wgf8 a, wgf8 b, wgf8 t)
{
    return a + t * (b - a);
}

WGI_INLINE wgf8 load_values(const void* base, ptrdiff_t at, const strip* s, int ways, int far)
{
    (void)s, (void)ways, (void)far;
    return wgf8_load((const float*)base + at);
}

// The ways of the three axes, known where code is compiled: 2 bits each.
#define WAYS(x, y, z) ((x) | (y) << 2 | (z) << 4)
#define WAY(ways, axis) ((ways) >> 2 * (axis)&3)

// The corner of all eight lanes that is far on the axes of `far` (bits 1, 2, 4), from the near
// corner at `base`: three functions nested, one for each axis, since an inline function cannot call
// itself.
#define CORNER_OF_AXIS(name, inner, axis)                                                          \
    WGI_INLINE wgf8 name(const void* base, ptrdiff_t at, const strip* s, int ways, int far)        \
    {                                                                                              \
        const ptrdiff_t stride = axis == 0 ? 1 : s->stride[axis];                                  \
        if (!(far >> axis & 1))                                                                    \
            return inner(base, at, s, ways, far);                                                  \
        if (WAY(ways, axis) == FORWARD)                                                            \
            return inner(base, at + stride, s, ways, far);                                         \
        if (WAY(ways, axis) == BACKWARD)                                                           \
            return inner(base, at - stride, s, ways, far);                                         \
        if (WAY(ways, axis) == ONE_WAY)                                                            \
            return inner(base, at + s->far[axis], s, ways, far);                                   \
        return wgf8_select_negative(                                                               \
            s->step[axis], inner(base, at - stride, s, ways, far),                                 \
            inner(base, at + stride, s, ways, far));                                               \
    }

CORNER_OF_AXIS(values_x, load_values, 0)
CORNER_OF_AXIS(values_y, values_x, 1)
CORNER_OF_AXIS(values_corner, values_y, 2)

// The trilinear value of eight lanes from the near corner at `near`.
WGI_INLINE wgf8 strip_value(const float* near, const strip* s, int ways)
{
    const wgf8 x = s->fraction[0], y = s->fraction[1], z = s->fraction[2];
    wgf8 face[2];
    for (int n = 0; n < 2; ++n) {
        const int far = 4 * n;
        const wgf8 near_row =
            lerp(values_corner(near, 0, s, ways, far), values_corner(near, 0, s, ways, far | 1), x);
        const wgf8 far_row = lerp(
            values_corner(near, 0, s, ways, far | 2), values_corner(near, 0, s, ways, far | 3), x);
        face[n] = lerp(near_row, far_row, y);
    }
    return lerp(face[0], face[1], z);
}

// Builds that are not optimised, or that check every access, take minutes and gigabytes for all
// combinations of ways: they get two. The bits are the same.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define WGI_FEW_WAYS 1
#else
#define WGI_FEW_WAYS 0
#endif

#if WGI_FEW_WAYS
#define FOR_EACH_MIXTURE(mixture, call)                                                            \
    if ((mixture) == 0) {                                                                          \
        call(WAYS(ONE_WAY, ONE_WAY, ONE_WAY));                                                     \
    } else {                                                                                       \
        call(WAYS(MIXED, MIXED, MIXED));                                                           \
    }
#else
// Calls for each set of mixed axes (bits 1, 2, 4), the others going one way.
#define FOR_EACH_MIXTURE(mixture, call)                                                            \
    switch (mixture) {                                                                             \
    case 0:                                                                                        \
        call(WAYS(ONE_WAY, ONE_WAY, ONE_WAY));                                                     \
        break;                                                                                     \
    case 1:                                                                                        \
        call(WAYS(MIXED, ONE_WAY, ONE_WAY));                                                       \
        break;                                                                                     \
    case 2:                                                                                        \
        call(WAYS(ONE_WAY, MIXED, ONE_WAY));                                                       \
        break;                                                                                     \
    case 3:                                                                                        \
        call(WAYS(MIXED, MIXED, ONE_WAY));                                                         \
        break;                                                                                     \
    case 4:                                                                                        \
        call(WAYS(ONE_WAY, ONE_WAY, MIXED));                                                       \
        break;                                                                                     \
    case 5:                                                                                        \
        call(WAYS(MIXED, ONE_WAY, MIXED));                                                         \
        break;                                                                                     \
    case 6:                                                                                        \
        call(WAYS(ONE_WAY, MIXED, MIXED));                                                         \
        break;                                                                                     \
    default:                                                                                       \
        call(WAYS(MIXED, MIXED, MIXED));                                                           \
        break;                                                                                     \
    }
#endif

// From the sign bits of eight steps.
static const uint8_t way_of_signs[256] = {
#define MIXED_7 MIXED, MIXED, MIXED, MIXED, MIXED, MIXED, MIXED
#define MIXED_30 MIXED_7, MIXED_7, MIXED_7, MIXED_7, MIXED, MIXED
    FORWARD,  MIXED_30, MIXED_30, MIXED_30, MIXED_30, MIXED_7,
    MIXED_30, MIXED_30, MIXED_30, MIXED_30, MIXED_7,  BACKWARD,
};

WGI_INLINE int way_of(wgf8 step)
{
    return way_of_signs[wgi8_mask(wgf8_bits(step))];
}

// Sets the ways and far offsets; returns the mixed axes.
WGI_INLINE int set_ways(strip* s)
{
    int mixture = 0;
    for (int axis = 0; axis < 3; ++axis) {
        s->way[axis] = way_of(s->step[axis]);
        s->far[axis] = s->way[axis] == BACKWARD ? -s->stride[axis] : s->stride[axis];
        mixture |= (s->way[axis] == MIXED) << axis;
    }
    return mixture;
}

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

WGI_INLINE bool is_long(const strip* s)
{
    const wgi8 longest = wgi8_max(
        wgi8_max(wgf8_bits(s->fraction[0]), wgf8_bits(s->fraction[1])), wgf8_bits(s->fraction[2]));
    // As integers NaN is larger than any number.
    return wgi8_any(longest >= wgf8_bits(wgf8_set(WGI_SHORT_TRACE)));
}

// ---- rows ----

// Whether row j or one of its eight neighbours has a solid cell.
WGI_INLINE bool row_meets_solids(const wgi_advect_job* job, ptrdiff_t row)
{
    const ptrdiff_t three_rows = 3 * (ptrdiff_t)job->nx;
    if (three_rows < 32)
        return true;
    const uint8_t* marks = job->solid + row - job->nx;
    return wgi_any_mark(marks, three_rows) || wgi_any_mark(marks - job->slab, three_rows) ||
           wgi_any_mark(marks + job->slab, three_rows);
}

WGI_INLINE void solids_around_8(const uint8_t* p, ptrdiff_t y, ptrdiff_t z, uint8_t* near)
{
#define THREE_ROWS(load, p) (load((p)-y) | load(p) | load((p) + y))
    const uint64_t any = THREE_ROWS(wgi_load_marks, p - z) | THREE_ROWS(wgi_load_marks, p) |
                         THREE_ROWS(wgi_load_marks, p + z);
    memcpy(near, &any, sizeof any);
}

WGI_INLINE void solids_around_32(const uint8_t* p, ptrdiff_t y, ptrdiff_t z, uint8_t* near)
{
    const wgi8 any = THREE_ROWS(wgi_load_32_marks, p - z) | THREE_ROWS(wgi_load_32_marks, p) |
                     THREE_ROWS(wgi_load_32_marks, p + z);
    memcpy(near, &any, sizeof any);
}

// near[n] is non-zero where a cell within one of cell begin + n of the row is solid in y and z;
// eight cells at least. The last vector repeats what the one before it wrote.
WGI_INLINE void
search_solids(const wgi_advect_job* job, ptrdiff_t begin, int32_t count, uint8_t* near)
{
    const uint8_t* p = job->solid + begin;
    const ptrdiff_t y = job->nx, z = job->slab;
    if (count >= 32) {
        for (int32_t n = 0; n < count - 32; n += 32)
            solids_around_32(p + n, y, z, near + n);
        solids_around_32(p + count - 32, y, z, near + count - 32);
        return;
    }
    for (int32_t n = 0; n < count - 8; n += 8)
        solids_around_8(p + n, y, z, near + n);
    solids_around_8(p + count - 8, y, z, near + count - 8);
}

// `near` starts one cell before the strip, `own` with it.
WGI_INLINE enclosure enclosure_of(const uint8_t* near, const uint8_t* own)
{
    if ((wgi_load_marks(near) | wgi_load_marks(near + 2)) == 0)
        return OPEN;
    return wgi_all_marked(own) ? SOLID : NEAR_SOLID;
}

// Marks around a stretch of a row.
typedef struct search {
    int32_t first, end; // cells of the row
    uint8_t near[SEARCH + 16];
} search;

WGI_INLINE enclosure
enclosure_at(const wgi_advect_job* job, ptrdiff_t row, int32_t i, search* found)
{
    if (i + 9 > found->end) {
        found->first = i - 1;
        found->end = i + SEARCH + 9 < job->nx ? i + SEARCH + 9 : job->nx;
        search_solids(job, row + found->first, found->end - found->first, found->near);
    }
    return enclosure_of(found->near + (i - 1 - found->first), job->solid + row + i);
}
