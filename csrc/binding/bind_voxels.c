#include "bind.h"
#include "windgrove/voxels.h"

// The marks (nz, ny, nx), the origin and the spacing of a call; all cells of the array.
static bool
read_voxel_grid(PyObject* mark, PyObject* origin, PyObject* spacing, wg_voxel_grid* grid)
{
    const npy_intp shape[3] = { WGPY_ANY, WGPY_ANY, WGPY_ANY };
    grid->mark = wgpy_array(mark, "out", NPY_BOOL, 3, shape, true);
    const double* corner = wgpy_array(origin, "origin", NPY_FLOAT64, 1, (npy_intp[]){ 3 }, false);
    if (!grid->mark || !corner || !wgpy_positive(spacing, "spacing", &grid->spacing))
        return false;
    for (int axis = 0; axis < 3; ++axis) {
        const npy_intp cells = wgpy_dimension(mark, 2 - axis);
        if (cells > INT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "shape: too many cells");
            return false;
        }
        grid->origin[axis] = corner[axis];
        grid->begin[axis] = 0;
        grid->end[axis] = (int32_t)cells;
    }
    grid->nx = grid->end[0];
    grid->ny = grid->end[1];
    grid->nz = grid->end[2];
    return true;
}

static PyObject* bind_voxelize_mesh(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_voxel_grid grid;
    wg_mesh mesh;
    long fill;
    if (!wgpy_arity("voxelize_mesh", nargs, 7) ||
        !read_voxel_grid(args[6], args[2], args[3], &grid) ||
        !wgpy_int(args[4], "fill", WG_FILL_SURFACE, WG_FILL_PARITY, &fill))
        return NULL;
    const npy_intp rows[2] = { WGPY_ANY, 3 }, cells[3] = { grid.nz, grid.ny, grid.nx };
    mesh.vertices = wgpy_array(args[0], "vertices", NPY_FLOAT64, 2, rows, false);
    mesh.faces = wgpy_array(args[1], "faces", NPY_INT32, 2, rows, false);
    int32_t* scratch = wgpy_array(args[5], "scratch", NPY_INT32, 3, cells, true);
    if (!mesh.vertices || !mesh.faces || !scratch)
        return NULL;
    mesh.vertex_count = (size_t)wgpy_dimension(args[0], 0);
    mesh.face_count = (size_t)wgpy_dimension(args[1], 0);
    mesh.fill = (int32_t)fill;

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_voxelize_mesh(&grid, &mesh, scratch);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "voxelize");
}

static bool read_numbers(PyObject* object, const char* name, npy_intp count, const double** out)
{
    *out = wgpy_array(object, name, NPY_FLOAT64, 1, &count, false);
    return *out != NULL;
}

static PyObject* bind_voxelize_box(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_voxel_grid grid;
    const double *low, *high;
    if (!wgpy_arity("voxelize_box", nargs, 5) ||
        !read_voxel_grid(args[4], args[2], args[3], &grid) ||
        !read_numbers(args[0], "low", 3, &low) || !read_numbers(args[1], "high", 3, &high))
        return NULL;
    return wgpy_done(
        wg_voxelize_box(&grid, low, high), "high: expected corners above those of low");
}

static PyObject* bind_voxelize_sphere(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_voxel_grid grid;
    const double* centre;
    double radius;
    if (!wgpy_arity("voxelize_sphere", nargs, 5) ||
        !read_voxel_grid(args[4], args[2], args[3], &grid) ||
        !read_numbers(args[0], "centre", 3, &centre) || !wgpy_positive(args[1], "radius", &radius))
        return NULL;
    return wgpy_done(wg_voxelize_sphere(&grid, centre, radius), "centre");
}

static PyObject* bind_voxelize_terrain(PyObject* module, PyObject* const* args, Py_ssize_t nargs)
{
    (void)module;
    wg_voxel_grid grid;
    wg_terrain terrain;
    const double* place;
    if (!wgpy_arity("voxelize_terrain", nargs, 6) ||
        !read_voxel_grid(args[5], args[3], args[4], &grid) ||
        !read_numbers(args[1], "height_origin", 2, &place) ||
        !wgpy_positive(args[2], "height_spacing", &terrain.spacing))
        return NULL;
    const npy_intp rows[2] = { WGPY_ANY, WGPY_ANY };
    terrain.height = wgpy_array(args[0], "height", NPY_FLOAT64, 2, rows, false);
    if (!terrain.height)
        return NULL;
    terrain.ny = (int32_t)wgpy_dimension(args[0], 0);
    terrain.nx = (int32_t)wgpy_dimension(args[0], 1);
    terrain.origin[0] = place[0];
    terrain.origin[1] = place[1];

    wg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = wg_voxelize_terrain(&grid, &terrain);
    Py_END_ALLOW_THREADS
    return wgpy_done(status, "height");
}

PyMethodDef bind_voxels_methods[] = {
    { "voxelize_mesh", (PyCFunction)(void (*)(void))bind_voxelize_mesh, METH_FASTCALL,
      PyDoc_STR("voxelize_mesh($module, vertices, faces, origin, spacing, fill, scratch, out, /)\n"
                "--\n\nMark the cells that a triangle mesh fills.") },
    { "voxelize_box", (PyCFunction)(void (*)(void))bind_voxelize_box, METH_FASTCALL,
      PyDoc_STR("voxelize_box($module, low, high, origin, spacing, out, /)\n--\n\n"
                "Mark the cells that share volume with a box.") },
    { "voxelize_sphere", (PyCFunction)(void (*)(void))bind_voxelize_sphere, METH_FASTCALL,
      PyDoc_STR("voxelize_sphere($module, centre, radius, origin, spacing, out, /)\n--\n\n"
                "Mark the cells that share volume with a ball.") },
    { "voxelize_terrain", (PyCFunction)(void (*)(void))bind_voxelize_terrain, METH_FASTCALL,
      PyDoc_STR("voxelize_terrain($module, height, height_origin, height_spacing, origin, spacing, "
                "out, /)\n--\n\nMark the cells that share volume with the ground.") },
    { NULL, NULL, 0, NULL },
};
