#include "wind_view.h"

#include <math.h>
#include <string.h>

static bool read_number(PyObject* object, const char* attribute, const char* name, double* out)
{
    PyObject* value = PyObject_GetAttrString(object, attribute);
    const bool fine = value && wgpy_double(value, name, out);
    Py_XDECREF(value);
    return fine;
}

static bool read_vector(PyObject* object, const char* attribute, const char* name, double out[3])
{
    PyObject* value = PyObject_GetAttrString(object, attribute);
    PyObject* items = value ? PySequence_Fast(value, "expected three numbers") : NULL;
    bool fine = items != NULL;
    if (fine && PySequence_Fast_GET_SIZE(items) != 3) {
        PyErr_Format(PyExc_ValueError, "%s: expected three numbers", name);
        fine = false;
    }
    for (Py_ssize_t i = 0; fine && i < 3; ++i)
        fine = wgpy_double(PySequence_Fast_GET_ITEM(items, i), name, &out[i]);
    Py_XDECREF(items);
    Py_XDECREF(value);
    return fine;
}

static bool read_profile(PyObject* object, int32_t* out)
{
    static const char* const words[] = { "none", "log", "power" };
    PyObject* value = PyObject_GetAttrString(object, "profile");
    const char* text = value ? PyUnicode_AsUTF8(value) : NULL;
    bool fine = false;
    for (int32_t i = 0; text && i < 3; ++i)
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            fine = true;
        }
    if (text && !fine)
        PyErr_Format(
            PyExc_ValueError, "wind.outside.profile: expected none, log or power; got %R", value);
    Py_XDECREF(value);
    return fine;
}

bool wgpy_prevailing(PyObject* object, wg_prevailing* out)
{
    if (!read_vector(object, "velocity", "wind.outside.velocity", out->velocity) ||
        !read_profile(object, &out->profile) ||
        !read_number(object, "ground", "wind.outside.ground", &out->ground) ||
        !read_number(
            object, "reference_height", "wind.outside.reference_height", &out->reference_height) ||
        !read_number(object, "parameter", "wind.outside.parameter", &out->parameter))
        return false;
    if (out->profile == WG_PROFILE_NONE || (out->reference_height > 0.0 && out->parameter > 0.0))
        return true;
    PyErr_SetString(
        PyExc_ValueError, "wind.outside: a profile needs reference_height and parameter above 0");
    return false;
}

// What is read here must outlast the call: another object than this function has to hold it.
static bool is_kept(PyObject* object, const char* name)
{
    PyObject* base = PyArray_Check(object) ? PyArray_BASE((PyArrayObject*)object) : NULL;
    if (Py_REFCNT(object) > 1 || (base && Py_REFCNT(base) > 1))
        return true;
    PyErr_Format(
        PyExc_TypeError, "%s: made anew at each look; its object must keep it as an attribute",
        name);
    return false;
}

static bool read_velocity(PyObject* grid, wg_grid_view* out)
{
    PyObject* array = PyObject_GetAttrString(grid, "velocity");
    if (!array)
        return false;
    const npy_intp shape[4] = { 3, WGPY_ANY, WGPY_ANY, WGPY_ANY };
    out->velocity = wgpy_array(array, "wind.levels[].velocity", NPY_FLOAT32, 4, shape, false);
    bool fine = out->velocity != NULL && is_kept(array, "wind.levels[].velocity");
    if (fine) {
        const npy_intp* size = PyArray_DIMS((PyArrayObject*)array);
        for (int axis = 1; axis < 4; ++axis)
            fine = fine && size[axis] >= 3 && size[axis] <= INT32_MAX;
        if (!fine)
            PyErr_SetString(
                PyExc_ValueError, "wind.levels[].velocity: each side needs at least 3 cells");
        out->nz = (int32_t)size[1];
        out->ny = (int32_t)size[2];
        out->nx = (int32_t)size[3];
    }
    Py_DECREF(array);
    return fine;
}

// The same side by side, which a grid may lack.
static bool read_cells(PyObject* grid, wg_grid_view* out)
{
    PyObject* array = PyObject_GetAttrString(grid, "cells");
    if (!array && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return true;
    }
    const npy_intp shape[4] = { out->nz, out->ny, out->nx, 4 };
    void* cells = NULL;
    const bool fine =
        array &&
        wgpy_optional_array(array, "wind.levels[].cells", NPY_FLOAT32, 4, shape, false, &cells) &&
        (!cells || is_kept(array, "wind.levels[].cells"));
    out->cells = cells;
    Py_XDECREF(array);
    return fine;
}

static bool read_grid(PyObject* grid, wg_grid_view* out)
{
    if (!read_velocity(grid, out) || !read_cells(grid, out) ||
        !read_vector(grid, "origin", "wind.levels[].origin", out->origin) ||
        !read_number(grid, "spacing", "wind.levels[].spacing", &out->spacing))
        return false;
    if (out->spacing > 0.0)
        return true;
    PyErr_SetString(PyExc_ValueError, "wind.levels[].spacing: expected a number above 0");
    return false;
}

static bool read_levels(PyObject* view, wg_wind_view* out)
{
    PyObject* levels = PyObject_GetAttrString(view, "levels");
    // A tuple holds its grids for as long as the view holds the tuple.
    bool fine = levels && PyTuple_Check(levels) && PyTuple_GET_SIZE(levels) <= WG_MAX_LEVELS;
    if (levels && !fine)
        PyErr_Format(
            PyExc_ValueError, "wind.levels: expected a tuple of at most %d grids", WG_MAX_LEVELS);
    fine = fine && (PyTuple_GET_SIZE(levels) == 0 || is_kept(levels, "wind.levels"));
    out->level_count = fine ? (int32_t)PyTuple_GET_SIZE(levels) : 0;
    for (int32_t i = 0; fine && i < out->level_count; ++i)
        fine = read_grid(PyTuple_GET_ITEM(levels, i), &out->level[i]);
    Py_XDECREF(levels);
    return fine;
}

bool wgpy_wind_view(PyObject* view, wg_wind_view* out)
{
    memset(out, 0, sizeof *out);
    if (!read_levels(view, out))
        return false;
    PyObject* outside = PyObject_GetAttrString(view, "outside");
    const bool fine = outside && wgpy_prevailing(outside, &out->outside);
    Py_XDECREF(outside);
    return fine;
}
