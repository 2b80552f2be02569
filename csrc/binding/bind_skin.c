#include "bind.h"
#include "windgrove/skin.h"

static const npy_intp any_by_3[] = { WGPY_ANY, 3 };

static bool read_branches(PyObject* const* args, wg_branches* branches, const double** rotation)
{
    branches->position = wgpy_array(args[0], "position", NPY_FLOAT64, 2, any_by_3, false);
    if (!branches->position)
        return false;
    const npy_intp n = wgpy_dimension(args[0], 0), n_by_3[] = { n, 3 };
    branches->count = (int32_t)n;
    branches->direction = NULL;
    return (branches->length = wgpy_array(args[1], "length", NPY_FLOAT64, 1, &n, false)) &&
           (branches->parent = wgpy_array(args[2], "parent", NPY_INT32, 1, &n, false)) &&
           (*rotation = wgpy_array(args[3], "rotation", NPY_FLOAT64, 2, n_by_3, false));
}

static bool read_mesh(PyObject* const* args, wg_skin_mesh* mesh, wg_skin_output* output)
{
    mesh->vertices = wgpy_array(args[0], "vertices", NPY_FLOAT32, 2, any_by_3, false);
    if (!mesh->vertices)
        return false;
    const npy_intp n = wgpy_dimension(args[0], 0), n_by_3[] = { n, 3 };
    mesh->count = (size_t)n;
    const bool has_normals = args[1] != Py_None;
    output->normals = NULL;
    return wgpy_optional_array(
               args[1], "normals", NPY_FLOAT32, 2, n_by_3, false, (void**)&mesh->normals) &&
           (mesh->branch = wgpy_array(args[2], "branch", NPY_UINT16, 1, &n, false)) &&
           (output->vertices = wgpy_array(args[3], "out_vertices", NPY_FLOAT32, 2, n_by_3, true)) &&
           (!has_normals ||
            (output->normals = wgpy_array(args[4], "out_normals", NPY_FLOAT32, 2, n_by_3, true))) &&
           wgpy_no_overlap(args[3], "out_vertices", args[0], "vertices") &&
           wgpy_no_overlap(args[4], "out_normals", args[1], "normals");
}

static PyObject* bind_skin(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_branches branches;
    wg_skin_mesh mesh;
    wg_skin_output output;
    wg_exec exec;
    const double* rotation;
    if (!wgpy_arity("skin", nargs, 11) || !read_branches(args, &branches, &rotation) ||
        !read_mesh(args + 4, &mesh, &output) || !wgpy_threads(args[10], &exec))
        return NULL;
    const npy_intp bytes = (npy_intp)wg_skin_scratch(branches.count);
    void* scratch = wgpy_array(args[9], "scratch", NPY_UINT8, 1, &bytes, true);
    if (!scratch)
        return NULL;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_skin(&branches, rotation, &mesh, &output, scratch, &exec);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, status == WG_ERR_TOPOLOGY ? "parent" : "branch");
}

static PyObject* bind_skin_scratch(PyObject* module, PyObject* count)
{
    (void)module;
    long n;
    if (!wgpy_int(count, "branch_count", 0, INT32_MAX, &n))
        return NULL;
    return PyLong_FromSize_t(wg_skin_scratch((int32_t)n));
}

PyMethodDef bind_skin_methods[] = {
    { "skin", (PyCFunction)(void (*)(void))bind_skin, METH_FASTCALL,
      PyDoc_STR("skin($module, position, length, parent, rotation, vertices, normals, branch, "
                "out_vertices, out_normals, scratch, threads, /)\n--\n\nBend a mesh.") },
    { "skin_scratch", bind_skin_scratch, METH_O,
      PyDoc_STR("skin_scratch($module, branch_count, /)\n--\n\nBytes of scratch.") },
    { NULL, NULL, 0, NULL },
};
