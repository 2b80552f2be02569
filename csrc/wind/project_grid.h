// The layout in which the projection works, and the argument structs of its kernels.
//
// Scratch arrays are [y][z][x]: slabs of one y are contiguous, which is what the wavefront and the
// direct solver walk along. phi is 0 in every border cell, so neighbouring rows share one border:
// a row is 8 zeros and then the cells of the interior, padded with zeros to a multiple of 8; the
// cell after the last one is the first zero of the next row. Rows of one slab are followed by one
// row of zeros in the same way.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wgi_project_grid {
    int32_t nx, ny, nz; // cells of the interior
    size_t pitch;       // floats from row to row
    size_t slab;        // floats from slab to slab
    size_t size;        // floats of one array
} wgi_project_grid;

/// Offset of interior cell (i, j, k), each counted from 1.
static inline size_t wgi_project_cell(const wgi_project_grid* grid, int32_t i, int32_t j, int32_t k)
{
    return (size_t)j * grid->slab + (size_t)k * grid->pitch + 7 + (size_t)i;
}

/// Eights of a slab, those at the end of rows that are shorter counted.
static inline size_t wgi_project_eights(const wgi_project_grid* grid)
{
    return (grid->pitch - 8) / 8 * (size_t)grid->nz;
}

/// Eights side by side on rows one above the other, each row with the same number of open faces at
/// the same place: what a sweep does in one go.
enum { WGI_STRIP_EIGHTS = 6 };
typedef struct wgi_strip {
    uint32_t at;    // of the first cell, from the beginning of the slab
    uint32_t count; // rows
    uint16_t wide;  // eights, WGI_STRIP_EIGHTS at most
    bool solid;     // all of them without an open face
} wgi_strip;

/// Eight neighbouring cells of a row, at a multiple of eight: the first one's place in the solver's
/// arrays and in the caller's, from the beginning of the slab and of its lowest row.
typedef struct wgi_eight {
    uint32_t to, from;
} wgi_eight;

/// The kinds of eights: those without a closed face; by the axes with one, 1 x, 2 y, 4 z, added; what
/// rows shorter than a multiple of eight end in; solid ones. A slab's list goes kind by kind.
enum { WGI_OPEN_EIGHTS = 0, WGI_ROW_ENDS = 8, WGI_SOLID_EIGHTS = 9, WGI_KINDS = 10 };
typedef struct wgi_kinds {
    uint32_t end[WGI_KINDS];
} wgi_kinds;

/// One projection under way: borrowed arrays of the caller and of the scratch.
typedef struct wgi_projection {
    wgi_project_grid grid;
    float spacing;
    bool consistent;
    bool masked;           // some lanes of some row are not air: `faces`, `open` must be read
    bool jacobi;           // `other` is swept as well as `phi`
    bool fill;             // phi is to be filled with the start, or with 0
    bool sweep_at_once;    // the right side is followed by the first Jacobi sweep from 0
    const float* velocity; // the caller's, [3][z][y][x] with border
    const float* given;    // the caller's divergence, [z][y][x], instead of the velocity's; or NULL
    const uint8_t* solid;  // the caller's or NULL
    float* pressure;       // the caller's, to start from, or NULL
    float* found;          // the caller's, for the pressure found, or NULL
    float* out;            // the caller's
    float* right_side;     // scratch: h^2 div u, 0 where not air
    float* phi;            // scratch: zeroed outside the air cells
    float* other;          // scratch: the second array of ping-pong sweeps
    uint8_t* open;         // scratch: number of open faces of an air cell, 0 elsewhere
    wgi_strip* strip;      // scratch, sweeps alone: [ny][eights of a slab]
    uint32_t* strips;      // scratch, the same: how many in each slab
    uint8_t* faces;        // scratch: which of them (bits 0 to 5), and 0x40 for an air cell
    wgi_eight* eights;     // scratch: [ny][eights of a slab], by slabs, sorted by kind
    wgi_kinds* kinds;      // scratch: [ny]
} wgi_projection;
