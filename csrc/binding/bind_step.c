// A whole step of the cascade in two calls: the move, and all that follows.
#include <stdlib.h>
#include <string.h>

#include "bind.h"
#include "cascade_arguments.h"

static bool read_grids(PyObject* object, wg_cascade* cascade)
{
    memset(cascade, 0, sizeof *cascade);
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) < 1 ||
        PyTuple_GET_SIZE(object) > WG_MAX_LEVELS) {
        PyErr_Format(PyExc_TypeError, "grids: expected a tuple of 1 to %d grids", WG_MAX_LEVELS);
        return false;
    }
    cascade->level_count = (int32_t)PyTuple_GET_SIZE(object);
    for (int32_t n = 0; n < cascade->level_count; ++n) {
        const wg_grid *grid = &cascade->grid[n], *first = &cascade->grid[0];
        if (!wgpy_grid(PyTuple_GET_ITEM(object, n), "grids", &cascade->grid[n]))
            return false;
        if (grid->nx != first->nx || grid->ny != first->ny || grid->nz != first->nz ||
            !grid->pressure) {
            PyErr_SetString(PyExc_ValueError, "grids: expected equal shapes and pressures");
            return false;
        }
        if (n > 0 && !wgpy_nested(grid, cascade->grid[n - 1].low, grid->low))
            return false;
    }
    return true;
}

static PyObject* bind_move(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_cascade cascade;
    wg_inflow inflow;
    wg_exec exec;
    void* low;
    if (!wgpy_arity("cascade_move", nargs, 5) || !read_grids(args[0], &cascade))
        return NULL;
    const npy_intp shape[2] = { cascade.level_count, 3 };
    if (!wgpy_optional_array(args[1], "low", NPY_INT64, 2, shape, false, &low) ||
        !wgpy_inflow(args[2], args[3], &inflow) || !wgpy_threads(args[4], &exec))
        return NULL;
    for (int32_t n = 1; low && n < cascade.level_count; ++n) {
        const int64_t* inner = (const int64_t*)low + 3 * (n - 1);
        if (!wgpy_nested(&cascade.grid[n], inner, inner + 3))
            return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    wg_cascade_move(&cascade, low, &inflow, &exec);
    Py_END_ALLOW_THREADS
    for (int32_t n = 0; n < cascade.level_count; ++n) {
        PyObject* fields = PyTuple_GET_ITEM(args[0], n);
        memcpy(
            PyArray_DATA((PyArrayObject*)PyTuple_GET_ITEM(fields, 3)), cascade.grid[n].low,
            sizeof cascade.grid[n].low);
    }
    Py_RETURN_NONE;
}

// One (method, discretisation, iterations, tolerance).
static bool read_projection(PyObject* object, wg_project_parameters* out)
{
    long method, discretisation, iterations;
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 4) {
        PyErr_SetString(PyExc_TypeError, "options: expected four numbers for each projection");
        return false;
    }
    if (!wgpy_int(PyTuple_GET_ITEM(object, 0), "method", 0, 4, &method) ||
        !wgpy_int(PyTuple_GET_ITEM(object, 1), "discretisation", 0, 1, &discretisation) ||
        !wgpy_int(PyTuple_GET_ITEM(object, 2), "iterations", 1, INT32_MAX, &iterations) ||
        !wgpy_not_negative(PyTuple_GET_ITEM(object, 3), "tolerance", &out->tolerance))
        return false;
    out->method = (int32_t)method;
    out->discretisation = (int32_t)discretisation;
    out->iterations = (int32_t)iterations;
    return true;
}

// (dt, vorticity, advection, warm start, projections, unprojected).
static bool read_options(PyObject* object, int32_t levels, wg_cascade_options* out)
{
    long advection;
    memset(out, 0, sizeof *out);
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 6) {
        PyErr_SetString(PyExc_TypeError, "options: expected six items");
        return false;
    }
    PyObject* projections = PyTuple_GET_ITEM(object, 4);
    if (!wgpy_positive(PyTuple_GET_ITEM(object, 0), "dt", &out->dt) ||
        !wgpy_not_negative(PyTuple_GET_ITEM(object, 1), "vorticity", &out->vorticity) ||
        !wgpy_int(PyTuple_GET_ITEM(object, 2), "advection", 0, 1, &advection) ||
        !wgpy_flag(PyTuple_GET_ITEM(object, 3), "warm_start", &out->warm_start) ||
        !wgpy_flag(PyTuple_GET_ITEM(object, 5), "unprojected", &out->unprojected))
        return false;
    out->advection = (int32_t)advection;
    if (!PyTuple_Check(projections) || PyTuple_GET_SIZE(projections) != levels) {
        PyErr_SetString(PyExc_TypeError, "options: expected one projection for each grid");
        return false;
    }
    for (int32_t n = 0; n < levels; ++n)
        if (!read_projection(PyTuple_GET_ITEM(projections, n), &out->projection[n]))
            return false;
    return true;
}

// (others, drags, scratch): arrays for each grid, and bytes for the projections.
static bool read_work(PyObject* object, wg_cascade* cascade, const wg_cascade_options* options)
{
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 3) {
        PyErr_SetString(PyExc_TypeError, "work: expected three items");
        return false;
    }
    PyObject *others = PyTuple_GET_ITEM(object, 0), *drags = PyTuple_GET_ITEM(object, 1);
    if (!PyTuple_Check(others) || PyTuple_GET_SIZE(others) != cascade->level_count ||
        !PyTuple_Check(drags) || PyTuple_GET_SIZE(drags) != cascade->level_count) {
        PyErr_SetString(PyExc_TypeError, "work: expected one array for each grid");
        return false;
    }
    const wg_grid* grid = &cascade->grid[0];
    const npy_intp shape[4] = { 3, grid->nz, grid->ny, grid->nx };
    for (int32_t n = 0; n < cascade->level_count; ++n) {
        void* drag;
        cascade->other[n] =
            wgpy_array(PyTuple_GET_ITEM(others, n), "other", NPY_FLOAT32, 4, shape, true);
        if (!cascade->other[n] ||
            !wgpy_optional_array(
                PyTuple_GET_ITEM(drags, n), "drag", NPY_FLOAT32, 3, shape + 1, false, &drag))
            return false;
        cascade->drag[n] = drag;
    }
    PyObject* scratch = PyTuple_GET_ITEM(object, 2);
    const npy_intp any = WGPY_ANY;
    cascade->scratch = wgpy_array(scratch, "scratch", NPY_UINT8, 1, &any, true);
    if (!cascade->scratch)
        return false;
    const size_t needed = wg_cascade_scratch_size(cascade, options);
    if (needed != 0 && (size_t)wgpy_dimension(scratch, 0) >= needed)
        return true;
    PyErr_SetString(PyExc_ValueError, "scratch: too small, or the projection does not exist");
    return false;
}

static PyObject* bind_scratch_size(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_cascade cascade;
    wg_cascade_options options;
    if (!wgpy_arity("cascade_scratch_size", nargs, 2) || !read_grids(args[0], &cascade) ||
        !read_options(args[1], cascade.level_count, &options))
        return NULL;
    return PyLong_FromSize_t(wg_cascade_scratch_size(&cascade, &options));
}

static bool read_forces(PyObject* effectors, PyObject* blasts, wg_cascade_forces* out)
{
    const npy_intp effector_shape[2] = { WGPY_ANY, WGPY_EFFECTOR_COLUMNS };
    const npy_intp blast_shape[2] = { WGPY_ANY, WGPY_BLAST_COLUMNS };
    const double* rows = wgpy_array(effectors, "effectors", NPY_FLOAT64, 2, effector_shape, false);
    const double* sources =
        rows ? wgpy_array(blasts, "blasts", NPY_FLOAT64, 2, blast_shape, false) : NULL;
    if (!sources)
        return false;
    const npy_intp count = wgpy_dimension(effectors, 0), bursts = wgpy_dimension(blasts, 0);
    wg_effector* effector = PyMem_Calloc((size_t)count + 1, sizeof *effector);
    wg_blast* blast = PyMem_Calloc((size_t)bursts + 1, sizeof *blast);
    *out = (wg_cascade_forces){ effector, (int32_t)count, blast, (int32_t)bursts };
    if (!effector || !blast) {
        PyErr_NoMemory();
        return false;
    }
    for (npy_intp n = 0; n < count; ++n)
        effector[n] = wgpy_effector(rows + WGPY_EFFECTOR_COLUMNS * n);
    for (npy_intp n = 0; n < bursts; ++n) {
        const double* row = sources + WGPY_BLAST_COLUMNS * n;
        blast[n] = (wg_blast){ { row[0], row[1], row[2] }, row[3], row[4] };
    }
    return true;
}

// None, or where a tolerance was missed a tuple of (residual, iterations) for each grid.
static PyObject* step_report(wg_status status, const wg_project_result* result, int32_t levels)
{
    if (status != WG_NOT_CONVERGED)
        return wgpy_done(status, "step");
    PyObject* report = PyTuple_New(levels);
    for (int32_t n = 0; report && n < levels; ++n) {
        PyObject* item = Py_BuildValue("di", result[n].residual, (int)result[n].iterations);
        if (!item) {
            Py_DECREF(report);
            return NULL;
        }
        PyTuple_SET_ITEM(report, n, item);
    }
    return report;
}

static PyObject* bind_step(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_cascade cascade;
    wg_cascade_options options;
    wg_cascade_forces forces = { 0 };
    wg_project_result result[WG_MAX_LEVELS];
    wg_exec exec;
    if (!wgpy_arity("cascade_step", nargs, 6) || !read_grids(args[0], &cascade) ||
        !read_options(args[1], cascade.level_count, &options) ||
        !read_work(args[2], &cascade, &options) || !wgpy_threads(args[5], &exec))
        return NULL;
    bool measured = false;
    for (int32_t n = 0; n < cascade.level_count; ++n)
        measured = measured || options.projection[n].tolerance > 0.0;
    wg_status status = WG_OK;
    const bool fine = read_forces(args[3], args[4], &forces);
    if (fine) {
        Py_BEGIN_ALLOW_THREADS
        status = wg_cascade_step(&cascade, &options, &forces, measured ? result : NULL, &exec);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free((void*)forces.effector);
    PyMem_Free((void*)forces.blast);
    return fine ? step_report(status, result, cascade.level_count) : NULL;
}

#define FAST(name, function, signature)                                                            \
    {                                                                                              \
        name, (PyCFunction)(void (*)(void))function, METH_FASTCALL,                                \
            PyDoc_STR(name signature "\n--\n\nSee windgrove/cascade.h.")                           \
    }

PyMethodDef bind_step_methods[] = {
    FAST("cascade_move", bind_move, "($module, grids, low, outside, noise, threads, /)"),
    FAST("cascade_scratch_size", bind_scratch_size, "($module, grids, options, /)"),
    FAST(
        "cascade_step", bind_step,
        "($module, grids, options, work, effectors, blasts, threads, /)"),
    { NULL, NULL, 0, NULL },
};
