// Semi-Lagrangian advection: Stam, "Stable Fluids", SIGGRAPH 1999.
//
// Rows are done in tiles of strips of eight cells (advect_sort.h); the few whose places do not lie
// in one cell offset, or have corners with weights of their own, are done cell by cell.
#include "support/kernel_table.h"
#include "support/simd.h"
#include "wind/advect_eight.h"

WGI_INLINE void copy_run(const wgi_advect_job* job, ptrdiff_t at, int32_t count)
{
    wgi_advect_copy(job, job->field, at, count);
}

static void copy_cell(const wgi_advect_job* job, ptrdiff_t at)
{
    copy_run(job, at, 1);
}

static void copy_strip(const wgi_advect_job* job, ptrdiff_t at)
{
    copy_run(job, at, 8);
}

// ---- one cell ----

// Shares of the far places along x (4), y (2), z (1).
typedef struct cell_shares {
    float share[7];
    bool air[8]; // of the corners
    bool even;   // the corners in air are a box with the near one
} cell_shares;

// An axis whose neighbour is solid is left out of an even octant. False where nothing is left.
static bool
set_shares(const uint8_t* solid, const ptrdiff_t corner[8], wgi_trace trace[3], cell_shares* s)
{
    for (int n = 0; n < 8; ++n)
        s->air[n] = solid[corner[n]] == 0;
    const bool x = s->air[1], y = s->air[2], z = s->air[4];
    s->even = s->air[0] && s->air[3] == (x && y) && s->air[5] == (x && z) &&
              s->air[6] == (y && z) && s->air[7] == (x && y && z);
    if (s->even) {
        for (int axis = 0; axis < 3; ++axis)
            trace[axis].fraction = s->air[1 << axis] ? trace[axis].fraction : 0.0f;
        return true;
    }
    float row[4], face[2], all;
    for (int n = 0; n < 4; ++n)
        s->share[n] = wgi_share(s->air[2 * n], s->air[2 * n + 1], trace[0].fraction, &row[n]);
    for (int n = 0; n < 2; ++n)
        s->share[4 + n] = wgi_share(row[2 * n], row[2 * n + 1], trace[1].fraction, &face[n]);
    s->share[6] = wgi_share(face[0], face[1], trace[2].fraction, &all);
    return all != 0.0f;
}

static float value_of_shares(const float v[8], const float share[7])
{
    const float near =
        wgi_lerp(wgi_lerp(v[0], v[1], share[0]), wgi_lerp(v[2], v[3], share[1]), share[4]);
    const float far =
        wgi_lerp(wgi_lerp(v[4], v[5], share[2]), wgi_lerp(v[6], v[7], share[3]), share[5]);
    return wgi_lerp(near, far, share[6]);
}

// What is not finite in a solid must not be read: then the value is worked out without it.
static float value_of_cell(
    const float* field, const ptrdiff_t corner[8], const wgi_trace trace[3], const cell_shares* s)
{
    float v[8];
    if (s->even) {
        const float x = trace[0].fraction, y = trace[1].fraction, z = trace[2].fraction;
        const float share[7] = { x, x, x, x, y, y, z };
        for (int n = 0; n < 8; ++n)
            v[n] = field[corner[n]];
        const float value = value_of_shares(v, share);
        if (!isnan(value))
            return value;
        for (int n = 0; n < 8; ++n)
            v[n] = s->air[n] ? v[n] : 0.0f;
        return value_of_shares(v, share);
    }
    for (int n = 0; n < 8; ++n)
        v[n] = s->air[n] ? field[corner[n]] : 0.0f;
    return value_of_shares(v, s->share);
}

static void advect_cell(const wgi_advect_job* job, int32_t i, int32_t j, int32_t k)
{
    const ptrdiff_t at = k * job->slab + (ptrdiff_t)j * job->nx + i;
    if (job->solid && job->solid[at]) {
        copy_cell(job, at);
        return;
    }
    const float* velocity = job->velocity + at;
    wgi_trace trace[3] = {
        wgi_trace_axis(velocity[0], job->cells_per_velocity, i, job->nx),
        wgi_trace_axis(velocity[job->cells], job->cells_per_velocity, j, job->ny),
        wgi_trace_axis(velocity[2 * job->cells], job->cells_per_velocity, k, job->nz),
    };
    ptrdiff_t corner[8];
    for (int n = 0; n < 8; ++n)
        corner[n] = at + (n & 1 ? trace[0].far : trace[0].near) +
                    (ptrdiff_t)(n & 2 ? trace[1].far : trace[1].near) * job->nx +
                    (n & 4 ? trace[2].far : trace[2].near) * job->slab;
    cell_shares s = { .air = { true, true, true, true, true, true, true, true }, .even = true };
    if (job->solid && !set_shares(job->solid, corner, trace, &s)) {
        copy_cell(job, at);
        return;
    }
    for (int32_t c = 0; c < job->components; ++c)
        job->out[c * job->cells + at] =
            value_of_cell(job->field + c * job->cells, corner, trace, &s);
}

// ---- eight cells ----

// `near` is the near corner of the first component, `out` the strip's place.
WGI_INLINE void
strip_in_air(const wgi_advect_job* job, const strip* s, const float* near, float* out, int ways)
{
    const ptrdiff_t cells = job->cells;
    if (job->components == 3) {
        wgf8_store(out, strip_value(near, s, ways));
        wgf8_store(out + cells, strip_value(near + cells, s, ways));
        wgf8_store(out + 2 * cells, strip_value(near + 2 * cells, s, ways));
        return;
    }
    for (int32_t c = job->components; c > 0; --c, near += cells, out += cells)
        wgf8_store(out, strip_value(near, s, ways));
}

// Classes of the cells of a strip (flow_classes.h).
typedef struct classes {
    wgu8 side, corner;
} classes;

WGI_INLINE wgi8 in_solid(const classes* around)
{
    return (wgi8)(around->side << 25) >> 31; // WGI_SIDE_OWN
}

// Leaves out the axes whose neighbour is solid; returns the lanes (bits) that this does not serve.
WGI_INLINE unsigned leave_out_solids(const classes* around, strip* s)
{
    // A bit of a byte moves to the sign: from 2 axis + 1 where the far cell is the one before.
    for (int axis = 0; axis < 3; ++axis) {
        const wgu8 bit = (wgu8)(wgi8_set(31 - 2 * axis) + s->back[axis]);
        const wgi8 closed = (wgi8)(around->side << bit) >> 31;
        s->fraction[axis] = wgf8_from_bits(wgf8_bits(s->fraction[axis]) & ~closed);
    }
    const wgi8 *back = s->back, up = back[1] + back[2] + back[2];
    return (unsigned)wgi8_mask((wgi8)(around->corner << (wgu8)(wgi8_set(31) + back[0] + up + up)));
}

// What a strip leaves to be done, lanes as bits: those with corners that have weights of their own, and
// those with a value that is not finite, perhaps from within a solid.
typedef struct rest {
    unsigned uneven, unfit;
} rest;

WGI_INLINE wgf8
move_component(const wgi_advect_job* job, ptrdiff_t at, const wgi8* keep, const strip* s, int ways)
{
    const float* own = job->field + at;
    const wgf8 moved = strip_value(own + s->near, s, ways);
    store_lanes(job->out + at, wgf8_select(*keep, load_lanes(own, s, ways), moved), s, ways);
    return moved;
}

// A strip whose neighbours may be solid; its near corners and their neighbours lie in the grid, and
// the classes are those of the near cells. Lanes of `keep` keep their value.
WGI_INLINE rest strip_beside_solids(
    const wgi_advect_job* job, ptrdiff_t at, const classes* around, wgi8 keep, strip* s, int ways)
{
    const unsigned left = leave_out_solids(around, s);
    const unsigned air = ~(unsigned)wgi8_mask(keep) & 0xff;
    wgf8 sum = wgf8_set(0.0f);
    if (job->components == 3) {
        sum = move_component(job, at, &keep, s, ways);
        sum += move_component(job, at + job->cells, &keep, s, ways);
        sum += move_component(job, at + 2 * job->cells, &keep, s, ways);
    } else {
        for (int32_t c = job->components; c > 0; --c, at += job->cells)
            sum += move_component(job, at, &keep, s, ways);
    }
    const unsigned unfit = (unsigned)wgi8_mask((wgi8)(sum != sum)) & air & ~left;
    return (rest){ left & air, unfit };
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

// What is left of a tile once its strips are done.
typedef struct leftovers {
    cell_list alone, uneven;
} leftovers;

WGI_INLINE classes classes_at(const uint8_t* sides, const uint8_t* corners)
{
    return (classes){ (wgu8)wgi8_load_bytes(sides), (wgu8)wgi8_load_bytes(corners) };
}

WGI_INLINE unsigned move_long_strip(const wgi_advect_job* job, ptrdiff_t at, strip* s)
{
    const int ways = WAYS(MIXED, MIXED, MIXED);
    uint8_t sides[8] = { 0 }, corners[8] = { 0 };
    if (job->solid)
        wgi_classify_8(job->solid + at + s->near, job->nx, job->slab, sides, corners);
    const bool beside = (wgi_load_marks(sides) | wgi_load_marks(corners)) != 0;
    if (!beside && !(job->solid && wgi_load_marks(job->solid + at) != 0)) {
        strip_in_air(job, s, job->field + at + s->near, job->out + at, ways);
        return 0;
    }
    const classes around = classes_at(sides, corners);
    const wgi8 keep = wgi8_load_bytes(job->solid + at) != wgi8_set(0);
    const rest r = strip_beside_solids(job, at, &around, keep, s, ways);
    return (unsigned)wgi8_mask(in_solid(&around) & ~keep) | r.uneven | r.unfit;
}

static __attribute__((noinline)) void
advect_long_strip(const wgi_advect_job* job, const tile* t, unsigned place, leftovers* l)
{
    const ptrdiff_t at = cell_of(job, t, place);
    const int32_t index[3] = { t->begin_x + (int32_t)(place % TILE_COLUMNS),
                               t->begin_y + (int32_t)(place / TILE_COLUMNS), t->z };
    strip s = strip_at(job, at);
    const bool together = set_long_strip(job, index, &s);
    list_lanes(&l->alone, place, together ? move_long_strip(job, at, &s) : 0xff);
}

// ---- tiles ----

// Code for each way of x. Along y and z all strips are taken as mixed: to choose between two loads
// costs less than to find out which of them are not.
#define OF_WAY(way, extra, call)                                                                   \
    do {                                                                                           \
        if ((way) == FORWARD)                                                                      \
            call(WAYS(FORWARD, MIXED, MIXED) | (extra));                                           \
        else if ((way) == BACKWARD)                                                                \
            call(WAYS(BACKWARD, MIXED, MIXED) | (extra));                                          \
        else                                                                                       \
            call(WAYS(MIXED, MIXED, MIXED) | (extra));                                             \
    } while (0)

// The way along x of the lanes in air.
WGI_INLINE int way_of_x(const strip* s, unsigned air)
{
    const unsigned backs = (unsigned)wgi8_mask(s->back[0]) & air;
    if (WGI_FEW_WAYS)
        return MIXED;
    return backs == 0 ? FORWARD : backs == air ? BACKWARD : MIXED;
}

WGI_INLINE void advect_open_strip(
    const wgi_advect_job* job, const tile* t, ptrdiff_t at, unsigned place, leftovers* l)
{
    strip s = strip_at(job, at);
    if (is_long(&s)) {
        advect_long_strip(job, t, place, l);
        return;
    }
    const int way = way_of_x(&s, 0xff);
#define IN_AIR(ways) strip_in_air(job, &s, job->field + at, job->out + at, ways)
    OF_WAY(way, 0, IN_AIR);
}

WGI_INLINE void
advect_strip_beside(const wgi_advect_job* job, const tile* t, unsigned place, leftovers* l)
{
    const ptrdiff_t at = cell_of(job, t, place), class = class_of(t, place);
    strip s = strip_at(job, at);
    if (is_long(&s)) {
        advect_long_strip(job, t, place, l);
        return;
    }
    const classes around = classes_at(t->sides + class, t->corners + class);
    const wgi8 keep = in_solid(&around);
    const int way = way_of_x(&s, ~(unsigned)wgi8_mask(keep) & 0xff);
    rest r;
#define BESIDE(ways) r = strip_beside_solids(job, at, &around, keep, &s, ways)
    OF_WAY(way, 0, BESIDE);
    list_lanes(&l->uneven, place, r.uneven);
    list_lanes(&l->alone, place, r.unfit);
}

// Four bytes and four others.
WGI_INLINE wgu8 load_byte_halves(const uint8_t* a, const uint8_t* b)
{
#if defined(__AVX2__)
    int32_t low, high;
    memcpy(&low, a, 4);
    memcpy(&high, b, 4);
    return (wgu8)_mm256_cvtepu8_epi32(
        _mm_unpacklo_epi32(_mm_cvtsi32_si128(low), _mm_cvtsi32_si128(high)));
#else
    return (wgu8){ a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3] };
#endif
}

// Two times four cells, at places `a` and `b`.
WGI_INLINE void
advect_halves(const wgi_advect_job* job, const tile* t, unsigned a, unsigned b, leftovers* l)
{
    const ptrdiff_t at = cell_of(job, t, a), class[2] = { class_of(t, a), class_of(t, b) };
    const classes around = {
        load_byte_halves(t->sides + class[0], t -> sides + class[1]),
        load_byte_halves(t->corners + class[0], t -> corners + class[1]),
    };
    strip s = strip_of(job, at, cell_of(job, t, b) - at, HALVES);
    const wgi8 keep = in_solid(&around);
    const unsigned air = ~(unsigned)wgi8_mask(keep) & (a == b ? 0x0f : 0xff);
    if (is_long(&s)) {
        list_lanes(&l->alone, a, air & 0x0f);
        list_lanes(&l->alone, b, air >> 4);
        return;
    }
    const int way = way_of_x(&s, air);
    rest r;
    OF_WAY(way, HALVES, BESIDE);
    list_lanes(&l->uneven, a, r.uneven & air & 0x0f);
    list_lanes(&l->uneven, b, (r.uneven & air) >> 4);
    list_lanes(&l->alone, a, r.unfit & air & 0x0f);
    list_lanes(&l->alone, b, (r.unfit & air) >> 4);
}

// The strips of a tile that meets solids: in open air, beside solids, and those with no more than four
// cells in air. Each starts at the first cell of air that is not in another.
enum { OPEN_STRIPS, STRIPS_BESIDE, HALF_STRIPS, BUILT_LISTS };

typedef struct built_lists {
    unsigned count[BUILT_LISTS];
    uint16_t place[BUILT_LISTS][TILE_STRIPS + 1];
} built_lists;

// Of 64 cells, those that are solid and those that have a class other than 0.
WGI_INLINE void
find_built(const uint8_t* sides, const uint8_t* corners, uint64_t* solid, uint64_t* beside)
{
    *solid = *beside = 0;
#if defined(__SSE2__)
    for (int n = 0; n < 64; n += 16) {
        const __m128i side = _mm_loadu_si128((const __m128i*)(sides + n));
        const __m128i corner = _mm_loadu_si128((const __m128i*)(corners + n));
        const __m128i none = _mm_cmpeq_epi8(_mm_or_si128(side, corner), _mm_setzero_si128());
        // The bit of WGI_SIDE_OWN moves to the sign.
        *solid |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_add_epi8(side, side)) << n;
        *beside |= (uint64_t)(~(unsigned)_mm_movemask_epi8(none) & 0xffff) << n;
    }
#else
    for (int n = 0; n < 64; ++n) {
        *solid |= (uint64_t)((sides[n] & WGI_SIDE_OWN) != 0) << n;
        *beside |= (uint64_t)((sides[n] | corners[n]) != 0) << n;
    }
#endif
}

static void list_built_row(const wgi_advect_job* job, const tile* t, unsigned line, built_lists* b)
{
    const unsigned columns = (unsigned)(t->end_x - t->begin_x), first = line * TILE_COLUMNS;
    const ptrdiff_t class = class_of(t, first);
    const uint64_t inside = ~(uint64_t)0 >> (64 - columns);
    uint64_t solid, beside;
    find_built(t->sides + class, t->corners + class, &solid, &beside);
    solid &= inside;
    beside &= inside;
    const ptrdiff_t row = cell_of(job, t, first);
    for (unsigned i = 0; i < columns && solid >> i != 0; i += 8)
        if ((solid >> i & 0xff) != 0)
            copy_strip(job, row + (i + 8 <= columns ? i : columns - 8));
    for (uint64_t air = ~solid & inside; air != 0;) {
        const unsigned start = (unsigned)__builtin_ctzll(air);
        const bool half = (air >> start & 0xf0) == 0;
        const unsigned width = half ? 4 : 8;
        // The last of a row start early and repeat a few cells.
        const unsigned i = start + width <= columns ? start : columns - width;
        const unsigned list = half ? HALF_STRIPS : (beside >> i & 0xff) != 0;
        b->place[list][b->count[list]++] = (uint16_t)(first + i);
        air = start + width < 64 ? air & ~(uint64_t)0 << (start + width) : 0;
    }
}

static void advect_built_tile(const wgi_advect_job* job, const tile* t, leftovers* l)
{
    built_lists b;
    for (int n = 0; n < BUILT_LISTS; ++n)
        b.count[n] = 0;
    for (unsigned line = 0; line < (unsigned)(t->end_y - t->begin_y); ++line)
        list_built_row(job, t, line, &b);
    uint16_t *place = b.place[OPEN_STRIPS], *half = b.place[HALF_STRIPS];
    for (unsigned n = 0; n < b.count[OPEN_STRIPS]; ++n)
        advect_open_strip(job, t, cell_of(job, t, place[n]), place[n], l);
    for (unsigned n = 0; n < b.count[STRIPS_BESIDE]; ++n)
        advect_strip_beside(job, t, b.place[STRIPS_BESIDE][n], l);
    if (b.count[HALF_STRIPS] % 2)
        half[b.count[HALF_STRIPS]] = half[b.count[HALF_STRIPS] - 1];
    for (unsigned n = 0; n < b.count[HALF_STRIPS]; n += 2)
        advect_halves(job, t, half[n], half[n + 1], l);
    advect_listed(job, t, &l->uneven, advect_uneven_eight);
}

static void advect_open_row(const wgi_advect_job* job, const tile* t, unsigned line, leftovers* l)
{
    const unsigned first = line * TILE_COLUMNS, last = (unsigned)(t->end_x - t->begin_x) - 8;
    const ptrdiff_t row = t->first + (ptrdiff_t)line * job->nx;
    for (unsigned i = 0; i < last + 8; i += 8) {
        const unsigned n = i < last ? i : last;
        advect_open_strip(job, t, row + n, first + n, l);
    }
}

static void advect_rows_of_tiles(const wgi_advect_job* job, tile* t)
{
    leftovers l;
    for (int32_t n = 0; set_columns(job, n, t); ++n) {
        l.alone.count = l.uneven.count = 0;
        look_around(job, t);
        if (!t->open)
            advect_built_tile(job, t, &l);
        for (unsigned line = 0; t->open && line < (unsigned)(t->end_y - t->begin_y); ++line)
            advect_open_row(job, t, line, &l);
        advect_listed(job, t, &l.alone, advect_eight);
    }
    for (int32_t j = t->begin_y; j < t->end_y; ++j) {
        const ptrdiff_t row = t->z * job->slab + (ptrdiff_t)j * job->nx;
        copy_cell(job, row);
        copy_cell(job, row + job->nx - 1);
    }
}

static void advect_narrow_row(const wgi_advect_job* job, int32_t j, int32_t k)
{
    const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
    copy_cell(job, row);
    copy_cell(job, row + job->nx - 1);
    for (int32_t i = 1; i < job->nx - 1; ++i)
        advect_cell(job, i, j, k);
}

void WGI_ISA(advect_rows)(size_t begin, size_t end, void* context)
{
    // A copy, so that the compiler knows that no store changes it.
    const wgi_advect_job job = *(const wgi_advect_job*)context;
    tile t;
    for (size_t n = begin; n < end;) {
        const int32_t rows = tile_at(&job, n, end, &t);
        if (rows == 0)
            copy_run(&job, (ptrdiff_t)n * job.nx, job.nx);
        else if (job.nx - 2 >= 8)
            advect_rows_of_tiles(&job, &t);
        else
            for (int32_t j = t.begin_y; j < t.end_y; ++j)
                advect_narrow_row(&job, j, t.z);
        n += rows == 0 ? 1 : (size_t)rows;
    }
}
