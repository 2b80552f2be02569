#include "bind.h"
#include "windgrove/sway.h"

static const npy_intp any_by_3[] = { WGPY_ANY, 3 };

// Arguments 3 to 10: the tree and its springs.
static bool read_tree(PyObject* const* args, wg_branches* branches, wg_springs* springs)
{
    branches->position = wgpy_array(args[0], "position", NPY_FLOAT64, 2, any_by_3, false);
    if (!branches->position)
        return false;
    const npy_intp n = wgpy_dimension(args[0], 0), n_by_3[] = { n, 3 };
    branches->count = (int32_t)n;
    return (branches->direction =
                wgpy_array(args[1], "direction", NPY_FLOAT64, 2, n_by_3, false)) &&
           (branches->length = wgpy_array(args[2], "length", NPY_FLOAT64, 1, &n, false)) &&
           (branches->parent = wgpy_array(args[3], "parent", NPY_INT32, 1, &n, false)) &&
           (springs->mass = wgpy_array(args[4], "mass", NPY_FLOAT64, 1, &n, false)) &&
           (springs->stiffness = wgpy_array(args[5], "stiffness", NPY_FLOAT64, 1, &n, false)) &&
           (springs->damping = wgpy_array(args[6], "damping", NPY_FLOAT64, 1, &n, false)) &&
           (springs->drag = wgpy_array(args[7], "drag", NPY_FLOAT64, 1, &n, false));
}

static bool read_motion(PyObject* const* args, npy_intp n, wg_motion* motion)
{
    const npy_intp n_by_3[] = { n, 3 };
    motion->rotation = wgpy_array(args[0], "rotation", NPY_FLOAT32, 2, n_by_3, true);
    if (!motion->rotation)
        return false;
    motion->previous = wgpy_array(args[1], "previous_rotation", NPY_FLOAT32, 2, n_by_3, true);
    if (!motion->previous)
        return false;
    motion->angular_velocity =
        wgpy_array(args[2], "angular_velocity", NPY_FLOAT32, 2, n_by_3, true);
    return motion->angular_velocity &&
           wgpy_no_overlap(args[0], "rotation", args[1], "previous_rotation") &&
           wgpy_no_overlap(args[0], "rotation", args[2], "angular_velocity") &&
           wgpy_no_overlap(args[1], "previous_rotation", args[2], "angular_velocity");
}

static bool read_options(PyObject* const* args, wg_spring_options* options)
{
    long clamp;
    if (!wgpy_positive(args[0], "dt", &options->dt) ||
        !wgpy_int(args[1], "clamp", WG_CLAMP_SOURCE, WG_CLAMP_NONE, &clamp))
        return false;
    options->clamp = (int32_t)clamp;
    options->limit_turn = false;
    return wgpy_flag(args[2], "inertia", &options->inertia) &&
           wgpy_flag(args[3], "relative_damping", &options->relative_damping) &&
           wgpy_flag(args[4], "torsion", &options->torsion);
}

static PyObject* bind_step_springs(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_branches branches;
    wg_springs springs;
    wg_motion motion;
    wg_spring_options options;
    wg_exec exec;
    if (!wgpy_arity("step_springs", nargs, 19) || !read_tree(args + 3, &branches, &springs) ||
        !read_motion(args, branches.count, &motion) || !read_options(args + 12, &options) ||
        !wgpy_threads(args[18], &exec))
        return NULL;
    const npy_intp n_by_3[] = { branches.count, 3 };
    const npy_intp bytes = (npy_intp)wg_sway_step_springs_scratch(branches.count);
    const float* wind = wgpy_array(args[11], "wind", NPY_FLOAT32, 2, n_by_3, false);
    void* scratch = wgpy_array(args[17], "scratch", NPY_UINT8, 1, &bytes, true);
    if (!wind || !scratch || !wgpy_no_overlap(args[0], "rotation", args[11], "wind") ||
        !wgpy_no_overlap(args[1], "previous_rotation", args[11], "wind") ||
        !wgpy_no_overlap(args[2], "angular_velocity", args[11], "wind"))
        return NULL;

    wg_status status;
    int32_t culprit = -1;
    Py_BEGIN_ALLOW_THREADS
    status = wg_sway_step_springs(
        &branches, &springs, &options, wind, &motion, scratch, &culprit, &exec);
    Py_END_ALLOW_THREADS
    if (status == WG_ERR_DIVERGED)
        return PyLong_FromLong(culprit);
    return wgpy_done(status, "step_springs");
}

static PyObject* bind_step_springs_scratch(PyObject* module, PyObject* object)
{
    (void)module;
    long count;
    if (!wgpy_int(object, "count", 1, INT32_MAX / 16, &count))
        return NULL;
    return PyLong_FromSize_t(wg_sway_step_springs_scratch((int32_t)count));
}

static PyObject* bind_rotation_frames(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_branches branches = { 0 };
    if (!wgpy_arity("rotation_frames", nargs, 5))
        return NULL;
    branches.position = wgpy_array(args[0], "position", NPY_FLOAT64, 2, any_by_3, false);
    if (!branches.position)
        return NULL;
    const npy_intp n = wgpy_dimension(args[0], 0);
    branches.count = (int32_t)n;
    branches.parent = wgpy_array(args[1], "parent", NPY_INT32, 1, &n, false);
    const double* rotation =
        wgpy_array(args[2], "rotation", NPY_FLOAT64, 3, (npy_intp[]){ WGPY_ANY, n, 3 }, false);
    if (!branches.parent || !rotation)
        return NULL;
    const npy_intp poses = wgpy_dimension(args[2], 0);
    double* quaternion =
        wgpy_array(args[3], "quaternion", NPY_FLOAT64, 3, (npy_intp[]){ poses, n, 4 }, true);
    double* pivot =
        quaternion ? wgpy_array(args[4], "pivot", NPY_FLOAT64, 3, (npy_intp[]){ poses, n, 3 }, true)
                   : NULL;
    if (!pivot)
        return NULL;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_sway_rotation_frames(&branches, rotation, (size_t)poses, quaternion, pivot);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "parent");
}

static PyObject* bind_pack_rotation(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    if (!wgpy_arity("pack_rotation", nargs, 3))
        return NULL;
    const double* rotation = wgpy_array(args[0], "rotvec", NPY_FLOAT64, 2, any_by_3, false);
    if (!rotation)
        return NULL;
    const npy_intp n = wgpy_dimension(args[0], 0), vectors[] = { n, 3 }, pairs[] = { n, 2 };
    const double* direction = wgpy_array(args[1], "direction", NPY_FLOAT64, 2, vectors, false);
    uint16_t* packed = wgpy_array(args[2], "packed", NPY_UINT16, 2, pairs, true);
    if (!direction || !packed)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wg_pack_rotation(rotation, direction, (size_t)n, packed);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject* bind_unpack_rotation(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    if (!wgpy_arity("unpack_rotation", nargs, 3))
        return NULL;
    const uint16_t* packed =
        wgpy_array(args[0], "packed", NPY_UINT16, 2, (npy_intp[]){ WGPY_ANY, 2 }, false);
    if (!packed)
        return NULL;
    const npy_intp n = wgpy_dimension(args[0], 0), vectors[] = { n, 3 };
    const double* direction = wgpy_array(args[1], "direction", NPY_FLOAT64, 2, vectors, false);
    double* rotation = wgpy_array(args[2], "rotvec", NPY_FLOAT64, 2, vectors, true);
    if (!direction || !rotation)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wg_unpack_rotation(packed, direction, (size_t)n, rotation);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyMethodDef bind_sway_methods[] = {
    { "pack_rotation", (PyCFunction)(void (*)(void))bind_pack_rotation, METH_FASTCALL,
      PyDoc_STR("pack_rotation($module, rotvec, direction, packed, /)\n--\n\n"
                "Two 16-bit angles of (n, 3) turned directions.") },
    { "unpack_rotation", (PyCFunction)(void (*)(void))bind_unpack_rotation, METH_FASTCALL,
      PyDoc_STR("unpack_rotation($module, packed, direction, rotvec, /)\n--\n\n"
                "Shortest rotations to (n, 2) packed directions.") },
    { "rotation_frames", (PyCFunction)(void (*)(void))bind_rotation_frames, METH_FASTCALL,
      PyDoc_STR("rotation_frames($module, position, parent, rotation, quaternion, pivot, /)\n--\n\n"
                "World rotations and pivots of (poses, n, 3) rotation vectors.") },
    { "step_springs", (PyCFunction)(void (*)(void))bind_step_springs, METH_FASTCALL,
      PyDoc_STR("step_springs($module, rotation, previous_rotation, angular_velocity, position, "
                "direction, length, parent, mass, stiffness, damping, drag, wind, dt, clamp, "
                "inertia, relative_damping, torsion, scratch, threads, /)\n--\n\n"
                "One step in place; None, or the first branch that is not finite.") },
    { "step_springs_scratch", bind_step_springs_scratch, METH_O,
      PyDoc_STR("step_springs_scratch($module, count, /)\n--\n\nBytes that step_springs needs.") },
    { NULL, NULL, 0, NULL },
};
