// Between the caller's arrays and the solver's: open faces, right side, gradient, divergence.
//
// A closed face is written with a ghost value: 2 u_solid - u for the velocity, so that the mean at
// the face is u_solid, and phi itself for the potential, so that its gradient is 0. Open faces then
// take exactly the arithmetic of a grid without solids, and eight cells that are all open, or all
// solid, take a path without any of it.
#include "wind/project_kernels.h"

#include "wind/project_stencil.h"

enum { AIR = 0x40, ALL_OPEN = 0x7f };
static const uint64_t eight_open = 0x7f7f7f7f7f7f7f7fu, eight_air = 0x4040404040404040u;
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

// Sixteen cells: bits 0 to 5 for the open faces low and high along x, y, z, AIR for the cell.
WGI_INLINE void
mark_cells(const uint8_t* solid, const strides* s, int count, uint8_t* faces, uint8_t* open)
{
    const bytes16 air = air_bytes(solid, count);
    bytes16 bits = each(AIR), number = each(0);
    for (int axis = 0; axis < 3; ++axis) {
        const bytes16 low = air_bytes(solid - s->axis[axis], count);
        const bytes16 high = air_bytes(solid + s->axis[axis], count);
        bits |=
            (low & each((uint8_t)(1 << (2 * axis)))) | (high & each((uint8_t)(2 << (2 * axis))));
        number += (low & each(1)) + (high & each(1));
    }
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
        for (int32_t k = 1; k <= g->nz; ++k) {
            const uint64_t open = eight_bytes(p->open + wgi_project_cell(g, 1, j, k) + 8 * n);
            if (open == 0)
                continue;
            c.begin = k < c.begin ? k : c.begin;
            c.end = k + 1;
        }
        for (int32_t k = c.begin; k < c.end; ++k) {
            const uint64_t open = eight_bytes(p->open + wgi_project_cell(g, 1, j, k) + 8 * n);
            c.open = c.open && open == eight_sixes;
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
        const uint8_t* solid = p->solid + from + i;
        uint8_t *faces = p->faces + to + i, *open = p->open + to + i;
        if (g->nx - i >= 16) // a constant count leaves no branch in the loop
            mark_cells(solid, s, 16, faces, open);
        else
            mark_cells(solid, s, g->nx - i, faces, open);
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

// ---- right side ----------------------------------------------------------------------------

// Difference of the two neighbours along one axis, with ghosts behind closed faces.
WGI_INLINE wgf8
difference(const float* centre, size_t step, int count, const bool closed, wgi8 faces, int axis)
{
    wgf8 low = load_some(centre - step, count), high = load_some(centre + step, count);
    if (closed) {
        const wgf8 own = load_some(centre, count);
        low = wgf8_select(lanes_with(faces, 1 << (2 * axis)), low, low + low - own);
        high = wgf8_select(lanes_with(faces, 2 << (2 * axis)), high, high + high - own);
    }
    return high - low;
}

// h^2 div of eight cells; `index` is theirs in the caller's arrays.
WGI_INLINE wgf8 scaled_divergence(
    const wgi_projection* p, const strides* s, size_t index, int count, const bool closed,
    wgi8 faces)
{
    wgf8 d[3];
    for (int axis = 0; axis < 3; ++axis)
        d[axis] = difference(
            p->velocity + (size_t)axis * s->component + index, s->axis[axis], count, closed, faces,
            axis);
    return wgf8_set(0.5f * p->spacing) * ((d[0] + d[1]) + d[2]);
}

WGI_INLINE wgf8 masked_divergence(
    const wgi_projection* p, const strides* s, size_t index, int count, const uint8_t* faces)
{
    const wgf8 zero = wgf8_set(0.0f);
    const uint64_t eight = eight_bytes(faces);
    if (eight == 0)
        return zero;
    if (eight == eight_open || (p->consistent && (eight & eight_air) == eight_air))
        return scaled_divergence(p, s, index, count, false, wgi8_set(0));
    const wgi8 bits = wgi_counts(faces);
    const wgf8 d = p->consistent ? scaled_divergence(p, s, index, count, false, bits)
                                 : scaled_divergence(p, s, index, count, true, bits);
    return wgf8_select(lanes_with(bits, AIR), d, zero);
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
        for (int32_t i = 0; i < g->nx; i += 8) {
            const size_t n = (size_t)i;
            const int count = g->nx - i;
            const uint8_t* faces = masked ? p->faces + to + n : NULL;
            wgf8 d;
            if (!masked)
                d = scaled_divergence(p, &s, from + n, 8, false, wgi8_set(0));
            else if (count >= 8) // a constant count leaves no branch in the loads
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
        low = wgf8_select(lanes_with(faces, 1 << (2 * axis)), low, own);
        high = wgf8_select(lanes_with(faces, 2 << (2 * axis)), high, own);
    }
    return scale * (high - low);
}

WGI_INLINE void correct_cells(
    const wgi_projection* p, const strides* s, size_t from, const float* phi, int count,
    const bool closed, wgi8 faces, const bool some_solid)
{
    const wgf8 scale = wgf8_set(0.5f / p->spacing);
    const size_t step[3] = { 1, p->grid.slab, p->grid.pitch };
    for (int axis = 0; axis < 3; ++axis) {
        const size_t at = (size_t)axis * s->component + from;
        const wgf8 u = load_some(p->velocity + at, count);
        wgf8 next = u - slope(phi, step[axis], closed, faces, axis, scale);
        if (some_solid)
            next = wgf8_select(lanes_with(faces, AIR), next, u);
        store_some(p->out + at, next, count);
    }
}

WGI_INLINE void keep_cells(const wgi_projection* p, const strides* s, size_t from, int count)
{
    for (size_t axis = 0; axis < 3 && p->out != p->velocity; ++axis) {
        const size_t at = axis * s->component + from;
        store_some(p->out + at, load_some(p->velocity + at, count), count);
    }
}

WGI_INLINE void
correct_masked(const wgi_projection* p, const strides* s, size_t from, size_t to, int count)
{
    const float* phi = p->phi + to;
    const uint64_t eight = eight_bytes(p->faces + to);
    const wgi8 bits = wgi_counts(p->faces + to);
    if (eight == eight_open || (p->consistent && (eight & eight_air) == eight_air))
        correct_cells(p, s, from, phi, count, false, bits, false);
    else if (eight == 0)
        keep_cells(p, s, from, count);
    else if (p->consistent)
        correct_cells(p, s, from, phi, count, false, bits, true);
    else
        correct_cells(p, s, from, phi, count, true, bits, true);
}

WGI_INLINE void
correct_row(const wgi_projection* p, const strides* s, size_t from, size_t to, const bool masked)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t i = 0; i < g->nx; i += 8) {
        const size_t n = (size_t)i;
        if (!masked)
            correct_cells(p, s, from + n, p->phi + to + n, 8, false, wgi8_set(0), false);
        else if (g->nx - i >= 8)
            correct_masked(p, s, from + n, to + n, 8);
        else
            correct_masked(p, s, from + n, to + n, g->nx - i);
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
