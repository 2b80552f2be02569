// Vorticity confinement: Fedkiw, Stam, Jensen, "Visual Simulation of Smoke", SIGGRAPH 2001.
//
// With W = 2 h curl u and m = |W|, both plain differences of velocities, and g the differences of m
// over two cells, the force is f = epsilon / 2 (g x W) / |g|. A tile of rows moves up through the
// slabs with the m of three slabs in a window that stays in cache.
#include <math.h>

#include "support/kernel_table.h"
#include "support/simd.h"

// Columns and rows of a window; 18 kB for three slabs.
enum { WINDOW_COLUMNS = 64, WINDOW_ROWS = WGI_CONFINE_ROWS + 2 };
// |g|^2 below this share of |u|^2 + m^2 is the rounding of u: 24 roundings of 2^-24, squared.
#define VANISHES 0x1p-38f

typedef struct window {
    float size[3][WINDOW_ROWS][WINDOW_COLUMNS]; // m of slab k at size[k % 3]
} window;

// Cells whose force may be non-zero: columns [begin_x, end_x), rows [begin_y, end_y).
typedef struct tile {
    int32_t begin_x, end_x, begin_y, end_y;
} tile;

// ---- eight cells ----

WGI_INLINE void curl8(const wgi_confine_job* job, ptrdiff_t at, wgf8 w[3])
{
    const float *x = job->velocity + at, *y = x + job->cells, *z = y + job->cells;
    const ptrdiff_t up = job->nx, above = job->slab;
    w[0] = (wgf8_load(z + up) - wgf8_load(z - up)) - (wgf8_load(y + above) - wgf8_load(y - above));
    w[1] = (wgf8_load(x + above) - wgf8_load(x - above)) - (wgf8_load(z + 1) - wgf8_load(z - 1));
    w[2] = (wgf8_load(y + 1) - wgf8_load(y - 1)) - (wgf8_load(x + up) - wgf8_load(x - up));
}

// dt f / |g| before the product with 1 / |g|: 0 where g vanishes.
WGI_INLINE wgf8 strength8(const wgi_confine_job* job, const wgf8 g[3], const wgf8 u[3], wgf8 m)
{
    const wgf8 g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    const wgf8 u2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    const wgi8 vanishes = (wgi8)(g2 <= wgf8_set(VANISHES) * (u2 + m * m));
    const wgf8 strength = wgf8_set(job->strength) / wgf8_sqrt(g2);
    return wgf8_from_bits(wgf8_bits(strength) & ~vanishes);
}

WGI_INLINE void confine8(
    const wgi_confine_job* job, ptrdiff_t at, const float* here, const float* below,
    const float* above, const uint8_t* closed)
{
    const float* velocity = job->velocity + at;
    float* out = job->out + at;
    const ptrdiff_t cells = job->cells;
    const wgf8 u[3] = { wgf8_load(velocity), wgf8_load(velocity + cells),
                        wgf8_load(velocity + 2 * cells) };
    const wgf8 g[3] = { wgf8_load(here + 1) - wgf8_load(here - 1),
                        wgf8_load(here + WINDOW_COLUMNS) - wgf8_load(here - WINDOW_COLUMNS),
                        wgf8_load(above) - wgf8_load(below) };
    wgf8 w[3];
    curl8(job, at, w);
    const wgf8 q = strength8(job, g, u, wgf8_load(here));
    wgf8 v[3] = { u[0] + q * (g[1] * w[2] - g[2] * w[1]), u[1] + q * (g[2] * w[0] - g[0] * w[2]),
                  u[2] + q * (g[0] * w[1] - g[1] * w[0]) };
    if (closed) {
        const wgi8 keep = wgi8_load_bytes(closed) != wgi8_set(0);
        for (int c = 0; c < 3; ++c)
            v[c] = wgf8_select(keep, u[c], v[c]);
    }
    for (int c = 0; c < 3; ++c)
        wgf8_store(out + c * cells, v[c]);
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

WGI_INLINE bool all_solid(const uint8_t* marks)
{
    uint64_t m;
    memcpy(&m, marks, 8);
    return ((m - 0x0101010101010101u) & ~m & 0x8080808080808080u) == 0;
}

// m of one slab: the tile with one cell around it. Where eight cells are solid nobody reads it.
static void fill_slab(const wgi_confine_job* job, const tile* t, int32_t k, window* m)
{
    const int32_t begin = t->begin_x - 1, end = t->end_x + 1;
    for (int32_t j = t->begin_y - 1; j < t->end_y + 1; ++j) {
        const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
        float* out = m->size[k % 3][j - t->begin_y + 1];
        for (int32_t next = begin; next < end; next += 8) {
            const int32_t i = next + 8 <= end ? next : end - 8;
            if (job->solid && all_solid(job->solid + row + i))
                continue;
            wgf8 w[3];
            curl8(job, row + i, w);
            wgf8_store(out + (i - begin), wgf8_sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
        }
    }
}

static void copy_run(const wgi_confine_job* job, ptrdiff_t at, int32_t count)
{
    for (int c = 0; c < 3; ++c)
        memcpy(
            job->out + c * job->cells + at, job->velocity + c * job->cells + at,
            (size_t)count * sizeof(float));
}

// closed[n] is non-zero where cell begin + n or one of its six neighbours is solid.
static bool mark_closed(const wgi_confine_job* job, ptrdiff_t begin, int32_t count, uint8_t* closed)
{
    const uint8_t* solid = job->solid + begin;
    const ptrdiff_t y = job->nx, z = job->slab;
    uint8_t any = 0;
    for (int32_t n = 0; n < count; ++n) {
        const uint8_t* p = solid + n;
        closed[n] = (uint8_t)(p[0] | p[-1] | p[1] | p[-y] | p[y] | p[-z] | p[z]);
        any |= closed[n];
    }
    return any != 0;
}

static void confine_slab(const wgi_confine_job* job, const tile* t, int32_t k, const window* m)
{
    for (int32_t j = t->begin_y; j < t->end_y; ++j) {
        const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
        const int32_t line = j - t->begin_y + 1;
        uint8_t closed[WINDOW_COLUMNS];
        const bool some =
            job->solid && mark_closed(job, row + t->begin_x, t->end_x - t->begin_x, closed);
        for (int32_t next = t->begin_x; next < t->end_x; next += 8) {
            const int32_t i = next + 8 <= t->end_x ? next : t->end_x - 8;
            const int32_t column = i - t->begin_x + 1;
            const uint8_t* marks = some ? closed + (i - t->begin_x) : NULL;
            if (marks && all_solid(marks))
                copy_run(job, row + i, 8);
            else
                confine8(
                    job, row + i, &m->size[k % 3][line][column],
                    &m->size[(k + 2) % 3][line][column], &m->size[(k + 1) % 3][line][column],
                    marks);
        }
    }
}

// Cells around the tile that no tile covers, so that each cell is written by one block.
static void copy_margins(const wgi_confine_job* job, const tile* t)
{
    const int32_t begin_y = t->begin_y == 2 ? 0 : t->begin_y;
    const int32_t end_y = t->end_y == job->ny - 2 ? job->ny : t->end_y;
    const int32_t begin_x = t->begin_x == 2 ? 0 : t->begin_x;
    const int32_t end_x = t->end_x == job->nx - 2 ? job->nx : t->end_x;
    for (int32_t k = 0; k < job->nz; ++k)
        for (int32_t j = begin_y; j < end_y; ++j) {
            const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
            if (k < 2 || k >= job->nz - 2 || j < t->begin_y || j >= t->end_y) {
                copy_run(job, row + begin_x, end_x - begin_x);
                continue;
            }
            copy_run(job, row + begin_x, t->begin_x - begin_x);
            copy_run(job, row + t->end_x, end_x - t->end_x);
        }
}

static void confine_tile(const wgi_confine_job* job, const tile* t)
{
    copy_margins(job, t);
    if (t->end_x - t->begin_x < 8) {
        for (int32_t k = 2; k < job->nz - 2; ++k)
            for (int32_t j = t->begin_y; j < t->end_y; ++j) {
                const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx;
                copy_run(job, row + t->begin_x, t->end_x - t->begin_x);
                for (int32_t i = t->begin_x; i < t->end_x; ++i)
                    confine1(job, row + i);
            }
        return;
    }
    window m;
    fill_slab(job, t, 1, &m);
    fill_slab(job, t, 2, &m);
    for (int32_t k = 2; k < job->nz - 2; ++k) {
        fill_slab(job, t, k + 1, &m);
        confine_slab(job, t, k, &m);
    }
}

// Tiles in order of their rows, then columns. The last of a row of tiles takes what is left, up to
// seven columns more, so that none is narrower than a vector.
void WGI_ISA(confine_tiles)(size_t begin, size_t end, void* context)
{
    const wgi_confine_job* job = context;
    for (size_t n = begin; n < end; ++n) {
        const int32_t across = (int32_t)(n % (size_t)job->tiles_across);
        const int32_t down = (int32_t)(n / (size_t)job->tiles_across);
        tile t = { .begin_x = 2 + across * WGI_CONFINE_COLUMNS,
                   .begin_y = 2 + down * job->tile_rows };
        t.end_x = across + 1 == job->tiles_across ? job->nx - 2 : t.begin_x + WGI_CONFINE_COLUMNS;
        t.end_y =
            t.begin_y + job->tile_rows < job->ny - 2 ? t.begin_y + job->tile_rows : job->ny - 2;
        confine_tile(job, &t);
    }
}
