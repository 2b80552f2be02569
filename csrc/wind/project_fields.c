// Between the caller's arrays and the solver's: right side, gradient, divergence.
//
// A closed face is written with a ghost value: 2 u_solid - u for the velocity, so that the mean at
// the face is u_solid, and phi itself for the potential, so that its gradient is 0. Open faces then
// take exactly the arithmetic of a grid without solids. Where there are solids each slab has a list
// of its cells, eight by eight: the open ones, which take a path without any of it, those that meet
// walls, and the solid ones.
#include "wind/project_kernels.h"

#include "wind/project_rows.h"
#include "wind/project_stencil.h"

WGI_INLINE wgf8 load_some(const float* p, int count)
{
    if (count >= 8)
        return wgf8_load(p);
    float v[8] = { 0 };
    for (int i = 0; i < count; ++i)
        v[i] = p[i];
    return wgf8_load(v);
}

WGI_INLINE void store_some(float* p, wgf8 v, int count)
{
    if (count >= 8) {
        wgf8_store(p, v);
        return;
    }
    for (int i = 0; i < count; ++i)
        p[i] = v[i];
}

// All ones in the lanes whose byte has the bit.
WGI_INLINE wgi8 lanes_with(wgi8 faces, int32_t bit)
{
    return (faces & wgi8_set(bit)) != wgi8_set(0);
}

// Where eight cells lie in the solver's arrays and in the caller's.
typedef struct eight_place {
    size_t to, from;
} eight_place;

// A slab's list of a kind, and where its places count from.
typedef struct eight_range {
    const wgi_eight *begin, *end;
    eight_place first;
} eight_range;

WGI_INLINE eight_range
eights_of(const wgi_projection* p, const wgi_strides* s, int32_t j, size_t kind)
{
    const wgi_eight* list = p->eights + (size_t)(j - 1) * wgi_project_eights(&p->grid);
    const uint32_t* end = p->kinds[j - 1].end;
    return (eight_range){ list + (kind > 0 ? end[kind - 1] : 0),
                          list + end[kind],
                          { (size_t)j * p->grid.slab, wgi_caller_row(s, j, 0) } };
}

WGI_INLINE eight_place place_of(const eight_range* r, const wgi_eight* e)
{
    return (eight_place){ r->first.to + e->to, r->first.from + e->from };
}

// Lanes whose byte has a bit.
#if defined(__AVX512VL__)
typedef __mmask8 lane_mask;
#else
typedef wgi8 lane_mask; // in the sign bits
#endif

WGI_INLINE lane_mask lanes_of_bit(wgi8 bytes, const int n)
{
#if defined(__AVX512VL__)
    return _mm256_test_epi32_mask((__m256i)bytes, _mm256_set1_epi32(1 << n));
#else
    return bytes << (31 - n);
#endif
}

// Lanes of `a` in the mask, else of `b`.
WGI_INLINE wgf8 choose(lane_mask mask, wgf8 a, wgf8 b)
{
#if defined(__AVX512VL__)
    return (wgf8)_mm256_mask_blend_ps(mask, (__m256)b, (__m256)a);
#else
    return wgf8_select_negative(wgf8_from_bits(mask), a, b);
#endif
}

// 0 in the other lanes.
WGI_INLINE wgf8 keep(lane_mask mask, wgf8 v)
{
#if defined(__AVX512VL__)
    return (wgf8)_mm256_maskz_mov_ps(mask, (__m256)v);
#else
    return wgf8_from_bits(wgf8_bits(v) & mask >> 31);
#endif
}

// What the cells' bytes say.
typedef struct face_masks {
    lane_mask low[3], high[3]; // open faces
    lane_mask air;
} face_masks;

WGI_INLINE face_masks masks_of(wgi8 faces, int axes)
{
    face_masks m = { .air = lanes_of_bit(faces, 6) };
    for (int axis = 0; axis < 3; ++axis)
        if (axes >> axis & 1) {
            m.low[axis] = lanes_of_bit(faces, 2 * axis);
            m.high[axis] = lanes_of_bit(faces, 2 * axis + 1);
        }
    return m;
}

// Axes that may have a closed face, as bits.
enum { ALL_AXES = 7 };
#define EACH_MIXED_KIND(run) run(1) run(2) run(3) run(4) run(5) run(6) run(7)

// ---- right side ----------------------------------------------------------------------------

// Difference of the two neighbours along one axis, with ghosts behind closed faces.
WGI_INLINE wgf8 difference(
    const float* centre, size_t step, int count, int axes, const face_masks* m, const int axis)
{
    wgf8 low = load_some(centre - step, count), high = load_some(centre + step, count);
    if (axes >> axis & 1) {
        const wgf8 own = load_some(centre, count);
        low = choose(m->low[axis], low, low + low - own);
        high = choose(m->high[axis], high, high + high - own);
    }
    return high - low;
}

// h^2 div of eight cells; `index` is theirs in the caller's arrays.
WGI_INLINE wgf8 scaled_divergence(
    const wgi_projection* p, const wgi_strides* s, size_t index, int count, int axes,
    const face_masks* m)
{
    if (p->given)
        return wgf8_set(p->spacing * p->spacing) * load_some(p->given + index, count);
    const float *u = p->velocity + index, *v = u + s->component, *w = v + s->component;
    const wgf8 x = difference(u, s->axis[0], count, axes, m, 0);
    const wgf8 y = difference(v, s->axis[1], count, axes, m, 1);
    const wgf8 z = difference(w, s->axis[2], count, axes, m, 2);
    return wgf8_set(0.5f * p->spacing) * ((x + y) + z);
}

WGI_INLINE wgf8 open_divergence(const wgi_projection* p, const wgi_strides* s, size_t index)
{
    return scaled_divergence(p, s, index, 8, 0, &(face_masks){ 0 });
}

// The right side of eight cells and, where it is asked for, the first Jacobi sweep from phi = 0:
// phi = (0 - b) / open.
WGI_INLINE void write_right_side(const wgi_projection* p, size_t to, wgf8 d, wgf8 weight)
{
    wgf8_store(p->right_side + to, d);
    if (p->sweep_at_once)
        wgf8_store(p->phi + to, weight * (wgf8_set(0.0f) - d));
}

WGI_INLINE void right_side_mixed(
    const wgi_projection* p, const wgi_strides* s, int32_t j, size_t kind, int count, int axes)
{
    const eight_range r = eights_of(p, s, j, kind);
    for (const wgi_eight* e = r.begin; e < r.end; ++e) {
        const eight_place at = place_of(&r, e);
        const face_masks m = masks_of(wgi_counts(p->faces + at.to), axes);
        const wgf8 d = scaled_divergence(p, s, at.from, count, axes, &m);
        write_right_side(p, at.to, keep(m.air, d), wgi_reciprocals(p->open + at.to));
    }
}

static void right_side_sorted(const wgi_projection* p, int32_t j)
{
    const wgi_strides s = wgi_caller_strides(&p->grid);
    const eight_range open = eights_of(p, &s, j, WGI_OPEN_EIGHTS);
    const eight_range solid = eights_of(p, &s, j, WGI_SOLID_EIGHTS);
    const wgf8 zero = wgf8_set(0.0f), sixth = wgf8_set(1.0f / 6.0f);
    for (const wgi_eight* e = open.begin; e < open.end; ++e) {
        const eight_place at = place_of(&open, e);
        write_right_side(p, at.to, open_divergence(p, &s, at.from), sixth);
    }
#define CLOSED(kind) right_side_mixed(p, &s, j, kind, 8, kind);
#define ANY_FACE(kind) right_side_mixed(p, &s, j, kind, 8, 0);
    if (p->consistent) {
        EACH_MIXED_KIND(ANY_FACE)
        right_side_mixed(p, &s, j, WGI_ROW_ENDS, p->grid.nx % 8, 0);
    } else {
        EACH_MIXED_KIND(CLOSED)
        right_side_mixed(p, &s, j, WGI_ROW_ENDS, p->grid.nx % 8, ALL_AXES);
    }
    for (const wgi_eight* e = solid.begin; e < solid.end; ++e)
        write_right_side(p, place_of(&solid, e).to, zero, zero);
}

WGI_INLINE void right_side_open(const wgi_projection* p, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const wgi_strides s = wgi_caller_strides(g);
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t from = wgi_caller_row(&s, j, k), to = wgi_project_cell(g, 1, j, k);
        for (size_t n = 0; n < (size_t)g->nx; n += 8)
            write_right_side(p, to + n, open_divergence(p, &s, from + n), wgf8_set(1.0f / 6.0f));
    }
}

void WGI_ISA(project_right_side)(const wgi_projection* projection, int32_t begin, int32_t end)
{
    // A copy, so that the compiler knows that no store changes it.
    const wgi_projection p = *projection;
    for (int32_t j = begin; j < end; ++j) {
        if (p.masked)
            right_side_sorted(&p, j);
        else
            right_side_open(&p, j);
    }
}

// ---- start ---------------------------------------------------------------------------------

static void clear(float* array, size_t begin, size_t end)
{
    memset(array + begin, 0, (end - begin) * sizeof(float));
}

// phi = 0 around the interior: the zeros before each row, the row after each slab, and the slabs
// at both ends.
static void clear_around(const wgi_project_grid* g, float* array, int32_t j)
{
    const size_t row = wgi_project_cell(g, 1, j, 0) - 8;
    const size_t last = wgi_project_cell(g, 1, g->ny, g->nz) + g->pitch - 8;
    clear(array, j == 1 ? 0 : row, row + g->pitch);
    for (int32_t k = 1; k <= g->nz; ++k)
        wgf8_store(array + wgi_project_cell(g, 1, j, k) - 8, wgf8_set(0.0f));
    if (j == g->ny)
        clear(array, last, g->size);
}

// phi of a slab: the caller's pressure in air, else 0.
static void fill_phi(const wgi_projection* p, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const wgi_strides s = wgi_caller_strides(g);
    const wgf8 zero = wgf8_set(0.0f);
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t from = wgi_caller_row(&s, j, k), to = wgi_project_cell(g, 1, j, k);
        for (size_t n = 0; n < (size_t)g->nx; n += 8) {
            wgf8 v = p->pressure ? load_some(p->pressure + from + n, g->nx - (int)n) : zero;
            if (p->masked) {
                const face_masks m = masks_of(wgi_counts(p->faces + to + n), 0);
                v = keep(m.air, v);
            }
            wgf8_store(p->phi + to + n, v);
        }
    }
}

void WGI_ISA(project_start)(const wgi_projection* p, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        clear_around(&p->grid, p->phi, j);
        if (p->jacobi)
            clear_around(&p->grid, p->other, j);
        if (p->fill)
            fill_phi(p, j);
        WGI_ISA(project_right_side)(p, j, j + 1);
    }
}

// ---- gradient ------------------------------------------------------------------------------

// Half the sum of the two face gradients; a closed face takes the cell's own phi.
WGI_INLINE wgf8
slope(const float* phi, size_t step, int axes, const face_masks* m, const int axis, wgf8 scale)
{
    wgf8 low = wgf8_load(phi - step), high = wgf8_load(phi + step);
    if (axes >> axis & 1) {
        const wgf8 own = wgf8_load(phi);
        low = choose(m->low[axis], low, own);
        high = choose(m->high[axis], high, own);
    }
    return scale * (high - low);
}

// Where eight cells to be corrected lie, and the floats from one to its neighbours in phi.
typedef struct correction {
    const float *velocity, *phi;
    float* out;
    size_t component, step[3];
    wgf8 scale;
} correction;

WGI_INLINE correction correction_at(const wgi_projection* p, const wgi_strides* s, eight_place at)
{
    return (correction){ p->velocity + at.from,
                         p->phi + at.to,
                         p->out + at.from,
                         s->component,
                         { 1, p->grid.slab, p->grid.pitch },
                         wgf8_set(0.5f / p->spacing) };
}

WGI_INLINE void correct_component(
    const correction* c, int count, int axes, const face_masks* m, const bool some_solid,
    const int axis)
{
    const size_t at = (size_t)axis * c->component;
    wgf8 change = slope(c->phi, c->step[axis], axes, m, axis, c->scale);
    // Less 0 leaves every value as it is.
    if (some_solid)
        change = keep(m->air, change);
    store_some(c->out + at, load_some(c->velocity + at, count) - change, count);
}

WGI_INLINE void
correct_cells(const correction* c, int count, int axes, const face_masks* m, const bool some_solid)
{
    correct_component(c, count, axes, m, some_solid, 0);
    correct_component(c, count, axes, m, some_solid, 1);
    correct_component(c, count, axes, m, some_solid, 2);
}

WGI_INLINE void correct_mixed(
    const wgi_projection* p, const wgi_strides* s, int32_t j, size_t kind, int count, int axes)
{
    const eight_range r = eights_of(p, s, j, kind);
    for (const wgi_eight* e = r.begin; e < r.end; ++e) {
        const eight_place at = place_of(&r, e);
        const correction c = correction_at(p, s, at);
        const face_masks m = masks_of(wgi_counts(p->faces + at.to), axes);
        correct_cells(&c, count, axes, &m, true);
    }
}

static void keep_cells(const wgi_projection* p, const wgi_strides* s, size_t from)
{
    for (size_t axis = 0; axis < 3; ++axis) {
        const size_t at = axis * s->component + from;
        wgf8_store(p->out + at, wgf8_load(p->velocity + at));
    }
}

static void correct_sorted(const wgi_projection* p, const wgi_strides* s, int32_t j)
{
    const eight_range open = eights_of(p, s, j, WGI_OPEN_EIGHTS);
    const eight_range solid = eights_of(p, s, j, WGI_SOLID_EIGHTS);
    for (const wgi_eight* e = open.begin; e < open.end; ++e) {
        const correction c = correction_at(p, s, place_of(&open, e));
        correct_cells(&c, 8, 0, &(face_masks){ 0 }, false);
    }
#define CORRECT_CLOSED(kind) correct_mixed(p, s, j, kind, 8, kind);
#define CORRECT_ANY(kind) correct_mixed(p, s, j, kind, 8, 0);
    if (p->consistent) {
        EACH_MIXED_KIND(CORRECT_ANY)
        correct_mixed(p, s, j, WGI_ROW_ENDS, p->grid.nx % 8, 0);
    } else {
        EACH_MIXED_KIND(CORRECT_CLOSED)
        correct_mixed(p, s, j, WGI_ROW_ENDS, p->grid.nx % 8, ALL_AXES);
    }
    for (const wgi_eight* e = solid.begin; e < solid.end && p->out != p->velocity; ++e)
        keep_cells(p, s, place_of(&solid, e).from);
}

WGI_INLINE void correct_open(const wgi_projection* p, const wgi_strides* s, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t from = wgi_caller_row(s, j, k), to = wgi_project_cell(g, 1, j, k);
        for (size_t n = 0; n < (size_t)g->nx; n += 8) {
            const correction c = correction_at(p, s, (eight_place){ to + n, from + n });
            correct_cells(&c, 8, 0, &(face_masks){ 0 }, false);
        }
    }
}

// The border cells at the two ends of the slab's rows.
static void keep_ends(const wgi_projection* p, const wgi_strides* s, int32_t j)
{
    for (size_t axis = 0; axis < 3; ++axis)
        for (int32_t k = 1; k <= p->grid.nz; ++k) {
            const size_t row = axis * s->component + wgi_caller_row(s, j, k);
            p->out[row - 1] = p->velocity[row - 1];
            p->out[row + (size_t)p->grid.nx] = p->velocity[row + (size_t)p->grid.nx];
        }
}

// Writes the rows of the interior, the border cells at their two ends included.
void WGI_ISA(project_gradient)(const wgi_projection* projection, int32_t begin, int32_t end)
{
    const wgi_projection p = *projection;
    const wgi_strides s = wgi_caller_strides(&p.grid);
    for (int32_t j = begin; j < end; ++j) {
        if (p.masked)
            correct_sorted(&p, &s, j);
        else
            correct_open(&p, &s, j);
        if (p.out != p.velocity)
            keep_ends(&p, &s, j);
    }
}

// ---- the pressure found --------------------------------------------------------------------

static void clear_row(float* row, int32_t count)
{
    memset(row - 1, 0, ((size_t)count + 2) * sizeof(float));
}

// Rows of the caller's pressure at one y, 0 in the border.
WGI_INLINE void write_found(const wgi_projection* p, const wgi_strides* s, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const size_t count = (size_t)g->nx, whole = count / 8 * 8;
    for (int32_t k = 1; k <= g->nz; ++k) {
        float* out = p->found + wgi_caller_row(s, j, k);
        const float* phi = p->phi + wgi_project_cell(g, 1, j, k);
        out[-1] = 0.0f;
        for (size_t n = 0; n < whole; n += 8)
            wgf8_store(out + n, wgf8_load(phi + n));
        for (size_t n = whole; n < count; ++n)
            out[n] = phi[n];
        out[count] = 0.0f;
    }
    clear_row(p->found + wgi_caller_row(s, j, 0), g->nx);
    clear_row(p->found + wgi_caller_row(s, j, g->nz + 1), g->nx);
}

void WGI_ISA(project_found)(const wgi_projection* projection, int32_t begin, int32_t end)
{
    const wgi_projection p = *projection;
    const wgi_strides s = wgi_caller_strides(&p.grid);
    const int32_t ny = p.grid.ny;
    for (int32_t j = begin; j < end && p.found; ++j) {
        write_found(&p, &s, j);
        for (int32_t k = 0; k < p.grid.nz + 2 && (j == 1 || j == ny); ++k) {
            if (j == 1)
                clear_row(p.found + wgi_caller_row(&s, 0, k), p.grid.nx);
            if (j == ny)
                clear_row(p.found + wgi_caller_row(&s, ny + 1, k), p.grid.nx);
        }
    }
}

void WGI_ISA(project_finish)(const wgi_projection* p, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        WGI_ISA(project_gradient)(p, j, j + 1);
        WGI_ISA(project_found)(p, j, j + 1);
    }
}

// ---- divergence of the caller's arrays -----------------------------------------------------

// All ones in the lanes whose mark is not 0; lanes beyond `count` as solid.
WGI_INLINE wgi8 solid_lanes(const uint8_t* solid, int count)
{
    uint8_t some[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int i = 0; i < 8 && i < count; ++i)
        some[i] = solid[i];
    return wgi_counts(some) != wgi8_set(0);
}

// The bits of project_faces for eight cells, from the marks.
WGI_INLINE wgi8 read_faces(const wgi_projection* p, const wgi_strides* s, size_t index, int count)
{
    if (!p->solid)
        return wgi8_set(WGI_ALL_OPEN);
    wgi8 bits = wgi8_set(WGI_AIR);
    for (int axis = 0; axis < 3; ++axis) {
        const uint8_t* at = p->solid + index;
        bits |= ~solid_lanes(at - s->axis[axis], count) & wgi8_set(1 << (2 * axis));
        bits |= ~solid_lanes(at + s->axis[axis], count) & wgi8_set(2 << (2 * axis));
    }
    return bits & ~solid_lanes(p->solid + index, count);
}

// Sum over open faces of phi_neighbour - phi, straight from the caller's array.
WGI_INLINE wgf8
face_laplacian(const wgi_projection* p, const wgi_strides* s, size_t index, int count, wgi8 faces)
{
    const wgf8 own = load_some(p->pressure + index, count), zero = wgf8_set(0.0f);
    wgf8 sum[3];
    for (int axis = 0; axis < 3; ++axis) {
        const wgf8 low = load_some(p->pressure + index - s->axis[axis], count) - own;
        const wgf8 high = load_some(p->pressure + index + s->axis[axis], count) - own;
        sum[axis] = wgf8_select(lanes_with(faces, 1 << (2 * axis)), low, zero) +
                    wgf8_select(lanes_with(faces, 2 << (2 * axis)), high, zero);
    }
    return (sum[0] + sum[1]) + sum[2];
}

void WGI_ISA(project_divergence)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    const wgi_strides s = wgi_caller_strides(g);
    const wgf8 scale = wgf8_set(1.0f / (p->spacing * p->spacing));
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_caller_row(&s, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                const int count = g->nx - i;
                const wgi8 faces = read_faces(p, &s, at, count);
                const face_masks m = masks_of(faces, ALL_AXES);
                wgf8 d = scaled_divergence(p, &s, at, count, p->consistent ? 0 : ALL_AXES, &m);
                if (p->pressure)
                    d -= face_laplacian(p, &s, at, count, faces);
                d = wgf8_select(lanes_with(faces, WGI_AIR), scale * d, wgf8_set(0.0f));
                store_some(p->out + at, d, count);
            }
        }
}
