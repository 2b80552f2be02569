#include "bind.h"
#include "windgrove/pack.h"

static PyObject* bind_shuffle4(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    if (!wgpy_arity("shuffle4", nargs, 2))
        return NULL;
    const npy_intp any = WGPY_ANY;
    const void* items = wgpy_array(args[0], "items", NPY_FLOAT32, 1, &any, false);
    if (!items)
        return NULL;
    const npy_intp count = wgpy_dimension(args[0], 0), bytes = 4 * count;
    uint8_t* out = wgpy_array(args[1], "out", NPY_UINT8, 1, &bytes, true);
    if (!out || !wgpy_no_overlap(args[1], "out", args[0], "items"))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    wg_shuffle4(items, (size_t)count, out);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject* bind_fletcher32(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    if (!wgpy_arity("fletcher32", nargs, 1))
        return NULL;
    const npy_intp any = WGPY_ANY;
    const uint8_t* data = wgpy_array(args[0], "data", NPY_UINT8, 1, &any, false);
    if (!data)
        return NULL;
    const size_t bytes = (size_t)wgpy_dimension(args[0], 0);
    uint32_t sum;
    Py_BEGIN_ALLOW_THREADS
    sum = wg_fletcher32(data, bytes);
    Py_END_ALLOW_THREADS
    return PyLong_FromUnsignedLong(sum);
}

PyMethodDef bind_pack_methods[] = {
    { "shuffle4", (PyCFunction)(void (*)(void))bind_shuffle4, METH_FASTCALL,
      PyDoc_STR("shuffle4($module, items, out, /)\n--\n\nByte planes of float32 items.") },
    { "fletcher32", (PyCFunction)(void (*)(void))bind_fletcher32, METH_FASTCALL,
      PyDoc_STR("fletcher32($module, data, /)\n--\n\nChecksum of bytes, as HDF5 has it.") },
    { NULL, NULL, 0, NULL },
};
