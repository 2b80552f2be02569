// The direct solver's tables: transforms along x and z, a tridiagonal system along y.
//
// Along x and z the cells fall into two classes that do not mix, each with a transform of half the
// size: for the compact Laplacian the parts symmetric and antisymmetric about the middle, for the
// wide one the cells at odd and at even places (counted from 1). A transformed slab is [z][x], the
// classes of each axis one after the other, those of x padded to a multiple of 8.
#pragma once

#include "wind/project_grid.h"

typedef struct wgi_direct_axis {
    int32_t size[2];   // cells of each class
    int32_t padded[2]; // the same, rounded up to 8 for x
    float* forward[2]; // x: [cell][mode]; z: [mode][cell]
    float* inverse[2]; // x: [mode][cell]; z: [cell][mode]; with the norm
    double* quarter;   // cosines, work space of the set-up
    float* eigenvalue; // of every mode, in the order of a slab: -(2 - 2 cos t)
} wgi_direct_axis;

typedef struct wgi_direct {
    const wgi_projection* projection;
    wgi_direct_axis x, z;
    bool has_null;   // wide, all three counts odd: one mode has no equation
    int32_t stride;  // cells from an unknown to its neighbours: 1 compact, 2 wide
    size_t row;      // floats of a transformed row
    size_t slab;     // floats of a transformed slab
    float* pivot;    // [ny][slab]: reciprocal pivots of the systems along y
    float* work;     // [ny, at least 2][slab]; one thread uses the first two alone
    float* edge;     // [2][slab]: zeros, then with one thread the solved slab above (wide: two)
    const float* in; // right side to solve for, and
    float* solution; // the answer, both in the solver's layout
} wgi_direct;
