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

// Scratch of one call: malloc under the binding, never inside a kernel.
static wg_status project_with_scratch(
    const wg_project_fields* fields, const wg_project_parameters* parameters,
    wg_project_result* result, const wg_exec* exec)
{
    const size_t bytes = wg_project_scratch_size(
        fields->nx, fields->ny, fields->nz, parameters, fields->solid != NULL);
    if (bytes == 0)
        return WG_ERR_UNSUPPORTED;
    void* scratch = PyMem_RawMalloc(bytes);
    if (!scratch)
        return WG_ERR_MEMORY;
    memset(scratch, 0, bytes < 256 ? bytes : 256);
    const wg_status status = wg_project(fields, parameters, scratch, result, exec);
    PyMem_RawFree(scratch);
    return status;
}

static PyObject* bind_project(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_project_fields fields = { 0 };
    wg_project_parameters parameters;
    wg_project_result result = { 0 };
    wg_exec exec;
    bool measure;
    if (!wgpy_arity("project", nargs, 11) || !read_fields(args, true, &fields))
        return NULL;
    npy_intp shape[4] = { 3, fields.nz, fields.ny, fields.nx };
    fields.out = wgpy_array(args[4], "out", NPY_FLOAT32, 4, shape, true);
    if (!fields.out || !read_parameters(args + 5, &parameters) ||
        !wgpy_flag(args[9], "measure", &measure) || !wgpy_threads(args[10], &exec) ||
        !wgpy_no_overlap(args[3], "pressure", args[4], "out"))
        return NULL;
    if (fields.out != fields.velocity && !wgpy_no_overlap(args[4], "out", args[0], "velocity"))
        return NULL;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = project_with_scratch(&fields, &parameters, measure ? &result : NULL, &exec);
    Py_END_ALLOW_THREADS
    if (status < 0)
        return wgpy_done(status, "method");
    return Py_BuildValue(
        "Nllddd", PyBool_FromLong(status == WG_OK), (long)result.iterations,
        (long)result.null_modes, result.right_side, result.null_part, result.residual);
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
      PyDoc_STR("project($module, velocity, spacing, solid, pressure, out, method, discretisation, "
                "iterations, tolerance, measure, threads, /)\n--\n\nPressure projection.") },
    { "divergence", (PyCFunction)(void (*)(void))bind_divergence, METH_FASTCALL,
      PyDoc_STR("divergence($module, velocity, spacing, solid, pressure, out, /)\n--\n\n"
                "Divergence of a velocity grid.") },
    { NULL, NULL, 0, NULL },
};
