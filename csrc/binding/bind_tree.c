#include "bind.h"
#include "windgrove/tree.h"

static int32_t* parent_array(PyObject* object, npy_intp* count)
{
    int32_t* parent = wgpy_array(object, "parent", NPY_INT32, 1, (npy_intp[]){ WGPY_ANY }, false);
    if (!parent)
        return NULL;
    *count = wgpy_dimension(object, 0);
    size_t bad;
    if (wg_tree_check_order(parent, (size_t)*count, &bad) != WG_OK) {
        PyErr_Format(
            PyExc_ValueError, "parent: branch %zu has parent %d; a parent comes before its child",
            bad, (int)parent[bad]);
        return NULL;
    }
    return parent;
}

static PyObject* bind_total_mass(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    npy_intp n;
    int32_t* parent;
    double *own, *total;
    if (!wgpy_arity("total_mass", nargs, 3) || !(parent = parent_array(args[1], &n)) ||
        !(own = wgpy_array(args[0], "own_mass", NPY_FLOAT64, 1, &n, false)) ||
        !(total = wgpy_array(args[2], "out", NPY_FLOAT64, 1, &n, true)) ||
        !wgpy_no_overlap(args[2], "out", args[0], "own_mass"))
        return NULL;
    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_total_mass(parent, own, (size_t)n, total);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "parent");
}

static bool tree_arrays(PyObject* const* args, wg_tree_view* tree)
{
    npy_intp n = 0;
    if (!(tree->parent = parent_array(args[4], &n)))
        return false;
    tree->count = (size_t)n;
    const npy_intp vectors[2] = { n, 3 };
    return (tree->position = wgpy_array(args[1], "position", NPY_FLOAT64, 2, vectors, false)) &&
           (tree->direction = wgpy_array(args[2], "direction", NPY_FLOAT64, 2, vectors, false)) &&
           (tree->length = wgpy_array(args[3], "length", NPY_FLOAT64, 1, &n, false));
}

static PyObject* bind_propagate_drag(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_tree_view tree;
    if (!wgpy_arity("propagate_drag", nargs, 8) || !tree_arrays(args, &tree))
        return NULL;
    const npy_intp n = (npy_intp)tree.count;
    double *direct, *propagation, *arriving, *drag;
    if (!(direct = wgpy_array(args[0], "direct_drag", NPY_FLOAT64, 1, &n, false)) ||
        !(propagation = wgpy_array(args[5], "propagation", NPY_FLOAT64, 1, &n, false)) ||
        !(arriving = wgpy_array(args[6], "arriving", NPY_FLOAT64, 1, &n, true)) ||
        !(drag = wgpy_array(args[7], "out", NPY_FLOAT64, 1, &n, true)) ||
        !wgpy_no_overlap(args[7], "out", args[6], "arriving") ||
        !wgpy_no_overlap(args[7], "out", args[0], "direct_drag") ||
        !wgpy_no_overlap(args[6], "arriving", args[0], "direct_drag"))
        return NULL;
    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_propagate_drag(&tree, direct, propagation, arriving, drag);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "length: expected lengths above 0");
}

PyMethodDef bind_tree_methods[] = {
    { "total_mass", (PyCFunction)(void (*)(void))bind_total_mass, METH_FASTCALL,
      PyDoc_STR("total_mass($module, own_mass, parent, out, /)\n--\n\nMass each branch carries.") },
    { "propagate_drag", (PyCFunction)(void (*)(void))bind_propagate_drag, METH_FASTCALL,
      PyDoc_STR("propagate_drag($module, direct_drag, position, direction, length, parent, "
                "propagation, arriving, out, /)\n--\n\nDrag each branch feels, listing 3.1.") },
    { NULL, NULL, 0, NULL },
};
