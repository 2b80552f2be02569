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

// Lanes of `a` where bit n of the byte is set, else of `b`.
WGI_INLINE wgf8 select_bit(wgi8 faces, const int n, wgf8 a, wgf8 b)
{
    return wgf8_select_negative(wgf8_from_bits(faces << (31 - n)), a, b);
}

enum { AIR_BIT = 6 };

// Where eight cells lie in the solver's arrays and in the caller's, and how many of them are in the
// row.
typedef struct eight_place {
    size_t to, from;
    int count;
} eight_place;

WGI_INLINE eight_place
place_of(const wgi_projection* p, const wgi_strides* s, int32_t j, const wgi_eight* eight)
{
    const size_t i = 8 * (size_t)eight->eight;
    return (eight_place){ wgi_project_cell(&p->grid, 1, j, eight->k) + i,
                          wgi_caller_row(s, j, eight->k) + i, p->grid.nx - (int)i };
}

// The slab's list: `begin` to `end` of a kind.
typedef struct eight_range {
    const wgi_eight *begin, *end;
} eight_range;

WGI_INLINE eight_range eights_of(const wgi_projection* p, int32_t j, size_t kind)
{
    const size_t all = (p->grid.pitch - 8) / 8 * (size_t)p->grid.nz;
    const wgi_eight* list = p->eight + (size_t)(j - 1) * all;
    const uint32_t* end = p->eights[j - 1].end;
    return (eight_range){ list + (kind > 0 ? end[kind - 1] : 0),
                          list + (kind < WGI_KINDS ? end[kind] : all) };
}

// Axes that may have a closed face, as bits; only the last kind has rows' ends shorter than eight.
enum { ALL_AXES = 7 };
#define EACH_MIXED_KIND(run) run(1) run(2) run(3) run(4) run(5) run(6) run(7)

// ---- right side ----------------------------------------------------------------------------

// Difference of the two neighbours along one axis, with ghosts behind closed faces.
WGI_INLINE wgf8
difference(const float* centre, size_t step, int count, int axes, wgi8 faces, const int axis)
{
    wgf8 low = load_some(centre - step, count), high = load_some(centre + step, count);
    if (axes >> axis & 1) {
        const wgf8 own = load_some(centre, count);
        low = select_bit(faces, 2 * axis, low, low + low - own);
        high = select_bit(faces, 2 * axis + 1, high, high + high - own);
    }
    return high - low;
}

// h^2 div of eight cells; `index` is theirs in the caller's arrays.
WGI_INLINE wgf8 scaled_divergence(
    const wgi_projection* p, const wgi_strides* s, size_t index, int count, int axes, wgi8 faces)
{
    if (p->given)
        return wgf8_set(p->spacing * p->spacing) * load_some(p->given + index, count);
    const float *u = p->velocity + index, *v = u + s->component, *w = v + s->component;
    const wgf8 x = difference(u, s->axis[0], count, axes, faces, 0);
    const wgf8 y = difference(v, s->axis[1], count, axes, faces, 1);
    const wgf8 z = difference(w, s->axis[2], count, axes, faces, 2);
    return wgf8_set(0.5f * p->spacing) * ((x + y) + z);
}

WGI_INLINE wgf8 masked_divergence(
    const wgi_projection* p, const wgi_strides* s, eight_place at, int count, int axes)
{
    const wgi8 bits = wgi_counts(p->faces + at.to);
    const wgf8 d = scaled_divergence(p, s, at.from, count, axes, bits);
    return select_bit(bits, AIR_BIT, d, wgf8_set(0.0f));
}

// The right side of eight cells and, where it is asked for, the first Jacobi sweep from phi = 0:
// phi = (0 - b) / open.
WGI_INLINE void write_right_side(const wgi_projection* p, size_t to, wgf8 d, wgf8 weight)
{
    wgf8_store(p->right_side + to, d);
    if (p->sweep_at_once)
        wgf8_store(p->phi + to, weight * (wgf8_set(0.0f) - d));
}

WGI_INLINE void
right_side_mixed(const wgi_projection* p, const wgi_strides* s, int32_t j, size_t kind, int axes)
{
    const eight_range r = eights_of(p, j, kind);
    for (const wgi_eight* e = r.begin; e < r.end; ++e) {
        const eight_place at = place_of(p, s, j, e);
        const wgf8 d = kind < WGI_KINDS - 1 || at.count >= 8
                           ? masked_divergence(p, s, at, 8, axes)
                           : masked_divergence(p, s, at, at.count, axes);
        write_right_side(p, at.to, d, wgi_reciprocals(p->open + at.to));
        // Air between solids on all sides: sweeps may leave it out like a solid.
        if (kind == WGI_KINDS - 1 && p->jacobi && wgi_eight_bytes(p->open + at.to) == 0)
            wgf8_store(p->other + at.to, wgf8_set(0.0f));
    }
}

static void right_side_sorted(const wgi_projection* p, int32_t j)
{
    const wgi_strides s = wgi_caller_strides(&p->grid);
    const eight_range open = eights_of(p, j, 0), solid = eights_of(p, j, WGI_KINDS);
    const wgf8 zero = wgf8_set(0.0f), sixth = wgf8_set(1.0f / 6.0f);
    for (const wgi_eight* e = open.begin; e < open.end; ++e) {
        const eight_place at = place_of(p, &s, j, e);
        write_right_side(p, at.to, scaled_divergence(p, &s, at.from, 8, 0, wgi8_set(0)), sixth);
    }
#define CLOSED(kind) right_side_mixed(p, &s, j, kind, kind);
#define ANY_FACE(kind) right_side_mixed(p, &s, j, kind, 0);
    if (p->consistent) {
        EACH_MIXED_KIND(ANY_FACE)
    } else {
        EACH_MIXED_KIND(CLOSED)
    }
    for (const wgi_eight* e = solid.begin; e < solid.end; ++e) {
        const size_t to = place_of(p, &s, j, e).to;
        write_right_side(p, to, zero, zero);
        if (p->jacobi)
            wgf8_store(p->other + to, zero);
    }
}

WGI_INLINE void right_side_open(const wgi_projection* p, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const wgi_strides s = wgi_caller_strides(g);
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t from = wgi_caller_row(&s, j, k), to = wgi_project_cell(g, 1, j, k);
        for (size_t n = 0; n < (size_t)g->nx; n += 8)
            write_right_side(
                p, to + n, scaled_divergence(p, &s, from + n, 8, 0, wgi8_set(0)),
                wgf8_set(1.0f / 6.0f));
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
            if (p->masked)
                v = select_bit(wgi_counts(p->faces + to + n), AIR_BIT, v, zero);
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
slope(const float* phi, size_t step, int axes, wgi8 faces, const int axis, wgf8 scale)
{
    wgf8 low = wgf8_load(phi - step), high = wgf8_load(phi + step);
    if (axes >> axis & 1) {
        const wgf8 own = wgf8_load(phi);
        low = select_bit(faces, 2 * axis, low, own);
        high = select_bit(faces, 2 * axis + 1, high, own);
    }
    return scale * (high - low);
}

WGI_INLINE void correct_component(
    const float* velocity, const float* phi, size_t step, float scale, int count, float* out,
    int axes, wgi8 faces, const bool some_solid, const int axis)
{
    const wgf8 u = load_some(velocity, count);
    wgf8 next = u - slope(phi, step, axes, faces, axis, wgf8_set(scale));
    if (some_solid)
        next = select_bit(faces, AIR_BIT, next, u);
    store_some(out, next, count);
}

WGI_INLINE void correct_cells(
    const wgi_projection* p, const wgi_strides* s, size_t from, const float* phi, int count,
    int axes, wgi8 faces, const bool some_solid)
{
    const float scale = 0.5f / p->spacing, *u = p->velocity + from;
    const size_t next = s->component;
    float* out = p->out + from;
    correct_component(u, phi, 1, scale, count, out, axes, faces, some_solid, 0);
    correct_component(
        u + next, phi, p->grid.slab, scale, count, out + next, axes, faces, some_solid, 1);
    correct_component(
        u + 2 * next, phi, p->grid.pitch, scale, count, out + 2 * next, axes, faces, some_solid, 2);
}

WGI_INLINE void keep_cells(const wgi_projection* p, const wgi_strides* s, size_t from, int count)
{
    for (size_t axis = 0; axis < 3 && p->out != p->velocity; ++axis) {
        const size_t at = axis * s->component + from;
        store_some(p->out + at, load_some(p->velocity + at, count), count);
    }
}

WGI_INLINE void
correct_mixed(const wgi_projection* p, const wgi_strides* s, int32_t j, size_t kind, int axes)
{
    const eight_range r = eights_of(p, j, kind);
    for (const wgi_eight* e = r.begin; e < r.end; ++e) {
        const eight_place at = place_of(p, s, j, e);
        const wgi8 bits = wgi_counts(p->faces + at.to);
        if (kind < WGI_KINDS - 1 || at.count >= 8)
            correct_cells(p, s, at.from, p->phi + at.to, 8, axes, bits, true);
        else
            correct_cells(p, s, at.from, p->phi + at.to, at.count, axes, bits, true);
    }
}

static void correct_sorted(const wgi_projection* p, const wgi_strides* s, int32_t j)
{
    const eight_range open = eights_of(p, j, 0), solid = eights_of(p, j, WGI_KINDS);
    for (const wgi_eight* e = open.begin; e < open.end; ++e) {
        const eight_place at = place_of(p, s, j, e);
        correct_cells(p, s, at.from, p->phi + at.to, 8, 0, wgi8_set(0), false);
    }
#define CORRECT_CLOSED(kind) correct_mixed(p, s, j, kind, kind);
#define CORRECT_ANY(kind) correct_mixed(p, s, j, kind, 0);
    if (p->consistent) {
        EACH_MIXED_KIND(CORRECT_ANY)
    } else {
        EACH_MIXED_KIND(CORRECT_CLOSED)
    }
    for (const wgi_eight* e = solid.begin; e < solid.end && p->out != p->velocity; ++e) {
        const eight_place at = place_of(p, s, j, e);
        keep_cells(p, s, at.from, at.count);
    }
}

WGI_INLINE void correct_open(const wgi_projection* p, const wgi_strides* s, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t from = wgi_caller_row(s, j, k), to = wgi_project_cell(g, 1, j, k);
        for (size_t n = 0; n < (size_t)g->nx; n += 8)
            correct_cells(p, s, from + n, p->phi + to + n, 8, 0, wgi8_set(0), false);
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
static void write_found(const wgi_projection* p, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const wgi_strides s = wgi_caller_strides(g);
    for (int32_t k = 1; k <= g->nz; ++k) {
        float* out = p->found + wgi_caller_row(&s, j, k);
        const float* phi = p->phi + wgi_project_cell(g, 1, j, k);
        for (size_t n = 0; n < (size_t)g->nx; n += 8)
            store_some(out + n, wgf8_load(phi + n), g->nx - (int)n);
        out[-1] = out[g->nx] = 0.0f;
    }
    clear_row(p->found + wgi_caller_row(&s, j, 0), g->nx);
    clear_row(p->found + wgi_caller_row(&s, j, g->nz + 1), g->nx);
}

void WGI_ISA(project_found)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_strides s = wgi_caller_strides(&p->grid);
    const int32_t ny = p->grid.ny;
    for (int32_t j = begin; j < end && p->found; ++j) {
        write_found(p, j);
        for (int32_t k = 0; k < p->grid.nz + 2 && (j == 1 || j == ny); ++k) {
            if (j == 1)
                clear_row(p->found + wgi_caller_row(&s, 0, k), p->grid.nx);
            if (j == ny)
                clear_row(p->found + wgi_caller_row(&s, ny + 1, k), p->grid.nx);
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
                wgf8 d = scaled_divergence(p, &s, at, count, p->consistent ? 0 : ALL_AXES, faces);
                if (p->pressure)
                    d -= face_laplacian(p, &s, at, count, faces);
                d = wgf8_select(lanes_with(faces, WGI_AIR), scale * d, wgf8_set(0.0f));
                store_some(p->out + at, d, count);
            }
        }
}
