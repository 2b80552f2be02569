// World rotations and pivots of whole poses, in double precision.
#include "sway/quat_double.h"
#include "windgrove/sway.h"

static void frames_of_pose(
    const wg_branches* branches, const double* rotation, double* quaternion, double* pivot)
{
    for (int32_t i = 0; i < branches->count; ++i) {
        const int32_t parent = branches->parent[i];
        double own[4];
        wgi_quatd_from_vector(rotation + 3 * i, own);
        double* q = quaternion + 4 * i;
        double* p = pivot + 3 * i;
        const double* rest = branches->position + 3 * i;
        if (parent < 0) {
            for (int axis = 0; axis < 3; ++axis)
                p[axis] = rest[axis];
            for (int k = 0; k < 4; ++k)
                q[k] = own[k];
            continue;
        }
        const double* base = branches->position + 3 * parent;
        const double offset[3] = { rest[0] - base[0], rest[1] - base[1], rest[2] - base[2] };
        double carried[3];
        wgi_quatd_rotate(quaternion + 4 * parent, offset, carried);
        for (int axis = 0; axis < 3; ++axis)
            p[axis] = pivot[3 * parent + axis] + carried[axis];
        wgi_quatd_multiply(quaternion + 4 * parent, own, q);
    }
}

wg_status wg_sway_rotation_frames(
    const wg_branches* branches, const double* rotation, size_t pose_count, double* quaternion,
    double* pivot)
{
    for (int32_t i = 0; i < branches->count; ++i)
        if (branches->parent[i] < -1 || branches->parent[i] >= i)
            return WG_ERR_TOPOLOGY;
    const size_t n = (size_t)branches->count;
    for (size_t pose = 0; pose < pose_count; ++pose)
        frames_of_pose(
            branches, rotation + 3 * n * pose, quaternion + 4 * n * pose, pivot + 3 * n * pose);
    return WG_OK;
}
