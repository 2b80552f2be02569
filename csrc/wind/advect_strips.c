// Semi-Lagrangian advection: Stam, "Stable Fluids", SIGGRAPH 1999.
//
// A row is done in strips of eight cells (advect_strip.h); the few whose places do not lie in one
// cell offset are done cell by cell.
#include "support/kernel_table.h"
#include "support/simd.h"
#include "wind/advect_strip.h"

static void copy_cell(const wgi_advect_job* job, ptrdiff_t at)
{
    for (int32_t c = 0; c < job->components; ++c)
        job->out[c * job->cells + at] = job->field[c * job->cells + at];
}

WGI_INLINE void copy_run(const wgi_advect_job* job, ptrdiff_t at, int32_t count)
{
    for (int32_t c = 0; c < job->components; ++c)
        memcpy(
            job->out + c * job->cells + at, job->field + c * job->cells + at,
            (size_t)count * sizeof(float));
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

// `near` is the near corner of the first component, `out` the strip's place.
WGI_INLINE void
strip_in_air(const wgi_advect_job* job, const strip* s, const float* near, float* out, int ways)
{
    const ptrdiff_t cells = job->cells;
    for (int32_t c = job->components; c > 0; --c, near += cells, out += cells)
        wgf8_store(out, strip_value(near, s, ways));
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

WGI_INLINE wgf8 load_byte_marks(const void* base, ptrdiff_t at, const strip* s, int ways, int far)
{
    (void)s, (void)ways, (void)far;
    return wgf8_from_bits(wgi8_load_bytes((const uint8_t*)base + at));
}

CORNER_OF_AXIS(marks_x, load_byte_marks, 0)
CORNER_OF_AXIS(marks_y, marks_x, 1)
CORNER_OF_AXIS(marks_corner, marks_y, 2)

// What solids leave of a strip's corners.
typedef struct surroundings {
    wgi8 air[8];   // of each corner
    wgf8 share[7]; // of the far places along x (4), y (2), z (1)
    wgi8 keep;     // lanes that are solid themselves, or all of whose corners are
} surroundings;

// Written out, as are the corners' values below: compilers do not unroll a loop over them, and then
// decide for each which of its axes are far.
#define EACH_CORNER(corner)                                                                        \
    corner(0) corner(1) corner(2) corner(3) corner(4) corner(5) corner(6) corner(7)

WGI_INLINE void survey(const uint8_t* own, const strip* s, surroundings* around, int ways)
{
    const uint8_t* near = own + s->near;
    wgi8* air = around->air;
    wgf8 *share = around->share, row[4], face[2], all;
#define AIR_AT(n) air[n] = wgf8_bits(marks_corner(near, 0, s, ways, n)) == wgi8_set(0);
    EACH_CORNER(AIR_AT)
    share[0] = share_of_masks8(air[0], air[1], s->fraction[0], &row[0]);
    share[1] = share_of_masks8(air[2], air[3], s->fraction[0], &row[1]);
    share[2] = share_of_masks8(air[4], air[5], s->fraction[0], &row[2]);
    share[3] = share_of_masks8(air[6], air[7], s->fraction[0], &row[3]);
    share[4] = share8(row[0], row[1], s->fraction[1], &face[0]);
    share[5] = share8(row[2], row[3], s->fraction[1], &face[1]);
    share[6] = share8(face[0], face[1], s->fraction[2], &all);
    around->keep = (wgi8)(all == wgf8_set(0.0f)) | (wgi8)(wgi8_load_bytes(own) != wgi8_set(0));
}

// The value of eight lanes from the near corner at `near`.
WGI_INLINE wgf8
value_beside_solids(const float* near, const strip* s, const surroundings* around, int ways)
{
    const wgf8* share = around->share;
    wgf8 v[8];
#define VALUE_AT(n)                                                                                \
    v[n] = wgf8_from_bits(wgf8_bits(values_corner(near, 0, s, ways, n)) & around->air[n]);
    EACH_CORNER(VALUE_AT)
    const wgf8 low = lerp(lerp(v[0], v[1], share[0]), lerp(v[2], v[3], share[1]), share[4]);
    const wgf8 high = lerp(lerp(v[4], v[5], share[2]), lerp(v[6], v[7], share[3]), share[5]);
    return lerp(low, high, share[6]);
}

WGI_INLINE void
strip_beside_solids(const wgi_advect_job* job, ptrdiff_t at, const strip* s, int ways)
{
    surroundings around;
    survey(job->solid + at, s, &around, ways);
    const float* own = job->field + at;
    float* out = job->out + at;
    for (int32_t c = job->components; c > 0; --c, own += job->cells, out += job->cells) {
        const wgf8 moved = value_beside_solids(own + s->near, s, &around, ways);
        wgf8_store(out, wgf8_select(around.keep, wgf8_load(own), moved));
    }
}

// A strip whose neighbours may be solid; its near corners and their neighbours lie in the grid.
// Near walls few strips go one way along y and z, and which do cannot be foreseen: two forms serve
// all.
WGI_INLINE void advect_beside(const wgi_advect_job* job, ptrdiff_t at, strip* s)
{
    set_ways(s);
    if (s->way[0] == MIXED)
        strip_beside_solids(job, at, s, WAYS(MIXED, MIXED, MIXED));
    else
        strip_beside_solids(job, at, s, WAYS(ONE_WAY, MIXED, MIXED));
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

        const int32_t first = index[axis] + offset - 1;
        const int32_t last = index[axis] + offset + (axis == 0 ? 7 : 0) + 1;
        if (first < 0 || last >= cells[axis])
            return false;
        s->near += offset * s->stride[axis];
        s->fraction[axis] = wgf8_select(
            (wgi8)(step != step), step, wgf8_abs(inside) - wgf8_abs(wgf8_from_int(near)));
    }
    return true;
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
#if WGI_FEW_WAYS
    strip_in_air(job, &s, near, out, WAYS(MIXED, MIXED, MIXED));
#else
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
#endif
}

// A row that meets solids: strips start at the first cell of air, so that what is solid before it
// costs a copy.
static void advect_built_row(const wgi_advect_job* job, int32_t j, int32_t k, ptrdiff_t row)
{
    const int32_t end = job->nx - 1;
    search found = { .end = 0 };
    for (int32_t next = 1; next < end;) {
        // The eight marks at `next` lie in the array, though perhaps in the next row.
        const int32_t solids = wgi_leading_marks(job->solid + row + next);
        if (solids > 0) {
            // Eight cells at once, in the row: what is not solid among them is advected later.
            if (next + 8 <= job->nx)
                copy_run(job, row + next, 8);
            else
                for (int32_t i = next; i < end; ++i)
                    copy_cell(job, row + i);
            next += solids;
            continue;
        }
        // The last strip of a row starts early and repeats a few cells.
        const int32_t i = next + 8 <= end ? next : end - 8;
        if (enclosure_at(job, row, i, &found) == OPEN)
            advect_strip(job, i, j, k, row + i);
        else
            advect_near_solids(job, i, j, k, row + i);
        next = i + 8;
    }
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
    if (job->solid && row_meets_solids(job, row)) {
        advect_built_row(job, j, k, row);
        return;
    }
    for (int32_t next = 1; next < end; next += 8) {
        const int32_t i = next + 8 <= end ? next : end - 8;
        advect_strip(job, i, j, k, row + i);
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
