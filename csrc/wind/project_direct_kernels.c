// Transforms and tridiagonal passes of the direct solver, one slab at a time.
//
// The transforms are small matrix products whose sums run over one class of cells: four rows by
// three vectors of accumulators stay in registers. The sums are fused multiply-adds, by definition:
// docs/decisions/0022-direct-solver-with-fused-multiply-add.md.
#include "wind/project_kernels.h"

#include "support/fused.h"

WGI_INLINE wgf8 reversed(wgf8 a)
{
    return wgf8_shuffle(a, a, 7, 6, 5, 4, 3, 2, 1, 0);
}

// ---- small matrix products -----------------------------------------------------------------

enum { PLAIN = 0, SUBSTITUTE = 1, ELIMINATE = 2 };

typedef struct matrix {
    const float* at;
    size_t row;
} matrix;

// Right factor of a product. SUBSTITUTE takes at - pivot known instead, and keeps it in `known`.
typedef struct source {
    const float *at, *pivot;
    float* known;
    size_t row;
} source;

// Where a product goes. ELIMINATE puts (product - before) pivot there.
typedef struct target {
    float* at;
    const float *pivot, *before;
    size_t row;
} target;

WGI_INLINE wgf8 eliminated(const target* to, size_t at, wgf8 value)
{
    return (value - wgf8_load(to->before + at)) * wgf8_load(to->pivot + at);
}

WGI_INLINE wgf8 substituted(const source* from, size_t at)
{
    const wgf8 pivot = wgf8_load(from->pivot + at), known = wgf8_load(from->known + at);
    const wgf8 value = wgf8_fma(-pivot, known, wgf8_load(from->at + at));
    wgf8_store(from->known + at, value);
    return value;
}

// C[rows][8 vectors] = A[rows][depth] B[depth][8 vectors]; the counts are compile-time constants.
WGI_INLINE void product_block(
    matrix a, source b, target to, int32_t depth, const int rows, const int vectors,
    const int start, const int finish)
{
    wgf8 sum[4][3];
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
            sum[r][v] = wgf8_set(0.0f);
    for (int32_t k = 0; k < depth; ++k) {
        wgf8 right[3];
        for (int v = 0; v < vectors; ++v) {
            const size_t at = (size_t)k * b.row + 8 * (size_t)v;
            right[v] = start == SUBSTITUTE ? substituted(&b, at) : wgf8_load(b.at + at);
        }
        for (int r = 0; r < rows; ++r) {
            const wgf8 left = wgf8_set(a.at[(size_t)r * a.row + (size_t)k]);
            for (int v = 0; v < vectors; ++v)
                sum[r][v] = wgf8_fma(left, right[v], sum[r][v]);
        }
    }
    for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) {
            const size_t at = (size_t)r * to.row + 8 * (size_t)v;
            wgf8_store(
                to.at + at, finish == ELIMINATE ? eliminated(&to, at, sum[r][v]) : sum[r][v]);
        }
}

WGI_INLINE target target_at(target to, size_t by)
{
    return (target){ to.at + by, to.pivot + by, to.before + by, to.row };
}

WGI_INLINE source source_at(source from, size_t by)
{
    return (source){ from.at + by, from.pivot + by, from.known + by, from.row };
}

WGI_INLINE void product_rows(
    matrix a, source b, target to, int32_t depth, int32_t columns, const int rows, const int start,
    const int finish)
{
    int32_t n = 0;
    for (; n + 24 <= columns; n += 24, b = source_at(b, 24), to = target_at(to, 24))
        product_block(a, b, to, depth, rows, 3, start, finish);
    if (columns - n == 16)
        product_block(a, b, to, depth, rows, 2, start, finish);
    else if (columns - n == 8)
        product_block(a, b, to, depth, rows, 1, start, finish);
}

// C = A B; `columns` is a multiple of 8.
WGI_INLINE void product(
    matrix a, source b, target to, int32_t rows, int32_t depth, int32_t columns, const int start,
    const int finish)
{
    // Only the first rows substitute; the others find it done.
    const int32_t first = rows >= 4 ? 4 : rows > 0;
    if (first == 4)
        product_rows(a, b, to, depth, columns, 4, start, finish);
    else if (first == 1)
        product_rows(a, b, to, depth, columns, 1, start, finish);
    if (start == SUBSTITUTE)
        b.at = b.known;
    int32_t r = first;
    a.at += (size_t)first * a.row;
    to = target_at(to, (size_t)first * to.row);
    for (; r + 4 <= rows; r += 4, a.at += 4 * a.row, to = target_at(to, 4 * to.row))
        product_rows(a, b, to, depth, columns, 4, PLAIN, finish);
    for (; r < rows; ++r, a.at += a.row, to = target_at(to, to.row))
        product_rows(a, b, to, depth, columns, 1, PLAIN, finish);
}

// Along z, one class of rows after the other.
WGI_INLINE void transform_z(
    const wgi_direct* d, float* const tables[2], source from, target to, const int start,
    const int finish)
{
    for (int c = 0; c < 2; ++c) {
        const int32_t size = d->z.size[c];
        const matrix table = { tables[c], (size_t)size };
        product(table, from, to, size, size, (int32_t)d->row, start, finish);
        from = source_at(from, (size_t)size * d->row);
        to = target_at(to, (size_t)size * d->row);
    }
}

// Along x, one class of columns after the other.
static void transform_x(const wgi_direct* d, float* const tables[2], const float* from, float* to)
{
    const int32_t rows = d->projection->grid.nz;
    for (int c = 0; c < 2; ++c) {
        const int32_t padded = d->x.padded[c];
        product(
            (matrix){ from, d->row }, (source){ tables[c], tables[c], tables[c], (size_t)padded },
            (target){ to, to, to, d->row }, rows, d->x.size[c], padded, PLAIN, PLAIN);
        from += padded;
        to += padded;
    }
}

// ---- classes -------------------------------------------------------------------------------

// Parts symmetric and antisymmetric about the middle of a row.
WGI_INLINE void fold_row(const wgi_direct_axis* x, const float* a, float* to)
{
    const int32_t pairs = x->size[1], last = x->size[0] + x->size[1] - 1;
    float* odd = to + x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        const wgf8 low = wgf8_load(a + i), high = reversed(wgf8_load(a + last - 7 - i));
        wgf8_store(to + i, low + high);
        wgf8_store(odd + i, low - high);
    }
    for (; i < pairs; ++i) {
        to[i] = a[i] + a[last - i];
        odd[i] = a[i] - a[last - i];
    }
    if (x->size[0] > pairs)
        to[pairs] = a[pairs];
}

// The same of the sum of two rows and of their difference.
static void
fold_rows(const wgi_direct_axis* x, const float* a, const float* b, float* sum, float* difference)
{
    const int32_t pairs = x->size[1], last = x->size[0] + x->size[1] - 1;
    const size_t odd = (size_t)x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        const int32_t mirrored = last - 7 - i;
        const wgf8 a_low = wgf8_load(a + i), b_low = wgf8_load(b + i);
        const wgf8 a_high = wgf8_load(a + mirrored), b_high = wgf8_load(b + mirrored);
        const wgf8 low = a_low + b_low, high = reversed(a_high + b_high);
        wgf8_store(sum + i, low + high);
        wgf8_store(sum + odd + i, low - high);
        const wgf8 low_rest = a_low - b_low, high_rest = reversed(a_high - b_high);
        wgf8_store(difference + i, low_rest + high_rest);
        wgf8_store(difference + odd + i, low_rest - high_rest);
    }
    for (; i < pairs; ++i) {
        const float low = a[i] + b[i], high = a[last - i] + b[last - i];
        sum[i] = low + high;
        sum[odd + i] = low - high;
        const float low_rest = a[i] - b[i], high_rest = a[last - i] - b[last - i];
        difference[i] = low_rest + high_rest;
        difference[odd + i] = low_rest - high_rest;
    }
    if (x->size[0] > pairs) {
        sum[pairs] = a[pairs] + b[pairs];
        difference[pairs] = a[pairs] - b[pairs];
    }
}

WGI_INLINE void unfold_row(const wgi_direct_axis* x, const float* from, float* to)
{
    const int32_t pairs = x->size[1], last = x->size[0] + x->size[1] - 1;
    const float* odd = from + x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        const wgf8 e = wgf8_load(from + i), o = wgf8_load(odd + i);
        wgf8_store(to + i, e + o);
        wgf8_store(to + last - 7 - i, reversed(e - o));
    }
    for (; i < pairs; ++i) {
        to[i] = from[i] + odd[i];
        to[last - i] = from[i] - odd[i];
    }
    if (x->size[0] > pairs)
        to[pairs] = from[pairs];
}

// The two rows whose sum and difference these are.
static void
unfold_rows(const wgi_direct_axis* x, const float* sum, const float* difference, float* a, float* b)
{
    const int32_t pairs = x->size[1], last = x->size[0] + x->size[1] - 1;
    const size_t odd = (size_t)x->padded[0];
    int32_t i = 0;
    for (; i + 8 <= pairs; i += 8) {
        const int32_t mirrored = last - 7 - i;
        const wgf8 s_even = wgf8_load(sum + i), s_odd = wgf8_load(sum + odd + i);
        const wgf8 d_even = wgf8_load(difference + i), d_odd = wgf8_load(difference + odd + i);
        const wgf8 a_even = s_even + d_even, a_odd = s_odd + d_odd;
        wgf8_store(a + i, a_even + a_odd);
        wgf8_store(a + mirrored, reversed(a_even - a_odd));
        const wgf8 b_even = s_even - d_even, b_odd = s_odd - d_odd;
        wgf8_store(b + i, b_even + b_odd);
        wgf8_store(b + mirrored, reversed(b_even - b_odd));
    }
    for (; i < pairs; ++i) {
        const float a_even = sum[i] + difference[i], a_odd = sum[odd + i] + difference[odd + i];
        a[i] = a_even + a_odd;
        a[last - i] = a_even - a_odd;
        const float b_even = sum[i] - difference[i], b_odd = sum[odd + i] - difference[odd + i];
        b[i] = b_even + b_odd;
        b[last - i] = b_even - b_odd;
    }
    if (x->size[0] > pairs) {
        a[pairs] = sum[pairs] + difference[pairs];
        b[pairs] = sum[pairs] - difference[pairs];
    }
}

static void fold_slab(const wgi_direct* d, int32_t j, float* to)
{
    const wgi_project_grid* g = &d->projection->grid;
    const int32_t pairs = d->z.size[1];
    for (int32_t k = 0; k < pairs; ++k)
        fold_rows(
            &d->x, d->in + wgi_project_cell(g, 1, j, k + 1),
            d->in + wgi_project_cell(g, 1, j, g->nz - k), to + (size_t)k * d->row,
            to + (size_t)(d->z.size[0] + k) * d->row);
    if (d->z.size[0] > pairs)
        fold_row(&d->x, d->in + wgi_project_cell(g, 1, j, pairs + 1), to + (size_t)pairs * d->row);
}

static void unfold_slab(const wgi_direct* d, int32_t j, const float* from)
{
    const wgi_project_grid* g = &d->projection->grid;
    const int32_t pairs = d->z.size[1];
    for (int32_t k = 0; k < pairs; ++k)
        unfold_rows(
            &d->x, from + (size_t)k * d->row, from + (size_t)(d->z.size[0] + k) * d->row,
            d->solution + wgi_project_cell(g, 1, j, k + 1),
            d->solution + wgi_project_cell(g, 1, j, g->nz - k));
    if (d->z.size[0] > pairs)
        unfold_row(
            &d->x, from + (size_t)pairs * d->row,
            d->solution + wgi_project_cell(g, 1, j, pairs + 1));
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

// The transformed slab waits where its solution will be.
static float* hat_slab(const wgi_direct* d, int32_t j)
{
    return d->solution + (size_t)j * d->projection->grid.slab;
}

static const float* pivot_slab(const wgi_direct* d, int32_t j)
{
    return d->pivot + (size_t)(j - 1) * d->slab;
}

static target hat_target(const wgi_direct* d, int32_t j)
{
    const float* before = j > d->stride ? hat_slab(d, j - d->stride) : d->edge;
    return (target){ hat_slab(d, j), pivot_slab(d, j), before, d->row };
}

// Zeros around the cells of a slab, and in the padding.
static void clear_rim(const wgi_direct* d, int32_t j)
{
    const wgi_project_grid* g = &d->projection->grid;
    float* row = hat_slab(d, j);
    memset(row, 0, g->pitch * sizeof(float));
    for (int32_t k = 1; k <= g->nz; ++k) {
        row += g->pitch;
        wgf8_store(row, wgf8_set(0.0f));
        if (g->nx % 8 != 0)
            wgf8_store(row + g->pitch - 8, wgf8_set(0.0f));
    }
}

// hat = (transformed - hat_before) pivot, or with `fused` false the transformed slab alone.
void WGI_ISA(direct_forward)(const wgi_direct* d, int32_t begin, int32_t end, bool fused)
{
    for (int32_t j = begin; j < end; ++j) {
        const target hat = hat_target(d, j);
        float* work = d->work + (fused ? 0 : (size_t)(j - 1) * d->slab);
        float* folded = fused ? d->work + d->slab : hat.at;
        if (d->stride == 1)
            fold_slab(d, j, folded);
        else
            deal_slab(d, j, folded);
        transform_x(d, d->x.forward, folded, work);
        const source from = { work, work, work, d->row };
        if (fused)
            transform_z(d, d->z.forward, from, hat, PLAIN, ELIMINATE);
        else
            transform_z(d, d->z.forward, from, hat, PLAIN, PLAIN);
    }
}

// The way back, from the last slab to the first; with `fused` false the rows have been solved.
void WGI_ISA(direct_inverse)(const wgi_direct* d, int32_t begin, int32_t end, bool fused)
{
    for (int32_t j = end - 1; j >= begin; --j) {
        float* solved = d->work + (size_t)(j - 1) * d->slab;
        float* half = fused ? d->work : hat_slab(d, j);
        float* whole = fused ? d->work + d->slab : solved;
        const target to = { half, half, half, d->row };
        if (fused) {
            float* known = d->edge + (size_t)(j % d->stride) * d->slab;
            const source from = { hat_slab(d, j), pivot_slab(d, j), known, d->row };
            transform_z(d, d->z.inverse, from, to, SUBSTITUTE, PLAIN);
        } else {
            const source from = { solved, solved, solved, d->row };
            transform_z(d, d->z.inverse, from, to, PLAIN, PLAIN);
        }
        transform_x(d, d->x.inverse, half, whole);
        clear_rim(d, j);
        if (d->stride == 1)
            unfold_slab(d, j, whole);
        else
            gather_slab(d, j, whole);
    }
}

// Both directions of the tridiagonal systems in rows [row_begin, row_end) of all slabs; the
// solution goes to `work`.
void WGI_ISA(direct_rows)(const wgi_direct* d, int32_t row_begin, int32_t row_end)
{
    const int32_t ny = d->projection->grid.ny;
    const size_t first = (size_t)row_begin * d->row, last = (size_t)row_end * d->row;
    for (int32_t j = 1; j <= ny; ++j) {
        const target hat = hat_target(d, j);
        for (size_t i = first; i < last; i += 8)
            wgf8_store(hat.at + i, eliminated(&hat, i, wgf8_load(hat.at + i)));
    }
    for (int32_t j = ny; j >= 1; --j) {
        const float *hat = hat_slab(d, j), *pivot = pivot_slab(d, j);
        float* solved = d->work + (size_t)(j - 1) * d->slab;
        const float* known = j + d->stride > ny ? d->edge : solved + (size_t)d->stride * d->slab;
        for (size_t i = first; i < last; i += 8)
            wgf8_store(
                solved + i,
                wgf8_fma(-wgf8_load(pivot + i), wgf8_load(known + i), wgf8_load(hat + i)));
    }
}

// Edges of the unknown at j along y: fewer at the ends of the wide operator's lines.
static float edges_along_y(const wgi_direct* d, int32_t j)
{
    if (d->stride == 1)
        return 2.0f;
    return (float)((j > 1) + (j < d->projection->grid.ny));
}

// pivot = 1 / (a - pivot_before) of slab j, a the diagonal of each mode's equations.
void WGI_ISA(direct_pivots)(const wgi_direct* d, int32_t j)
{
    const float edges = edges_along_y(d, j);
    const size_t back = (size_t)d->stride * d->slab;
    float* pivot = d->pivot + (size_t)(j - 1) * d->slab;
    for (int32_t k = 0; k < d->projection->grid.nz; ++k, pivot += d->row) {
        const wgf8 along_z = wgf8_set(d->z.eigenvalue[k] - edges);
        for (size_t i = 0; i < d->row; i += 8) {
            wgf8 a = wgf8_load(d->x.eigenvalue + i) + along_z;
            if (j > d->stride)
                a -= wgf8_load(pivot + i - back);
            wgf8_store(pivot + i, wgf8_set(1.0f) / a);
        }
    }
}
