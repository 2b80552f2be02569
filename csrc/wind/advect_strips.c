// Semi-Lagrangian advection: Stam, "Stable Fluids", SIGGRAPH 1999.
//
// Eight neighbouring cells of a row make a strip. Where all eight places lie in the same cell
// offset, the corners of the strip are contiguous loads: along an axis on which the eight also move
// the same way, the far corners are one load; on a mixed axis they are chosen lane by lane from the
// loads on both sides. The few other strips are done cell by cell.
#include "support/kernel_table.h"
#include "support/simd.h"
#include "wind/advect_trace.h"

enum { MIXED_X = 1, MIXED_Y = 2, MIXED_Z = 4 };
// Cells of a row whose surroundings are searched for solids at a time.
enum { SEARCH = 128 };

// What is in and around a strip.
typedef enum enclosure { OPEN, NEAR_SOLID, SOLID } enclosure;

// Eight displacements that share their near cell's offset.
typedef struct strip {
    wgf8 fraction[3];
    wgi8 backward[3]; // lanes whose far cell is the lower one
    ptrdiff_t near;   // index of the near corner of lane 0
    ptrdiff_t far[3]; // offset of the far cell on an axis that is not mixed
    ptrdiff_t stride[3];
    int mixed;
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

WGI_INLINE wgf8 load_values(const void* base, ptrdiff_t at)
{
    return wgf8_load((const float*)base + at);
}

// 1 in air, 0 in solids.
WGI_INLINE wgf8 load_air(const void* base, ptrdiff_t at)
{
    uint8_t byte __attribute__((vector_size(8)));
    memcpy(&byte, (const uint8_t*)base + at, 8);
    const wgi8 solid = __builtin_convertvector(byte, wgi8) != wgi8_set(0);
    return wgf8_from_bits(wgf8_bits(wgf8_set(1.0f)) & ~solid);
}

// The corner of all eight lanes that is far on the axes of `far` (bits 1, 2, 4): three functions
// nested, one for each axis, since an inline function cannot call itself.
#define CORNER_FUNCTIONS(what)                                                                     \
    WGI_INLINE wgf8 what##_x(const void* base, ptrdiff_t at, const strip* s, int mixed, int far)   \
    {                                                                                              \
        if (!(far & 1))                                                                            \
            return load_##what(base, at);                                                          \
        if (!(mixed & MIXED_X))                                                                    \
            return load_##what(base, at + s->far[0]);                                              \
        return wgf8_select(s->backward[0], load_##what(base, at - 1), load_##what(base, at + 1));  \
    }                                                                                              \
    WGI_INLINE wgf8 what##_y(const void* base, ptrdiff_t at, const strip* s, int mixed, int far)   \
    {                                                                                              \
        if (!(far & 2))                                                                            \
            return what##_x(base, at, s, mixed, far);                                              \
        if (!(mixed & MIXED_Y))                                                                    \
            return what##_x(base, at + s->far[1], s, mixed, far);                                  \
        return wgf8_select(                                                                        \
            s->backward[1], what##_x(base, at - s->stride[1], s, mixed, far),                      \
            what##_x(base, at + s->stride[1], s, mixed, far));                                     \
    }                                                                                              \
    WGI_INLINE wgf8 what##_corner(const void* base, const strip* s, int mixed, int far)            \
    {                                                                                              \
        if (!(far & 4))                                                                            \
            return what##_y(base, s->near, s, mixed, far);                                         \
        if (!(mixed & MIXED_Z))                                                                    \
            return what##_y(base, s->near + s->far[2], s, mixed, far);                             \
        return wgf8_select(                                                                        \
            s->backward[2], what##_y(base, s->near - s->stride[2], s, mixed, far),                 \
            what##_y(base, s->near + s->stride[2], s, mixed, far));                                \
    }

CORNER_FUNCTIONS(values)
CORNER_FUNCTIONS(air)

WGI_INLINE void strip_in_air(const wgi_advect_job* job, ptrdiff_t at, const strip* s, int mixed)
{
    const wgf8 x = s->fraction[0], y = s->fraction[1], z = s->fraction[2];
    for (int32_t c = 0; c < job->components; ++c) {
        const float* field = job->field + c * job->cells;
        wgf8 face[2];
        for (int n = 0; n < 2; ++n) {
            const int far = 4 * n;
            const wgf8 near_row = lerp(
                values_corner(field, s, mixed, far), values_corner(field, s, mixed, far | 1), x);
            const wgf8 far_row = lerp(
                values_corner(field, s, mixed, far | 2), values_corner(field, s, mixed, far | 3),
                x);
            face[n] = lerp(near_row, far_row, y);
        }
        wgf8_store(job->out + c * job->cells + at, lerp(face[0], face[1], z));
    }
}

// wgi_share for eight lanes.
WGI_INLINE wgf8 share8(wgf8 a, wgf8 b, wgf8 fraction, wgf8* weight)
{
    const wgf8 none = wgf8_set(0.0f), second = fraction * b;
    *weight = (wgf8_set(1.0f) - fraction) * a + second;
    return wgf8_select((wgi8)(*weight == none), none, second / *weight);
}

WGI_INLINE void
strip_near_solids(const wgi_advect_job* job, ptrdiff_t at, const strip* s, int mixed)
{
    wgf8 air[8], share[7], row[4], face[2], all;
    for (int n = 0; n < 8; ++n)
        air[n] = air_corner(job->solid, s, mixed, n);
    for (int n = 0; n < 4; ++n)
        share[n] = share8(air[2 * n], air[2 * n + 1], s->fraction[0], &row[n]);
    for (int n = 0; n < 2; ++n)
        share[4 + n] = share8(row[2 * n], row[2 * n + 1], s->fraction[1], &face[n]);
    share[6] = share8(face[0], face[1], s->fraction[2], &all);
    const wgf8 none = wgf8_set(0.0f);
    const wgi8 keep = (wgi8)(all == none) | (wgi8)(load_air(job->solid, at) == none);

    for (int32_t c = 0; c < job->components; ++c) {
        const float* field = job->field + c * job->cells;
        wgf8 v[8];
        for (int n = 0; n < 8; ++n)
            v[n] = wgf8_select((wgi8)(air[n] == none), none, values_corner(field, s, mixed, n));
        for (int n = 0; n < 4; ++n)
            v[n] = lerp(v[2 * n], v[2 * n + 1], share[n]);
        for (int n = 0; n < 2; ++n)
            v[n] = lerp(v[2 * n], v[2 * n + 1], share[4 + n]);
        const wgf8 moved = lerp(v[0], v[1], share[6]);
        wgf8_store(job->out + c * job->cells + at, wgf8_select(keep, wgf8_load(field + at), moved));
    }
}

static void strip_by_mixture(const wgi_advect_job* job, ptrdiff_t at, const strip* s)
{
    switch (s->mixed) {
    case 0:
        strip_in_air(job, at, s, 0);
        break;
    case MIXED_X:
        strip_in_air(job, at, s, MIXED_X);
        break;
    case MIXED_Y:
        strip_in_air(job, at, s, MIXED_Y);
        break;
    case MIXED_X | MIXED_Y:
        strip_in_air(job, at, s, MIXED_X | MIXED_Y);
        break;
    case MIXED_Z:
        strip_in_air(job, at, s, MIXED_Z);
        break;
    case MIXED_X | MIXED_Z:
        strip_in_air(job, at, s, MIXED_X | MIXED_Z);
        break;
    case MIXED_Y | MIXED_Z:
        strip_in_air(job, at, s, MIXED_Y | MIXED_Z);
        break;
    default:
        strip_in_air(job, at, s, MIXED_X | MIXED_Y | MIXED_Z);
        break;
    }
}

static void set_direction(strip* s, int axis, wgf8 step)
{
    s->backward[axis] = wgf8_bits(step) >> 31;
    const int backward = wgi8_mask(wgf8_bits(step));
    s->far[axis] = backward == 0 ? s->stride[axis] : -s->stride[axis];
    s->mixed |= backward == 0 || backward == 255 ? 0 : 1 << axis;
}

// A strip with long displacements: true where all eight share one offset and the window of their
// corners lies in the grid.
static bool
set_long_strip(const wgi_advect_job* job, const int32_t index[3], const wgf8 step[3], strip* s)
{
    const int32_t cells[3] = { job->nx, job->ny, job->nz };
    const wgf8 lanes = { 0, 1, 2, 3, 4, 5, 6, 7 };
    for (int axis = 0; axis < 3; ++axis) {
        const wgf8 place = wgf8_set((float)index[axis]) + (axis == 0 ? lanes : wgf8_set(0.0f));
        wgf8 inside = wgf8_max(step[axis], -place);
        inside = wgf8_min(inside, wgf8_set((float)(cells[axis] - 1)) - place);
        const wgf8 whole = (inside + wgf8_set(WGI_ROUNDING)) - wgf8_set(WGI_ROUNDING);
        const wgi8 snaps =
            (wgi8)(wgf8_abs(inside - whole) <= wgf8_set(WGI_WHOLE_CELLS) * wgf8_abs(inside));
        inside = wgf8_select(snaps, whole, inside);
        const wgi8 near = wgi8_truncate(inside);
        const int32_t offset = near[0];
        if (wgi8_any(near != wgi8_set(offset)))
            return false;

        const int backward = wgi8_mask(wgf8_bits(step[axis]));
        const int32_t first = index[axis] + offset - (backward != 0);
        const int32_t last = index[axis] + offset + (axis == 0 ? 7 : 0) + (backward != 255);
        if (first < 0 || last >= cells[axis])
            return false;
        s->near += offset * s->stride[axis];
        s->fraction[axis] = wgf8_select(
            (wgi8)(step[axis] != step[axis]), step[axis],
            wgf8_abs(inside) - wgf8_abs(wgf8_from_int(near)));
    }
    return true;
}

static void
advect_strip(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k, enclosure around)
{
    const ptrdiff_t at = k * job->slab + (ptrdiff_t)j * job->nx + i;
    if (around == SOLID) {
        for (int32_t c = 0; c < job->components; ++c)
            memcpy(job->out + c * job->cells + at, job->field + c * job->cells + at, sizeof(wgf8));
        return;
    }
    const wgf8 scale = wgf8_set(job->cells_per_velocity), limit = wgf8_set(WGI_SHORT_TRACE);
    strip s = { .near = at, .stride = { 1, job->nx, job->slab }, .mixed = 0 };
    wgf8 step[3];
    wgi8 is_short = wgi8_set(-1);
    for (int axis = 0; axis < 3; ++axis) {
        step[axis] = -(wgf8_load(job->velocity + axis * job->cells + at) * scale);
        s.fraction[axis] = wgf8_abs(step[axis]);
        is_short &= (wgi8)(s.fraction[axis] < limit);
        set_direction(&s, axis, step[axis]);
    }
    if (wgi8_mask(is_short) != 255) {
        around = job->solid ? NEAR_SOLID : OPEN;
        if (!set_long_strip(job, (int32_t[]){ i, j, k }, step, &s)) {
            for (int32_t lane = 0; lane < 8; ++lane)
                advect_cell(job, i + lane, j, k);
            return;
        }
    }
    if (around == NEAR_SOLID)
        strip_near_solids(job, at, &s, MIXED_X | MIXED_Y | MIXED_Z);
    else
        strip_by_mixture(job, at, &s);
}

// ---- rows ----

// near[n] is non-zero where a cell within one of cell begin + n of the row is solid in y and z.
static bool search_solids(const wgi_advect_job* job, ptrdiff_t begin, int32_t count, uint8_t* near)
{
    const uint8_t* solid = job->solid + begin;
    const ptrdiff_t y = job->nx, z = job->slab;
    uint8_t any = 0;
    for (int32_t n = 0; n < count; ++n) {
        const uint8_t* p = solid + n;
        near[n] =
            (uint8_t)(p[-z - y] | p[-z] | p[-z + y] | p[-y] | p[0] | p[y] | p[z - y] | p[z] | p[z + y]);
        any |= near[n];
    }
    return any != 0;
}

// `near` starts one cell before the strip, `own` with it.
static enclosure enclosure_of(const uint8_t* near, const uint8_t* own)
{
    uint64_t low, high, marks;
    memcpy(&low, near, 8);
    memcpy(&high, near + 2, 8);
    memcpy(&marks, own, 8);
    if ((low | high) == 0)
        return OPEN;
    // No byte of `marks` is 0.
    const bool full = ((marks - 0x0101010101010101u) & ~marks & 0x8080808080808080u) == 0;
    return full ? SOLID : NEAR_SOLID;
}

static void advect_row(const wgi_advect_job* job, int32_t j, int32_t k)
{
    const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
    copy_cell(job, row);
    copy_cell(job, row + job->nx - 1);
    const int32_t end = job->nx - 1;
    if (end - 1 < 8) {
        for (int32_t i = 1; i < end; ++i)
            advect_cell(job, i, j, k);
        return;
    }

    uint8_t near[SEARCH + 16];
    int32_t searched = 0, first = 0;
    bool some = false;
    for (int32_t next = 1; next < end; next += 8) {
        // The last strip of a row starts early and repeats a few cells.
        const int32_t i = next + 8 <= end ? next : end - 8;
        if (job->solid && i + 9 > searched) {
            first = i - 1;
            searched = first + SEARCH + 10 < job->nx ? first + SEARCH + 10 : job->nx;
            some = search_solids(job, row + first, searched - first, near);
        }
        const enclosure around =
            some ? enclosure_of(near + (i - 1 - first), job->solid + row + i) : OPEN;
        advect_strip(job, i, j, k, around);
    }
}

void WGI_ISA(advect_rows)(size_t begin, size_t end, void* context)
{
    const wgi_advect_job* job = context;
    for (size_t n = begin; n < end; ++n) {
        const int32_t k = (int32_t)(n / (size_t)job->ny), j = (int32_t)(n % (size_t)job->ny);
        if (k > 0 && k < job->nz - 1 && j > 0 && j < job->ny - 1) {
            advect_row(job, j, k);
            continue;
        }
        const ptrdiff_t row = (ptrdiff_t)n * job->nx;
        for (int32_t c = 0; c < job->components; ++c)
            memcpy(
                job->out + c * job->cells + row, job->field + c * job->cells + row,
                (size_t)job->nx * sizeof(float));
    }
}
