// The second pass of MacCormack advection: Selle and others, "An Unconditionally Stable MacCormack
// Method", J. Scientific Computing 35, 2008.
#include "support/kernel_table.h"
#include "support/simd.h"
#include "wind/advect_strip.h"

static void keep_moved(const wgi_advect_job* job, ptrdiff_t at, int32_t count)
{
    for (int32_t c = 0; c < job->components; ++c)
        memcpy(
            job->out + c * job->cells + at, job->moved + c * job->cells + at,
            (size_t)count * sizeof(float));
}

// ---- one cell ----

static float lerp1(float a, float b, float t)
{
    return a + t * (b - a);
}

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
    const float near = lerp1(
        lerp1(field[corner[0]], field[corner[1]], x), lerp1(field[corner[2]], field[corner[3]], x),
        y);
    const float far = lerp1(
        lerp1(field[corner[4]], field[corner[5]], x), lerp1(field[corner[6]], field[corner[7]], x),
        y);
    return lerp1(near, far, z);
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

// The least and the greatest of the values that eight lanes read.
WGI_INLINE void
range_of(const float* field, const strip* s, const wgi8 whole[3], int ways, wgf8* low, wgf8* high)
{
    wgf8 lows[8], highs[8];
    for (int n = 0; n < 8; ++n)
        lows[n] = highs[n] = values_corner(field, 0, s, ways, n);
    for (int axis = 0, count = 4; axis < 3; ++axis, count /= 2)
        for (int n = 0; n < count; ++n) {
            lows[n] = lower_of(lows[2 * n], lows[2 * n + 1], whole[axis]);
            highs[n] = higher_of(highs[2 * n], highs[2 * n + 1], whole[axis]);
        }
    *low = lows[0];
    *high = highs[0];
}

WGI_INLINE void correct_strip_one(
    const wgi_advect_job* job, const strip* back, const strip* forth, ptrdiff_t at, int ways)
{
    const float *field = job->field + at, *moved = job->moved + at;
    float* out = job->out + at;
    const ptrdiff_t cells = job->cells;
    wgi8 whole[3];
    for (int axis = 0; axis < 3; ++axis)
        whole[axis] = (wgi8)(back->fraction[axis] == wgf8_set(0.0f));
    for (int32_t c = job->components; c > 0; --c, field += cells, moved += cells, out += cells) {
        wgf8 low, high;
        range_of(field, back, whole, ways, &low, &high);
        const wgf8 lost = wgf8_load(field) - strip_value(moved, forth, ways);
        const wgf8 value = wgf8_load(moved) + wgf8_set(0.5f) * lost;
        const wgf8 raised = wgf8_select((wgi8)(value < low), low, value);
        wgf8_store(out, wgf8_select((wgi8)(raised > high), high, raised));
    }
}

static void correct_cells(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k, int32_t count)
{
    for (int32_t n = 0; n < count; ++n)
        correct_cell(job, i + n, j, k);
}

static void correct_strip(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k, ptrdiff_t at)
{
    strip back = strip_at(job, at);
    if (is_long(&back)) {
        correct_cells(job, i, j, k, 8);
        return;
    }
    strip forth = back;
    for (int axis = 0; axis < 3; ++axis)
        forth.step[axis] = -back.step[axis];
    const int mixture = set_ways(&back);
    set_ways(&forth);
#define CORRECT_STRIP(ways) correct_strip_one(job, &back, &forth, at, ways)
    FOR_EACH_MIXTURE(mixture, CORRECT_STRIP)
}

static void correct_row(const wgi_advect_job* job, int32_t j, int32_t k)
{
    const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
    const int32_t end = job->nx - 1;
    keep_moved(job, row, 1);
    keep_moved(job, row + end, 1);
    if (end - 1 < 8) {
        correct_cells(job, 1, j, k, end - 1);
        return;
    }
    const bool built = job->solid && row_meets_solids(job, row);
    search found = { .end = 0 };
    for (int32_t next = 1; next < end; next += 8) {
        const int32_t i = next + 8 <= end ? next : end - 8;
        const enclosure around = built ? enclosure_at(job, row, i, &found) : OPEN;
        if (around == OPEN)
            correct_strip(job, i, j, k, row + i);
        else if (around == SOLID)
            keep_moved(job, row + i, 8);
        else
            correct_cells(job, i, j, k, 8);
    }
}

void WGI_ISA(correct_rows)(size_t begin, size_t end, void* context)
{
    const wgi_advect_job job = *(const wgi_advect_job*)context;
    for (size_t n = begin; n < end; ++n) {
        const int32_t k = (int32_t)(n / (size_t)job.ny), j = (int32_t)(n % (size_t)job.ny);
        if (k > 0 && k < job.nz - 1 && j > 0 && j < job.ny - 1)
            correct_row(&job, j, k);
        else
            keep_moved(&job, (ptrdiff_t)n * job.nx, job.nx);
    }
}
