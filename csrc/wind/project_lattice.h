// A lattice of unknowns with weighted edges to their six neighbours: A x = diagonal x - sum w x_n.
//
// The compact Laplacian is one lattice with weights 0 and 1. The wide operator of the consistent
// form is eight of them, since it only joins cells two apart: each has every second cell along each
// axis, and an edge where the cell between is air. Both are solved by the same multigrid.
//
// Arrays have the layout of project_grid.h. x is 0 outside the unknowns, so that an edge to a fixed
// phi = 0 counts in the diagonal alone.
#pragma once

#include "wind/project_grid.h"

typedef struct wgi_lattice {
    wgi_project_grid grid;
    bool counted;        // all weights 0 or 1, and 0 only where the neighbour is no unknown
    const uint8_t* open; // counted: the diagonal
    float* weight[3];    // between a cell and the one before it along x, y, z: both unknowns
    float* diagonal;     // weights to all neighbours, fixed ones included
    float* reciprocal;   // 1 / diagonal; 0 where there is no unknown
    float* x;            // the solution, or correction
    float* b;            // right side
    float* r;            // residual
} wgi_lattice;

/// The vectors of one conjugate gradient iteration on a lattice.
typedef struct wgi_cg {
    const wgi_lattice* lattice;
    float* solution;
    float* direction;
    float* image;          // A direction
    float* residual;       // the lattice's b
    float* preconditioned; // the lattice's x
    double* slab_sums;     // [ny]
    float factor;
} wgi_cg;
