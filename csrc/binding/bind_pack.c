#include "bind.h"
#include "windgrove/pack.h"

// (offset, frames, stride, run, chunk_frames, chunk_run) of a chunk in a block of items.
static bool read_place(PyObject* const* args, size_t items, size_t* offset, wg_chunk* chunk)
{
    static const char* const names[] = { "offset", "frames",       "stride",
                                         "run",    "chunk_frames", "chunk_run" };
    long value[6];
    for (int k = 0; k < 6; ++k)
        if (!wgpy_int(args[k], names[k], k == 4 || k == 5, INT32_MAX, &value[k]))
            return false;
    *offset = (size_t)value[0];
    chunk->frames = (size_t)value[1];
    chunk->stride = (size_t)value[2];
    chunk->run = (size_t)value[3];
    chunk->chunk_frames = (size_t)value[4];
    chunk->chunk_run = (size_t)value[5];
    const size_t last = chunk->frames ? (chunk->frames - 1) * chunk->stride + chunk->run : 0;
    if (chunk->frames > chunk->chunk_frames || chunk->run > chunk->chunk_run ||
        *offset + last > items) {
        PyErr_SetString(PyExc_ValueError, "items: the chunk reaches beyond them");
        return false;
    }
    return true;
}

static PyObject* bind_pack_chunk(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    if (!wgpy_arity("pack_chunk", nargs, 10))
        return NULL;
    const npy_intp any = WGPY_ANY;
    const float* items = wgpy_array(args[0], "items", NPY_FLOAT32, 1, &any, false);
    wg_chunk chunk;
    size_t offset;
    bool coded;
    if (!items || !read_place(args + 1, (size_t)wgpy_dimension(args[0], 0), &offset, &chunk) ||
        !wgpy_flag(args[7], "coded", &coded))
        return NULL;
    chunk.items = items + offset;
    const size_t count = chunk.chunk_frames * chunk.chunk_run;
    const npy_intp bytes = (npy_intp)(4 * count), room = (npy_intp)wg_pack_room(count);
    uint8_t* planes = wgpy_array(args[8], "planes", NPY_UINT8, 1, &bytes, true);
    if (!planes)
        return NULL;
    uint8_t* out = wgpy_array(args[9], "out", NPY_UINT8, 1, &room, true);
    if (!out || !wgpy_no_overlap(args[9], "out", args[8], "planes"))
        return NULL;
    size_t written;
    Py_BEGIN_ALLOW_THREADS
    written = wg_pack_chunk(&chunk, coded, planes, out);
    Py_END_ALLOW_THREADS
    return PyLong_FromSize_t(written);
}

static PyObject* bind_pack_room(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    long count;
    if (!wgpy_arity("pack_room", nargs, 1) || !wgpy_int(args[0], "count", 1, INT32_MAX, &count))
        return NULL;
    return PyLong_FromSize_t(wg_pack_room((size_t)count));
}

PyMethodDef bind_pack_methods[] = {
    { "pack_chunk", (PyCFunction)(void (*)(void))bind_pack_chunk, METH_FASTCALL,
      PyDoc_STR("pack_chunk($module, items, offset, frames, stride, run, chunk_frames, chunk_run, "
                "coded, planes, out, /)\n--\n\nA chunk behind HDF5's filters; bytes written.") },
    { "pack_room", (PyCFunction)(void (*)(void))bind_pack_room, METH_FASTCALL,
      PyDoc_STR("pack_room($module, count, /)\n--\n\nBytes pack_chunk needs for items.") },
    { NULL, NULL, 0, NULL },
};
