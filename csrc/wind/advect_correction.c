// The second pass of MacCormack advection: Selle and others, "An Unconditionally Stable MacCormack
// Method", J. Scientific Computing 35, 2008.
#include "support/kernel_table.h"
#include "support/simd.h"
#include "wind/advect_sort.h"

static void keep_moved(const wgi_advect_job* job, ptrdiff_t at, int32_t count)
{
    wgi_advect_copy(job, job->moved, at, count);
}

// ---- one cell ----

// Offsets of the eight corners; true where none is solid and the place did not leave the grid. Along
// an axis without a fraction the far corners have no part in the value, and are the near ones here.
static bool corners_in_air(
    const wgi_advect_job* job, ptrdiff_t at, const wgi_trace trace[3], ptrdiff_t corner[8])
{
    const ptrdiff_t stride[3] = { 1, job->nx, job->slab };
    bool air = true;
    for (int axis = 0; axis < 3; ++axis)
        air = air && !trace[axis].left;
    for (int n = 0; n < 8; ++n) {
        corner[n] = at;
        for (int axis = 0; axis < 3; ++axis) {
            const bool far = (n >> axis & 1) && trace[axis].fraction != 0.0f;
            corner[n] += (far ? trace[axis].far : trace[axis].near) * stride[axis];
        }
        air = air && !(job->solid && job->solid[corner[n]]);
    }
    return air;
}

static float value_of(const float* field, const ptrdiff_t corner[8], const wgi_trace trace[3])
{
    const float x = trace[0].fraction, y = trace[1].fraction, z = trace[2].fraction;
    const float near = wgi_lerp(
        wgi_lerp(field[corner[0]], field[corner[1]], x),
        wgi_lerp(field[corner[2]], field[corner[3]], x), y);
    const float far = wgi_lerp(
        wgi_lerp(field[corner[4]], field[corner[5]], x),
        wgi_lerp(field[corner[6]], field[corner[7]], x), y);
    return wgi_lerp(near, far, z);
}

// In the order of range_of, which matters where a value is NaN.
static void range_of_cell(const float* field, const ptrdiff_t corner[8], float* low, float* high)
{
    float lows[8], highs[8];
    for (int n = 0; n < 8; ++n)
        lows[n] = highs[n] = field[corner[n]];
    for (int count = 4; count > 0; count /= 2)
        for (int n = 0; n < count; ++n) {
            lows[n] = lows[2 * n + 1] < lows[2 * n] ? lows[2 * n + 1] : lows[2 * n];
            highs[n] = highs[2 * n + 1] > highs[2 * n] ? highs[2 * n + 1] : highs[2 * n];
        }
    *low = lows[0];
    *high = highs[0];
}

static void correct_cell(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k)
{
    const ptrdiff_t at = k * job->slab + (ptrdiff_t)j * job->nx + i;
    const int32_t index[3] = { i, j, k }, cells[3] = { job->nx, job->ny, job->nz };
    wgi_trace back[3], forth[3];
    for (int axis = 0; axis < 3; ++axis) {
        const float velocity = job->velocity[axis * job->cells + at];
        back[axis] = wgi_trace_axis(velocity, job->cells_per_velocity, index[axis], cells[axis]);
        forth[axis] = wgi_trace_axis(-velocity, job->cells_per_velocity, index[axis], cells[axis]);
    }
    ptrdiff_t from[8], to[8];
    const bool air = corners_in_air(job, at, back, from) && corners_in_air(job, at, forth, to) &&
                     !(job->solid && job->solid[at]);
    if (!air) {
        keep_moved(job, at, 1);
        return;
    }
    for (int32_t c = 0; c < job->components; ++c) {
        const float *field = job->field + c * job->cells, *moved = job->moved + c * job->cells;
        float low, high;
        range_of_cell(field, from, &low, &high);
        float value = moved[at] + 0.5f * (field[at] - value_of(moved, to, forth));
        value = value < low ? low : value;
        job->out[c * job->cells + at] = value > high ? high : value;
    }
}

// ---- eight cells ----

// The smaller (larger) of two values that a lane reads along an axis; the first where the second has
// no part, with `whole` as the mask of such lanes.
WGI_INLINE wgf8 lower_of(wgf8 near, wgf8 far, wgi8 whole)
{
    return wgf8_min(wgf8_select(whole, near, far), near);
}

WGI_INLINE wgf8 higher_of(wgf8 near, wgf8 far, wgi8 whole)
{
    return wgf8_max(wgf8_select(whole, near, far), near);
}

typedef struct range {
    wgf8 low, high;
} range;

WGI_INLINE range range_at(const float* near, const strip* s, const wgi8 whole[3], int ways)
{
    (void)whole;
    const wgf8 value = load_once(near, s, ways);
    return (range){ value, value };
}

// The least and the greatest of the values that eight lanes read along x, in the plane of x and y,
// and in space.
#define RANGE_ALONG(name, inner, axis)                                                             \
    WGI_INLINE range name(const float* near, const strip* s, const wgi8 whole[3], int ways)        \
    {                                                                                              \
        const ptrdiff_t stride = axis == 0 ? 1 : s->stride[axis];                                  \
        const range own = inner(near, s, whole, ways);                                             \
        range far;                                                                                 \
        if (WAY(ways, axis) == FORWARD) {                                                          \
            far = inner(near + stride, s, whole, ways);                                            \
        } else if (WAY(ways, axis) == BACKWARD) {                                                  \
            far = inner(near - stride, s, whole, ways);                                            \
        } else if (WAY(ways, axis) == ONE_WAY) {                                                   \
            far = inner(near + s->far[axis], s, whole, ways);                                      \
        } else {                                                                                   \
            const range a = inner(near - stride, s, whole, ways);                                  \
            const range b = inner(near + stride, s, whole, ways);                                  \
            far.low = wgf8_select_negative(s->step[axis], a.low, b.low);                           \
            far.high = wgf8_select_negative(s->step[axis], a.high, b.high);                        \
        }                                                                                          \
        return (range){ lower_of(own.low, far.low, whole[axis]),                                   \
                        higher_of(own.high, far.high, whole[axis]) };                              \
    }

RANGE_ALONG(range_along_x, range_at, 0)
RANGE_ALONG(range_in_plane, range_along_x, 1)
RANGE_ALONG(range_of, range_in_plane, 2)

// The ways of displacements the other way round.
#define TURNED(way) ((way) == FORWARD ? BACKWARD : (way) == BACKWARD ? FORWARD : (way))
#define TURNED_WAYS(ways) WAYS(TURNED(WAY(ways, 0)), TURNED(WAY(ways, 1)), TURNED(WAY(ways, 2)))

WGI_INLINE strip turned(const strip* s)
{
    strip other = *s;
    for (int axis = 0; axis < 3; ++axis) {
        other.step[axis] = -s->step[axis];
        other.back[axis] = ~s->back[axis];
        other.far[axis] = -s->far[axis];
    }
    return other;
}

// Lanes of `keep` take what the first pass gave.
WGI_INLINE void
correct_strip(const wgi_advect_job* job, const strip* back, ptrdiff_t at, wgi8 keep, int ways)
{
    const strip forth = turned(back);
    const float *field = job->field + at, *moved = job->moved + at;
    float* out = job->out + at;
    const ptrdiff_t cells = job->cells;
    wgi8 whole[3];
    for (int axis = 0; axis < 3; ++axis)
        whole[axis] = (wgi8)(back->fraction[axis] == wgf8_set(0.0f));
    for (int32_t c = job->components; c > 0; --c, field += cells, moved += cells, out += cells) {
        const range read = range_of(field, back, whole, ways);
        const wgf8 lost = wgf8_load(field) - strip_value(moved, &forth, TURNED_WAYS(ways));
        const wgf8 first = wgf8_load(moved), value = first + wgf8_set(0.5f) * lost;
        const wgf8 raised = wgf8_select((wgi8)(value < read.low), read.low, value);
        const wgf8 limited = wgf8_select((wgi8)(raised > read.high), read.high, raised);
        wgf8_store(out, wgf8_select(keep, first, limited));
    }
}

// Lanes with a solid among the corners of either place. Along an axis without a fraction the far
// corners have no part; `unsure` gets the lanes of which that decides.
WGI_INLINE wgi8
lanes_beside(const uint8_t* sides, const uint8_t* corners, const strip* s, wgi8* unsure)
{
    const wgu8 side = (wgu8)wgi8_load_bytes(sides), corner = (wgu8)wgi8_load_bytes(corners);
    const wgu8 seven = (wgu8)wgi8_set(7);
    wgu8 octant = (wgu8){ 0 }, closed = side & WGI_SIDE_OWN;
    wgi8 whole = wgi8_set(0);
    for (unsigned axis = 0; axis < 3; ++axis) {
        octant |= (wgu8)wgf8_bits(s->step[axis]) >> 31 << axis;
        closed |= side & (3u << 2 * axis);
        whole |= (wgi8)(s->fraction[axis] == wgf8_set(0.0f));
    }
    closed |= (corner >> octant | corner >> (octant ^ seven)) & 1;
    const wgi8 beside = (wgi8)(closed != (wgu8){ 0 });
    *unsure = whole & beside & ~(wgi8)((side & WGI_SIDE_OWN) != (wgu8){ 0 });
    return beside;
}

static void correct_cells(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k, int32_t count)
{
    for (int32_t n = 0; n < count; ++n)
        correct_cell(job, i + n, j, k);
}

// ---- tiles ----

static void keep_strip(const wgi_advect_job* job, ptrdiff_t at)
{
    keep_moved(job, at, 8);
}

WGI_INLINE void
correct_open_list(const wgi_advect_job* job, const tile* t, const lists* l, int list, int ways)
{
    for (unsigned n = 0; n < l->count[list]; ++n) {
        const ptrdiff_t at = cell_of(job, t, l->place[list][n]);
        strip s = strip_at(job, at);
        set_far(job, at, 0, &s);
        correct_strip(job, &s, at, wgi8_set(0), ways);
    }
}

WGI_INLINE void
correct_beside_list(const wgi_advect_job* job, const tile* t, const lists* l, int list, int ways)
{
    for (unsigned n = 0; n < l->count[list]; ++n) {
        const unsigned place = l->place[list][n];
        const ptrdiff_t at = cell_of(job, t, place), class = class_of(t, place);
        strip s = strip_at(job, at);
        set_far(job, at, first_in_air(with_side(t->sides + class, WGI_SIDE_OWN)), &s);
        wgi8 unsure;
        const wgi8 keep = lanes_beside(t->sides + class, t->corners + class, &s, &unsure);
        correct_strip(job, &s, at, keep, ways);
        for (int lanes = wgi8_mask(unsure); lanes != 0; lanes &= lanes - 1)
            correct_cell(
                job, t->begin_x + (int32_t)(place % TILE_COLUMNS) + __builtin_ctz((unsigned)lanes),
                t->begin_y + (int32_t)(place / TILE_COLUMNS), t->z);
    }
}

static void correct_open_strips(const wgi_advect_job* job, const tile* t, const lists* l)
{
#define OPEN_STRIPS(list, ways) correct_open_list(job, t, l, list, ways);
    EACH_LIST(0, OPEN_STRIPS)
}

static void correct_strips_beside(const wgi_advect_job* job, const tile* t, const lists* l)
{
#define STRIPS_BESIDE(list, ways) correct_beside_list(job, t, l, list, ways);
    EACH_LIST(BESIDE_LISTS, STRIPS_BESIDE)
    for (unsigned n = 0; n < l->count[LONG_LIST]; ++n) {
        const unsigned place = l->place[LONG_LIST][n];
        correct_cells(
            job, t->begin_x + (int32_t)(place % TILE_COLUMNS),
            t->begin_y + (int32_t)(place / TILE_COLUMNS), t->z, 8);
    }
}

static void correct_tiles(const wgi_advect_job* job, tile* t)
{
    lists l;
    for (int32_t n = 0; set_columns(job, n, t); ++n) {
        sort_tile(job, t, keep_strip, &l);
        correct_open_strips(job, t, &l);
        correct_strips_beside(job, t, &l);
    }
}

void WGI_ISA(correct_rows)(size_t begin, size_t end, void* context)
{
    const wgi_advect_job job = *(const wgi_advect_job*)context;
    tile t;
    for (size_t n = begin; n < end;) {
        const int32_t rows = tile_at(&job, n, end, &t);
        if (rows == 0)
            keep_moved(&job, (ptrdiff_t)n * job.nx, job.nx);
        else if (job.nx - 2 >= 8)
            correct_tiles(&job, &t);
        for (int32_t j = 0; j < rows; ++j) {
            const ptrdiff_t row = (ptrdiff_t)(n + (size_t)j) * job.nx;
            keep_moved(&job, row, 1);
            keep_moved(&job, row + job.nx - 1, 1);
            if (job.nx - 2 < 8)
                correct_cells(&job, 1, t.begin_y + j, t.z, job.nx - 2);
        }
        n += rows == 0 ? 1 : (size_t)rows;
    }
}
