// Reads a windgrove.wind.protocol.WindView into the struct that the kernels take.
#pragma once

#include "arguments.h"
#include "windgrove/wind.h"

/// Borrows: `out` points into the view's arrays, so the caller holds a reference to `view` for as
/// long as `out` is used, also while the GIL is dropped. Checks dtype (float32), shape
/// (3, nz >= 3, ny >= 3, nx >= 3), C order, spacing > 0, the profile's word and its parameters.
/// @return false with a Python error set; `name` stands in front of it.
bool wgpy_wind_view(PyObject* view, wg_wind_view* out);

/// The same for one windgrove.wind.protocol.Prevailing.
bool wgpy_prevailing(PyObject* object, wg_prevailing* out);
