// Vorticity confinement: Fedkiw, Stam, Jensen, "Visual Simulation of Smoke", SIGGRAPH 2001.
//
// With W = 2 h curl u and m = |W|, both plain differences of velocities, and g the differences of m
// over two cells, the force is f = epsilon / 2 (g x W) / |g|. A tile of rows moves up through the
// slabs with the m of three slabs in a window that stays in cache.
#include <math.h>

#include "support/kernel_table.h"
#include "support/simd.h"
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

// ---- eight cells ----

WGI_INLINE wgf8 difference(const float* p, ptrdiff_t stride)
{
    return wgf8_load(p + stride) - wgf8_load(p - stride);
}

// W and m of the eight cells at x, and of their y and z components `cells` further.
WGI_INLINE void
curl8(const float* x, ptrdiff_t cells, ptrdiff_t up, ptrdiff_t above, float* size, float* curl)
{
    const float *y = x + cells, *z = y + cells;
    const wgf8 a = difference(z, up) - difference(y, above);
    const wgf8 b = difference(x, above) - difference(z, 1);
    const wgf8 c = difference(y, 1) - difference(x, up);
    wgf8_store(curl, a);
    wgf8_store(curl + ROWS * COLUMNS, b);
    wgf8_store(curl + 2 * ROWS * COLUMNS, c);
    wgf8_store(size, wgf8_sqrt(a * a + b * b + c * c));
}

// The m around eight cells and their W.
typedef struct around {
    const float *here, *below, *above, *curl;
} around;

WGI_INLINE void confine8(
    const float* velocity, ptrdiff_t cells, float strength, around m, const uint8_t* closed,
    float* out)
{
    const wgf8 u[3] = { wgf8_load(velocity), wgf8_load(velocity + cells),
                        wgf8_load(velocity + 2 * cells) };
    const wgf8 w[3] = { wgf8_load(m.curl), wgf8_load(m.curl + ROWS * COLUMNS),
                        wgf8_load(m.curl + 2 * ROWS * COLUMNS) };
    const wgf8 g[3] = { difference(m.here, 1), difference(m.here, COLUMNS),
                        wgf8_load(m.above) - wgf8_load(m.below) };
    const wgf8 size = wgf8_load(m.here);
    const wgf8 g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    const wgf8 u2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    // True where either is NaN, so that a NaN is not hidden.
    const wgi8 counts = ~(wgi8)(g2 <= wgf8_set(VANISHES) * (u2 + size * size));
    const wgf8 q = wgf8_from_bits(wgf8_bits(wgf8_set(strength) / wgf8_sqrt(g2)) & counts);
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

// Whether there is a solid cell in a slab of the tile, with the rows around it.
static bool slab_has_solids(const wgi_confine_job* job, const tile* t, int32_t k)
{
    const int32_t rows = t->end_y - t->begin_y + 2;
    return job->solid && wgi_any_mark(
                             job->solid + k * job->slab + (ptrdiff_t)(t->begin_y - 1) * job->nx,
                             (ptrdiff_t)rows * job->nx);
}

static bool tile_has_solids(const wgi_confine_job* job, const tile* t)
{
    bool some = false;
    for (int32_t k = 1; k < job->nz - 1 && !some; ++k)
        some = slab_has_solids(job, t, k);
    return some;
}

// m and W of one slab: the tile with one cell around it. Where eight cells are solid nobody reads
// them.
static void fill_slab(const wgi_confine_job* job, const tile* t, int32_t k, window* m)
{
    const int32_t count = t->end_x - t->begin_x + 2, first = t->begin_y - 1;
    const ptrdiff_t up = job->nx, above = job->slab, cells = job->cells;
    for (int32_t j = first; j < t->end_y + 1; ++j) {
        const ptrdiff_t row = k * job->slab + (ptrdiff_t)j * job->nx + t->begin_x - 1;
        const float* velocity = job->velocity + row;
        float *size = m->size[k % 3][j - first], *curl = m->curl[k % 2][0][j - first];
        const uint8_t* solid = job->solid ? job->solid + row : NULL;
        for (int32_t next = 0; next < count; next += 8) {
            const int32_t i = next + 8 <= count ? next : count - 8;
            if (solid && wgi_all_marked(solid + i))
                continue;
            curl8(velocity + i, cells, up, above, size + i, curl + i);
        }
    }
}

WGI_INLINE void copy_run(const wgi_confine_job* job, ptrdiff_t at, int32_t count)
{
    for (int c = 0; c < 3; ++c)
        memcpy(
            job->out + c * job->cells + at, job->velocity + c * job->cells + at,
            (size_t)count * sizeof(float));
}

// The two outermost cells of a row, which no vector covers.
static void copy_pair(const wgi_confine_job* job, ptrdiff_t at)
{
    for (int c = 0; c < 3; ++c)
        memcpy(
            job->out + c * job->cells + at, job->velocity + c * job->cells + at, 2 * sizeof(float));
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

static void confine_row(
    const wgi_confine_job* job, ptrdiff_t at, int32_t count, around m, const uint8_t* closed)
{
    const ptrdiff_t cells = job->cells;
    const float strength = job->strength, *velocity = job->velocity + at;
    float* out = job->out + at;
    for (int32_t next = 0; next < count; next += 8) {
        const int32_t i = next + 8 <= count ? next : count - 8;
        const around here = { m.here + i, m.below + i, m.above + i, m.curl + i };
        if (!closed)
            confine8(velocity + i, cells, strength, here, NULL, out + i);
        else if (wgi_all_marked(closed + i))
            copy_run(job, at + i, 8);
        else
            confine8(velocity + i, cells, strength, here, closed + i, out + i);
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
        confine_row(job, row + t->begin_x, count, here, closed);
        if (t->begin_x == 2)
            copy_pair(job, row);
        if (t->end_x == job->nx - 2)
            copy_pair(job, row + t->end_x);
    }
}

// Columns and rows of a slab that the tile writes: its own and, at the rim, those beyond it.
static void
copy_slab(const wgi_confine_job* job, const tile* t, int32_t k, int32_t from, int32_t to)
{
    const int32_t begin = t->begin_x == 2 ? 0 : t->begin_x;
    const int32_t end = t->end_x == job->nx - 2 ? job->nx : t->end_x;
    for (int32_t j = from; j < to; ++j)
        copy_run(job, k * job->slab + (ptrdiff_t)j * job->nx + begin, end - begin);
}

static void copy_margins(const wgi_confine_job* job, const tile* t)
{
    const int32_t begin = t->begin_y == 2 ? 0 : t->begin_y;
    const int32_t end = t->end_y == job->ny - 2 ? job->ny : t->end_y;
    for (int32_t k = 0; k < job->nz; ++k) {
        const bool outer = k < 2 || k >= job->nz - 2;
        copy_slab(job, t, k, begin, outer ? end : t->begin_y);
        copy_slab(job, t, k, outer ? end : t->end_y, end);
    }
}

static void confine_narrow_tile(const wgi_confine_job* job, const tile* t)
{
    for (int32_t k = 2; k < job->nz - 2; ++k) {
        copy_slab(job, t, k, t->begin_y, t->end_y);
        for (int32_t j = t->begin_y; j < t->end_y; ++j)
            for (int32_t i = t->begin_x; i < t->end_x; ++i)
                confine1(job, k * job->slab + (ptrdiff_t)j * job->nx + i);
    }
}

static void confine_tile(const wgi_confine_job* given, const tile* t)
{
    // Where the tile has no solids it is as if there were no marks.
    wgi_confine_job own = *given;
    const wgi_confine_job* job = &own;
    copy_margins(job, t);
    if (t->end_x - t->begin_x < 8) {
        confine_narrow_tile(job, t);
        return;
    }
    if (!tile_has_solids(job, t))
        own.solid = NULL;
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
