// windgrove._kernels: the C core under Python. Private; windgrove.kernels is the public face.
#define WGPY_IMPORT_ARRAY
#include "bind.h"

#include <numpy/npy_2_compat.h>

static PyMethodDef* const method_tables[] = {
    bind_support_methods, bind_noise_methods, bind_cascade_methods, bind_pack_methods,
    bind_step_methods,    bind_tree_methods,  bind_skin_methods,    bind_sway_methods,
    bind_forest_methods,  bind_flow_methods,  bind_voxels_methods,  bind_project_methods,
};

static int add_constants(PyObject* module)
{
    if (PyModule_AddStringConstant(module, "version", WG_VERSION) < 0)
        return -1;
    if (PyModule_AddStringConstant(module, "commit", WG_COMMIT) < 0)
        return -1;
    if (PyModule_AddStringConstant(module, "compiler", wg_compiler()) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "build_type", wg_build_type());
}

static int module_exec(PyObject* module)
{
    if (PyArray_ImportNumPyAPI() < 0)
        return -1;
    for (size_t i = 0; i < sizeof method_tables / sizeof *method_tables; ++i)
        if (PyModule_AddFunctions(module, method_tables[i]) < 0)
            return -1;
    return add_constants(module);
}

static PyModuleDef_Slot module_slots[] = {
    { Py_mod_exec, (void*)module_exec },
#if PY_VERSION_HEX >= 0x030c0000
    { Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED },
#endif
#if PY_VERSION_HEX >= 0x030d0000
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0, NULL },
};

static struct PyModuleDef module_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "windgrove._kernels",
    .m_doc = PyDoc_STR("The C core of windgrove. Private: use windgrove.kernels."),
    .m_size = 0,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__kernels(void)
{
    return PyModuleDef_Init(&module_definition);
}
