// The cells that a triangle mesh fills: its surface by separating axes, its inside by rays along x.
#include <string.h>

#include "wind/voxels.h"

typedef struct triangle {
    double corner[3][3];
    double low[3], high[3]; // bounding box
} triangle;

static void read_triangle(const wg_mesh* mesh, size_t face, triangle* t)
{
    for (int n = 0; n < 3; ++n)
        memcpy(
            t->corner[n], mesh->vertices + 3 * (size_t)mesh->faces[3 * face + (size_t)n],
            sizeof t->corner[n]);
    for (int axis = 0; axis < 3; ++axis) {
        const double a = t->corner[0][axis], b = t->corner[1][axis], c = t->corner[2][axis];
        t->low[axis] = fmin(fmin(a, b), c);
        t->high[axis] = fmax(fmax(a, b), c);
    }
}

// ---- surface ----

// What the separating axis test needs of a triangle for boxes of one half edge.
typedef struct separator {
    double normal[3], offset, reach; // plane: normal . x = offset
    struct {
        double a, b;      // axis in the plane of two coordinates, (e x unit vector) without its 0
        double low, high; // the triangle's extent along it, widened by the box's
    } edge[3][3];
} separator;

static void plane_of(const triangle* t, double half, separator* s)
{
    double u[3], v[3];
    for (int axis = 0; axis < 3; ++axis) {
        u[axis] = t->corner[1][axis] - t->corner[0][axis];
        v[axis] = t->corner[2][axis] - t->corner[0][axis];
    }
    s->normal[0] = u[1] * v[2] - u[2] * v[1];
    s->normal[1] = u[2] * v[0] - u[0] * v[2];
    s->normal[2] = u[0] * v[1] - u[1] * v[0];
    s->reach = half * (fabs(s->normal[0]) + fabs(s->normal[1]) + fabs(s->normal[2]));
}

// Coordinates are taken from `centre`, a cell's centre near the triangle, so that products of large
// numbers do not cancel; the box then moves by `shift` from there.
static void separate(const triangle* t, const double centre[3], double half, separator* s)
{
    plane_of(t, half, s);
    s->offset = 0.0;
    double p[3][3];
    for (int n = 0; n < 3; ++n)
        for (int axis = 0; axis < 3; ++axis)
            p[n][axis] = t->corner[n][axis] - centre[axis];
    for (int axis = 0; axis < 3; ++axis)
        s->offset += s->normal[axis] * p[0][axis];

    for (int n = 0; n < 3; ++n)
        for (int axis = 0; axis < 3; ++axis) {
            const int y = (axis + 1) % 3, z = (axis + 2) % 3;
            const double a = p[(n + 1) % 3][z] - p[n][z], b = -(p[(n + 1) % 3][y] - p[n][y]);
            // The edge's two ends have the same place along an axis across it.
            const double one = a * p[n][y] + b * p[n][z];
            const double other = a * p[(n + 2) % 3][y] + b * p[(n + 2) % 3][z];
            const double reach = half * (fabs(a) + fabs(b));
            s->edge[n][axis].a = a;
            s->edge[n][axis].b = b;
            s->edge[n][axis].low = fmin(one, other) - reach;
            s->edge[n][axis].high = fmax(one, other) + reach;
        }
}

// Whether the box at `shift` from the separator's centre meets the triangle; the bounding boxes do.
static bool meets(const separator* s, const double shift[3])
{
    double plane = -s->offset;
    for (int axis = 0; axis < 3; ++axis)
        plane += s->normal[axis] * shift[axis];
    if (fabs(plane) > s->reach)
        return false;
    for (int axis = 0; axis < 3; ++axis) {
        const double y = shift[(axis + 1) % 3], z = shift[(axis + 2) % 3];
        for (int n = 0; n < 3; ++n) {
            const double at = s->edge[n][axis].a * y + s->edge[n][axis].b * z;
            if (at < s->edge[n][axis].low || at > s->edge[n][axis].high)
                return false;
        }
    }
    return true;
}

// Cells whose shrunk interval along an axis meets the triangle's.
static void overlapped(
    const wg_voxel_grid* grid, const triangle* t, int axis, double shrink, int32_t* begin,
    int32_t* end)
{
    wgi_voxel_range(grid, axis, t->low[axis], t->high[axis], begin, end);
    while (*begin < *end && wgi_voxel_edge(grid, axis, *begin + 1) - shrink < t->low[axis])
        ++*begin;
    while (*begin < *end && wgi_voxel_edge(grid, axis, *end - 1) + shrink > t->high[axis])
        --*end;
}

static void mark_surface(const wg_voxel_grid* grid, const triangle* t, double shrink)
{
    int32_t begin[3], end[3];
    double centre[3], shift[3];
    for (int axis = 0; axis < 3; ++axis) {
        overlapped(grid, t, axis, shrink, &begin[axis], &end[axis]);
        if (begin[axis] >= end[axis])
            return;
        centre[axis] = wgi_voxel_edge(grid, axis, begin[axis]) + 0.5 * grid->spacing;
    }
    separator s;
    separate(t, centre, 0.5 * grid->spacing - shrink, &s);
    for (int32_t k = begin[2]; k < end[2]; ++k) {
        shift[2] = (k - begin[2]) * grid->spacing;
        for (int32_t j = begin[1]; j < end[1]; ++j) {
            uint8_t* mark = grid->mark + wgi_voxel_index(grid, 0, j, k);
            shift[1] = (j - begin[1]) * grid->spacing;
            for (int32_t i = begin[0]; i < end[0]; ++i) {
                shift[0] = (i - begin[0]) * grid->spacing;
                if (!mark[i] && meets(&s, shift))
                    mark[i] = 1;
            }
        }
    }
}

// ---- inside ----

// +1 or -1 where the edge from a to b rises or falls through height z right of y, else 0. The same
// numbers in the same order whichever way the edge runs: both of its triangles agree.
static int passes_edge(const double a[3], const double b[3], double y, double z)
{
    const bool a_below = a[2] <= z, b_below = b[2] <= z;
    if (a_below == b_below)
        return 0;
    const double *low = a_below ? a : b, *high = a_below ? b : a;
    const double side = (high[1] - low[1]) * (z - low[2]) - (y - low[1]) * (high[2] - low[2]);
    return side > 0.0 ? (a_below ? 1 : -1) : 0;
}

// Where the line along x through (y, z) meets the triangle's plane, kept within the triangle.
static double crossing(const triangle* t, const double normal[3], double y, double z)
{
    const double* p = t->corner[0];
    double x = p[0];
    if (normal[0] != 0.0)
        x -= (normal[1] * (y - p[1]) + normal[2] * (z - p[2])) / normal[0];
    return fmin(fmax(x, t->low[0]), t->high[0]);
}

// First cell of the range whose centre is not before x; the range's end where there is none.
static int32_t first_after(const wg_voxel_grid* grid, double x)
{
    const double cell = ceil((x - grid->origin[0]) / grid->spacing - 0.5);
    return (int32_t)fmin(fmax(cell, (double)grid->begin[0]), (double)grid->end[0]);
}

// Adds the windings of a triangle to the first cell after each crossing.
static void count_crossings(const wg_voxel_grid* grid, const triangle* t, int32_t* scratch)
{
    int32_t begin[3], end[3];
    for (int axis = 1; axis < 3; ++axis) {
        wgi_voxel_range(grid, axis, t->low[axis], t->high[axis], &begin[axis], &end[axis]);
        if (begin[axis] >= end[axis])
            return;
    }
    separator s;
    plane_of(t, 0.0, &s);
    for (int32_t k = begin[2]; k < end[2]; ++k) {
        const double z = wgi_voxel_edge(grid, 2, k) + 0.5 * grid->spacing;
        for (int32_t j = begin[1]; j < end[1]; ++j) {
            const double y = wgi_voxel_edge(grid, 1, j) + 0.5 * grid->spacing;
            int winding = 0;
            for (int n = 0; n < 3; ++n)
                winding += passes_edge(t->corner[n], t->corner[(n + 1) % 3], y, z);
            if (winding == 0)
                continue;
            const int32_t i = first_after(grid, crossing(t, s.normal, y, z));
            if (i < grid->end[0])
                scratch[wgi_voxel_index(grid, i, j, k)] += winding;
        }
    }
}

static void mark_inside(const wg_voxel_grid* grid, int32_t fill, const int32_t* scratch)
{
    for (int32_t k = grid->begin[2]; k < grid->end[2]; ++k)
        for (int32_t j = grid->begin[1]; j < grid->end[1]; ++j) {
            int32_t sum = 0;
            for (int32_t i = grid->begin[0]; i < grid->end[0]; ++i) {
                const size_t at = wgi_voxel_index(grid, i, j, k);
                sum += scratch[at];
                if (fill == WG_FILL_WINDING ? sum != 0 : (sum & 1) != 0)
                    grid->mark[at] = 1;
            }
        }
}

static bool mesh_fits(const wg_mesh* mesh)
{
    if (mesh->fill < WG_FILL_SURFACE || mesh->fill > WG_FILL_PARITY)
        return false;
    for (size_t n = 0; n < 3 * mesh->vertex_count; ++n)
        if (!wgi_voxel_place_fits(mesh->vertices[n]))
            return false;
    for (size_t n = 0; n < 3 * mesh->face_count; ++n)
        if (mesh->faces[n] < 0 || (size_t)mesh->faces[n] >= mesh->vertex_count)
            return false;
    return true;
}

wg_status wg_voxelize_mesh(const wg_voxel_grid* grid, const wg_mesh* mesh, int32_t* scratch)
{
    if (!wgi_voxel_grid_fits(grid) || !mesh_fits(mesh))
        return WG_ERR_VALUE;
    const bool fills = mesh->fill != WG_FILL_SURFACE;
    if (fills)
        memset(scratch, 0, wgi_voxel_index(grid, 0, 0, grid->nz) * sizeof *scratch);
    const double shrink = wgi_voxel_shrink(grid);
    for (size_t face = 0; face < mesh->face_count; ++face) {
        triangle t;
        read_triangle(mesh, face, &t);
        mark_surface(grid, &t, shrink);
        if (fills)
            count_crossings(grid, &t, scratch);
    }
    if (fills)
        mark_inside(grid, mesh->fill, scratch);
    return WG_OK;
}
