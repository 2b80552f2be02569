// A lattice of unknowns with weighted edges to their six neighbours: A x = diagonal x - sum w x_n.
//
// The compact Laplacian is one lattice with weights 0 and 1. The wide operator of the consistent
// form is eight of them, since it only joins cells two apart: each has every second cell along each
// axis, and an edge where the cell between is air. Both are solved by the same multigrid.
//
// The cells are coloured like a chessboard, colour 0 holding (1, 1, 1), and each colour has arrays
// of its own, so that a half sweep touches nothing else. A row of cells 1, 2, 3... is two rows of
// half the length: place h (from 1) holds cell 2h - 1 in one colour and cell 2h in the other; which
// is which alternates from row to row. The neighbours of a cell along y and z are then at the same
// place of the other colour's rows, those along x at this place and the one before or after it.
//
// x is 0 outside the unknowns, so that an edge to a fixed phi = 0 is an edge like any other.
#pragma once

#include "wind/project_grid.h"

/// Cells of a coarse level that are no unknowns but have unknowns beside them: they take the mean
/// of these before a correction is interpolated, since at a wall its gradient is 0.
typedef struct wgi_lattice_dead {
    int32_t* count;    // in the scratch too: it outlasts a call
    int32_t* at;       // in the layout of `grid`
    float* reciprocal; // of the number of unknowns beside it
    float* value;      // work space
} wgi_lattice_dead;

typedef struct wgi_lattice {
    wgi_project_grid grid; // all cells
    wgi_project_grid half; // one colour: layout of the arrays of two below
    bool counted;          // all weights 1 or 0, and 0 only where the neighbour is no unknown
    bool plain;            // counted, and every entry of a row is a cell with six open faces
    const uint8_t* counts; // counted: the diagonal of all cells, in the layout of `grid`
    uint8_t* open[2];      // counted: the diagonal
    float* weight[6];      // else: of colour 0, to the neighbours low and high along x, y, z
    float* diagonal[2];    // else: all weights of a cell, ground included
    float* reciprocal[2];  // else: 1 / diagonal; 0 where there is no unknown
    float* x[2];           // the solution, or correction
    float* b[2];           // right side
    float* joined;         // coarse levels: x in the layout of `grid`
    wgi_lattice_dead dead; // coarse levels of the compact Laplacian
} wgi_lattice;

/// Edges while the levels are built, in the layout of a lattice's `grid`: from each cell to the one
/// before it along an axis; the one after the last cell is its edge to the border.
typedef struct wgi_edges {
    wgi_project_grid grid;
    float* weight[3];
    float* ground[3]; // weights to phi = 0 inside the lattice, NULL where there are none
} wgi_edges;

/// What turns the edges of one level into those of the next.
typedef struct wgi_coarsening {
    wgi_edges fine, coarse;
    float scale[3];     // of every edge along an axis
    float border[3][2]; // more, of those to the low and the high border
} wgi_coarsening;

/// A field of one colour each.
typedef struct wgi_halves {
    float* colour[2];
} wgi_halves;

/// The vectors of one conjugate gradient iteration on a lattice.
typedef struct wgi_cg {
    const wgi_lattice* lattice;
    wgi_halves solution, direction, image; // image = A direction
    double* slab_sums[2];                  // [ny] each
    float factor;
} wgi_cg;
