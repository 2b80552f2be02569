// Argument checks shared by every bind_*.c. They convert and allocate nothing: an array either fits
// or is refused with an error that names it. Every function sets a Python error and returns false
// (or NULL) on failure.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#define PY_ARRAY_UNIQUE_SYMBOL windgrove_array_api
#ifndef WGPY_IMPORT_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "windgrove/base.h"

/// A dimension that may have any size.
#define WGPY_ANY (-1)

bool wgpy_arity(const char* function, Py_ssize_t given, Py_ssize_t expected);

/// A C-ordered, aligned, native array of the given type and shape; WGPY_ANY matches any size.
/// With `writable` it must also be writable. Returns a borrowed pointer to its data, never NULL on
/// success (an empty array gives a valid address that must not be read).
void* wgpy_array(
    PyObject* object, const char* name, int type, int ndim, const npy_intp* shape, bool writable);

/// The same where None is allowed: `*present` says whether an array was given.
bool wgpy_optional_array(
    PyObject* object, const char* name, int type, int ndim, const npy_intp* shape, bool writable,
    void** data);

/// Size of a dimension of an object already accepted by wgpy_array.
npy_intp wgpy_dimension(PyObject* object, int axis);

/// Refuses two arrays that share memory: `out` would be read after it was written. None shares
/// nothing; anything else that is no array is refused by its name.
bool wgpy_no_overlap(PyObject* out, const char* out_name, PyObject* in, const char* in_name);

bool wgpy_double(PyObject* object, const char* name, double* value);       ///< finite
bool wgpy_positive(PyObject* object, const char* name, double* value);     ///< finite, > 0
bool wgpy_not_negative(PyObject* object, const char* name, double* value); ///< finite, >= 0
bool wgpy_int(PyObject* object, const char* name, long low, long high, long* value);
bool wgpy_uint64(PyObject* object, const char* name, uint64_t* value);
bool wgpy_flag(PyObject* object, const char* name, bool* value);
bool wgpy_threads(PyObject* object, wg_exec* exec);

/// None for WG_OK and WG_NOT_CONVERGED, else the matching exception with `context` in front.
PyObject* wgpy_done(wg_status status, const char* context);
