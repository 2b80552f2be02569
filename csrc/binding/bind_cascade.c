// The cascade's stages. A grid is the tuple (velocity, pressure or None, solid or None, low, spacing).
#include <math.h>
#include <string.h>

#include "bind.h"
#include "cascade_arguments.h"

// Of a grid's low corner, in its cells: within it every index and centre is exact.
#define LARGEST_LOW (INT64_C(1) << 51)

static bool grid_sides(PyObject* velocity, wg_grid* grid)
{
    const npy_intp* size = PyArray_DIMS((PyArrayObject*)velocity);
    for (int axis = 1; axis < 4; ++axis)
        if (size[axis] < 6 || size[axis] % 2 != 0 || size[axis] > 32768) {
            PyErr_SetString(
                PyExc_ValueError, "velocity: each side needs an even interior of at least 4 cells");
            return false;
        }
    grid->nz = (int32_t)size[1];
    grid->ny = (int32_t)size[2];
    grid->nx = (int32_t)size[3];
    return true;
}

bool wgpy_grid(PyObject* object, const char* name, wg_grid* grid)
{
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 5) {
        PyErr_Format(PyExc_TypeError, "%s: expected a grid of five items", name);
        return false;
    }
    PyObject* velocity = PyTuple_GET_ITEM(object, 0);
    const npy_intp any[4] = { 3, WGPY_ANY, WGPY_ANY, WGPY_ANY };
    grid->velocity = wgpy_array(velocity, "velocity", NPY_FLOAT32, 4, any, true);
    if (!grid->velocity || !grid_sides(velocity, grid))
        return false;
    const npy_intp shape[3] = { grid->nz, grid->ny, grid->nx }, three = 3;
    void *pressure, *solid;
    if (!wgpy_optional_array(
            PyTuple_GET_ITEM(object, 1), "pressure", NPY_FLOAT32, 3, shape, true, &pressure) ||
        !wgpy_optional_array(
            PyTuple_GET_ITEM(object, 2), "solid", NPY_BOOL, 3, shape, false, &solid))
        return false;
    grid->pressure = pressure;
    grid->solid = solid;
    const int64_t* low = wgpy_array(PyTuple_GET_ITEM(object, 3), "low", NPY_INT64, 1, &three, true);
    if (!low || !wgpy_positive(PyTuple_GET_ITEM(object, 4), "spacing", &grid->spacing))
        return false;
    memcpy(grid->low, low, sizeof grid->low);
    for (int axis = 0; axis < 3; ++axis)
        if (low[axis] > LARGEST_LOW || low[axis] < -LARGEST_LOW) {
            PyErr_Format(PyExc_ValueError, "low: expected at most 2^51 cells from the origin");
            return false;
        }
    return true;
}

bool wgpy_nested(const wg_grid* fine, const int64_t inner[3], const int64_t outer[3])
{
    const int64_t cells[3] = { fine->nx - 2, fine->ny - 2, fine->nz - 2 };
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t low = inner[axis], parent = outer[axis];
        const bool near = low <= LARGEST_LOW && low >= -LARGEST_LOW && parent <= LARGEST_LOW &&
                          parent >= -LARGEST_LOW;
        if (!near || low % 2 != 0 || low < 2 * parent || low > 2 * parent + cells[axis]) {
            PyErr_SetString(
                PyExc_ValueError, "low: each grid must lie on the cells of the next coarser one");
            return false;
        }
    }
    return true;
}

static bool read_pair(PyObject* fine, PyObject* coarse, wg_grid* fine_out, wg_grid* coarse_out)
{
    if (!wgpy_grid(fine, "fine", fine_out) || !wgpy_grid(coarse, "coarse", coarse_out))
        return false;
    const int32_t inner[3] = { fine_out->nx, fine_out->ny, fine_out->nz };
    const int32_t outer[3] = { coarse_out->nx, coarse_out->ny, coarse_out->nz };
    for (int axis = 0; axis < 3; ++axis) {
        const int64_t first = fine_out->low[axis] - 2 * coarse_out->low[axis];
        if (fine_out->low[axis] % 2 != 0 || first < 0 ||
            first + inner[axis] - 2 > 2 * (int64_t)(outer[axis] - 2)) {
            PyErr_SetString(
                PyExc_ValueError, "fine: its interior must lie on the coarse grid's cells");
            return false;
        }
    }
    return true;
}

// `noise` is None or (table, strength, scale, offset).
bool wgpy_inflow(PyObject* outside, PyObject* noise, wg_inflow* inflow)
{
    memset(&inflow->noise, 0, sizeof inflow->noise);
    inflow->noise.scale = 1.0;
    if (!wgpy_prevailing(outside, &inflow->prevailing))
        return false;
    if (noise == Py_None)
        return true;
    if (!PyTuple_Check(noise) || PyTuple_GET_SIZE(noise) != 4) {
        PyErr_SetString(PyExc_TypeError, "noise: expected None or four items");
        return false;
    }
    const npy_intp three = 3, table_shape[2] = { 3, 512 };
    const uint8_t* table =
        wgpy_array(PyTuple_GET_ITEM(noise, 0), "noise", NPY_UINT8, 2, table_shape, false);
    if (!table ||
        !wgpy_not_negative(PyTuple_GET_ITEM(noise, 1), "strength", &inflow->noise.strength) ||
        !wgpy_positive(PyTuple_GET_ITEM(noise, 2), "scale", &inflow->noise.scale))
        return false;
    const double* offset =
        wgpy_array(PyTuple_GET_ITEM(noise, 3), "offset", NPY_FLOAT64, 1, &three, false);
    if (!offset)
        return false;
    memcpy(inflow->noise.permutation, table, sizeof inflow->noise.permutation);
    memcpy(inflow->noise.offset, offset, sizeof inflow->noise.offset);
    for (int axis = 0; axis < 3; ++axis)
        if (!(fabs(offset[axis]) < 0x1p50)) {
            PyErr_SetString(
                PyExc_ValueError, "offset: expected finite numbers below 2^50 lattice cells");
            return false;
        }
    return true;
}

static PyObject* bind_noise_table(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    uint64_t seed;
    const npy_intp shape[2] = { 3, 512 };
    if (!wgpy_arity("noise_table", nargs, 2) || !wgpy_uint64(args[0], "seed", &seed))
        return NULL;
    wg_permutation* table = wgpy_array(args[1], "out", NPY_UINT8, 2, shape, true);
    if (!table)
        return NULL;
    for (uint64_t c = 0; c < 3; ++c)
        wg_permutation_init(&table[c], 3 * seed + c);
    Py_RETURN_NONE;
}

static PyObject* bind_cascade_place(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    const npy_intp three = 3;
    double spacing, floor_height;
    if (!wgpy_arity("cascade_place", nargs, 5))
        return NULL;
    const double* focus = wgpy_array(args[0], "focus", NPY_FLOAT64, 1, &three, false);
    if (!focus)
        return NULL;
    const int32_t* cells = wgpy_array(args[1], "cells", NPY_INT32, 1, &three, false);
    if (!cells || !wgpy_positive(args[2], "cell_size", &spacing))
        return NULL;
    floor_height = args[3] == Py_None ? (double)NAN : 0.0;
    if (args[3] != Py_None && !wgpy_double(args[3], "floor", &floor_height))
        return NULL;
    const npy_intp shape[2] = { WGPY_ANY, 3 };
    int64_t* low = wgpy_array(args[4], "low", NPY_INT64, 2, shape, true);
    if (!low)
        return NULL;
    const int32_t levels = (int32_t)wgpy_dimension(args[4], 0);
    return wgpy_done(
        wg_cascade_place(focus, cells, levels, spacing, floor_height, low),
        "focus or floor: expected a point within 1e15 cells of the origin");
}

static PyObject* bind_cascade_inject(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_grid grid;
    wg_inflow inflow;
    wg_exec exec;
    bool everywhere;
    if (!wgpy_arity("cascade_inject", nargs, 5) || !wgpy_grid(args[0], "grid", &grid) ||
        !wgpy_inflow(args[1], args[2], &inflow) || !wgpy_flag(args[3], "everywhere", &everywhere) ||
        !wgpy_threads(args[4], &exec))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    if (everywhere)
        wg_cascade_fill(&grid, &inflow, &exec);
    else
        wg_cascade_inject(&grid, &inflow, &exec);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject* bind_cascade_recentre(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_grid grid, coarser;
    wg_inflow inflow;
    wg_exec exec;
    const npy_intp three = 3;
    if (!wgpy_arity("cascade_recentre", nargs, 6) || !wgpy_grid(args[0], "grid", &grid))
        return NULL;
    const int64_t* low = wgpy_array(args[1], "low", NPY_INT64, 1, &three, false);
    if (!low || (args[2] != Py_None && !wgpy_grid(args[2], "coarser", &coarser)) ||
        !wgpy_inflow(args[3], args[4], &inflow) || !wgpy_threads(args[5], &exec))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wg_cascade_recentre(&grid, low, args[2] == Py_None ? NULL : &coarser, &inflow, &exec);
    Py_END_ALLOW_THREADS
    memcpy(PyArray_DATA((PyArrayObject*)PyTuple_GET_ITEM(args[0], 3)), grid.low, sizeof grid.low);
    Py_RETURN_NONE;
}

static PyObject* bind_inner_border(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_grid fine, coarse;
    wg_exec exec;
    if (!wgpy_arity("cascade_inner_border", nargs, 3) ||
        !read_pair(args[0], args[1], &fine, &coarse) || !wgpy_threads(args[2], &exec))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wg_cascade_inner_border(&fine, &coarse, &exec);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject* bind_restrict(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_grid fine, coarse;
    wg_exec exec;
    if (!wgpy_arity("cascade_restrict", nargs, 3) || !read_pair(args[1], args[0], &fine, &coarse) ||
        !wgpy_threads(args[2], &exec))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wg_cascade_restrict(&coarse, &fine, &exec);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

wg_effector wgpy_effector(const double* row)
{
    wg_effector effector = {
        .kind = (int32_t)row[0], .radius = row[10], .half_length = row[11], .acceleration = row[12]
    };
    memcpy(effector.start, row + 1, sizeof effector.start);
    memcpy(effector.end, row + 4, sizeof effector.end);
    memcpy(effector.direction, row + 7, sizeof effector.direction);
    return effector;
}

static PyObject* bind_effect(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_grid grid;
    wg_exec exec;
    double dt;
    const npy_intp shape[2] = { WGPY_ANY, WGPY_EFFECTOR_COLUMNS };
    if (!wgpy_arity("cascade_effect", nargs, 4) || !wgpy_grid(args[0], "grid", &grid))
        return NULL;
    const double* rows = wgpy_array(args[1], "effectors", NPY_FLOAT64, 2, shape, false);
    if (!rows || !wgpy_double(args[2], "dt", &dt) || !wgpy_threads(args[3], &exec))
        return NULL;
    const npy_intp count = wgpy_dimension(args[1], 0);
    wg_status status = WG_OK;
    Py_BEGIN_ALLOW_THREADS
    for (npy_intp n = 0; n < count && status == WG_OK; ++n) {
        const wg_effector effector = wgpy_effector(rows + WGPY_EFFECTOR_COLUMNS * n);
        status = wg_cascade_effect(&grid, &effector, 1, dt, &exec);
    }
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "effectors");
}

static PyObject* bind_add_blast(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_grid grid;
    wg_exec exec;
    double factor;
    const npy_intp five = 5;
    if (!wgpy_arity("cascade_add_blast", nargs, 4) || !wgpy_grid(args[0], "grid", &grid))
        return NULL;
    const double* row = wgpy_array(args[1], "blast", NPY_FLOAT64, 1, &five, false);
    if (!row || !wgpy_double(args[2], "factor", &factor) || !wgpy_threads(args[3], &exec))
        return NULL;
    const wg_blast blast = { { row[0], row[1], row[2] }, row[3], row[4] };
    Py_BEGIN_ALLOW_THREADS
    wg_cascade_add_blast(&grid, &blast, factor, &exec);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject* bind_drag(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_grid grid;
    wg_exec exec;
    double dt;
    if (!wgpy_arity("cascade_drag", nargs, 4) || !wgpy_grid(args[0], "grid", &grid))
        return NULL;
    const npy_intp shape[3] = { grid.nz, grid.ny, grid.nx };
    const float* rate = wgpy_array(args[1], "rate", NPY_FLOAT32, 3, shape, false);
    if (!rate || !wgpy_double(args[2], "dt", &dt) || !wgpy_threads(args[3], &exec))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wg_cascade_drag(&grid, rate, dt, &exec);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

#define FAST(name, function, signature)                                                            \
    {                                                                                              \
        name, (PyCFunction)(void (*)(void))function, METH_FASTCALL,                                \
            PyDoc_STR(name signature "\n--\n\nSee windgrove/cascade.h.")                           \
    }

PyMethodDef bind_cascade_methods[] = {
    FAST("noise_table", bind_noise_table, "($module, seed, out, /)"),
    FAST("cascade_place", bind_cascade_place, "($module, focus, cells, cell_size, floor, low, /)"),
    FAST(
        "cascade_inject", bind_cascade_inject,
        "($module, grid, outside, noise, everywhere, threads, /)"),
    FAST(
        "cascade_recentre", bind_cascade_recentre,
        "($module, grid, low, coarser, outside, noise, threads, /)"),
    FAST("cascade_inner_border", bind_inner_border, "($module, fine, coarse, threads, /)"),
    FAST("cascade_restrict", bind_restrict, "($module, coarse, fine, threads, /)"),
    FAST("cascade_effect", bind_effect, "($module, grid, effectors, dt, threads, /)"),
    FAST("cascade_add_blast", bind_add_blast, "($module, grid, blast, factor, threads, /)"),
    FAST("cascade_drag", bind_drag, "($module, grid, rate, dt, threads, /)"),
    { NULL, NULL, 0, NULL },
};
