// World rotations and pivots of whole poses, in double precision.
#include <math.h>

#include "windgrove/sway.h"

static void quat_from_vector(const double* v, double q[4])
{
    const double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double s = angle < 1e-8 ? 0.5 : sin(0.5 * angle) / angle;
    q[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; ++i)
        q[1 + i] = s * v[i];
}

static void quat_multiply(const double a[4], const double b[4], double out[4])
{
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + b[0] * a[1] + (a[2] * b[3] - a[3] * b[2]);
    out[2] = a[0] * b[2] + b[0] * a[2] + (a[3] * b[1] - a[1] * b[3]);
    out[3] = a[0] * b[3] + b[0] * a[3] + (a[1] * b[2] - a[2] * b[1]);
}

static void rotate(const double q[4], const double v[3], double out[3])
{
    const double c[3] = { q[2] * v[2] - q[3] * v[1], q[3] * v[0] - q[1] * v[2],
                          q[1] * v[1] - q[2] * v[0] };
    const double d[3] = { q[2] * c[2] - q[3] * c[1], q[3] * c[0] - q[1] * c[2],
                          q[1] * c[1] - q[2] * c[0] };
    for (int i = 0; i < 3; ++i)
        out[i] = v[i] + 2.0 * (q[0] * c[i] + d[i]);
}

static void frames_of_pose(
    const wg_branches* branches, const double* rotation, double* quaternion, double* pivot)
{
    for (int32_t i = 0; i < branches->count; ++i) {
        const int32_t parent = branches->parent[i];
        double own[4];
        quat_from_vector(rotation + 3 * i, own);
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
        rotate(quaternion + 4 * parent, offset, carried);
        for (int axis = 0; axis < 3; ++axis)
            p[axis] = pivot[3 * parent + axis] + carried[axis];
        quat_multiply(quaternion + 4 * parent, own, q);
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
