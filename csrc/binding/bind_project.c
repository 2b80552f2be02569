#include "bind.h"
#include "windgrove/project.h"

// The arrays both functions share: (velocity, spacing, solid, pressure).
static bool read_fields(PyObject* const* args, bool write_pressure, wg_project_fields* fields)
{
    const npy_intp any[4] = { 3, WGPY_ANY, WGPY_ANY, WGPY_ANY };
    fields->velocity = wgpy_array(args[0], "velocity", NPY_FLOAT32, 4, any, false);
    if (!fields->velocity || !wgpy_positive(args[1], "spacing", &fields->spacing))
        return false;
    npy_intp shape[3];
    for (int axis = 0; axis < 3; ++axis) {
        shape[axis] = wgpy_dimension(args[0], axis + 1);
        if (shape[axis] < 1 || shape[axis] > INT32_MAX) {
            PyErr_SetString(
                PyExc_ValueError, "velocity: expected at least one cell along each axis");
            return false;
        }
    }
    void *solid, *pressure;
    if (!wgpy_optional_array(args[2], "solid", NPY_BOOL, 3, shape, false, &solid) ||
        !wgpy_optional_array(
            args[3], "pressure", NPY_FLOAT32, 3, shape, write_pressure, &pressure) ||
        (write_pressure && !wgpy_no_overlap(args[3], "pressure", args[0], "velocity")))
        return false;
    fields->solid = solid;
    fields->pressure = pressure;
    fields->nz = (int32_t)shape[0];
    fields->ny = (int32_t)shape[1];
    fields->nx = (int32_t)shape[2];
    return true;
}

static bool read_parameters(PyObject* const* args, wg_project_parameters* parameters)
{
    long method, discretisation, iterations;
    if (!wgpy_int(args[0], "method", WG_PROJECT_JACOBI, WG_PROJECT_DIRECT, &method) ||
        !wgpy_int(args[1], "discretisation", WG_COMPACT, WG_CONSISTENT, &discretisation) ||
        !wgpy_int(args[2], "iterations", 1, INT32_MAX, &iterations) ||
        !wgpy_not_negative(args[3], "tolerance", &parameters->tolerance))
        return false;
    parameters->method = (int32_t)method;
    parameters->discretisation = (int32_t)discretisation;
    parameters->iterations = (int32_t)iterations;
    return true;
}

// The caller's scratch, or some for one call: malloc under the binding, never inside a kernel.
typedef struct memory {
    void* at;
    bool own;
} memory;

static size_t
scratch_bytes(const wg_project_fields* fields, const wg_project_parameters* parameters)
{
    return wg_project_scratch_size(
        fields->nx, fields->ny, fields->nz, parameters, fields->solid != NULL);
}

static bool find_scratch(
    PyObject* object, const wg_project_fields* fields, const wg_project_parameters* parameters,
    memory* scratch)
{
    const npy_intp any = WGPY_ANY;
    const size_t bytes = scratch_bytes(fields, parameters);
    if (!wgpy_optional_array(object, "scratch", NPY_UINT8, 1, &any, true, &scratch->at))
        return false;
    scratch->own = !scratch->at;
    if (scratch->at && (size_t)wgpy_dimension(object, 0) < bytes) {
        PyErr_Format(
            PyExc_ValueError, "scratch: expected at least %zu bytes, got %zd", bytes,
            (Py_ssize_t)wgpy_dimension(object, 0));
        return false;
    }
    if (scratch->own && bytes) {
        scratch->at = PyMem_RawMalloc(bytes);
        if (!scratch->at) {
            PyErr_NoMemory();
            return false;
        }
        memset(scratch->at, 0, bytes < 256 ? bytes : 256);
    }
    return true;
}

static void leave_scratch(memory* scratch)
{
    if (scratch->own)
        PyMem_RawFree(scratch->at);
}

static PyObject* bind_project(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_project_fields fields = { 0 };
    wg_project_parameters parameters;
    wg_project_result result = { 0 };
    wg_exec exec;
    bool measure;
    if (!wgpy_arity("project", nargs, 12) || !read_fields(args, true, &fields))
        return NULL;
    npy_intp shape[4] = { 3, fields.nz, fields.ny, fields.nx };
    fields.out = wgpy_array(args[4], "out", NPY_FLOAT32, 4, shape, true);
    if (!fields.out || !read_parameters(args + 5, &parameters) ||
        !wgpy_flag(args[9], "measure", &measure) || !wgpy_threads(args[10], &exec) ||
        !wgpy_no_overlap(args[3], "pressure", args[4], "out"))
        return NULL;
    if (fields.out != fields.velocity && !wgpy_no_overlap(args[4], "out", args[0], "velocity"))
        return NULL;

    memory scratch;
    if (!wgpy_no_overlap(args[11], "scratch", args[0], "velocity") ||
        !wgpy_no_overlap(args[11], "scratch", args[4], "out") ||
        !wgpy_no_overlap(args[11], "scratch", args[3], "pressure") ||
        !find_scratch(args[11], &fields, &parameters, &scratch))
        return NULL;
    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = scratch.at
                 ? wg_project(&fields, &parameters, scratch.at, measure ? &result : NULL, &exec)
                 : WG_ERR_UNSUPPORTED;
    Py_END_ALLOW_THREADS
    leave_scratch(&scratch);
    if (status < 0)
        return wgpy_done(status, "method");
    return Py_BuildValue(
        "Nllddd", PyBool_FromLong(status == WG_OK), (long)result.iterations,
        (long)result.null_modes, result.right_side, result.null_part, result.residual);
}

static PyObject* bind_jacobi_sweeps(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    const npy_intp any[3] = { WGPY_ANY, WGPY_ANY, WGPY_ANY };
    wg_project_fields fields = { 0 };
    wg_project_parameters parameters = wg_project_defaults();
    wg_exec exec;
    long iterations;
    if (!wgpy_arity("jacobi_sweeps", nargs, 8))
        return NULL;
    const float* divergence = wgpy_array(args[0], "divergence", NPY_FLOAT32, 3, any, false);
    if (!divergence || !wgpy_positive(args[1], "spacing", &fields.spacing))
        return NULL;
    npy_intp shape[3];
    for (int axis = 0; axis < 3; ++axis) {
        shape[axis] = wgpy_dimension(args[0], axis);
        if (shape[axis] < 1 || shape[axis] > INT32_MAX) {
            PyErr_SetString(
                PyExc_ValueError, "divergence: expected at least one cell along each axis");
            return NULL;
        }
    }
    void* solid;
    fields.pressure = wgpy_array(args[3], "pressure", NPY_FLOAT32, 3, shape, true);
    if (!fields.pressure || !wgpy_no_overlap(args[3], "pressure", args[0], "divergence") ||
        !wgpy_optional_array(args[2], "solid", NPY_BOOL, 3, shape, false, &solid) ||
        !wgpy_flag(args[4], "from_zero", &fields.from_zero) ||
        !wgpy_int(args[5], "iterations", 1, INT32_MAX, &iterations) ||
        !wgpy_threads(args[7], &exec))
        return NULL;
    fields.solid = solid;
    fields.nz = (int32_t)shape[0];
    fields.ny = (int32_t)shape[1];
    fields.nx = (int32_t)shape[2];
    memory scratch;
    if (!wgpy_no_overlap(args[6], "scratch", args[0], "divergence") ||
        !wgpy_no_overlap(args[6], "scratch", args[3], "pressure") ||
        !find_scratch(args[6], &fields, &parameters, &scratch))
        return NULL;
    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_jacobi_sweeps(&fields, divergence, (int32_t)iterations, scratch.at, &exec);
    Py_END_ALLOW_THREADS
    leave_scratch(&scratch);
    return wgpy_done(status, "jacobi_sweeps");
}

static PyObject* bind_scratch_size(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    long size[3], method, discretisation;
    bool solid;
    if (!wgpy_arity("project_scratch_size", nargs, 6))
        return NULL;
    for (int axis = 0; axis < 3; ++axis)
        if (!wgpy_int(args[axis], "shape", 1, INT32_MAX, &size[axis]))
            return NULL;
    if (!wgpy_int(args[3], "method", WG_PROJECT_JACOBI, WG_PROJECT_DIRECT, &method) ||
        !wgpy_int(args[4], "discretisation", WG_COMPACT, WG_CONSISTENT, &discretisation) ||
        !wgpy_flag(args[5], "solid", &solid))
        return NULL;
    wg_project_parameters parameters = wg_project_defaults();
    parameters.method = (int32_t)method;
    parameters.discretisation = (int32_t)discretisation;
    return PyLong_FromSize_t(wg_project_scratch_size(
        (int32_t)size[2], (int32_t)size[1], (int32_t)size[0], &parameters, solid));
}

static PyObject* bind_divergence(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_project_fields fields = { 0 };
    if (!wgpy_arity("divergence", nargs, 5) || !read_fields(args, false, &fields))
        return NULL;
    npy_intp shape[3] = { fields.nz, fields.ny, fields.nx };
    float* out = wgpy_array(args[4], "out", NPY_FLOAT32, 3, shape, true);
    if (!out || !wgpy_no_overlap(args[4], "out", args[0], "velocity") ||
        !wgpy_no_overlap(args[4], "out", args[3], "pressure"))
        return NULL;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_divergence(&fields, out);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "divergence");
}

PyMethodDef bind_project_methods[] = {
    { "project", (PyCFunction)(void (*)(void))bind_project, METH_FASTCALL,
      PyDoc_STR(
          "project($module, velocity, spacing, solid, pressure, out, method, discretisation, "
          "iterations, tolerance, measure, threads, scratch, /)\n--\n\nPressure projection.") },
    { "jacobi_sweeps", (PyCFunction)(void (*)(void))bind_jacobi_sweeps, METH_FASTCALL,
      PyDoc_STR("jacobi_sweeps($module, divergence, spacing, solid, pressure, from_zero, "
                "iterations, scratch, threads, /)\n--\n\nJacobi sweeps alone.") },
    { "project_scratch_size", (PyCFunction)(void (*)(void))bind_scratch_size, METH_FASTCALL,
      PyDoc_STR(
          "project_scratch_size($module, nz, ny, nx, method, discretisation, solid, /)\n--\n\n"
          "Bytes of scratch of a projection.") },
    { "divergence", (PyCFunction)(void (*)(void))bind_divergence, METH_FASTCALL,
      PyDoc_STR("divergence($module, velocity, spacing, solid, pressure, out, /)\n--\n\n"
                "Divergence of a velocity grid.") },
    { NULL, NULL, 0, NULL },
};
