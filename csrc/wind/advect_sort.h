// Tiles of strips and, for the second pass of MacCormack's method, their strips sorted by how they
// move: those that run the same code are done one after the other, so that no branch within a strip
// depends on the wind.
#pragma once

#include "wind/advect_strip.h"
#include "wind/flow_classes.h"

// Rows and columns of a tile.
enum { TILE_ROWS = 16, TILE_COLUMNS = 64, TILE_STRIPS = TILE_ROWS * TILE_COLUMNS / 8 };
// Lists of strips: in the open, by x's way (3) and whether y (2) and z (2) are mixed; beside solids,
// by the same of the lanes in air; and those with long displacements.
enum { BESIDE_LISTS = 12, LONG_LIST = 24, LISTS = 25 };

// Builds that are not optimised, or that check every access, take minutes for all ways: they get one
// list in the open and one beside solids. The bits are the same.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define WGI_FEW_WAYS 1
#else
#define WGI_FEW_WAYS 0
#endif

// The lists of which `first` is the first, and the ways of their strips.
#if WGI_FEW_WAYS
#define EACH_LIST(first, call) call(first + 11, WAYS(MIXED, MIXED, MIXED))
#else
#define EACH_LIST(first, call)                                                                     \
    EACH_LIST_X(first, call, ONE_WAY, ONE_WAY)                                                     \
    EACH_LIST_X(first + 3, call, MIXED, ONE_WAY)                                                   \
    EACH_LIST_X(first + 6, call, ONE_WAY, MIXED) EACH_LIST_X(first + 9, call, MIXED, MIXED)
#define EACH_LIST_X(first, call, y, z)                                                             \
    call(first, WAYS(FORWARD, y, z)) call(first + 1, WAYS(BACKWARD, y, z))                         \
        call(first + 2, WAYS(MIXED, y, z))
#endif

typedef struct tile {
    int32_t begin_x, end_x, begin_y, end_y, z; // interior cells; eight columns at least
    bool open;                                 // there is no solid in or around it
    const uint8_t *sides, *corners;            // of the first cell, `stride` bytes a row
    ptrdiff_t stride;
    ptrdiff_t first; // the tile's first cell
    // Where the caller has no classes.
    uint8_t own_sides[TILE_ROWS][TILE_COLUMNS], own_corners[TILE_ROWS][TILE_COLUMNS];
} tile;

// Places in a tile are those of a first cell: column + TILE_COLUMNS row.
typedef struct lists {
    uint32_t count[LISTS];
    uint16_t place[LISTS][TILE_STRIPS];
} lists;

// Copies eight cells of which some are solid; what is not is worked out later.
typedef void copy_function(const wgi_advect_job* job, ptrdiff_t at);

WGI_INLINE bool any_class(const uint8_t* classes, int32_t count)
{
    uint64_t some = wgi_load_marks(classes + count - 8);
    for (int32_t n = 0; n + 8 <= count; n += 8)
        some |= wgi_load_marks(classes + n);
    return some != 0;
}

// Whether there is a solid cell in or around the tile.
WGI_INLINE bool tile_meets_solids(const wgi_advect_job* job, const tile* t)
{
    const int32_t columns = t->end_x - t->begin_x;
    for (int32_t k = t->z - 1; k < t->z + 2; ++k)
        for (int32_t j = t->begin_y - 1; j < t->end_y + 1; ++j) {
            const uint8_t* marks = job->solid + k * job->slab + (ptrdiff_t)j * job->nx + t->begin_x;
            if (any_class(marks - 1, columns) || wgi_load_marks(marks + columns - 7))
                return true;
        }
    return false;
}

static void look_around(const wgi_advect_job* job, tile* t)
{
    const int32_t columns = t->end_x - t->begin_x;
    const ptrdiff_t first = t->z * job->slab + (ptrdiff_t)t->begin_y * job->nx + t->begin_x;
    t->first = first;
    t->open = true;
    if (!job->solid)
        return;
    if (job->classes) {
        t->sides = job->classes + first;
        t->corners = t->sides + job->cells;
        t->stride = job->nx;
        for (int32_t j = 0; j < t->end_y - t->begin_y && t->open; ++j)
            t->open = !any_class(t->sides + j * t->stride, columns) &&
                      !any_class(t->corners + j * t->stride, columns);
        return;
    }
    t->open = !tile_meets_solids(job, t);
    if (t->open)
        return;
    t->sides = t->own_sides[0];
    t->corners = t->own_corners[0];
    t->stride = TILE_COLUMNS;
    for (int32_t j = 0; j < t->end_y - t->begin_y; ++j)
        wgi_classify_run(
            job->solid + first + (ptrdiff_t)j * job->nx, job->nx, job->slab, columns,
            t->own_sides[j], t->own_corners[j]);
}

// The cell of a place in the tile, and the place of its classes.
WGI_INLINE ptrdiff_t cell_of(const wgi_advect_job* job, const tile* t, unsigned place)
{
    return t->first + (ptrdiff_t)(place / TILE_COLUMNS) * job->nx + place % TILE_COLUMNS;
}

WGI_INLINE ptrdiff_t class_of(const tile* t, unsigned place)
{
    return (ptrdiff_t)(place / TILE_COLUMNS) * t->stride + place % TILE_COLUMNS;
}

// From the sign bits of eight steps: `forward`, `backward`, or `mixed` where both occur.
#define SIX(x) x, x, x, x, x, x
#define OF_SIGNS(forward, backward, mixed)                                                         \
    {                                                                                              \
        forward, SIX(SIX(SIX(mixed))), SIX(SIX(mixed)), mixed, mixed, backward                     \
    }
static const uint8_t list_of_x[256] = OF_SIGNS(FORWARD, BACKWARD, MIXED);
static const uint8_t list_of_y[256] = OF_SIGNS(0, 0, 3), list_of_z[256] = OF_SIGNS(0, 0, 6);

// The sign bits of eight lanes; those not in air get that of the first that is.
WGI_INLINE unsigned signs_in_air(wgf8 step, unsigned air)
{
    const unsigned signs = (unsigned)wgi8_mask(wgf8_bits(step));
    const unsigned first = 0u - (signs >> __builtin_ctz(air) & 1);
    return (signs & air) | (first & ~air & 0xff);
}

// `air` has the bits of the lanes whose value is needed; a strip beside solids has `beside` as its
// first list.
WGI_INLINE void sort_strip(
    const wgi_advect_job* job, ptrdiff_t at, unsigned place, unsigned air, unsigned beside,
    lists* l)
{
    const strip s = strip_at(job, at);
    unsigned list = beside + list_of_x[signs_in_air(s.step[0], air)] +
                    list_of_y[signs_in_air(s.step[1], air)] +
                    list_of_z[signs_in_air(s.step[2], air)];
    if (WGI_FEW_WAYS)
        list = beside + 11;
    list = is_long(&s) ? LONG_LIST : list;
    l->place[list][l->count[list]++] = (uint16_t)place;
}

WGI_INLINE wgi8 with_side(const uint8_t* sides, int side)
{
    return (wgi8_load_bytes(sides) & wgi8_set(side)) != wgi8_set(0);
}

WGI_INLINE unsigned first_in_air(wgi8 solid)
{
    return (unsigned)__builtin_ctz(~(unsigned)wgi8_mask(solid));
}

// How many of eight cells are solid before the first that is not.
WGI_INLINE unsigned leading_solids(const uint8_t* sides)
{
    unsigned count = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t air = ~wgi_load_marks(sides) & 0x0101010101010101u * WGI_SIDE_OWN;
    count = air == 0 ? 8 : (unsigned)__builtin_ctzll(air) / 8;
#else
    while (count < 8 && sides[count] & WGI_SIDE_OWN)
        ++count;
#endif
    return count;
}

// Strips start at the first cell of air, so that what is solid before it costs a copy.
static void sort_built_row(
    const wgi_advect_job* job, const tile* t, unsigned line, copy_function* copy, lists* l)
{
    const unsigned columns = (unsigned)(t->end_x - t->begin_x), first = line * TILE_COLUMNS;
    const ptrdiff_t row = cell_of(job, t, first), class = class_of(t, first);
    for (unsigned next = 0; next < columns;) {
        // The last strip of a row starts early and repeats a few cells.
        const unsigned i = next + 8 <= columns ? next : columns - 8;
        const uint8_t *sides = t->sides + class + i, *corners = t->corners + class + i;
        const unsigned solids = leading_solids(sides);
        if (solids == 8 || (solids > 0 && i == next)) {
            copy(job, row + i);
            next = i + solids;
            continue;
        }
        const bool beside = (wgi_load_marks(sides) | wgi_load_marks(corners)) != 0;
        const unsigned air =
            ~(unsigned)wgi8_mask(wgi8_load_bytes(sides) << 25) & 0xff; // WGI_SIDE_OWN
        sort_strip(job, row + i, first + i, air, beside ? BESIDE_LISTS : 0, l);
        next = i + 8;
    }
}

WGI_INLINE void sort_tile(const wgi_advect_job* job, tile* t, copy_function* copy, lists* l)
{
    for (int n = 0; n < LISTS; ++n)
        l->count[n] = 0;
    look_around(job, t);
    const unsigned columns = (unsigned)(t->end_x - t->begin_x);
    const unsigned lines = (unsigned)(t->end_y - t->begin_y);
    for (unsigned line = 0; line < lines; ++line) {
        if (!t->open) {
            sort_built_row(job, t, line, copy, l);
            continue;
        }
        const unsigned first = line * TILE_COLUMNS, last = columns - 8;
        const ptrdiff_t row = t->first + (ptrdiff_t)line * job->nx;
        unsigned i = 0;
        for (; i < last; i += 8)
            sort_strip(job, row + i, first + i, 0xff, 0, l);
        sort_strip(job, row + last, first + last, 0xff, 0, l);
    }
}

// The first tile of rows from row `n` (counted through all slabs) on; how many rows it takes, 0
// where row n is a border's.
static int32_t tile_at(const wgi_advect_job* job, size_t n, size_t end, tile* t)
{
    const int32_t k = (int32_t)(n / (size_t)job->ny), j = (int32_t)(n % (size_t)job->ny);
    if (k == 0 || k == job->nz - 1 || j == 0 || j == job->ny - 1)
        return 0;
    int32_t rows = job->ny - 1 - j < TILE_ROWS ? job->ny - 1 - j : TILE_ROWS;
    rows = (size_t)rows < end - n ? rows : (int32_t)(end - n);
    t->z = k;
    t->begin_y = j;
    t->end_y = j + rows;
    return rows;
}

// Sets the columns of tile `n` of a row of them; false where there are no more.
WGI_INLINE bool set_columns(const wgi_advect_job* job, int32_t n, tile* t)
{
    const int32_t end = job->nx - 1;
    t->begin_x = 1 + n * TILE_COLUMNS;
    if (t->begin_x >= end)
        return false;
    t->end_x = t->begin_x + TILE_COLUMNS < end ? t->begin_x + TILE_COLUMNS : end;
    t->begin_x = t->end_x - t->begin_x < 8 ? t->end_x - 8 : t->begin_x;
    return true;
}
