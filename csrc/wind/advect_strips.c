// Semi-Lagrangian advection: Stam, "Stable Fluids", SIGGRAPH 1999.
//
// Eight neighbouring cells of a row make a strip. Where all eight places lie in the same cell
// offset, the corners of the strip are contiguous loads: along an axis on which the eight also move
// the same way, the far corners are one load; on a mixed axis they are chosen lane by lane from the
// loads on both sides. The few other strips are done cell by cell.
#include "support/kernel_table.h"
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

static void copy_cell(const wgi_advect_job* job, ptrdiff_t at)
{
    for (int32_t c = 0; c < job->components; ++c)
        job->out[c * job->cells + at] = job->field[c * job->cells + at];
}

// ---- one cell ----

static float lerp1(float a, float b, float t)
{
    return a + t * (b - a);
}

// Shares of the far places along x (4), y (2), z (1), from the corners' solid marks.
static bool shares_of_cell(
    const uint8_t* solid, const ptrdiff_t corner[8], const wgi_trace trace[3], float share[7])
{
    float row[4], face[2], all;
    for (int n = 0; n < 4; ++n)
        share[n] = wgi_share(
            solid[corner[2 * n]] == 0, solid[corner[2 * n + 1]] == 0, trace[0].fraction, &row[n]);
    for (int n = 0; n < 2; ++n)
        share[4 + n] = wgi_share(row[2 * n], row[2 * n + 1], trace[1].fraction, &face[n]);
    share[6] = wgi_share(face[0], face[1], trace[2].fraction, &all);
    return all != 0.0f;
}

static void advect_cell(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k)
{
    const ptrdiff_t at = k * job->slab + (ptrdiff_t)j * job->nx + i;
    if (job->solid && job->solid[at]) {
        copy_cell(job, at);
        return;
    }
    const float* velocity = job->velocity + at;
    const wgi_trace trace[3] = {
        wgi_trace_axis(velocity[0], job->cells_per_velocity, i, job->nx),
        wgi_trace_axis(velocity[job->cells], job->cells_per_velocity, j, job->ny),
        wgi_trace_axis(velocity[2 * job->cells], job->cells_per_velocity, k, job->nz),
    };
    ptrdiff_t corner[8];
    for (int n = 0; n < 8; ++n)
        corner[n] = at + (n & 1 ? trace[0].far : trace[0].near) +
                    (ptrdiff_t)(n & 2 ? trace[1].far : trace[1].near) * job->nx +
                    (n & 4 ? trace[2].far : trace[2].near) * job->slab;
    const float x = trace[0].fraction, y = trace[1].fraction, z = trace[2].fraction;
    float share[7] = { x, x, x, x, y, y, z };
    const uint8_t* solid = job->solid;
    if (solid && !shares_of_cell(solid, corner, trace, share)) {
        copy_cell(job, at);
        return;
    }
    for (int32_t c = 0; c < job->components; ++c) {
        const float* field = job->field + c * job->cells;
        float v[8];
        for (int n = 0; n < 8; ++n)
            v[n] = solid && solid[corner[n]] ? 0.0f : field[corner[n]];
        const float near =
            lerp1(lerp1(v[0], v[1], share[0]), lerp1(v[2], v[3], share[1]), share[4]);
        const float far = lerp1(lerp1(v[4], v[5], share[2]), lerp1(v[6], v[7], share[3]), share[5]);
        job->out[c * job->cells + at] = lerp1(near, far, share[6]);
    }
}

// ---- eight cells ----

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

// `near` is the near corner of the first component, `out` the strip's place.
WGI_INLINE void
strip_in_air(const wgi_advect_job* job, const strip* s, const float* near, float* out, int ways)
{
    const wgf8 x = s->fraction[0], y = s->fraction[1], z = s->fraction[2];
    const ptrdiff_t cells = job->cells;
    for (int32_t c = job->components; c > 0; --c, near += cells, out += cells) {
        wgf8 face[2];
        for (int n = 0; n < 2; ++n) {
            const int far = 4 * n;
            const wgf8 near_row = lerp(
                values_corner(near, 0, s, ways, far), values_corner(near, 0, s, ways, far | 1), x);
            const wgf8 far_row = lerp(
                values_corner(near, 0, s, ways, far | 2), values_corner(near, 0, s, ways, far | 3),
                x);
            face[n] = lerp(near_row, far_row, y);
        }
        wgf8_store(out, lerp(face[0], face[1], z));
    }
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

// What solids do to a strip.
typedef struct surroundings {
    uint64_t corner[8]; // marks of the eight corners of the eight lanes, a byte a lane
    uint64_t own;       // 0xff where a lane is solid itself
} surroundings;

WGI_INLINE wgi8 air_at(const surroundings* around, int corner)
{
    return wgi8_load_bytes((const uint8_t*)&around->corner[corner]) == wgi8_set(0);
}

WGI_INLINE void strip_beside_solids(
    const wgi_advect_job* job, ptrdiff_t at, const strip* s, const surroundings* around, int ways)
{
    wgi8 air[8];
    wgf8 share[7], row[4], face[2], all;
    for (int n = 0; n < 8; ++n)
        air[n] = air_at(around, n);
    for (int n = 0; n < 4; ++n)
        share[n] = share_of_masks8(air[2 * n], air[2 * n + 1], s->fraction[0], &row[n]);
    for (int n = 0; n < 2; ++n)
        share[4 + n] = share8(row[2 * n], row[2 * n + 1], s->fraction[1], &face[n]);
    share[6] = share8(face[0], face[1], s->fraction[2], &all);
    const wgi8 keep = (wgi8)(all == wgf8_set(0.0f)) |
                      (wgi8_load_bytes((const uint8_t*)&around->own) != wgi8_set(0));

    const float* own = job->field + at;
    float* out = job->out + at;
    for (int32_t c = job->components; c > 0; --c, own += job->cells, out += job->cells) {
        wgf8 face_value[2];
        for (int n = 0; n < 2; ++n) {
            wgf8 corner[4];
            for (int far = 0; far < 4; ++far) {
                const wgf8 value = values_corner(own + s->near, 0, s, ways, 4 * n + far);
                corner[far] = wgf8_from_bits(wgf8_bits(value) & air[4 * n + far]);
            }
            face_value[n] = lerp(
                lerp(corner[0], corner[1], share[2 * n]),
                lerp(corner[2], corner[3], share[2 * n + 1]), share[4 + n]);
        }
        const wgf8 moved = lerp(face_value[0], face_value[1], share[6]);
        wgf8_store(out, wgf8_select(keep, wgf8_load(own), moved));
    }
}

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

// 0xff in byte n where bit n is set.
WGI_INLINE uint64_t bytes_of_bits(int bits)
{
    return wgi_full_bytes(((uint64_t)bits * 0x0101010101010101u) & 0x8040201008040201u);
}

// Marks of the corners of a strip; without a branch, since near walls every second one would be
// foreseen wrongly.
static void survey(const uint8_t* own, const strip* s, surroundings* around)
{
    uint64_t back[3], row[3][2], face[3][4];
    for (int axis = 0; axis < 3; ++axis)
        back[axis] = bytes_of_bits(wgi8_mask(wgf8_bits(s->step[axis])));
    const uint8_t* base = own + s->near;
    for (int z = 0; z < 3; ++z) {
        for (int y = 0; y < 3; ++y) {
            const uint8_t* p = base + (z - 1) * s->stride[2] + (y - 1) * s->stride[1];
            row[y][0] = wgi_load_marks(p);
            row[y][1] = (wgi_load_marks(p - 1) & back[0]) | (wgi_load_marks(p + 1) & ~back[0]);
        }
        for (int x = 0; x < 2; ++x) {
            face[z][x] = row[1][x];
            face[z][2 + x] = (row[0][x] & back[1]) | (row[2][x] & ~back[1]);
        }
    }
    for (int n = 0; n < 4; ++n) {
        around->corner[n] = face[1][n];
        around->corner[4 + n] = (face[0][n] & back[2]) | (face[2][n] & ~back[2]);
    }
    around->own = wgi_full_bytes(wgi_load_marks(own));
}

static void restore_solids(const wgi_advect_job* job, ptrdiff_t at, const surroundings* around)
{
    const wgi8 solid = wgi8_load_bytes((const uint8_t*)&around->own) != wgi8_set(0);
    for (int32_t c = 0; c < job->components; ++c) {
        float* out = job->out + c * job->cells + at;
        const wgf8 own = wgf8_load(job->field + c * job->cells + at);
        wgf8_store(out, wgf8_select(solid, own, wgf8_load(out)));
    }
}

// A strip whose neighbours may be solid; its near corners and their neighbours lie in the grid.
static void advect_beside(const wgi_advect_job* job, ptrdiff_t at, strip* s)
{
    surroundings around;
    const int mixture = set_ways(s);
    survey(job->solid + at, s, &around);
    uint64_t touched = 0;
    for (int n = 0; n < 8; ++n)
        touched |= around.corner[n];
    if ((touched & ~around.own) != 0) {
#define BESIDE_SOLIDS(ways) strip_beside_solids(job, at, s, &around, ways)
        FOR_EACH_MIXTURE(mixture, BESIDE_SOLIDS)
        return;
    }
#define BETWEEN_SOLIDS(ways) strip_in_air(job, s, job->field + at + s->near, job->out + at, ways)
    FOR_EACH_MIXTURE(mixture, BETWEEN_SOLIDS)
    if (around.own != 0)
        restore_solids(job, at, &around);
}

// A strip with long displacements: true where all eight share one offset and the window of their
// corners lies in the grid.
static bool set_long_strip(const wgi_advect_job* job, const int32_t index[3], strip* s)
{
    const int32_t cells[3] = { job->nx, job->ny, job->nz };
    const wgf8 lanes = { 0, 1, 2, 3, 4, 5, 6, 7 };
    for (int axis = 0; axis < 3; ++axis) {
        const wgf8 step = s->step[axis];
        const wgf8 place = wgf8_set((float)index[axis]) + (axis == 0 ? lanes : wgf8_set(0.0f));
        wgf8 inside = wgf8_max(step, -place);
        inside = wgf8_min(inside, wgf8_set((float)(cells[axis] - 1)) - place);
        const wgf8 whole = (inside + wgf8_set(WGI_ROUNDING)) - wgf8_set(WGI_ROUNDING);
        const wgi8 snaps =
            (wgi8)(wgf8_abs(inside - whole) <= wgf8_set(WGI_WHOLE_CELLS) * wgf8_abs(inside));
        inside = wgf8_select(snaps, whole, inside);
        const wgi8 near = wgi8_truncate(inside);
        const int32_t offset = near[0];
        if (wgi8_any(near != wgi8_set(offset)))
            return false;

        const int way = way_of(step);
        const int32_t first = index[axis] + offset - (way != FORWARD);
        const int32_t last = index[axis] + offset + (axis == 0 ? 7 : 0) + (way != BACKWARD);
        if (first < 0 || last >= cells[axis])
            return false;
        s->near += offset * s->stride[axis];
        s->fraction[axis] = wgf8_select(
            (wgi8)(step != step), step, wgf8_abs(inside) - wgf8_abs(wgf8_from_int(near)));
    }
    return true;
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

static __attribute__((noinline)) void
advect_long_strip(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k, ptrdiff_t at)
{
    strip s = strip_at(job, at);
    if (!set_long_strip(job, (int32_t[]){ i, j, k }, &s)) {
        for (int32_t lane = 0; lane < 8; ++lane)
            advect_cell(job, i + lane, j, k);
        return;
    }
    if (job->solid) {
        advect_beside(job, at, &s);
        return;
    }
    const int mixture = set_ways(&s);
#define LONG_IN_AIR(ways) strip_in_air(job, &s, job->field + at + s.near, job->out + at, ways)
    FOR_EACH_MIXTURE(mixture, LONG_IN_AIR)
}

WGI_INLINE bool is_long(const strip* s)
{
    const wgi8 longest = wgi8_max(
        wgi8_max(wgf8_bits(s->fraction[0]), wgf8_bits(s->fraction[1])), wgf8_bits(s->fraction[2]));
    // As integers NaN is larger than any number.
    return wgi8_any(longest >= wgf8_bits(wgf8_set(WGI_SHORT_TRACE)));
}

static __attribute__((noinline)) void
advect_near_solids(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k, ptrdiff_t at)
{
    strip s = strip_at(job, at);
    if (is_long(&s))
        advect_long_strip(job, i, j, k, at);
    else
        advect_beside(job, at, &s);
}

WGI_INLINE void
advect_strip(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k, ptrdiff_t at)
{
    strip s = strip_at(job, at);
    if (is_long(&s)) {
        advect_long_strip(job, i, j, k, at);
        return;
    }
    const float* near = job->field + at;
    float* out = job->out + at;
#define IN_AIR(x, y, z)                                                                            \
    case (x) + 3 * (y) + 9 * (z):                                                                  \
        strip_in_air(job, &s, near, out, WAYS(x, y, z));                                           \
        break;
#define IN_AIR_X(y, z) IN_AIR(FORWARD, y, z) IN_AIR(BACKWARD, y, z) IN_AIR(MIXED, y, z)
#define IN_AIR_XY(z) IN_AIR_X(FORWARD, z) IN_AIR_X(BACKWARD, z) IN_AIR_X(MIXED, z)
    switch (way_of(s.step[0]) + 3 * way_of(s.step[1]) + 9 * way_of(s.step[2])) {
        IN_AIR_XY(FORWARD)
        IN_AIR_XY(BACKWARD)
        IN_AIR_XY(MIXED)
    default:
        __builtin_unreachable();
    }
}

// ---- rows ----

// Whether row j or one of its eight neighbours has a solid cell.
static bool row_meets_solids(const wgi_advect_job* job, ptrdiff_t row)
{
    const ptrdiff_t three_rows = 3 * (ptrdiff_t)job->nx;
    if (three_rows < 32)
        return true;
    const uint8_t* marks = job->solid + row - job->nx;
    return wgi_any_mark(marks, three_rows) || wgi_any_mark(marks - job->slab, three_rows) ||
           wgi_any_mark(marks + job->slab, three_rows);
}

// near[n] is non-zero where a cell within one of cell begin + n of the row is solid in y and z.
static void
search_solids(const wgi_advect_job* job, ptrdiff_t begin, int32_t count, uint8_t* restrict near)
{
    const uint8_t* restrict p = job->solid + begin;
    const ptrdiff_t y = job->nx, z = job->slab;
    for (int32_t n = 0; n < count; ++n, ++p)
        near[n] =
            (uint8_t)(p[-z - y] | p[-z] | p[-z + y] | p[-y] | p[0] | p[y] | p[z - y] | p[z] | p[z + y]);
}

// `near` starts one cell before the strip, `own` with it.
static enclosure enclosure_of(const uint8_t* near, const uint8_t* own)
{
    if ((wgi_load_marks(near) | wgi_load_marks(near + 2)) == 0)
        return OPEN;
    return wgi_all_marked(own) ? SOLID : NEAR_SOLID;
}

static void copy_run(const wgi_advect_job* job, ptrdiff_t at, int32_t count)
{
    for (int32_t c = 0; c < job->components; ++c)
        memcpy(
            job->out + c * job->cells + at, job->field + c * job->cells + at,
            (size_t)count * sizeof(float));
}

// Marks around a stretch of a row.
typedef struct search {
    int32_t first, end; // cells of the row
    uint8_t near[SEARCH + 16];
} search;

static enclosure enclosure_at(const wgi_advect_job* job, ptrdiff_t row, int32_t i, search* found)
{
    if (i + 9 > found->end) {
        found->first = i - 1;
        found->end = i + SEARCH + 9 < job->nx ? i + SEARCH + 9 : job->nx;
        search_solids(job, row + found->first, found->end - found->first, found->near);
    }
    return enclosure_of(found->near + (i - 1 - found->first), job->solid + row + i);
}

static void advect_row(const wgi_advect_job* job, int32_t j, int32_t k)
{
    const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
    const int32_t end = job->nx - 1;
    copy_cell(job, row);
    copy_cell(job, row + end);
    if (end - 1 < 8) {
        for (int32_t i = 1; i < end; ++i)
            advect_cell(job, i, j, k);
        return;
    }
    const bool built = job->solid && row_meets_solids(job, row);
    search found = { .end = 0 };
    for (int32_t next = 1; next < end; next += 8) {
        // The last strip of a row starts early and repeats a few cells.
        const int32_t i = next + 8 <= end ? next : end - 8;
        const enclosure around = built ? enclosure_at(job, row, i, &found) : OPEN;
        if (around == OPEN)
            advect_strip(job, i, j, k, row + i);
        else if (around == SOLID)
            copy_run(job, row + i, 8);
        else
            advect_near_solids(job, i, j, k, row + i);
    }
}

void WGI_ISA(advect_rows)(size_t begin, size_t end, void* context)
{
    // A copy, so that the compiler knows that no store changes it.
    const wgi_advect_job job = *(const wgi_advect_job*)context;
    for (size_t n = begin; n < end; ++n) {
        const int32_t k = (int32_t)(n / (size_t)job.ny), j = (int32_t)(n % (size_t)job.ny);
        if (k > 0 && k < job.nz - 1 && j > 0 && j < job.ny - 1)
            advect_row(&job, j, k);
        else
            copy_run(&job, (ptrdiff_t)n * job.nx, job.nx);
    }
}
