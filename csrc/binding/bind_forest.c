// Runs over instances: arguments come in four tuples (forest, options, wind, record).
#include <limits.h>
#include <string.h>

#include "bind.h"
#include "wind_view.h"
#include "windgrove/forest.h"

static bool tuple_of(PyObject* object, const char* name, Py_ssize_t size, PyObject*** items)
{
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != size) {
        PyErr_Format(PyExc_TypeError, "%s: expected a tuple of %zd", name, size);
        return false;
    }
    *items = &PyTuple_GET_ITEM(object, 0);
    return true;
}

static bool read_branches(PyObject* const* args, wg_branches* out)
{
    const npy_intp any_by_3[] = { WGPY_ANY, 3 };
    out->position = wgpy_array(args[0], "position", NPY_FLOAT64, 2, any_by_3, false);
    if (!out->position)
        return false;
    const npy_intp n = wgpy_dimension(args[0], 0), n_by_3[] = { n, 3 };
    out->count = (int32_t)n;
    return (out->direction = wgpy_array(args[1], "direction", NPY_FLOAT64, 2, n_by_3, false)) &&
           (out->length = wgpy_array(args[2], "length", NPY_FLOAT64, 1, &n, false)) &&
           (out->parent = wgpy_array(args[3], "parent", NPY_INT32, 1, &n, false));
}

static PyObject* bind_specimen_size(PyObject* module, PyObject* object)
{
    (void)module;
    long count;
    if (!wgpy_int(object, "count", 1, INT32_MAX / 64, &count))
        return NULL;
    return PyLong_FromSize_t(wg_specimen_size((int32_t)count));
}

static PyObject* bind_specimen_init(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_branches branches;
    if (!wgpy_arity("specimen_init", nargs, 5) || !read_branches(args, &branches))
        return NULL;
    const npy_intp bytes = (npy_intp)wg_specimen_size(branches.count);
    void* memory = wgpy_array(args[4], "memory", NPY_UINT8, 1, &bytes, true);
    if (!memory)
        return NULL;
    return wgpy_done(wg_specimen_init(&branches, memory), "tree");
}

static bool read_spring_options(PyObject* const* items, wg_spring_options* out)
{
    long clamp;
    if (!wgpy_positive(items[0], "dt", &out->dt) ||
        !wgpy_int(items[1], "clamp", WG_CLAMP_SOURCE, WG_CLAMP_NONE, &clamp))
        return false;
    out->clamp = (int32_t)clamp;
    return wgpy_flag(items[2], "inertia", &out->inertia) &&
           wgpy_flag(items[3], "relative_damping", &out->relative_damping) &&
           wgpy_flag(items[4], "torsion", &out->torsion) &&
           wgpy_flag(items[5], "limit_turn", &out->limit_turn);
}

static PyObject* bind_forest_springs(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    static const char* const names[] = { "mass", "stiffness", "damping", "drag" };
    wg_spring_options options = { .inertia = true };
    long clamp;
    if (!wgpy_arity("forest_springs", nargs, 7) || !wgpy_positive(args[4], "dt", &options.dt) ||
        !wgpy_int(args[5], "clamp", WG_CLAMP_SOURCE, WG_CLAMP_NONE, &clamp))
        return NULL;
    options.clamp = (int32_t)clamp;
    const npy_intp any[] = { WGPY_ANY, WGPY_ANY };
    const double* columns[4];
    npy_intp shape[] = { 0, 0 };
    for (int i = 0; i < 4; ++i) {
        columns[i] = wgpy_array(args[i], names[i], NPY_FLOAT64, 2, i ? shape : any, false);
        if (!columns[i])
            return NULL;
        shape[0] = wgpy_dimension(args[i], 0);
        shape[1] = wgpy_dimension(args[i], 1);
    }
    const npy_intp rows = wg_forest_spring_rows(options.clamp), padded = (shape[1] + 7) / 8 * 8;
    const npy_intp out_shape[] = { shape[0], rows, padded };
    float* out = wgpy_array(args[6], "out", NPY_FLOAT32, 3, out_shape, true);
    if (!out)
        return NULL;
    wg_status status = WG_OK;
    for (npy_intp set = 0; set < shape[0] && status == WG_OK; ++set) {
        const npy_intp at = set * shape[1];
        const wg_springs springs = { columns[0] + at, columns[1] + at, columns[2] + at,
                                     columns[3] + at };
        status =
            wg_forest_springs((int32_t)shape[1], &springs, &options, out + set * rows * padded);
    }
    return wgpy_done(status, "mass, stiffness, damping or drag");
}

static bool read_specimen(PyObject* object, wg_forest* out, npy_intp* count, npy_intp* padded)
{
    const npy_intp any = WGPY_ANY;
    out->specimen = wgpy_array(object, "specimen", NPY_UINT8, 1, &any, false);
    if (!out->specimen)
        return false;
    const npy_intp size = wgpy_dimension(object, 0);
    *count = size < 64 ? 0 : (npy_intp)((const int32_t*)out->specimen)[1];
    if (*count < 1 || (size_t)size != wg_specimen_size((int32_t)*count)) {
        PyErr_SetString(PyExc_ValueError, "specimen: not what specimen_init made");
        return false;
    }
    *padded = (*count + 7) / 8 * 8;
    return true;
}

// Three arrays of codes.
static bool
read_packed(PyObject* const* item, npy_intp m, npy_intp p, wg_forest* out, wg_packed* packed)
{
    const npy_intp inner = ((npy_intp)wg_specimen_inner_count(out->specimen) + 7) / 8 * 8;
    const npy_intp swing[] = { m, 2, p, 3 }, change[] = { m, 2, inner, 3 };
    const npy_intp rate[] = { m, 3, p, 3 };
    out->packed = packed;
    return (packed->swing = wgpy_array(item[0], "swing", NPY_UINT8, 4, swing, true)) &&
           (packed->change = wgpy_array(item[1], "change", NPY_UINT8, 4, change, true)) &&
           (packed->rate = wgpy_array(item[2], "rate", NPY_UINT8, 4, rate, true));
}

static bool read_rows(PyObject* const* item, npy_intp m, npy_intp p, wg_forest* out)
{
    const npy_intp state[] = { m, 3, p };
    return (out->rotation = wgpy_array(item[0], "rotation", NPY_FLOAT32, 3, state, true)) &&
           (out->previous =
                wgpy_array(item[1], "previous_rotation", NPY_FLOAT32, 3, state, true)) &&
           (out->angular_velocity =
                wgpy_array(item[2], "angular_velocity", NPY_FLOAT32, 3, state, true));
}

// (specimen, springs, frequency, place, turn, scale, key, kind, kinds, then the state: three arrays
// of rows, float32, or of codes, uint8)
static bool
read_forest(PyObject* object, int32_t clamp, wg_forest* out, wg_packed* packed, npy_intp* padded)
{
    PyObject** item;
    npy_intp count;
    out->packed = NULL;
    if (!tuple_of(object, "forest", 12, &item) || !read_specimen(item[0], out, &count, padded))
        return false;
    const bool codes = PyArray_Check(item[9]) && PyArray_TYPE((PyArrayObject*)item[9]) == NPY_UINT8;
    const npy_intp p = *padded, rows = wg_forest_spring_rows(clamp);
    out->place = wgpy_array(item[3], "place", NPY_FLOAT64, 2, (npy_intp[]){ WGPY_ANY, 3 }, false);
    if (!out->place)
        return false;
    const npy_intp m = wgpy_dimension(item[3], 0);
    out->instance_count = (int32_t)m;
    out->springs =
        wgpy_array(item[1], "springs", NPY_FLOAT32, 3, (npy_intp[]){ WGPY_ANY, rows, p }, false);
    if (!out->springs)
        return false;
    const npy_intp sets = wgpy_dimension(item[1], 0);
    if (sets != 1 && sets != m) {
        PyErr_SetString(PyExc_ValueError, "springs: expected one set, or one for each instance");
        return false;
    }
    out->spring_sets = (int32_t)sets;
    return (out->frequency =
                wgpy_array(item[2], "frequency", NPY_FLOAT32, 2, (npy_intp[]){ sets, p }, false)) &&
           (out->turn = wgpy_array(item[4], "turn", NPY_FLOAT32, 2, (npy_intp[]){ m, 4 }, false)) &&
           (out->scale = wgpy_array(item[5], "scale", NPY_FLOAT32, 1, &m, false)) &&
           (out->key = wgpy_array(item[6], "key", NPY_UINT32, 1, &m, false)) &&
           (out->kind = wgpy_array(item[7], "kind", NPY_UINT8, 1, &p, false)) &&
           (out->kinds = wgpy_array(item[8], "kinds", NPY_UINT8, 1, &m, false)) &&
           (codes ? read_packed(item + 9, m, p, out, packed) : read_rows(item + 9, m, p, out));
}

// (dt, clamp, inertia, relative_damping, torsion, limit_turn, time, first_step, noise,
// drag_exponent, reference_speed)
static bool read_options(PyObject* object, wg_forest_options* out)
{
    PyObject** item;
    double noise, exponent, reference;
    long first;
    if (!tuple_of(object, "options", 11, &item) || !read_spring_options(item, &out->spring) ||
        !wgpy_double(item[6], "time", &out->time) ||
        !wgpy_int(item[7], "first_step", 0, LONG_MAX, &first) ||
        !wgpy_not_negative(item[8], "noise", &noise) ||
        !wgpy_double(item[9], "drag_exponent", &exponent) ||
        !wgpy_positive(item[10], "reference_speed", &reference))
        return false;
    out->first_step = first;
    out->noise = (float)noise;
    out->drag_exponent = (float)exponent;
    out->reference_speed = (float)reference;
    return true;
}

// (None, None) is no wind at all; (samples, None), (series, Prevailing), (None, WindView).
static bool read_wind(
    PyObject* object, npy_intp instances, npy_intp padded, long steps, wg_wind_view* view,
    wg_forest_wind* out)
{
    PyObject** item;
    if (!tuple_of(object, "wind", 2, &item))
        return false;
    memset(view, 0, sizeof *view);
    *out = (wg_forest_wind){ .kind = WG_WIND_VIEW, .view = view };
    if (item[0] == Py_None)
        return item[1] == Py_None || wgpy_wind_view(item[1], view);
    if (item[1] == Py_None) {
        out->kind = WG_WIND_SAMPLES;
        out->samples = wgpy_array(
            item[0], "wind", NPY_FLOAT32, 3, (npy_intp[]){ instances, 3, padded }, false);
        return out->samples != NULL;
    }
    out->kind = WG_WIND_SERIES;
    out->series = wgpy_array(item[0], "wind", NPY_FLOAT64, 2, (npy_intp[]){ steps, 3 }, false);
    return out->series && wgpy_prevailing(item[1], &view->outside);
}

static bool
read_channels(PyObject* const* item, npy_intp frames, npy_intp instances, wg_forest_record* out)
{
    static const char* const names[] = { "rotation", "angular_velocity", "tip", "wind", "torque" };
    float** const to[] = { &out->rotation, &out->angular_velocity, &out->tip, &out->wind,
                           &out->torque };
    const npy_intp shape[] = { frames, instances, out->branch_count, 3 };
    for (int i = 0; i < 5; ++i) {
        void* data;
        if (!wgpy_optional_array(item[i], names[i], NPY_FLOAT32, 4, shape, true, &data))
            return false;
        *to[i] = data;
    }
    return true;
}

// (every, branch, rotation, angular_velocity, tip, wind, torque, sum_square, peak)
static bool read_record(
    PyObject* object, npy_intp instances, npy_intp padded, long steps, wg_forest_record* out)
{
    PyObject** item;
    long every;
    void *sum, *peak;
    const npy_intp any = WGPY_ANY, sums[] = { instances, padded };
    if (!tuple_of(object, "record", 9, &item) || !wgpy_int(item[0], "every", 1, INT32_MAX, &every))
        return false;
    out->every = (int32_t)every;
    out->branch = wgpy_array(item[1], "branch", NPY_INT32, 1, &any, false);
    if (!out->branch)
        return false;
    out->branch_count = (int32_t)wgpy_dimension(item[1], 0);
    if (!read_channels(item + 2, steps / every, instances, out) ||
        !wgpy_optional_array(item[7], "sum_square", NPY_FLOAT64, 2, sums, true, &sum) ||
        !wgpy_optional_array(item[8], "peak", NPY_FLOAT32, 2, sums, true, &peak))
        return false;
    out->sum_square = sum;
    out->peak = peak;
    return true;
}

static PyObject* bind_forest_run(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_forest forest;
    wg_packed packed;
    wg_forest_options options;
    wg_forest_wind wind;
    wg_wind_view view;
    wg_forest_record record = { 0 };
    wg_forest_fault fault = { -1, -1, -1 };
    wg_exec exec;
    npy_intp padded;
    long steps;
    if (!wgpy_arity("forest_run", nargs, 8) || !read_options(args[1], &options) ||
        !read_forest(args[0], options.spring.clamp, &forest, &packed, &padded) ||
        !wgpy_int(args[3], "steps", 0, INT32_MAX, &steps) ||
        !read_wind(args[2], forest.instance_count, padded, steps, &view, &wind) ||
        !wgpy_threads(args[7], &exec))
        return NULL;
    const bool recorded = args[4] != Py_None;
    if (recorded && !read_record(args[4], forest.instance_count, padded, steps, &record))
        return NULL;
    const npy_intp drag_shape[] = { forest.spring_sets, padded };
    const npy_intp bytes = (npy_intp)wg_forest_scratch((int32_t)padded, &exec);
    void* drag;
    void* scratch = wgpy_array(args[6], "scratch", NPY_UINT8, 1, &bytes, true);
    if (!scratch || !wgpy_optional_array(args[5], "drag", NPY_FLOAT32, 2, drag_shape, false, &drag))
        return NULL;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_forest_run(
        &forest, &options, &wind, (int32_t)steps, recorded ? &record : NULL, drag, scratch, &fault,
        &exec);
    Py_END_ALLOW_THREADS
    if (status == WG_ERR_DIVERGED)
        return Py_BuildValue("(iii)", fault.step, fault.instance, fault.branch);
    return wgpy_done(status, "forest_run");
}

// (specimen, three arrays of codes, three arrays of rows, into codes)
static PyObject* bind_forest_repack(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_forest forest = { 0 };
    wg_packed packed;
    npy_intp count, padded;
    bool into;
    if (!wgpy_arity("forest_repack", nargs, 8) ||
        !read_specimen(args[0], &forest, &count, &padded) || !wgpy_flag(args[7], "into", &into))
        return NULL;
    const npy_intp any[] = { WGPY_ANY, 2, padded, 3 };
    if (!wgpy_array(args[1], "swing", NPY_UINT8, 4, any, true))
        return NULL;
    const npy_intp m = wgpy_dimension(args[1], 0);
    forest.instance_count = (int32_t)m;
    if (!read_packed(args + 1, m, padded, &forest, &packed) ||
        !read_rows(args + 4, m, padded, &forest))
        return NULL;
    Py_BEGIN_ALLOW_THREADS(into ? wg_forest_pack : wg_forest_unpack)
    (&forest, forest.rotation, forest.previous, forest.angular_velocity);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject* bind_inner_count(PyObject* module, PyObject* object)
{
    (void)module;
    wg_forest forest;
    npy_intp count, padded;
    if (!read_specimen(object, &forest, &count, &padded))
        return NULL;
    return PyLong_FromLong(wg_specimen_inner_count(forest.specimen));
}

static PyObject* bind_forest_scratch(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    long count;
    wg_exec exec;
    if (!wgpy_arity("forest_scratch", nargs, 2) ||
        !wgpy_int(args[0], "padded", 1, INT32_MAX / 64, &count) || !wgpy_threads(args[1], &exec))
        return NULL;
    return PyLong_FromSize_t(wg_forest_scratch((int32_t)count, &exec));
}

#define FASTCALL(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL

PyMethodDef bind_forest_methods[] = {
    { "specimen_size", bind_specimen_size, METH_O,
      PyDoc_STR("specimen_size($module, count, /)\n--\n\nBytes of a specimen.") },
    { "specimen_init", FASTCALL(bind_specimen_init),
      PyDoc_STR("specimen_init($module, position, direction, length, parent, memory, /)\n--\n\n"
                "Lay out the rest pose of a tree.") },
    { "forest_springs", FASTCALL(bind_forest_springs),
      PyDoc_STR("forest_springs($module, mass, stiffness, damping, drag, dt, clamp, out, /)\n--\n\n"
                "Spring coefficients of (sets, n) parameters.") },
    { "forest_scratch", FASTCALL(bind_forest_scratch),
      PyDoc_STR(
          "forest_scratch($module, padded, threads, /)\n--\n\nBytes that forest_run needs.") },
    { "specimen_inner_count", bind_inner_count, METH_O,
      PyDoc_STR("specimen_inner_count($module, specimen, /)\n--\n\n"
                "Branches that carry others.") },
    { "forest_repack", FASTCALL(bind_forest_repack),
      PyDoc_STR(
          "forest_repack($module, specimen, swing, change, rate, rotation, previous_rotation, "
          "angular_velocity, into, /)\n--\n\n"
          "Packed motion to float32 rows, or back where `into`.") },
    { "forest_run", FASTCALL(bind_forest_run),
      PyDoc_STR(
          "forest_run($module, forest, options, wind, steps, record, drag, scratch, threads, "
          "/)\n--\n\nSteps of all instances; None, or (step, instance, branch) not finite.") },
    { NULL, NULL, 0, NULL },
};
