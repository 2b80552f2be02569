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

/// What there is to do in one column of eight cells a level, z from `begin` to `end` - 1 (from 1):
/// below and above all cells are solid; `open`: in between no face is closed.
typedef struct wgi_column {
    int32_t begin, end;
    bool open;
} wgi_column;

/// Eight neighbouring cells of a row, at a multiple of eight: level from 1, place from 0.
typedef struct wgi_eight {
    uint16_t k, eight;
} wgi_eight;

/// Where the kinds of eights end in a slab's list: first those without a closed face, then by the axes
/// with one (1 x, 2 y, 4 z, added) that are not all solid, last the solid ones.
enum { WGI_KINDS = 8 };
typedef struct wgi_eights {
    uint32_t end[WGI_KINDS];
} wgi_eights;

/// One projection under way: borrowed arrays of the caller and of the scratch.
typedef struct wgi_projection {
    wgi_project_grid grid;
    float spacing;
    bool consistent;
    bool masked;           // some lanes of some row are not air: `faces`, `open` must be read
    bool jacobi;           // solid eights of `phi` and `other` are cleared with the right side
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
    float* weight;         // scratch, sweeps alone: 1 / open in the columns that are not open
    wgi_column* column;    // scratch, the same: [ny][(pitch - 8) / 8]
    uint8_t* faces;        // scratch: which of them (bits 0 to 5), and 0x40 for an air cell
    wgi_eight* eight;      // scratch: [ny][nz (pitch - 8) / 8], by slabs, sorted by kind
    wgi_eights* eights;    // scratch: [ny]
} wgi_projection;
