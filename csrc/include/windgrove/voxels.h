// windgrove/voxels.h - which cells of a grid a solid fills.
//
// A cell is solid where its centre lies inside the solid or the solid's surface crosses its open
// interior. A surface that only touches a cell's faces does not cross it, so that a box whose faces
// lie on cell faces fills exactly its own cells, and a gap of one cell stays open. Cells are shrunk
// by a millionth of their edge (and by the rounding of large coordinates) before the test, so that
// a coordinate that was meant to lie on a face does.
//
// Every function marks cells of the range [begin, end) of a grid and leaves the others, and never
// unmarks one: several solids are marked one after the other. A cell's mark does not depend on the
// range, so that newly exposed cells may be marked alone. Coordinates are finite and within 1e100 m,
// so that no product of three of them overflows.
#pragma once

#include "windgrove/base.h"

/// Cells to mark.
typedef struct wg_voxel_grid {
    int32_t nx, ny, nz;       ///< cells of the array, each 1 to WG_MAX_CELLS
    double origin[3];         ///< m, low corner of cell [0][0][0], x y z
    double spacing;           ///< m, > 0
    int32_t begin[3], end[3]; ///< range to mark, x y z; 0 <= begin <= end <= cells
    uint8_t* mark;            ///< [nz][ny][nx], 1 is written where solid
} wg_voxel_grid;

/// What counts as the inside of a mesh.
typedef enum wg_fill {
    WG_FILL_SURFACE = 0, ///< nothing: an open mesh, of which only the surface is solid
    WG_FILL_WINDING =
        1, ///< where the winding number is not 0: consistently oriented, closed meshes,
           ///< overlapping parts are united
    WG_FILL_PARITY = 2, ///< where a ray crosses the surface an odd number of times: closed meshes
                        ///< whose faces are turned at random
} wg_fill;

/// A triangle mesh, borrowed.
typedef struct wg_mesh {
    size_t vertex_count, face_count;
    const double* vertices; ///< [vertex_count][3] m, finite
    const int32_t* faces;   ///< [face_count][3] indices of vertices
    int32_t fill;           ///< a wg_fill
} wg_mesh;

/// Heights of the ground on a regular lattice, borrowed; bilinear between its points, and beyond its
/// rim the nearest height goes on.
typedef struct wg_terrain {
    int32_t nx, ny;       ///< lattice points, each at least 1
    double origin[2];     ///< m, x and y of heights[0][0]
    double spacing;       ///< m between points, > 0
    const double* height; ///< [ny][nx] m, finite
} wg_terrain;

/// Marks the cells that share volume with a box along the axes.
/// @param low, high  m, corners; each of high above that of low, finite
/// @return WG_OK, or WG_ERR_VALUE: then nothing is marked
WG_API wg_status
wg_voxelize_box(const wg_voxel_grid* grid, const double low[3], const double high[3]);

/// Marks the cells that share volume with a ball.
/// @param centre  m, finite
/// @param radius  m, > 0 and finite
/// @return WG_OK, or WG_ERR_VALUE: then nothing is marked
WG_API wg_status
wg_voxelize_sphere(const wg_voxel_grid* grid, const double centre[3], double radius);

/// Marks the cells that share volume with the ground below a height field: those whose bottom lies
/// below the highest ground under them, which is exact for the bilinear surface.
/// Cost: the lattice points under each column of cells.
/// @return WG_OK, or WG_ERR_VALUE: then nothing is marked
WG_API wg_status wg_voxelize_terrain(const wg_voxel_grid* grid, const wg_terrain* terrain);

/// Marks the cells that a triangle mesh fills.
///
/// The surface: the separating axis test of a triangle and a box, in double precision. The inside:
/// crossings of rays along x through the cell centres. Whether a ray passes an edge is decided by
/// the edge alone, in the same way for both of its triangles, so that rays through edges and
/// vertices never leak.
/// Source: Akenine-Moeller, "Fast 3D Triangle-Box Overlap Testing", J. Graphics Tools 6(1), 2001.
/// Cost: each triangle visits the cells of its bounding box and the rows through it.
///
/// @param mesh     see wg_mesh; degenerate faces are lines or points of surface
/// @param scratch  [nz][ny][nx], written; not read where `fill` is WG_FILL_SURFACE (may be NULL)
/// @return WG_OK, or WG_ERR_VALUE for a vertex that is not finite, an index out of range or a bad
///         grid: then nothing is marked
WG_API wg_status wg_voxelize_mesh(const wg_voxel_grid* grid, const wg_mesh* mesh, int32_t* scratch);
