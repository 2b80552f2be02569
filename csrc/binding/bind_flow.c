#include "bind.h"

#include <math.h>

#include "wind_view.h"
#include "windgrove/flow.h"

static bool read_vector3(PyObject* object, const char* name, double out[3])
{
    const double* given = wgpy_array(object, name, NPY_FLOAT64, 1, (npy_intp[]){ 3 }, false);
    for (int axis = 0; given && axis < 3; ++axis) {
        if (!isfinite(given[axis])) {
            PyErr_Format(PyExc_ValueError, "%s: expected finite numbers", name);
            return false;
        }
        out[axis] = given[axis];
    }
    return given != NULL;
}

// A (c, nz, ny, nx) float32 array; its sizes must fit the core's.
static const float* read_field(PyObject* object, const char* name, int32_t size[4])
{
    const npy_intp shape[4] = { WGPY_ANY, WGPY_ANY, WGPY_ANY, WGPY_ANY };
    const float* values = wgpy_array(object, name, NPY_FLOAT32, 4, shape, false);
    for (int axis = 0; values && axis < 4; ++axis) {
        const npy_intp cells = wgpy_dimension(object, axis);
        if (cells < 1 || cells > WG_MAX_CELLS) {
            PyErr_Format(
                PyExc_ValueError, "%s: expected 1 to %d cells along axis %d, got %zd", name,
                WG_MAX_CELLS, axis, (Py_ssize_t)cells);
            return NULL;
        }
        size[axis] = (int32_t)cells;
    }
    return values;
}

// The grid of a velocity (3, nz, ny, nx) and its solids (nz, ny, nx) or None.
static bool read_grid(
    PyObject* velocity, PyObject* spacing, PyObject* solid, const float** values,
    wg_flow_grid* grid)
{
    int32_t size[4];
    *values = read_field(velocity, "velocity", size);
    if (!*values || !wgpy_positive(spacing, "spacing", &grid->spacing))
        return false;
    if (size[0] != 3 || size[1] < 3 || size[2] < 3 || size[3] < 3) {
        PyErr_Format(
            PyExc_ValueError,
            "velocity: expected shape (3, nz, ny, nx) with at least 3 cells each way, got "
            "(%d, %d, %d, %d)",
            (int)size[0], (int)size[1], (int)size[2], (int)size[3]);
        return false;
    }
    grid->nz = size[1];
    grid->ny = size[2];
    grid->nx = size[3];
    void* marks;
    const npy_intp shape[3] = { size[1], size[2], size[3] };
    const bool fits = wgpy_optional_array(solid, "solid", NPY_BOOL, 3, shape, false, &marks);
    grid->solid = marks;
    grid->classes = NULL;
    return fits;
}

// Memory that keeps the classes of solids, or None. They are found here, after all other checks.
static bool read_classes(PyObject* object, const wg_flow_grid* grid, void** memory)
{
    const npy_intp any = WGPY_ANY;
    if (!wgpy_optional_array(object, "scratch", NPY_UINT8, 1, &any, true, memory))
        return false;
    const size_t bytes = wg_flow_classes_size(grid->nx, grid->ny, grid->nz);
    if (*memory && (size_t)wgpy_dimension(object, 0) != bytes) {
        PyErr_Format(
            PyExc_ValueError,
            "scratch: expected %zu bytes for a grid of (%d, %d, %d) cells, got %zd", bytes,
            (int)grid->nz, (int)grid->ny, (int)grid->nx, (Py_ssize_t)wgpy_dimension(object, 0));
        return false;
    }
    return true;
}

static PyObject* bind_flow_scratch_size(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    long size[3];
    if (!wgpy_arity("flow_scratch_size", nargs, 3))
        return NULL;
    for (int axis = 0; axis < 3; ++axis)
        if (!wgpy_int(args[axis], "shape", 3, WG_MAX_CELLS, &size[axis]))
            return NULL;
    const size_t bytes = wg_flow_classes_size((int32_t)size[2], (int32_t)size[1], (int32_t)size[0]);
    if (!bytes) {
        PyErr_SetString(PyExc_ValueError, "shape: expected fewer than 2^31 cells");
        return NULL;
    }
    return PyLong_FromSize_t(bytes);
}

static PyObject* bind_advect(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_flow_grid grid;
    const float* velocity;
    double dt;
    wg_exec exec;
    void* classes;
    if (!wgpy_arity("advect", nargs, 9) ||
        !read_grid(args[1], args[2], args[4], &velocity, &grid) ||
        !wgpy_positive(args[3], "dt", &dt) || !wgpy_threads(args[6], &exec))
        return NULL;
    npy_intp shape[4] = { WGPY_ANY, grid.nz, grid.ny, grid.nx };
    const float* field = wgpy_array(args[0], "field", NPY_FLOAT32, 4, shape, false);
    if (!field)
        return NULL;
    shape[0] = wgpy_dimension(args[0], 0);
    float* out = wgpy_array(args[5], "out", NPY_FLOAT32, 4, shape, true);
    void* scratch;
    if (!out || !wgpy_no_overlap(args[5], "out", args[0], "field") ||
        !wgpy_no_overlap(args[5], "out", args[1], "velocity") ||
        !wgpy_optional_array(args[7], "first", NPY_FLOAT32, 4, shape, true, &scratch) ||
        !wgpy_no_overlap(args[7], "first", args[5], "out") ||
        !wgpy_no_overlap(args[7], "first", args[0], "field") ||
        !wgpy_no_overlap(args[7], "first", args[1], "velocity") ||
        !read_classes(args[8], &grid, &classes) ||
        !wgpy_no_overlap(args[8], "scratch", args[7], "first") ||
        !wgpy_no_overlap(args[5], "out", args[8], "scratch") ||
        !wgpy_no_overlap(args[8], "scratch", args[0], "field") ||
        !wgpy_no_overlap(args[8], "scratch", args[1], "velocity") ||
        !wgpy_no_overlap(args[8], "scratch", args[4], "solid"))
        return NULL;
    const int32_t components = (int32_t)shape[0];

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    if (classes)
        (void)wg_flow_classify(&grid, classes, &exec);
    status = scratch
                 ? wg_advect_maccormack(&grid, field, components, velocity, dt, scratch, out, &exec)
                 : wg_advect(&grid, field, components, velocity, dt, out, &exec);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "advect");
}

static PyObject* bind_confine_vorticity(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_flow_grid grid;
    const float* velocity;
    double dt, epsilon;
    wg_exec exec;
    void* classes;
    if (!wgpy_arity("confine_vorticity", nargs, 8) ||
        !read_grid(args[0], args[1], args[4], &velocity, &grid) ||
        !wgpy_positive(args[2], "dt", &dt) || !wgpy_not_negative(args[3], "epsilon", &epsilon) ||
        !wgpy_threads(args[6], &exec))
        return NULL;
    const npy_intp shape[4] = { 3, grid.nz, grid.ny, grid.nx };
    float* out = wgpy_array(args[5], "out", NPY_FLOAT32, 4, shape, true);
    if (!out || !wgpy_no_overlap(args[5], "out", args[0], "velocity") ||
        !read_classes(args[7], &grid, &classes) ||
        !wgpy_no_overlap(args[5], "out", args[7], "scratch") ||
        !wgpy_no_overlap(args[7], "scratch", args[0], "velocity") ||
        !wgpy_no_overlap(args[7], "scratch", args[4], "solid"))
        return NULL;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    if (classes)
        (void)wg_flow_classify(&grid, classes, &exec);
    status = wg_confine_vorticity(&grid, velocity, dt, epsilon, out, &exec);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "confine_vorticity");
}

static PyObject* bind_sample(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_field_view field;
    wg_exec exec;
    int32_t size[4];
    if (!wgpy_arity("sample", nargs, 6) || !(field.values = read_field(args[0], "field", size)) ||
        !read_vector3(args[1], "origin", field.origin) ||
        !wgpy_positive(args[2], "spacing", &field.spacing))
        return NULL;
    const double* points =
        wgpy_array(args[3], "points", NPY_FLOAT64, 2, (npy_intp[]){ WGPY_ANY, 3 }, false);
    if (!points || !wgpy_threads(args[5], &exec))
        return NULL;
    const npy_intp count = wgpy_dimension(args[3], 0);
    float* out = wgpy_array(args[4], "out", NPY_FLOAT32, 2, (npy_intp[]){ count, size[0] }, true);
    if (!out || !wgpy_no_overlap(args[4], "out", args[0], "field") ||
        !wgpy_no_overlap(args[4], "out", args[3], "points"))
        return NULL;
    field.components = size[0];
    field.nz = size[1];
    field.ny = size[2];
    field.nx = size[3];

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_sample(&field, points, (size_t)count, out, &exec);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "field");
}

static PyObject* bind_wind_sample(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_wind_view view;
    wg_exec exec;
    if (!wgpy_arity("wind_sample", nargs, 4) || !wgpy_wind_view(args[0], &view))
        return NULL;
    const double* points =
        wgpy_array(args[1], "points", NPY_FLOAT64, 2, (npy_intp[]){ WGPY_ANY, 3 }, false);
    if (!points || !wgpy_threads(args[3], &exec))
        return NULL;
    const npy_intp count = wgpy_dimension(args[1], 0);
    float* out = wgpy_array(args[2], "out", NPY_FLOAT32, 2, (npy_intp[]){ count, 3 }, true);
    if (!out || !wgpy_no_overlap(args[2], "out", args[1], "points"))
        return NULL;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_wind_sample(&view, points, (size_t)count, out, &exec);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "wind");
}

static PyObject* bind_wind_cells(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_exec exec;
    if (!wgpy_arity("wind_cells", nargs, 3))
        return NULL;
    const npy_intp any[] = { 3, WGPY_ANY, WGPY_ANY, WGPY_ANY };
    wg_grid_view grid = { .velocity = wgpy_array(args[0], "velocity", NPY_FLOAT32, 4, any, false) };
    if (!grid.velocity || !wgpy_threads(args[2], &exec))
        return NULL;
    const npy_intp* size = PyArray_DIMS((PyArrayObject*)args[0]);
    const npy_intp shape[] = { size[1], size[2], size[3], 4 };
    float* out = wgpy_array(args[1], "out", NPY_FLOAT32, 4, shape, true);
    if (!out || !wgpy_no_overlap(args[1], "out", args[0], "velocity"))
        return NULL;
    for (int axis = 1; axis < 4; ++axis)
        if (size[axis] > WG_MAX_CELLS)
            return wgpy_done(WG_ERR_VALUE, "velocity");
    grid.nz = (int32_t)size[1];
    grid.ny = (int32_t)size[2];
    grid.nx = (int32_t)size[3];
    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_wind_cells(&grid, out, &exec);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "velocity");
}

PyMethodDef bind_flow_methods[] = {
    { "advect", (PyCFunction)(void (*)(void))bind_advect, METH_FASTCALL,
      PyDoc_STR(
          "advect($module, field, velocity, spacing, dt, solid, out, threads, first, scratch, "
          "/)\n--\n\nMove a (c, nz, ny, nx) field with the air for one step; by MacCormack "
          "with `first`, an array of the field's shape for the first pass.") },
    { "confine_vorticity", (PyCFunction)(void (*)(void))bind_confine_vorticity, METH_FASTCALL,
      PyDoc_STR("confine_vorticity($module, velocity, spacing, dt, epsilon, solid, out, threads, "
                "scratch, /)\n--\n\nAdd the vorticity confinement force of one step.") },
    { "sample", (PyCFunction)(void (*)(void))bind_sample, METH_FASTCALL,
      PyDoc_STR("sample($module, field, origin, spacing, points, out, threads, /)\n--\n\n"
                "Trilinear sample of a (c, nz, ny, nx) field at (n, 3) points.") },
    { "wind_sample", (PyCFunction)(void (*)(void))bind_wind_sample, METH_FASTCALL,
      PyDoc_STR("wind_sample($module, view, points, out, threads, /)\n--\n\n"
                "Velocity of a WindView at (n, 3) points.") },
    { "wind_cells", (PyCFunction)(void (*)(void))bind_wind_cells, METH_FASTCALL,
      PyDoc_STR("wind_cells($module, velocity, out, threads, /)\n--\n\n"
                "The components of each cell of (3, nz, ny, nx) side by side, (nz, ny, nx, 4).") },
    { "flow_scratch_size", (PyCFunction)(void (*)(void))bind_flow_scratch_size, METH_FASTCALL,
      PyDoc_STR("flow_scratch_size($module, nz, ny, nx, /)\n--\n\nBytes of the memory that keeps "
                "what solids leave around each cell.") },
    { NULL, NULL, 0, NULL },
};
