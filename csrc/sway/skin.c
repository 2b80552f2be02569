// Skinning, the part over the branches: what each hands to its vertices.
#include "windgrove/skin.h"

#include <math.h>

#include "support/kernel_table.h"
#include "support/parallel.h"
#include "sway/quat_double.h"

enum { VERTICES_A_BLOCK = 4096 };

size_t wg_skin_scratch(int32_t branch_count)
{
    return (size_t)branch_count * sizeof(wgi_skin_branch);
}

static double saturate(double x)
{
    return x > 1.0 ? 1.0 : x;
}

// carry(c) = carry(p) o (turn about the pivot of p by its rotation, faded to where c grows).
static void carry_child(
    const wg_branches* branches, const double* rotation, int32_t p, const wgi_skin_branch* parent,
    wgi_skin_branch* out)
{
    double offset[3];
    for (int axis = 0; axis < 3; ++axis)
        offset[axis] = out->rest[axis] - parent->rest[axis];
    const double distance =
        sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]);
    const double fade = saturate(distance / branches->length[p]);
    const double faded[3] = { fade * rotation[3 * p], fade * rotation[3 * p + 1],
                              fade * rotation[3 * p + 2] };
    double turn[4], moved[3];
    wgi_quatd_from_vector(faded, turn);
    wgi_quatd_multiply(parent->carry, turn, out->carry);
    wgi_quatd_rotate(out->carry, offset, moved);
    for (int axis = 0; axis < 3; ++axis)
        out->carried[axis] = parent->carried[axis] + moved[axis];
}

static void
prepare_branches(const wg_branches* branches, const double* rotation, wgi_skin_branch* out)
{
    for (int32_t i = 0; i < branches->count; ++i) {
        wgi_skin_branch* own = out + i;
        const int32_t parent = branches->parent[i];
        for (int axis = 0; axis < 3; ++axis) {
            own->carried[axis] = own->rest[axis] = branches->position[3 * i + axis];
            own->rotation[axis] = (float)rotation[3 * i + axis];
        }
        for (int k = 0; k < 4; ++k)
            own->carry[k] = k == 0 ? 1.0 : 0.0;
        if (parent >= 0)
            carry_child(branches, rotation, parent, out + parent, own);
        own->inverse_length = (float)(1.0 / branches->length[i]);
    }
}

static wg_status check(const wg_branches* branches, const wg_skin_mesh* mesh)
{
    for (int32_t i = 0; i < branches->count; ++i)
        if (branches->parent[i] < -1 || branches->parent[i] >= i)
            return WG_ERR_TOPOLOGY;
    for (size_t v = 0; v < mesh->count; ++v)
        if (mesh->branch[v] >= branches->count)
            return WG_ERR_VALUE;
    return WG_OK;
}

static void skin_block(size_t begin, size_t end, void* context)
{
    wgi_kernels()->skin_vertices(context, begin, end);
}

wg_status wg_skin(
    const wg_branches* branches, const double* rotation, const wg_skin_mesh* mesh,
    const wg_skin_output* output, void* scratch, const wg_exec* exec)
{
    const wg_status status = check(branches, mesh);
    if (status != WG_OK)
        return status;
    prepare_branches(branches, rotation, scratch);
    wgi_skin_job job = { .branches = scratch, .mesh = mesh, .output = output };
    wgi_parallel_for(exec, mesh->count, VERTICES_A_BLOCK, skin_block, &job);
    return WG_OK;
}
