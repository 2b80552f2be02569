// Transforms and tridiagonal passes of the direct solver, one slab at a time.
//
// The transforms are small matrix products whose sums run over one class of cells: four rows by
// three vectors of accumulators stay in registers. Why there is no fused multiply-add:
// docs/decisions/0020-direct-solver-without-fused-multiply-add.md.
#include "wind/project_kernels.h"

#include "support/simd.h"

WGI_INLINE wgf8 reversed(wgf8 a)
{
    return wgf8_shuffle(a, a, 7, 6, 5, 4, 3, 2, 1, 0);
}

// ---- small matrix products -----------------------------------------------------------------

// C[rows][8 vectors] = A[rows][depth] B[depth][8 vectors]; the counts are compile-time constants.
WGI_INLINE void product_block(
    const float* a, size_t a_row, const float* b, size_t b_row, float* c, size_t c_row,
    int32_t depth, const int rows, const int vectors)
{
    wgf8 sum[4][3];
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
            sum[r][v] = wgf8_set(0.0f);
    for (int32_t k = 0; k < depth; ++k) {
        wgf8 right[3];
        for (int v = 0; v < vectors; ++v)
            right[v] = wgf8_load(b + (size_t)k * b_row + 8 * (size_t)v);
        for (int r = 0; r < rows; ++r) {
            const wgf8 left = wgf8_set(a[(size_t)r * a_row + (size_t)k]);
            for (int v = 0; v < vectors; ++v)
                sum[r][v] += left * right[v];
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
            wgf8_store(c + (size_t)r * c_row + 8 * (size_t)v, sum[r][v]);
}

WGI_INLINE void product_rows(
    const float* a, size_t a_row, const float* b, size_t b_row, float* c, size_t c_row,
    int32_t depth, int32_t columns, const int rows)
{
    int32_t n = 0;
    for (; n + 24 <= columns; n += 24)
        product_block(a, a_row, b + n, b_row, c + n, c_row, depth, rows, 3);
    if (columns - n == 16)
        product_block(a, a_row, b + n, b_row, c + n, c_row, depth, rows, 2);
    else if (columns - n == 8)
        product_block(a, a_row, b + n, b_row, c + n, c_row, depth, rows, 1);
}

// C = A B; `columns` is a multiple of 8.
static void product(
    const float* a, size_t a_row, const float* b, size_t b_row, float* c, size_t c_row,
    int32_t rows, int32_t depth, int32_t columns)
{
    int32_t r = 0;
    for (; r + 4 <= rows; r += 4)
        product_rows(
            a + (size_t)r * a_row, a_row, b, b_row, c + (size_t)r * c_row, c_row, depth, columns,
            4);
    for (; r < rows; ++r)
        product_rows(
            a + (size_t)r * a_row, a_row, b, b_row, c + (size_t)r * c_row, c_row, depth, columns,
            1);
}

static void transform_z(const wgi_direct* d, float* const matrix[2], const float* in, float* out)
{
    size_t first = 0;
    for (int c = 0; c < 2; ++c) {
        const int32_t size = d->z.size[c];
        product(
            matrix[c], (size_t)size, in + first * d->row, d->row, out + first * d->row, d->row,
            size, size, (int32_t)d->row);
        first += (size_t)size;
    }
}

static void transform_x(const wgi_direct* d, float* const matrix[2], const float* in, float* out)
{
    const int32_t rows = d->projection->grid.nz;
    size_t first = 0;
    for (int c = 0; c < 2; ++c) {
        const int32_t padded = d->x.padded[c];
        product(
            in + first, d->row, matrix[c], (size_t)padded, out + first, d->row, rows, d->x.size[c],
            padded);
        first += (size_t)padded;
    }
}

// ---- classes -------------------------------------------------------------------------------

enum { ALONE = 0, SUM = 1, DIFFERENCE = 2 };

WGI_INLINE wgf8 combined(const float* a, const float* b, const int how)
{
    const wgf8 v = wgf8_load(a);
    return how == ALONE ? v : how == SUM ? v + wgf8_load(b) : v - wgf8_load(b);
}

WGI_INLINE float combined_one(const float* a, const float* b, const int how)
{
    return how == ALONE ? *a : how == SUM ? *a + *b : *a - *b;
}

// The combined row's parts symmetric and antisymmetric about its middle.
WGI_INLINE void
fold_row(const wgi_direct_axis* x, const float* a, const float* b, float* to, const int how)
{
    const int32_t pairs = x->size[1], last = x->size[0] + x->size[1] - 1;
    float* odd = to + x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        const wgf8 low = combined(a + i, b + i, how);
        const wgf8 high = reversed(combined(a + last - 7 - i, b + last - 7 - i, how));
        wgf8_store(to + i, low + high);
        wgf8_store(odd + i, low - high);
    }
    for (; i < pairs; ++i) {
        const float low = combined_one(a + i, b + i, how);
        const float high = combined_one(a + last - i, b + last - i, how);
        to[i] = low + high;
        odd[i] = low - high;
    }
    if (x->size[0] > pairs)
        to[pairs] = combined_one(a + pairs, b + pairs, how);
}

WGI_INLINE void
unfold_row(const wgi_direct_axis* x, const float* a, const float* b, float* to, const int how)
{
    const int32_t pairs = x->size[1], last = x->size[0] + x->size[1] - 1;
    const size_t odd = (size_t)x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        const wgf8 e = combined(a + i, b + i, how);
        const wgf8 o = combined(a + odd + i, b + odd + i, how);
        wgf8_store(to + i, e + o);
        wgf8_store(to + last - 7 - i, reversed(e - o));
    }
    for (; i < pairs; ++i) {
        const float e = combined_one(a + i, b + i, how);
        const float o = combined_one(a + odd + i, b + odd + i, how);
        to[i] = e + o;
        to[last - i] = e - o;
    }
    if (x->size[0] > pairs)
        to[pairs] = combined_one(a + pairs, b + pairs, how);
}

static void fold_slab(const wgi_direct* d, int32_t j, float* to)
{
    const wgi_project_grid* g = &d->projection->grid;
    const int32_t pairs = d->z.size[1];
    for (int32_t k = 0; k < pairs; ++k) {
        const float* a = d->in + wgi_project_cell(g, 1, j, k + 1);
        const float* b = d->in + wgi_project_cell(g, 1, j, g->nz - k);
        fold_row(&d->x, a, b, to + (size_t)k * d->row, SUM);
        fold_row(&d->x, a, b, to + (size_t)(d->z.size[0] + k) * d->row, DIFFERENCE);
    }
    if (d->z.size[0] > pairs) {
        const float* a = d->in + wgi_project_cell(g, 1, j, pairs + 1);
        fold_row(&d->x, a, a, to + (size_t)pairs * d->row, ALONE);
    }
}

static void unfold_slab(const wgi_direct* d, int32_t j, const float* from)
{
    const wgi_project_grid* g = &d->projection->grid;
    const int32_t pairs = d->z.size[1];
    for (int32_t k = 0; k < pairs; ++k) {
        const float* a = from + (size_t)k * d->row;
        const float* b = from + (size_t)(d->z.size[0] + k) * d->row;
        unfold_row(&d->x, a, b, d->solution + wgi_project_cell(g, 1, j, k + 1), SUM);
        unfold_row(&d->x, a, b, d->solution + wgi_project_cell(g, 1, j, g->nz - k), DIFFERENCE);
    }
    if (d->z.size[0] > pairs) {
        const float* a = from + (size_t)pairs * d->row;
        unfold_row(&d->x, a, a, d->solution + wgi_project_cell(g, 1, j, pairs + 1), ALONE);
    }
}

static void deal_row(const wgi_direct_axis* x, const float* from, float* to)
{
    float* even = to + x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= x->size[1]; i += 8) {
        const wgf8 a = wgf8_load(from + 2 * i), b = wgf8_load(from + 2 * i + 8);
        wgf8_store(to + i, wgf8_shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14));
        wgf8_store(even + i, wgf8_shuffle(a, b, 1, 3, 5, 7, 9, 11, 13, 15));
    }
    for (; i < x->size[1]; ++i) {
        to[i] = from[2 * i];
        even[i] = from[2 * i + 1];
    }
    if (i < x->size[0])
        to[i] = from[2 * i];
}

static void gather_row(const wgi_direct_axis* x, const float* from, float* to)
{
    const float* even = from + x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= x->size[1]; i += 8) {
        const wgf8 a = wgf8_load(from + i), b = wgf8_load(even + i);
        wgf8_store(to + 2 * i, wgf8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11));
        wgf8_store(to + 2 * i + 8, wgf8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15));
    }
    for (; i < x->size[1]; ++i) {
        to[2 * i] = from[i];
        to[2 * i + 1] = even[i];
    }
    if (i < x->size[0])
        to[2 * i] = from[i];
}

// Row of a transformed slab that holds the cells at z = k (from 1) of the wide operator.
static size_t dealt_row(const wgi_direct* d, int32_t k)
{
    return (size_t)((k - 1) / 2 + (k % 2 == 0 ? d->z.size[0] : 0)) * d->row;
}

static void deal_slab(const wgi_direct* d, int32_t j, float* to)
{
    const wgi_project_grid* g = &d->projection->grid;
    for (int32_t k = 1; k <= g->nz; ++k)
        deal_row(&d->x, d->in + wgi_project_cell(g, 1, j, k), to + dealt_row(d, k));
}

static void gather_slab(const wgi_direct* d, int32_t j, const float* from)
{
    const wgi_project_grid* g = &d->projection->grid;
    for (int32_t k = 1; k <= g->nz; ++k)
        gather_row(&d->x, from + dealt_row(d, k), d->solution + wgi_project_cell(g, 1, j, k));
}

// ---- one slab ------------------------------------------------------------------------------

// Padding after each class is never read as a cell, but it is multiplied along: no stray NaN.
static void clear_padding(const wgi_direct* d, float* slab)
{
    const wgi_direct_axis* x = &d->x;
    if (x->padded[0] == x->size[0] && x->padded[1] == x->size[1])
        return;
    for (int32_t k = 0; k < d->projection->grid.nz; ++k, slab += d->row) {
        for (int32_t i = x->size[0]; i < x->padded[0]; ++i)
            slab[i] = 0.0f;
        for (int32_t i = x->size[1]; i < x->padded[1]; ++i)
            slab[x->padded[0] + i] = 0.0f;
    }
}

void WGI_ISA(direct_forward)(const wgi_direct* d, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        float* hat = d->hat + (size_t)(j - 1) * d->slab;
        float* work = d->pivot + (size_t)(j - 1) * d->slab;
        if (d->stride == 1)
            fold_slab(d, j, hat);
        else
            deal_slab(d, j, hat);
        clear_padding(d, hat);
        transform_z(d, d->z.forward, hat, work);
        transform_x(d, d->x.forward, work, hat);
    }
}

void WGI_ISA(direct_inverse)(const wgi_direct* d, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; ++j) {
        float* hat = d->hat + (size_t)(j - 1) * d->slab;
        float* work = d->pivot + (size_t)(j - 1) * d->slab;
        transform_x(d, d->x.inverse, hat, work);
        transform_z(d, d->z.inverse, work, hat);
        if (d->stride == 1)
            unfold_slab(d, j, hat);
        else
            gather_slab(d, j, hat);
    }
}

// Edges of the unknown at j along y: fewer at the ends of the wide operator's lines.
static float edges_along_y(const wgi_direct* d, int32_t j)
{
    if (d->stride == 1)
        return 2.0f;
    return (float)((j > 1) + (j < d->projection->grid.ny));
}

// Forward elimination of slab j, rows [row_begin, row_end) of it:
// pivot = 1 / (a - pivot_before), hat = (hat - hat_before) pivot.
void WGI_ISA(direct_eliminate)(const wgi_direct* d, int32_t j, int32_t row_begin, int32_t row_end)
{
    const float edges = edges_along_y(d, j), scale = (float)(d->stride * d->stride);
    const size_t back = (size_t)d->stride * d->slab;
    for (int32_t k = row_begin; k < row_end; ++k) {
        const size_t row = (size_t)(j - 1) * d->slab + (size_t)k * d->row;
        const wgf8 along_z = wgf8_set(d->z.eigenvalue[k] - edges);
        for (size_t i = 0; i < d->row; i += 8) {
            float* hat = d->hat + row + i;
            float* pivot = d->pivot + row + i;
            wgf8 a = wgf8_load(d->x.eigenvalue + i) + along_z;
            wgf8 b = wgf8_set(scale) * wgf8_load(hat);
            if (j > d->stride) {
                a -= wgf8_load(pivot - back);
                b -= wgf8_load(hat - back);
            }
            const wgf8 reciprocal = wgf8_set(1.0f) / a;
            wgf8_store(pivot, reciprocal);
            wgf8_store(hat, b * reciprocal);
        }
    }
    // The last equation of the null mode says 0 = 0: its unknown is set to 0.
    if (d->has_null && j == d->projection->grid.ny && row_begin == 0) {
        d->pivot[(size_t)(j - 1) * d->slab] = 0.0f;
        d->hat[(size_t)(j - 1) * d->slab] = 0.0f;
    }
}

// Back substitution of slab j: hat -= pivot hat_after.
void WGI_ISA(direct_substitute)(const wgi_direct* d, int32_t j, int32_t row_begin, int32_t row_end)
{
    if (j + d->stride > d->projection->grid.ny)
        return;
    const size_t ahead = (size_t)d->stride * d->slab;
    for (int32_t k = row_begin; k < row_end; ++k) {
        const size_t row = (size_t)(j - 1) * d->slab + (size_t)k * d->row;
        for (size_t i = 0; i < d->row; i += 8) {
            float* hat = d->hat + row + i;
            const wgf8 pivot = wgf8_load(d->pivot + row + i);
            wgf8_store(hat, wgf8_load(hat) - pivot * wgf8_load(hat + ahead));
        }
    }
}
