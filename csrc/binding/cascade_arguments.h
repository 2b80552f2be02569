// Readers of the cascade's arguments, shared by bind_cascade.c and bind_step.c.
#pragma once

#include "wind_view.h"
#include "windgrove/cascade.h"

/// Columns of the effector table: kind, start, end, direction, radius, half length, acceleration.
#define WGPY_EFFECTOR_COLUMNS 13

/// Columns of the blast table: centre, radius, speed.
#define WGPY_BLAST_COLUMNS 5

/// A grid is the tuple (velocity, pressure or None, solid or None, low, spacing); `low` is int64[3].
bool wgpy_grid(PyObject* object, const char* name, wg_grid* grid);

/// Refuses, with an error, a grid at `inner` that is not inside the next coarser one at `outer`.
bool wgpy_nested(const wg_grid* fine, const int64_t inner[3], const int64_t outer[3]);

/// The prevailing wind, and None or (table, strength, scale, offset) for the noise.
bool wgpy_inflow(PyObject* outside, PyObject* noise, wg_inflow* inflow);

wg_effector wgpy_effector(const double* row);
