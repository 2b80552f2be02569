#include "bind.h"

static PyObject* bind_isa(PyObject* module, PyObject* unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(wg_isa_name());
}

static PyObject* bind_instruction_sets(PyObject* module, PyObject* unused)
{
    (void)module;
    (void)unused;
    const char* names[WG_MOST_ISAS];
    const int32_t count = wg_isa_names(names);
    PyObject* found = PyTuple_New(count);
    for (int32_t n = 0; found && n < count; ++n) {
        PyObject* name = PyUnicode_FromString(names[n]);
        if (name)
            PyTuple_SET_ITEM(found, n, name);
        else
            Py_CLEAR(found);
    }
    return found;
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
    { "instruction_sets", bind_instruction_sets, METH_NOARGS,
      PyDoc_STR("instruction_sets($module, /)\n--\n\nNames of those that this build and processor "
                "have, the plainest first.") },
    { "force_isa", bind_force_isa, METH_O,
      PyDoc_STR("force_isa($module, name, /)\n--\n\nForce one of instruction_sets(); for tests.") },
    { NULL, NULL, 0, NULL },
};
