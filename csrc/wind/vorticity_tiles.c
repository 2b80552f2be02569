// Vorticity confinement: Fedkiw, Stam, Jensen, "Visual Simulation of Smoke", SIGGRAPH 2001.
//
// With W = 2 h curl u and m = |W|, both plain differences of velocities, and g the differences of m
// over two cells, the force is f = epsilon / 2 (g x W) / |g|. A tile of rows moves up through the
// slabs with the m of three slabs in a window that stays in cache.
#include <math.h>

#include "support/kernel_table.h"
#include "wind/confine_lanes.h"
#include "wind/marks.h"

// Columns and rows of a window: 23 kB, so that it shares the first cache with the velocities.
enum { COLUMNS = 64, ROWS = WGI_CONFINE_ROWS + 2 };
// |g|^2 below this share of |u|^2 + m^2 is the rounding of u: 24 roundings of 2^-24, squared.
#define VANISHES 0x1p-38f

typedef struct window {
    float size[3][ROWS][COLUMNS];    // m of slab k at size[k % 3]
    float curl[2][3][ROWS][COLUMNS]; // W of slab k at curl[k % 2]
} window;

// Cells whose force may be non-zero: columns [begin_x, end_x), rows [begin_y, end_y).
typedef struct tile {
    int32_t begin_x, end_x, begin_y, end_y;
} tile;

#if defined(WG_ISA_AVX512)
void wgi_confine_tiles_avx2(size_t begin, size_t end, void* context);
#endif

// ---- a vector of cells ----

WGI_INLINE lanes difference(const float* p, ptrdiff_t stride)
{
    return lanes_load(p + stride) - lanes_load(p - stride);
}

// W and m of neighbouring columns of a slab, row by row; the rows of `x` and of its y and z components
// `cells` further are loaded once for both rows beside them.
static void curl_columns(
    const float* x, ptrdiff_t cells, ptrdiff_t up, ptrdiff_t above, int32_t rows, float* size,
    float* curl)
{
    const float *y = x + cells, *z = y + cells;
    lanes x_under = lanes_load(x - up), x_here = lanes_load(x);
    lanes z_under = lanes_load(z - up), z_here = lanes_load(z);
    for (int32_t j = 0; j < rows; ++j) {
        const lanes x_over = lanes_load(x + up), z_over = lanes_load(z + up);
        const lanes a = (z_over - z_under) - difference(y, above);
        const lanes b = difference(x, above) - difference(z, 1);
        const lanes c = difference(y, 1) - (x_over - x_under);
        lanes_store(curl, a);
        lanes_store(curl + ROWS * COLUMNS, b);
        lanes_store(curl + 2 * ROWS * COLUMNS, c);
        lanes_store(size, lanes_sqrt(a * a + b * b + c * c));
        x_under = x_here, x_here = x_over;
        z_under = z_here, z_here = z_over;
        x += up, y += up, z += up;
        size += COLUMNS, curl += COLUMNS;
    }
}

// The m around cells and their W.
typedef struct around {
    const float *here, *below, *above, *curl;
} around;

WGI_INLINE void confine_lanes(
    const float* velocity, ptrdiff_t cells, float strength, around m, const uint8_t* closed,
    float* out)
{
    const lanes u[3] = { lanes_load(velocity), lanes_load(velocity + cells),
                         lanes_load(velocity + 2 * cells) };
    const lanes w[3] = { lanes_load(m.curl), lanes_load(m.curl + ROWS * COLUMNS),
                         lanes_load(m.curl + 2 * ROWS * COLUMNS) };
    const lanes g[3] = { difference(m.here, 1), difference(m.here, COLUMNS),
                         lanes_load(m.above) - lanes_load(m.below) };
    const lanes size = lanes_load(m.here);
    const lanes g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    const lanes u2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    // True where either is NaN, so that a NaN is not hidden.
    const lane_mask counts = ~(lane_mask)(g2 <= lanes_set(VANISHES) * (u2 + size * size));
    const lanes q = (lanes)((lane_mask)(lanes_set(strength) / lanes_sqrt(g2)) & counts);
    lanes v[3] = { u[0] + q * (g[1] * w[2] - g[2] * w[1]), u[1] + q * (g[2] * w[0] - g[0] * w[2]),
                   u[2] + q * (g[0] * w[1] - g[1] * w[0]) };
    if (closed) {
        const lane_mask open = (lane_mask)(lanes_load_bytes(closed) == 0);
        for (int c = 0; c < 3; ++c)
            v[c] = lanes_select(open, v[c], u[c]);
    }
    for (int c = 0; c < 3; ++c)
        lanes_store(out + c * cells, v[c]);
}

// ---- one cell: the same operations, for grids narrower than a vector ----

static float curl1(const wgi_confine_job* job, ptrdiff_t at, float w[3])
{
    const float *x = job->velocity + at, *y = x + job->cells, *z = y + job->cells;
    const ptrdiff_t up = job->nx, above = job->slab;
    w[0] = (z[up] - z[-up]) - (y[above] - y[-above]);
    w[1] = (x[above] - x[-above]) - (z[1] - z[-1]);
    w[2] = (y[1] - y[-1]) - (x[up] - x[-up]);
    return sqrtf(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

static bool is_closed(const uint8_t* p, ptrdiff_t up, ptrdiff_t above)
{
    return (p[0] | p[-1] | p[1] | p[-up] | p[up] | p[-above] | p[above]) != 0;
}

static void confine1(const wgi_confine_job* job, ptrdiff_t at)
{
    const ptrdiff_t stride[3] = { 1, job->nx, job->slab };
    if (job->solid && is_closed(job->solid + at, stride[1], stride[2]))
        return;
    float w[3], g[3], u[3], unused[3];
    for (int axis = 0; axis < 3; ++axis) {
        g[axis] = curl1(job, at + stride[axis], unused) - curl1(job, at - stride[axis], unused);
        u[axis] = job->velocity[axis * job->cells + at];
    }
    const float m = curl1(job, at, w);
    const float g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    const float u2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    const float q = g2 <= VANISHES * (u2 + m * m) ? 0.0f : job->strength / sqrtf(g2);
    const float f[3] = { g[1] * w[2] - g[2] * w[1], g[2] * w[0] - g[0] * w[2],
                         g[0] * w[1] - g[1] * w[0] };
    for (int c = 0; c < 3; ++c)
        job->out[c * job->cells + at] = u[c] + q * f[c];
}

// ---- a tile ----

// Whether there is a solid cell in a slab of the tile, with the rows around it.
static bool slab_has_solids(const wgi_confine_job* job, const tile* t, int32_t k)
{
    const int32_t rows = t->end_y - t->begin_y + 2;
    return job->solid && wgi_any_mark(
                             job->solid + k * job->slab + (ptrdiff_t)(t->begin_y - 1) * job->nx,
                             (ptrdiff_t)rows * job->nx);
}

// m and W of one slab: the tile with one cell around it. The last columns repeat some of those
// before them.
static void fill_slab(const wgi_confine_job* job, const tile* t, int32_t k, window* m)
{
    const int32_t count = t->end_x - t->begin_x + 2, rows = t->end_y - t->begin_y + 2;
    const float* x =
        job->velocity + k * job->slab + (ptrdiff_t)(t->begin_y - 1) * job->nx + t->begin_x - 1;
    for (int32_t next = 0; next < count; next += LANES) {
        const int32_t i = next + LANES <= count ? next : count - LANES;
        curl_columns(
            x + i, job->cells, job->nx, job->slab, rows, &m->size[k % 3][0][i],
            &m->curl[k % 2][0][0][i]);
    }
}

WGI_INLINE void copy_run(const wgi_confine_job* job, ptrdiff_t at, ptrdiff_t count)
{
    for (int c = 0; c < 3; ++c)
        memcpy(
            job->out + c * job->cells + at, job->velocity + c * job->cells + at,
            (size_t)count * sizeof(float));
}

WGI_INLINE void copy_few(const wgi_confine_job* job, ptrdiff_t at, int count)
{
    for (int c = 0; c < 3; ++c) {
        const float* from = job->velocity + c * job->cells + at;
        float* to = job->out + c * job->cells + at;
        if (count == 4)
            memcpy(to, from, 4 * sizeof *to);
        else
            memcpy(to, from, 2 * sizeof *to);
    }
}

// closed[n] is non-zero where cell begin + n or one of its six neighbours is solid; eight cells at
// least. The last vector repeats what the one before it wrote.
static void mark_closed(const wgi_confine_job* job, ptrdiff_t begin, int32_t count, uint8_t* closed)
{
    const uint8_t* p = job->solid + begin;
    const ptrdiff_t y = job->nx, z = job->slab;
    const int32_t width = count >= 32 ? 32 : 8;
#define WITH_NEIGHBOURS(load, p)                                                                   \
    (load(p) | load((p)-1) | load((p) + 1) | load((p)-y) | load((p) + y) | load((p)-z) |           \
     load((p) + z))
    for (int32_t next = 0; next < count; next += width) {
        const int32_t n = next + width <= count ? next : count - width;
        if (width == 32) {
            const wgi8 any = WITH_NEIGHBOURS(wgi_load_32_marks, p + n);
            memcpy(closed + n, &any, sizeof any);
        } else {
            const uint64_t any = WITH_NEIGHBOURS(wgi_load_marks, p + n);
            memcpy(closed + n, &any, sizeof any);
        }
    }
}

WGI_INLINE around move(around m, ptrdiff_t i)
{
    return (around){ m.here + i, m.below + i, m.above + i, m.curl + i };
}

static void confine_open_row(const wgi_confine_job* job, ptrdiff_t at, ptrdiff_t count, around m)
{
    const ptrdiff_t cells = job->cells;
    const float strength = job->strength, *velocity = job->velocity + at;
    float* out = job->out + at;
    ptrdiff_t i = 0;
    for (; i <= count - LANES; i += LANES)
        confine_lanes(velocity + i, cells, strength, move(m, i), NULL, out + i);
    i = count - LANES;
    if (count % LANES != 0)
        confine_lanes(velocity + i, cells, strength, move(m, i), NULL, out + i);
}

static void confine_row(
    const wgi_confine_job* job, ptrdiff_t at, int32_t count, around m, const uint8_t* closed)
{
    const ptrdiff_t cells = job->cells;
    const float strength = job->strength, *velocity = job->velocity + at;
    float* out = job->out + at;
    for (int32_t next = 0; next < count; next += LANES) {
        const int32_t i = next + LANES <= count ? next : count - LANES;
        if (wgi_all_marked(closed + i) && wgi_all_marked(closed + i + LANES - 8))
            copy_run(job, at + i, LANES);
        else
            confine_lanes(velocity + i, cells, strength, move(m, i), closed + i, out + i);
    }
}

// `built`: there are solids in the slab or beside it.
static void
confine_slab(const wgi_confine_job* job, const tile* t, int32_t k, const window* m, bool built)
{
    const int32_t count = t->end_x - t->begin_x;
    for (int32_t j = t->begin_y; j < t->end_y; ++j) {
        const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
        const int32_t line = j - t->begin_y + 1;
        const around here = { &m->size[k % 3][line][1], &m->size[(k + 2) % 3][line][1],
                              &m->size[(k + 1) % 3][line][1], &m->curl[k % 2][0][line][1] };
        uint8_t found[COLUMNS];
        const uint8_t* closed = NULL;
        if (built && job->classes) {
            closed = job->classes + row + t->begin_x;
        } else if (built) {
            mark_closed(job, row + t->begin_x, count, found);
            closed = found;
        }
        if (closed)
            confine_row(job, row + t->begin_x, count, here, closed);
        else
            confine_open_row(job, row + t->begin_x, count, here);
        // Of whole rows the last two cells come before the next row's first two.
        if (t->begin_x == 2 && (t->end_x < job->nx - 2 || j == t->begin_y))
            copy_few(job, row, 2);
        if (t->end_x == job->nx - 2)
            copy_few(job, row + t->end_x, t->begin_x == 2 && j < t->end_y - 1 ? 4 : 2);
    }
}

// Rows of a slab in the columns that the tile writes: its own and, at the rim, those beyond it.
static void
copy_rows(const wgi_confine_job* job, const tile* t, int32_t k, int32_t from, int32_t to)
{
    const ptrdiff_t begin = t->begin_x == 2 ? 0 : t->begin_x;
    const ptrdiff_t end = t->end_x == job->nx - 2 ? job->nx : t->end_x;
    const bool whole = end - begin == job->nx;
    const ptrdiff_t run = whole ? (ptrdiff_t)(to - from) * job->nx : end - begin;
    for (int32_t j = from; j < to; j += whole ? to - from : 1)
        copy_run(job, k * job->slab + (ptrdiff_t)j * job->nx + begin, run);
}

// The four outermost slabs, a component of one at a time: long runs are what copies fastest.
static void copy_outer_slabs(const wgi_confine_job* job, size_t number, size_t tiles)
{
    const size_t slab = (size_t)job->slab, nz = (size_t)job->nz;
    const size_t outer[4] = { 0, 1, nz - 2, nz - 1 };
    for (size_t n = number; n < 12; n += tiles) {
        const size_t at = n / 4 * (size_t)job->cells + outer[n % 4] * slab;
        memcpy(job->out + at, job->velocity + at, slab * sizeof *job->out);
    }
}

static void confine_narrow_tile(const wgi_confine_job* job, const tile* t)
{
    for (int32_t k = 2; k < job->nz - 2; ++k) {
        copy_rows(job, t, k, t->begin_y, t->end_y);
        for (int32_t j = t->begin_y; j < t->end_y; ++j)
            for (int32_t i = t->begin_x; i < t->end_x; ++i)
                confine1(job, k * job->slab + (ptrdiff_t)j * job->nx + i);
    }
}

static void confine_tile(const wgi_confine_job* job, const tile* t)
{
    for (int32_t k = 2; k < job->nz - 2; ++k) {
        copy_rows(job, t, k, t->begin_y == 2 ? 0 : t->begin_y, t->begin_y);
        copy_rows(job, t, k, t->end_y, t->end_y == job->ny - 2 ? job->ny : t->end_y);
    }
    if (t->end_x - t->begin_x < LANES) {
        confine_narrow_tile(job, t);
        return;
    }
    bool below = slab_has_solids(job, t, 1), here = slab_has_solids(job, t, 2), above;
    window m;
    fill_slab(job, t, 1, &m);
    fill_slab(job, t, 2, &m);
    for (int32_t k = 2; k < job->nz - 2; ++k) {
        // W of slab k + 1 takes the place of slab k - 1, m that of slab k - 2.
        fill_slab(job, t, k + 1, &m);
        above = slab_has_solids(job, t, k + 1);
        confine_slab(job, t, k, &m, below || here || above);
        below = here;
        here = above;
    }
}

// Tiles in order of their rows, then columns. The last of a row of tiles takes what is left, up to
// fifteen columns more, so that none is narrower than a vector unless the grid is.
void WGI_ISA(confine_tiles)(size_t begin, size_t end, void* context)
{
    const wgi_confine_job* job = context;
#if defined(WG_ISA_AVX512)
    if (job->nx - 4 < LANES) {
        wgi_confine_tiles_avx2(begin, end, context);
        return;
    }
#endif
    const size_t rows = (size_t)job->ny - 4, tile_rows = (size_t)job->tile_rows;
    const size_t tiles = (rows + tile_rows - 1) / tile_rows * (size_t)job->tiles_across;
    for (size_t n = begin; n < end; ++n) {
        const int32_t across = (int32_t)(n % (size_t)job->tiles_across);
        const int32_t down = (int32_t)(n / (size_t)job->tiles_across);
        tile t = { .begin_x = 2 + across * WGI_CONFINE_COLUMNS,
                   .begin_y = 2 + down * job->tile_rows };
        t.end_x = across + 1 == job->tiles_across ? job->nx - 2 : t.begin_x + WGI_CONFINE_COLUMNS;
        t.end_y =
            t.begin_y + job->tile_rows < job->ny - 2 ? t.begin_y + job->tile_rows : job->ny - 2;
        copy_outer_slabs(job, n, tiles);
        confine_tile(job, &t);
    }
}
