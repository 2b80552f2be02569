// Jacobi sweeps of the compact Laplacian: phi = (sum of the neighbours - h^2 div) / open faces.
//
// Border and solid cells hold phi = 0, so the plain sum over six neighbours is the sum over the
// open ones: solids cost nothing here but the reciprocal of the face count, which is 0 in them.
#include "wind/project_kernels.h"

#include "wind/project_stencil.h"

typedef struct sweep_arrays {
    const float *from, *right_side;
    float* to;
    size_t pitch, slab;
} sweep_arrays;

// `count` rows of a few eights, one above the other, whose weights stay in registers: those of a
// vertical wall are the same from the ground to the roof. `open` has the first row's open faces.
WGI_INLINE void sweep_rows(
    const sweep_arrays* arrays, size_t at, uint32_t count, const uint8_t* open, const int wide)
{
    // A copy, so that the compiler knows that no store changes it.
    const sweep_arrays a = *arrays;
    wgf8 weight[WGI_STRIP_EIGHTS];
#pragma GCC unroll 6
    for (int n = 0; n < wide; ++n)
        weight[n] = wgi_reciprocals(open + 8 * n);
    for (uint32_t k = 0; k < count; ++k, at += a.pitch)
#pragma GCC unroll 6
        for (int n = 0; n < wide; ++n) {
            const size_t cell = at + 8 * (size_t)n;
            const wgf8 sum = wgi_neighbour_sum(a.from + cell, a.pitch, a.slab);
            wgf8_store(a.to + cell, weight[n] * (sum - wgf8_load(a.right_side + cell)));
        }
}

static void
sweep_strip(const sweep_arrays* a, size_t at, uint32_t count, const uint8_t* open, uint32_t wide)
{
    switch (wide) {
    case 1:
        sweep_rows(a, at, count, open, 1);
        break;
    case 2:
        sweep_rows(a, at, count, open, 2);
        break;
    case 3:
        sweep_rows(a, at, count, open, 3);
        break;
    case 4:
        sweep_rows(a, at, count, open, 4);
        break;
    case 5:
        sweep_rows(a, at, count, open, 5);
        break;
    default:
        sweep_rows(a, at, count, open, WGI_STRIP_EIGHTS);
    }
}

static void clear_rows(const sweep_arrays* a, size_t at, uint32_t count, uint32_t wide)
{
    for (uint32_t k = 0; k < count; ++k, at += a->pitch)
        for (uint32_t n = 0; n < wide; ++n)
            wgf8_store(a->to + at + 8 * (size_t)n, wgf8_set(0.0f));
}

static void sweep_sorted(const wgi_projection* p, const sweep_arrays* a, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const size_t most = wgi_project_eights(g);
    const wgi_strip* list = p->strip + (size_t)(j - 1) * most;
    const wgi_strip* end = list + p->strips[j - 1];
    for (const wgi_strip* s = list; s < end; ++s) {
        const size_t at = (size_t)j * g->slab + s->at;
        if (s->solid)
            clear_rows(a, at, s->count, s->wide);
        else
            sweep_strip(a, at, s->count, p->open + at, s->wide);
    }
}

static void sweep_open(const wgi_projection* p, const sweep_arrays* a, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    uint8_t open[8 * WGI_STRIP_EIGHTS];
    memset(open, 6, sizeof open);
    const uint32_t columns = (uint32_t)((g->pitch - 8) / 8);
    for (uint32_t first = 0; first < columns; first += WGI_STRIP_EIGHTS) {
        const uint32_t rest = columns - first;
        const size_t at = wgi_project_cell(g, 1, j, 1) + 8 * (size_t)first;
        sweep_strip(
            a, at, (uint32_t)g->nz, open, rest < WGI_STRIP_EIGHTS ? rest : WGI_STRIP_EIGHTS);
    }
}

void WGI_ISA(project_jacobi_sweep)(
    const wgi_projection* p, const float* from, float* to, int32_t begin, int32_t end)
{
    const sweep_arrays a = { from, p->right_side, to, p->grid.pitch, p->grid.slab };
    for (int32_t j = begin; j < end; ++j) {
        if (p->masked)
            sweep_sorted(p, &a, j);
        else
            sweep_open(p, &a, j);
    }
}

// Sum of the right side's squares over colour 0 less that over colour 1.
void WGI_ISA(project_colour_balance)(
    const wgi_projection* p, double* slab_sums, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t j = begin; j < end; ++j) {
        wgi_product_sum sum = { { 0 }, { 0 } };
        for (int32_t k = 1; k <= g->nz; ++k) {
            const wgi8 mine = wgi_colour_lanes(j, k, 0);
            const float* row = p->right_side + wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const wgf8 b = wgf8_load(row + i);
                wgi_add_product(&sum, b, wgf8_select(mine, b, -b));
            }
        }
        slab_sums[j - 1] = wgi_total(&sum);
    }
}

// Squares of the residual h^2 (div - lap phi): one sum a slab, so that the total is added up in
// the same order for every number of threads.
void WGI_ISA(project_residual)(
    const wgi_projection* p, double* slab_sums, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t j = begin; j < end; ++j) {
        wgi_product_sum sum = { { 0 }, { 0 } };
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                const wgi8 count = wgi_counts(p->open + at);
                const wgf8 lap = wgi_neighbour_sum(p->phi + at, g->pitch, g->slab) -
                                 wgf8_from_int(count) * wgf8_load(p->phi + at);
                const wgf8 all = wgf8_load(p->right_side + at) - lap;
                const wgf8 r = wgf8_select(count == wgi8_set(0), wgf8_set(0.0f), all);
                wgi_add_product(&sum, r, r);
            }
        }
        slab_sums[j - 1] = wgi_total(&sum);
    }
}

void WGI_ISA(project_norm)(const wgi_projection* p, double* slab_sums, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t j = begin; j < end; ++j) {
        wgi_product_sum sum = { { 0 }, { 0 } };
        for (int32_t k = 1; k <= g->nz; ++k) {
            const float* row = p->right_side + wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8)
                wgi_add_product(&sum, wgf8_load(row + i), wgf8_load(row + i));
        }
        slab_sums[j - 1] = wgi_total(&sum);
    }
}
