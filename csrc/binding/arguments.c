#include "arguments.h"

#include <math.h>

bool wgpy_arity(const char* function, Py_ssize_t given, Py_ssize_t expected)
{
    if (given == expected)
        return true;
    PyErr_Format(PyExc_TypeError, "%s: expected %zd arguments, got %zd", function, expected, given);
    return false;
}

static const char* type_name(int type)
{
    switch (type) {
    case NPY_FLOAT32:
        return "float32";
    case NPY_FLOAT64:
        return "float64";
    case NPY_INT32:
        return "int32";
    case NPY_INT64:
        return "int64";
    case NPY_UINT8:
        return "uint8";
    case NPY_UINT16:
        return "uint16";
    case NPY_UINT32:
        return "uint32";
    case NPY_UINT64:
        return "uint64";
    case NPY_BOOL:
        return "bool";
    case NPY_FLOAT16:
        return "float16";
    default:
        return "another type";
    }
}

static bool shape_fits(PyArrayObject* array, int ndim, const npy_intp* shape)
{
    if (PyArray_NDIM(array) != ndim)
        return false;
    for (int axis = 0; axis < ndim; ++axis)
        if (shape[axis] != WGPY_ANY && PyArray_DIM(array, axis) != shape[axis])
            return false;
    return true;
}

static void write_shape(char* text, size_t size, int ndim, const npy_intp* shape)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (int axis = 0; axis < ndim && used < size; ++axis) {
        const char* after = axis + 1 < ndim ? ", " : ndim == 1 ? "," : "";
        if (shape[axis] == WGPY_ANY)
            used += (size_t)snprintf(text + used, size - used, "any%s", after);
        else
            used +=
                (size_t)snprintf(text + used, size - used, "%lld%s", (long long)shape[axis], after);
    }
    if (used < size)
        snprintf(text + used, size - used, ")");
}

static void shape_error(PyArrayObject* array, const char* name, int ndim, const npy_intp* shape)
{
    char expected[128], got[128];
    write_shape(expected, sizeof expected, ndim, shape);
    write_shape(got, sizeof got, PyArray_NDIM(array), PyArray_DIMS(array));
    PyErr_Format(PyExc_ValueError, "%s: expected shape %s, got %s", name, expected, got);
}

void* wgpy_array(
    PyObject* object, const char* name, int type, int ndim, const npy_intp* shape, bool writable)
{
    if (!PyArray_Check(object)) {
        PyErr_Format(
            PyExc_TypeError, "%s: expected a NumPy array of %s, got %s", name, type_name(type),
            Py_TYPE(object)->tp_name);
        return NULL;
    }
    PyArrayObject* array = (PyArrayObject*)object;
    if (PyArray_TYPE(array) != type || !PyArray_ISNOTSWAPPED(array)) {
        PyErr_Format(
            PyExc_TypeError, "%s: expected dtype %s, got %S", name, type_name(type),
            (PyObject*)PyArray_DESCR(array));
        return NULL;
    }
    if (!shape_fits(array, ndim, shape)) {
        shape_error(array, name, ndim, shape);
        return NULL;
    }
    if (!PyArray_IS_C_CONTIGUOUS(array) || !PyArray_ISALIGNED(array)) {
        PyErr_Format(
            PyExc_ValueError, "%s: expected an aligned, C-ordered array; use np.ascontiguousarray",
            name);
        return NULL;
    }
    if (writable && !PyArray_ISWRITEABLE(array)) {
        PyErr_Format(PyExc_ValueError, "%s: the array is read-only and would be written", name);
        return NULL;
    }
    return PyArray_DATA(array);
}

bool wgpy_optional_array(
    PyObject* object, const char* name, int type, int ndim, const npy_intp* shape, bool writable,
    void** data)
{
    *data = NULL;
    if (object == Py_None)
        return true;
    *data = wgpy_array(object, name, type, ndim, shape, writable);
    return *data != NULL;
}

npy_intp wgpy_dimension(PyObject* object, int axis)
{
    return PyArray_DIM((PyArrayObject*)object, axis);
}

static bool is_array(PyObject* object, const char* name)
{
    if (PyArray_Check(object))
        return true;
    PyErr_Format(
        PyExc_TypeError, "%s: expected a NumPy array, got %s", name, Py_TYPE(object)->tp_name);
    return false;
}

bool wgpy_no_overlap(PyObject* out, const char* out_name, PyObject* in, const char* in_name)
{
    if (out == Py_None || in == Py_None)
        return true;
    if (!is_array(out, out_name) || !is_array(in, in_name))
        return false;
    PyArrayObject *a = (PyArrayObject*)out, *b = (PyArrayObject*)in;
    const char *a_data = PyArray_BYTES(a), *b_data = PyArray_BYTES(b);
    if (a_data + PyArray_NBYTES(a) <= b_data || b_data + PyArray_NBYTES(b) <= a_data)
        return true;
    PyErr_Format(
        PyExc_ValueError, "%s: shares memory with %s; give it its own array", out_name, in_name);
    return false;
}

bool wgpy_double(PyObject* object, const char* name, double* value)
{
    *value = PyFloat_AsDouble(object);
    if (*value == -1.0 && PyErr_Occurred()) {
        PyErr_Format(
            PyExc_TypeError, "%s: expected a number, got %s", name, Py_TYPE(object)->tp_name);
        return false;
    }
    if (!isfinite(*value)) {
        PyErr_Format(PyExc_ValueError, "%s: expected a finite number, got %S", name, object);
        return false;
    }
    return true;
}

bool wgpy_positive(PyObject* object, const char* name, double* value)
{
    if (!wgpy_double(object, name, value))
        return false;
    if (*value > 0.0)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: expected a number above 0, got %S", name, object);
    return false;
}

bool wgpy_not_negative(PyObject* object, const char* name, double* value)
{
    if (!wgpy_double(object, name, value))
        return false;
    if (*value >= 0.0)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: expected a number not below 0, got %S", name, object);
    return false;
}

bool wgpy_int(PyObject* object, const char* name, long low, long high, long* value)
{
    PyObject* index = PyNumber_Index(object);
    if (!index) {
        PyErr_Format(
            PyExc_TypeError, "%s: expected an integer, got %s", name, Py_TYPE(object)->tp_name);
        return false;
    }
    int overflow = 0;
    *value = PyLong_AsLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow || *value < low || *value > high) {
        PyErr_Format(
            PyExc_ValueError, "%s: expected an integer from %ld to %ld, got %S", name, low, high,
            object);
        return false;
    }
    return true;
}

bool wgpy_uint64(PyObject* object, const char* name, uint64_t* value)
{
    PyObject* index = PyNumber_Index(object);
    if (!index) {
        PyErr_Format(
            PyExc_TypeError, "%s: expected an integer, got %s", name, Py_TYPE(object)->tp_name);
        return false;
    }
    *value = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred()) {
        PyErr_Format(
            PyExc_ValueError, "%s: expected an integer from 0 to 2^64 - 1, got %S", name, object);
        return false;
    }
    return true;
}

bool wgpy_flag(PyObject* object, const char* name, bool* value)
{
    const int truth = PyObject_IsTrue(object);
    if (truth < 0) {
        PyErr_Format(PyExc_TypeError, "%s: expected True or False", name);
        return false;
    }
    *value = truth != 0;
    return true;
}

bool wgpy_threads(PyObject* object, wg_exec* exec)
{
    long threads;
    if (!wgpy_int(object, "threads", 1, WG_MAX_THREADS, &threads))
        return false;
    exec->threads = (int32_t)threads;
    return true;
}

PyObject* wgpy_done(wg_status status, const char* context)
{
    if (status >= 0)
        Py_RETURN_NONE;
    PyObject* type = status == WG_ERR_MEMORY ? PyExc_MemoryError : PyExc_ValueError;
    PyErr_Format(type, "%s: %s", context, wg_status_text(status));
    return NULL;
}
