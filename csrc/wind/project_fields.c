// Between the caller's arrays and the solver's: right side, gradient, divergence, open faces.
//
// A closed face is written with a ghost value: 2 u_solid - u for the velocity, so that the mean at
// the face is u_solid, and phi itself for the potential, so that its gradient is 0. Open faces then
// take exactly the arithmetic of a grid without solids.
#include "wind/project_kernels.h"

#include "support/simd.h"

typedef unsigned char bytes8 __attribute__((vector_size(8)));

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

// All ones in the lanes whose byte is not 0; lanes beyond `count` as solid.
WGI_INLINE wgi8 solid_lanes(const uint8_t* p, int count)
{
    bytes8 b;
    if (count >= 8) {
        memcpy(&b, p, sizeof b);
    } else {
        uint8_t some[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
        for (int i = 0; i < count; ++i)
            some[i] = p[i];
        memcpy(&b, some, sizeof b);
    }
    return __builtin_convertvector(b, wgi8) != wgi8_set(0);
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

// Difference of the two neighbours along one axis, with ghosts behind closed faces.
WGI_INLINE wgf8
difference(const float* centre, const uint8_t* solid, size_t step, int count, bool closed)
{
    wgf8 low = load_some(centre - step, count), high = load_some(centre + step, count);
    if (closed) {
        const wgf8 own = load_some(centre, count);
        low = wgf8_select(solid_lanes(solid - step, count), low + low - own, low);
        high = wgf8_select(solid_lanes(solid + step, count), high + high - own, high);
    }
    return high - low;
}

// h^2 div of eight cells; `index` is theirs in the caller's arrays.
WGI_INLINE wgf8
scaled_divergence(const wgi_projection* p, const strides* s, size_t index, int count, bool solids)
{
    const bool closed = solids && !p->consistent;
    wgf8 d[3];
    for (size_t axis = 0; axis < 3; ++axis)
        d[axis] = difference(
            p->velocity + axis * s->component + index, solids ? p->solid + index : NULL,
            s->axis[axis], count, closed);
    const wgf8 sum = wgf8_set(0.5f * p->spacing) * ((d[0] + d[1]) + d[2]);
    if (!solids)
        return sum;
    return wgf8_select(solid_lanes(p->solid + index, count), wgf8_set(0.0f), sum);
}

WGI_INLINE void right_side_slab(const wgi_projection* p, int32_t j, bool solids)
{
    const wgi_project_grid* g = &p->grid;
    const strides s = caller_strides(g);
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t row = (size_t)k * s.axis[2] + (size_t)j * s.axis[1] + 1;
        float* to = p->right_side + wgi_project_cell(g, 1, j, k);
        for (int32_t i = 0; i < g->nx; i += 8) {
            const int count = g->nx - i;
            const wgf8 d = scaled_divergence(p, &s, row + (size_t)i, count, solids);
            wgf8_store(to + i, d);
        }
        for (int32_t i = g->nx; i < (int32_t)g->pitch - 8; ++i)
            to[i] = 0.0f;
    }
}

void WGI_ISA(project_right_side)(const wgi_projection* p, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        if (p->solid)
            right_side_slab(p, j, true);
        else
            right_side_slab(p, j, false);
    }
}

// Number of open faces of eight cells: those that lead to air; 0 in solids.
WGI_INLINE void open_row(const wgi_projection* p, const strides* s, size_t row, uint8_t* to)
{
    const int32_t nx = p->grid.nx;
    for (int32_t i = 0; i < nx; ++i) {
        const uint8_t* c = p->solid + row + i;
        const int open = (c[-1] == 0) + (c[1] == 0) + (*(c - s->axis[1]) == 0) +
                         (c[s->axis[1]] == 0) + (*(c - s->axis[2]) == 0) + (c[s->axis[2]] == 0);
        to[i] = (uint8_t)(c[0] ? 0 : open);
    }
}

void WGI_ISA(project_open)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    const strides s = caller_strides(g);
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = (size_t)k * s.axis[2] + (size_t)j * s.axis[1] + 1;
            uint8_t* to = p->open + wgi_project_cell(g, 1, j, k);
            if (p->solid)
                open_row(p, &s, row, to);
            else
                memset(to, 6, (size_t)g->nx);
            memset(to + g->nx, 0, g->pitch - 8 - (size_t)g->nx);
        }
}

// Difference of phi over the two neighbours; a closed face takes the cell's own value.
WGI_INLINE wgf8 phi_difference(
    const float* phi, size_t step, const uint8_t* solid, size_t solid_step, int count, bool closed)
{
    wgf8 low = wgf8_load(phi - step), high = wgf8_load(phi + step);
    if (closed) {
        const wgf8 own = wgf8_load(phi);
        low = wgf8_select(solid_lanes(solid - solid_step, count), own, low);
        high = wgf8_select(solid_lanes(solid + solid_step, count), own, high);
    }
    return high - low;
}

WGI_INLINE void
gradient_row(const wgi_projection* p, const strides* s, size_t row, const float* phi, bool solids)
{
    const wgi_project_grid* g = &p->grid;
    const bool closed = solids && !p->consistent;
    const size_t phi_step[3] = { 1, g->slab, g->pitch };
    const wgf8 scale = wgf8_set(0.5f / p->spacing);
    for (int32_t i = 0; i < g->nx; i += 8) {
        const int count = g->nx - i;
        const uint8_t* solid = solids ? p->solid + row + i : NULL;
        for (size_t axis = 0; axis < 3; ++axis) {
            const size_t at = axis * s->component + row + (size_t)i;
            const wgf8 u = load_some(p->velocity + at, count);
            const wgf8 slope =
                scale *
                phi_difference(phi + i, phi_step[axis], solid, s->axis[axis], count, closed);
            wgf8 corrected = u - slope;
            if (solids)
                corrected = wgf8_select(solid_lanes(solid, count), u, corrected);
            store_some(p->out + at, corrected, count);
        }
    }
}

void WGI_ISA(project_gradient)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    const strides s = caller_strides(g);
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = (size_t)k * s.axis[2] + (size_t)j * s.axis[1] + 1;
            const float* phi = p->phi + wgi_project_cell(g, 1, j, k);
            if (p->solid)
                gradient_row(p, &s, row, phi, true);
            else
                gradient_row(p, &s, row, phi, false);
        }
}

// The compact residual div u - lap phi of eight cells straight from the caller's arrays.
WGI_INLINE wgf8
face_residual(const wgi_projection* p, const strides* s, size_t index, int count, bool solids)
{
    const wgf8 own = load_some(p->pressure + index, count);
    wgf8 sum[3];
    for (size_t axis = 0; axis < 3; ++axis) {
        wgf8 side[2];
        for (int high = 0; high < 2; ++high) {
            const size_t at = high ? index + s->axis[axis] : index - s->axis[axis];
            side[high] = load_some(p->pressure + at, count) - own;
            if (solids)
                side[high] =
                    wgf8_select(solid_lanes(p->solid + at, count), wgf8_set(0.0f), side[high]);
        }
        sum[axis] = side[0] + side[1];
    }
    const wgf8 d = scaled_divergence(p, s, index, count, solids);
    const wgf8 r = d - ((sum[0] + sum[1]) + sum[2]);
    if (!solids)
        return r;
    return wgf8_select(solid_lanes(p->solid + index, count), wgf8_set(0.0f), r);
}

void WGI_ISA(project_divergence)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    const strides s = caller_strides(g);
    const wgf8 scale = wgf8_set(1.0f / (p->spacing * p->spacing));
    const bool solids = p->solid != NULL;
    for (int32_t j = begin; j < end; ++j)
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = (size_t)k * s.axis[2] + (size_t)j * s.axis[1] + 1;
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                const int count = g->nx - i;
                const wgf8 d = p->pressure ? face_residual(p, &s, at, count, solids)
                                           : scaled_divergence(p, &s, at, count, solids);
                store_some(p->out + at, scale * d, count);
            }
        }
}
