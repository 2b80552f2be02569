// Jacobi sweeps of the compact Laplacian: phi = (sum of the neighbours - h^2 div) / open faces.
//
// Border and solid cells hold phi = 0, so the plain sum over six neighbours is the sum over the
// open ones: solids cost nothing here but the reciprocal of the face count, which is 0 in them.
#include "wind/project_kernels.h"

#include "support/simd.h"

typedef unsigned char bytes8 __attribute__((vector_size(8)));

static const float reciprocal_of[8] = { 0.0f,        1.0f,        1.0f / 2.0f, 1.0f / 3.0f,
                                        1.0f / 4.0f, 1.0f / 5.0f, 1.0f / 6.0f, 0.0f };

WGI_INLINE wgi8 load_counts(const uint8_t* open)
{
    bytes8 b;
    memcpy(&b, open, sizeof b);
    return __builtin_convertvector(b, wgi8);
}

WGI_INLINE wgf8 reciprocals(const uint8_t* open)
{
#if defined(__AVX2__)
    return (wgf8)_mm256_permutevar8x32_ps(
        _mm256_loadu_ps(reciprocal_of), (__m256i)load_counts(open));
#else
    wgf8 r;
    for (int i = 0; i < 8; ++i)
        r[i] = reciprocal_of[open[i]];
    return r;
#endif
}

// Sum over the six neighbours, in an order that mirroring and exchanging x and y do not change.
WGI_INLINE wgf8 neighbour_sum(const float* phi, size_t pitch, size_t slab)
{
    const wgf8 x = wgf8_load(phi - 1) + wgf8_load(phi + 1);
    const wgf8 y = wgf8_load(phi - slab) + wgf8_load(phi + slab);
    const wgf8 z = wgf8_load(phi - pitch) + wgf8_load(phi + pitch);
    return (x + y) + z;
}

WGI_INLINE void
jacobi_slab(const wgi_projection* p, const float* from, float* to, int32_t j, bool masked)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t k = 1; k <= g->nz; ++k) {
        const size_t row = wgi_project_cell(g, 1, j, k);
        for (int32_t i = 0; i < g->nx; i += 8) {
            const size_t at = row + (size_t)i;
            const wgf8 sum = neighbour_sum(from + at, g->pitch, g->slab);
            const wgf8 weight = masked ? reciprocals(p->open + at) : wgf8_set(1.0f / 6.0f);
            wgf8_store(to + at, weight * (sum - wgf8_load(p->right_side + at)));
        }
    }
}

void WGI_ISA(project_jacobi_sweep)(
    const wgi_projection* p, const float* from, float* to, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        if (p->masked)
            jacobi_slab(p, from, to, j, true);
        else
            jacobi_slab(p, from, to, j, false);
    }
}

// A sum of squares in double, eight lanes that are added up in a fixed order in the end.
typedef struct square_sum {
    double lane[8];
} square_sum;

WGI_INLINE void add_squares(square_sum* sum, wgf8 r)
{
    for (int i = 0; i < 8; ++i)
        sum->lane[i] += (double)r[i] * (double)r[i];
}

WGI_INLINE double total(const square_sum* sum)
{
    const double* s = sum->lane;
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// Squares of the residual h^2 (div - lap phi): one sum a slab, so that the total is added up in
// the same order for every number of threads.
void WGI_ISA(project_residual)(
    const wgi_projection* p, double* slab_sums, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t j = begin; j < end; ++j) {
        square_sum sum = { { 0 } };
        for (int32_t k = 1; k <= g->nz; ++k) {
            const size_t row = wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8) {
                const size_t at = row + (size_t)i;
                const wgi8 count = load_counts(p->open + at);
                const wgf8 lap = neighbour_sum(p->phi + at, g->pitch, g->slab) -
                                 wgf8_from_int(count) * wgf8_load(p->phi + at);
                const wgf8 r = wgf8_load(p->right_side + at) - lap;
                add_squares(&sum, wgf8_select(count == wgi8_set(0), wgf8_set(0.0f), r));
            }
        }
        slab_sums[j - 1] = total(&sum);
    }
}

void WGI_ISA(project_norm)(const wgi_projection* p, double* slab_sums, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    for (int32_t j = begin; j < end; ++j) {
        square_sum sum = { { 0 } };
        for (int32_t k = 1; k <= g->nz; ++k) {
            const float* row = p->right_side + wgi_project_cell(g, 1, j, k);
            for (int32_t i = 0; i < g->nx; i += 8)
                add_squares(&sum, wgf8_load(row + i));
        }
        slab_sums[j - 1] = total(&sum);
    }
}
