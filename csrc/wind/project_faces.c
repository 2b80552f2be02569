// The open faces of every cell, and lists of cells by what is around them. They depend on the solid
// marks alone, and are kept from call to call.
#include "wind/project_kernels.h"

#include "wind/project_rows.h"

static const uint64_t eight_open = 0x7f7f7f7f7f7f7f7fu;

typedef uint8_t bytes16 __attribute__((vector_size(16)));

// 0xff where the marks say air; bytes beyond `count` count as solid.
WGI_INLINE bytes16 air_bytes(const uint8_t* solid, int count)
{
    bytes16 b;
    if (count >= 16) {
        memcpy(&b, solid, sizeof b);
    } else {
        uint8_t some[16];
        for (int i = 0; i < 16; ++i)
            some[i] = i < count ? solid[i] : 1;
        memcpy(&b, some, sizeof b);
    }
    return (bytes16)(b == (bytes16){ 0 });
}

WGI_INLINE bytes16 each(uint8_t value)
{
    return (bytes16){ 0 } + value;
}

// Adds the two faces along an axis to the bits and to their number.
WGI_INLINE void mark_axis(
    const uint8_t* solid, size_t step, int count, const int axis, bytes16* bits, bytes16* number)
{
    const bytes16 low = air_bytes(solid - step, count), high = air_bytes(solid + step, count);
    *bits |= (low & each((uint8_t)(1 << (2 * axis)))) | (high & each((uint8_t)(2 << (2 * axis))));
    // All ones count as -1.
    *number -= low + high;
}

// Sixteen cells: bits 0 to 5 for the open faces low and high along x, y, z, WGI_AIR for the cell.
WGI_INLINE void
mark_cells(const uint8_t* solid, const wgi_strides* s, int count, uint8_t* faces, uint8_t* open)
{
    const bytes16 air = air_bytes(solid, count);
    bytes16 bits = each(WGI_AIR), number = each(0);
    mark_axis(solid, s->axis[0], count, 0, &bits, &number);
    mark_axis(solid, s->axis[1], count, 1, &bits, &number);
    mark_axis(solid, s->axis[2], count, 2, &bits, &number);
    bits &= air;
    number &= air;
    const size_t kept = count >= 16 ? 16 : (size_t)count;
    memcpy(faces, &bits, kept);
    memcpy(open, &number, kept);
}

// Solid eights are left out where that saves more than it costs to begin anew beside them.
enum { WORTH_LEAVING_OUT = 12 };

// Rows from `k` on whose numbers of open faces are those of row k, in `wide` eights.
static uint32_t equal_rows(const wgi_project_grid* g, const uint8_t* open, int32_t k, size_t wide)
{
    uint32_t count = 1;
    while (k + (int32_t)count <= g->nz && memcmp(open, open + count * g->pitch, 8 * wide) == 0)
        ++count;
    return count;
}

// Eights from `first` on that are solid like the first one, or not like it.
static size_t equal_kinds(const uint8_t* open, size_t first, size_t wide)
{
    const bool solid = wgi_eight_bytes(open + 8 * first) == 0;
    size_t end = first + 1;
    while (end < wide && (wgi_eight_bytes(open + 8 * end) == 0) == solid)
        ++end;
    return end - first;
}

// Cuts equal rows where eights of them are solid; returns the end of the list.
static wgi_strip*
cut_rows(const uint8_t* open, uint32_t at, uint32_t count, size_t wide, wgi_strip* to)
{
    wgi_strip* begin = to;
    for (size_t first = 0, next; first < wide; first = next) {
        next = first + equal_kinds(open, first, wide);
        const bool solid = wgi_eight_bytes(open + 8 * first) == 0;
        const bool leave_out = solid && (next - first) * count >= WORTH_LEAVING_OUT;
        // What is not left out goes on with what is before it.
        if (to > begin && !to[-1].solid && !leave_out)
            to[-1].wide = (uint16_t)(to[-1].wide + (next - first));
        else
            *to++ =
                (wgi_strip){ at + 8 * (uint32_t)first, count, (uint16_t)(next - first), leave_out };
    }
    return to;
}

static void find_strips(const wgi_projection* p, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const size_t columns = (g->pitch - 8) / 8;
    wgi_strip *list = p->strip + (size_t)(j - 1) * wgi_project_eights(g), *to = list;
    for (size_t first = 0; first < columns; first += WGI_STRIP_EIGHTS) {
        const size_t rest = columns - first;
        const size_t wide = rest < WGI_STRIP_EIGHTS ? rest : WGI_STRIP_EIGHTS;
        uint32_t count;
        for (int32_t k = 1; k <= g->nz; k += (int32_t)count) {
            const size_t at = wgi_project_cell(g, 1, j, k) + 8 * first;
            count = equal_rows(g, p->open + at, k, wide);
            to = cut_rows(p->open + at, (uint32_t)(at - (size_t)j * g->slab), count, wide, to);
        }
    }
    p->strips[j - 1] = (uint32_t)(to - list);
}

static size_t kind_of(uint64_t eight, bool whole)
{
    const uint64_t ones = 0x0101010101010101u;
    if (!whole)
        return WGI_ROW_ENDS;
    if (eight == 0 || eight == eight_open)
        return eight == 0 ? WGI_SOLID_EIGHTS : WGI_OPEN_EIGHTS;
    const uint64_t air = (eight >> 6) & ones, closed = ~eight & (air * 0x3f);
    const size_t axes = (size_t)((closed & (ones * 0x03)) != 0) +
                        2 * (size_t)((closed & (ones * 0x0c)) != 0) +
                        4 * (size_t)((closed & (ones * 0x30)) != 0);
    // Some solid, but no face closed to any air: any of them will do.
    return axes > 0 ? axes : 1;
}

static void sort_eights(const wgi_projection* p, const wgi_strides* s, int32_t j)
{
    const wgi_project_grid* g = &p->grid;
    const size_t columns = (g->pitch - 8) / 8, whole = (size_t)g->nx / 8;
    const size_t slab = (size_t)j * g->slab, row = wgi_caller_row(s, j, 0);
    wgi_eight* list = p->eights + (size_t)(j - 1) * wgi_project_eights(g);
    uint32_t place[WGI_KINDS + 1] = { 0 };
    // The first pass counts, so that the second knows where each kind begins.
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t k = 1; k <= g->nz; ++k)
            for (size_t n = 0; n < columns; ++n) {
                const size_t to = wgi_project_cell(g, 1, j, k) + 8 * n;
                const size_t from = wgi_caller_row(s, j, k) + 8 * n;
                const size_t kind = kind_of(wgi_eight_bytes(p->faces + to), n < whole);
                if (pass == 1)
                    list[place[kind]] =
                        (wgi_eight){ (uint32_t)(to - slab), (uint32_t)(from - row) };
                ++place[kind + (pass == 0)];
            }
        for (size_t kind = 1; pass == 0 && kind < WGI_KINDS; ++kind)
            place[kind] += place[kind - 1];
    }
    memcpy(p->kinds[j - 1].end, place, sizeof p->kinds->end);
}

static void mark_row(const wgi_projection* p, const wgi_strides* s, int32_t j, int32_t k)
{
    const wgi_project_grid* g = &p->grid;
    const size_t to = wgi_project_cell(g, 1, j, k), from = wgi_caller_row(s, j, k);
    const size_t padding = g->pitch - 8 - (size_t)g->nx;
    for (int32_t i = 0; i < g->nx && p->solid; i += 16) {
        const size_t n = (size_t)i;
        if (g->nx - i >= 16)
            mark_cells(p->solid + from + n, s, 16, p->faces + to + n, p->open + to + n);
        else
            mark_cells(p->solid + from + n, s, g->nx - i, p->faces + to + n, p->open + to + n);
    }
    if (!p->solid) {
        memset(p->faces + to, WGI_ALL_OPEN, (size_t)g->nx);
        memset(p->open + to, 6, (size_t)g->nx);
    }
    memset(p->faces + to + g->nx, 0, padding);
    memset(p->open + to + g->nx, 0, padding);
}

void WGI_ISA(project_faces)(const wgi_projection* p, int32_t begin, int32_t end)
{
    const wgi_project_grid* g = &p->grid;
    const wgi_strides s = wgi_caller_strides(g);
    for (int32_t j = begin; j < end; ++j) {
        for (int32_t k = 1; k <= g->nz; ++k)
            mark_row(p, &s, j, k);
        sort_eights(p, &s, j);
        if (p->strip)
            find_strips(p, j);
    }
}
