#include "bind.h"
#include "windgrove/noise.h"

static PyObject* bind_perlin(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    uint64_t seed;
    if (!wgpy_arity("perlin", nargs, 3))
        return NULL;
    const double* points =
        wgpy_array(args[0], "points", NPY_FLOAT64, 2, (npy_intp[]){ WGPY_ANY, 3 }, false);
    if (!points || !wgpy_uint64(args[1], "seed", &seed))
        return NULL;
    const npy_intp count = wgpy_dimension(args[0], 0);
    double* out = wgpy_array(args[2], "out", NPY_FLOAT64, 1, &count, true);
    if (!out || !wgpy_no_overlap(args[2], "out", args[0], "points"))
        return NULL;

    Py_BEGIN_ALLOW_THREADS
    wg_permutation permutation;
    wg_permutation_init(&permutation, seed);
    wg_perlin(&permutation, points, (size_t)count, out);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyMethodDef bind_noise_methods[] = {
    { "perlin", (PyCFunction)(void (*)(void))bind_perlin, METH_FASTCALL,
      PyDoc_STR("perlin($module, points, seed, out, /)\n--\n\nImproved noise at (n, 3) points.") },
    { NULL, NULL, 0, NULL },
};
