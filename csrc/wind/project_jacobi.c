// Jacobi sweeps of the compact Laplacian: phi = (sum of the neighbours - h^2 div) / open faces.
//
// Border and solid cells hold phi = 0, so the plain sum over six neighbours is the sum over the
// open ones: solids cost nothing here but the reciprocal of the face count, which is 0 in them.
#include "wind/project_kernels.h"

#include "wind/project_stencil.h"

// One column of vectors, `count` of them up along z: what is below is still in a register when the
// next one is met.
WGI_INLINE void jacobi_column(
    const wgi_projection* p, const float* from, float* to, size_t at, int32_t count,
    const bool masked)
{
    const size_t pitch = p->grid.pitch, slab = p->grid.slab;
    // Read once: for all the compiler knows a store could change them.
    const float *right_side = p->right_side, *weights = p->weight;
    wgf8 below = wgf8_load(from + at - pitch), here = wgf8_load(from + at);
    for (int32_t k = 0; k < count; ++k, at += pitch) {
        const float* phi = from + at;
        const wgf8 above = wgf8_load(phi + pitch);
        const wgf8 x = wgf8_load(phi - 1) + wgf8_load(phi + 1);
        const wgf8 y = wgf8_load(phi - slab) + wgf8_load(phi + slab);
        const wgf8 sum = (x + y) + (below + above);
        const wgf8 weight = masked ? wgf8_load(weights + at) : wgf8_set(1.0f / 6.0f);
        wgf8_store(to + at, weight * (sum - wgf8_load(right_side + at)));
        below = here;
        here = above;
    }
}

// Solid blocks at the two ends of a column are left out: phi is and stays 0 there.
static void masked_slab(const wgi_projection* p, const float* from, float* to, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const size_t columns = (g->pitch - 8) / 8;
    for (size_t n = 0; n < columns; ++n) {
        const wgi_column c = p->column[(size_t)(j - 1) * columns + n];
        const size_t at = wgi_project_cell(g, 1, j, c.begin) + 8 * n;
        if (c.end <= c.begin)
            continue;
        if (c.open)
            jacobi_column(p, from, to, at, c.end - c.begin, false);
        else
            jacobi_column(p, from, to, at, c.end - c.begin, true);
    }
}

void WGI_ISA(project_jacobi_sweep)(
    const wgi_projection* p, const float* from, float* to, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        if (p->masked) {
            masked_slab(p, from, to, j);
            continue;
        }
        const size_t first = wgi_project_cell(&p->grid, 1, j, 1);
        for (int32_t i = 0; i < p->grid.nx; i += 8)
            jacobi_column(p, from, to, first + (size_t)i, p->grid.nz, false);
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
