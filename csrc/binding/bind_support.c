#include "bind.h"

static PyObject* bind_isa(PyObject* module, PyObject* unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(wg_isa_name());
}

static PyObject* bind_force_isa(PyObject* module, PyObject* name)
{
    (void)module;
    const char* text = PyUnicode_AsUTF8(name);
    if (!text)
        return NULL;
    if (wg_isa_force(text) != WG_OK)
        return PyErr_Format(
            PyExc_ValueError, "name: this build or processor has no instruction set %R", name);
    Py_RETURN_NONE;
}

PyMethodDef bind_support_methods[] = {
    { "isa", bind_isa, METH_NOARGS,
      PyDoc_STR("isa($module, /)\n--\n\nName of the active instruction set.") },
    { "force_isa", bind_force_isa, METH_O,
      PyDoc_STR("force_isa($module, name, /)\n--\n\nForce 'scalar' or 'avx2'; for tests.") },
    { NULL, NULL, 0, NULL },
};
