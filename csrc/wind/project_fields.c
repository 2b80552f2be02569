// Between the caller's arrays and the solver's: open faces, right side, gradient, divergence.
//
// A closed face is written with a ghost value: 2 u_solid - u for the velocity, so that the mean at
// the face is u_solid, and phi itself for the potential, so that its gradient is 0. Open faces then
// take exactly the arithmetic of a grid without solids; rows that are all open, and eight cells that
// are all solid, take a path without any of it.
#include "wind/project_kernels.h"

#include "wind/project_stencil.h"

enum { AIR = 0x40, ALL_OPEN = 0x7f };
static const uint64_t eight_open = 0x7f7f7f7f7f7f7f7fu;
static const uint64_t eight_sixes = 0x0606060606060606u;

WGI_INLINE uint64_t eight_bytes(const uint8_t* p)
{
    uint64_t b;
    memcpy(&b, p, sizeof b);
    return b;
}

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

typedef struct strides {
    size_t axis[3]; // of a neighbour along x, y, z in the caller's arrays
    size_t component;
} strides;

static strides caller_strides(const wgi_project_grid* g)
{
    const size_t row = (size_t)g->nx + 2, plane = row * ((size_t)g->ny + 2);
    return (strides){ { 1, row, plane }, plane * ((size_t)g->nz + 2) };
}

static size_t caller_row(const strides* s, int32_t j, int32_t k)
{
    return (size_t)k * s->axis[2] + (size_t)j * s->axis[1] + 1;
}

// ---- open faces ----------------------------------------------------------------------------

typedef uint8_t bytes16 __attribute__((vector_size(16)));

// 0xff where the marks say air; bytes beyond `count` count as solid.
WGI_INLINE bytes16 air_bytes(const uint8_t* solid, int count)
{
    bytes16 b;
    if (count >= 16) {
        memcpy(&b, solid, sizeof b);
    } else {
        uint8_t some[16];
        for (int i = 0; i < 16; ++i)
            some[i] = i < count ? solid[i] : 1;
        memcpy(&b, some, sizeof b);
    }
    return (bytes16)(b == (bytes16){ 0 });
}

WGI_INLINE bytes16 each(uint8_t value)
{
    return (bytes16){ 0 } + value;
}

// Adds the two faces along an axis to the bits and to their number.
WGI_INLINE void mark_axis(
    const uint8_t* solid, size_t step, int count, const int axis, bytes16* bits, bytes16* number)
{
    const bytes16 low = air_bytes(solid - step, count), high = air_bytes(solid + step, count);
    *bits |= (low & each((uint8_t)(1 << (2 * axis)))) | (high & each((uint8_t)(2 << (2 * axis))));
    // All ones count as -1.
    *number -= low + high;
}

// Sixteen cells: bits 0 to 5 for the open faces low and high along x, y, z, AIR for the cell.
WGI_INLINE void
mark_cells(const uint8_t* solid, const strides* s, int count, uint8_t* faces, uint8_t* open)
{
    const bytes16 air = air_bytes(solid, count);
    bytes16 bits = each(AIR), number = each(0);
    mark_axis(solid, s->axis[0], count, 0, &bits, &number);
    mark_axis(solid, s->axis[1], count, 1, &bits, &number);
    mark_axis(solid, s->axis[2], count, 2, &bits, &number);
    bits &= air;
    number &= air;
    const size_t kept = count >= 16 ? 16 : (size_t)count;
    memcpy(faces, &bits, kept);
    memcpy(open, &number, kept);
}

static void find_columns(const wgi_projection* p, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const size_t count = (g->pitch - 8) / 8;
    for (size_t n = 0; n < count; ++n) {
        wgi_column c = { g->nz + 1, 0, true };
        const uint8_t* open = p->open + wgi_project_cell(g, 1, j, 1) + 8 * n;
        for (int32_t k = 1; k <= g->nz; ++k, open += g->pitch) {
            const uint64_t eight = eight_bytes(open);
            if (eight == 0)
                continue;
            c.begin = k < c.begin ? k : c.begin;
            // A level of solids in between closes faces too.
            c.open = c.open && eight == eight_sixes && (c.end == 0 || c.end == k);
            c.end = k + 1;
        }
        p->column[(size_t)(j - 1) * count + n] = c;
    }
}

static void mark_row(const wgi_projection* p, const strides* s, int32_t j, int32_t k)
{
    const wgi_project_grid* g = &p->grid;
    const size_t to = wgi_project_cell(g, 1, j, k), from = caller_row(s, j, k);
    const size_t padding = g->pitch - 8 - (size_t)g->nx;
    for (int32_t i = 0; i < g->nx && p->solid; i += 16) {
        const size_t n = (size_t)i;
        if (g->nx - i >= 16)
            mark_cells(p->solid + from + n, s, 16, p->faces + to + n, p->open + to + n);
        else
            mark_cells(p->solid + from + n, s, g->nx - i, p->faces + to + n, p->open + to + n);
    }
    if (!p->solid) {
        memset(p->faces + to, ALL_OPEN, (size_t)g->nx);
        memset(p->open + to, 6, (size_t)g->nx);
    }
    memset(p->faces + to + g->nx, 0, padding);
    memset(p->open + to + g->nx, 0, padding);
    for (size_t n = to; p->weight && n < to + g->pitch - 8; n += 8)
        wgf8_store(p->weight + n, wgi_reciprocals(p->open + n));
}

void WGI_ISA(project_faces)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    const strides s = caller_strides(g);
    for (int32_t j = begin; j < end; ++j) {
        for (int32_t k = 1; k <= g->nz; ++k)
            mark_row(p, &s, j, k);
        if (p->column)
            find_columns(p, j);
    }
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

// Whether no face of `count` cells is closed, a multiple of eight.
WGI_INLINE bool all_open(const uint8_t* faces, int32_t count)
{
    uint64_t common = eight_open;
    for (int32_t i = 0; i < count; i += 8)
        common &= eight_bytes(faces + i);
    return common == eight_open && count % 8 == 0;
}

// ---- right side ----------------------------------------------------------------------------

// Difference of the two neighbours along one axis, with ghosts behind closed faces.
WGI_INLINE wgf8
difference(const float* centre, size_t step, int count, const bool closed, wgi8 faces, int axis)
{
    wgf8 low = load_some(centre - step, count), high = load_some(centre + step, count);
    if (closed) {
        const wgf8 own = load_some(centre, count);
        low = select_bit(faces, 2 * axis, low, low + low - own);
        high = select_bit(faces, 2 * axis + 1, high, high + high - own);
    }
    return high - low;
}

// h^2 div of eight cells; `index` is theirs in the caller's arrays.
WGI_INLINE wgf8 scaled_divergence(
    const wgi_projection* p, const strides* s, size_t index, int count, const bool closed,
    wgi8 faces)
{
    const float *u = p->velocity + index, *v = u + s->component, *w = v + s->component;
    const wgf8 x = difference(u, s->axis[0], count, closed, faces, 0);
    const wgf8 y = difference(v, s->axis[1], count, closed, faces, 1);
    const wgf8 z = difference(w, s->axis[2], count, closed, faces, 2);
    return wgf8_set(0.5f * p->spacing) * ((x + y) + z);
}

// In a row that is not all open, blocks of cells that are take the same way as those that are not:
// which they are cannot be foreseen.
WGI_INLINE wgf8 masked_divergence(
    const wgi_projection* p, const strides* s, size_t index, int count, const uint8_t* faces)
{
    const wgf8 zero = wgf8_set(0.0f);
    const uint64_t eight = eight_bytes(faces);
    if (eight == 0)
        return zero;
    const wgi8 bits = wgi_counts(faces);
    const wgf8 d = p->consistent ? scaled_divergence(p, s, index, count, false, bits)
                                 : scaled_divergence(p, s, index, count, true, bits);
    return select_bit(bits, AIR_BIT, d, zero);
}

// The first Jacobi sweep from phi = 0, where it is asked for: phi = (0 - b) / open.
WGI_INLINE void first_sweep(const wgi_projection* p, size_t at, wgf8 b)
{
    const wgf8 weight = p->masked ? wgf8_load(p->weight + at) : wgf8_set(1.0f / 6.0f);
    wgf8_store(p->phi + at, weight * (wgf8_set(0.0f) - b));
}

WGI_INLINE void right_side_slab(const wgi_projection* p, int32_t j, const bool masked)
{
    const wgi_project_grid* g = &p->grid;
    const strides s = caller_strides(g);
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t from = caller_row(&s, j, k), to = wgi_project_cell(g, 1, j, k);
        const bool plain = !masked || all_open(p->faces + to, g->nx);
        for (int32_t i = 0; i < g->nx; i += 8) {
            const size_t n = (size_t)i;
            const uint8_t* faces = p->faces + to + n;
            const int count = g->nx - i;
            wgf8 d;
            if (plain)
                d = scaled_divergence(p, &s, from + n, 8, false, wgi8_set(0));
            else if (count >= 8)
                d = masked_divergence(p, &s, from + n, 8, faces);
            else
                d = masked_divergence(p, &s, from + n, count, faces);
            wgf8_store(p->right_side + to + n, d);
            if (p->sweep_at_once)
                first_sweep(p, to + n, d);
        }
    }
}

void WGI_ISA(project_right_side)(const wgi_projection* p, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        if (p->masked)
            right_side_slab(p, j, true);
        else
            right_side_slab(p, j, false);
    }
}

// ---- gradient ------------------------------------------------------------------------------

// Half the sum of the two face gradients; a closed face takes the cell's own phi.
WGI_INLINE wgf8
slope(const float* phi, size_t step, const bool closed, wgi8 faces, int axis, wgf8 scale)
{
    wgf8 low = wgf8_load(phi - step), high = wgf8_load(phi + step);
    if (closed) {
        const wgf8 own = wgf8_load(phi);
        low = select_bit(faces, 2 * axis, low, own);
        high = select_bit(faces, 2 * axis + 1, high, own);
    }
    return scale * (high - low);
}

WGI_INLINE void correct_component(
    const float* velocity, const float* phi, size_t step, float scale, int count, float* out,
    const bool closed, wgi8 faces, const bool some_solid, const int axis)
{
    const wgf8 u = load_some(velocity, count);
    wgf8 next = u - slope(phi, step, closed, faces, axis, wgf8_set(scale));
    if (some_solid)
        next = select_bit(faces, AIR_BIT, next, u);
    store_some(out, next, count);
}

WGI_INLINE void correct_cells(
    const wgi_projection* p, const strides* s, size_t from, const float* phi, int count,
    const bool closed, wgi8 faces, const bool some_solid)
{
    const float scale = 0.5f / p->spacing, *u = p->velocity + from;
    const size_t next = s->component;
    float* out = p->out + from;
    correct_component(u, phi, 1, scale, count, out, closed, faces, some_solid, 0);
    correct_component(
        u + next, phi, p->grid.slab, scale, count, out + next, closed, faces, some_solid, 1);
    correct_component(
        u + 2 * next, phi, p->grid.pitch, scale, count, out + 2 * next, closed, faces, some_solid,
        2);
}

WGI_INLINE void keep_cells(const wgi_projection* p, const strides* s, size_t from, int count)
{
    for (size_t axis = 0; axis < 3 && p->out != p->velocity; ++axis) {
        const size_t at = axis * s->component + from;
        store_some(p->out + at, load_some(p->velocity + at, count), count);
    }
}

WGI_INLINE void
correct_masked_cells(const wgi_projection* p, const strides* s, size_t from, size_t to, int count)
{
    const float* phi = p->phi + to;
    const wgi8 bits = wgi_counts(p->faces + to);
    if (eight_bytes(p->faces + to) == 0)
        keep_cells(p, s, from, count);
    else if (p->consistent)
        correct_cells(p, s, from, phi, count, false, bits, true);
    else
        correct_cells(p, s, from, phi, count, true, bits, true);
}

WGI_INLINE void
correct_row(const wgi_projection* p, const strides* s, size_t from, size_t to, const bool masked)
{
    const int32_t nx = p->grid.nx;
    const bool plain = !masked || all_open(p->faces + to, nx);
    for (int32_t i = 0; i < nx; i += 8) {
        const size_t n = (size_t)i;
        if (plain)
            correct_cells(p, s, from + n, p->phi + to + n, 8, false, wgi8_set(0), false);
        else if (nx - i >= 8)
            correct_masked_cells(p, s, from + n, to + n, 8);
        else
            correct_masked_cells(p, s, from + n, to + n, nx - i);
    }
}

// Writes the rows of the interior, the border cells at their two ends included.
void WGI_ISA(project_gradient)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    const strides s = caller_strides(g);
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t from = caller_row(&s, j, k), to = wgi_project_cell(g, 1, j, k);
            if (p->masked)
                correct_row(p, &s, from, to, true);
            else
                correct_row(p, &s, from, to, false);
            for (size_t axis = 0; axis < 3 && p->out != p->velocity; ++axis) {
                const size_t row = axis * s.component + from;
                p->out[row - 1] = p->velocity[row - 1];
                p->out[row + (size_t)g->nx] = p->velocity[row + (size_t)g->nx];
            }
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
WGI_INLINE wgi8 read_faces(const wgi_projection* p, const strides* s, size_t index, int count)
{
    if (!p->solid)
        return wgi8_set(ALL_OPEN);
    wgi8 bits = wgi8_set(AIR);
    for (int axis = 0; axis < 3; ++axis) {
        const uint8_t* at = p->solid + index;
        bits |= ~solid_lanes(at - s->axis[axis], count) & wgi8_set(1 << (2 * axis));
        bits |= ~solid_lanes(at + s->axis[axis], count) & wgi8_set(2 << (2 * axis));
    }
    return bits & ~solid_lanes(p->solid + index, count);
}

// Sum over open faces of phi_neighbour - phi, straight from the caller's array.
WGI_INLINE wgf8
face_laplacian(const wgi_projection* p, const strides* s, size_t index, int count, wgi8 faces)
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
    const strides s = caller_strides(g);
    const wgf8 scale = wgf8_set(1.0f / (p->spacing * p->spacing));
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = caller_row(&s, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                const int count = g->nx - i;
                const wgi8 faces = read_faces(p, &s, at, count);
                wgf8 d = scaled_divergence(p, &s, at, count, !p->consistent, faces);
                if (p->pressure)
                    d -= face_laplacian(p, &s, at, count, faces);
                d = wgf8_select(lanes_with(faces, AIR), scale * d, wgf8_set(0.0f));
                store_some(p->out + at, d, count);
            }
        }
}
