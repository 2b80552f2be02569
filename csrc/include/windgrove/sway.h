// windgrove/sway.h - the branches of trees as damped angular springs in the wind.
//
// Rotations are rotation vectors (rad, angle at most pi) relative to the rest pose, in the axes of
// the tree and carried by the parent: the world rotation of a branch is
// G_i = R_root ... R_parent R_i, every R about its own rest pivot. Parents come before children.
#pragma once

#include "windgrove/base.h"

/// How stiffness and damping are limited so that one step cannot overshoot.
typedef enum wg_clamp {
    WG_CLAMP_SOURCE = 0,      ///< k' = min(k, m/dt^2), c' = min(c, m/dt)
    WG_CLAMP_COMPENSATED = 1, ///< the same, and d' = d k'/k: the static deflection stays
    WG_CLAMP_EXPONENTIAL = 2, ///< no limit: the exact flow of the damped spring over dt
    WG_CLAMP_NONE = 3,        ///< no limit; stable only while k dt^2 + 2 c dt < 4 m
} wg_clamp;

typedef struct wg_spring_options {
    double dt;             ///< s, > 0
    int32_t clamp;         ///< a wg_clamp
    bool inertia;          ///< lag behind the ancestors, one frame late
    bool relative_damping; ///< damping acts on the rate relative to the parent, else on omega
    bool torsion;          ///< false: the twist about the rest direction is removed every step
    bool limit_turn;       ///< at most half a turn a step; without it a branch that was thrown
                           ///< violently can lock into whole turns a step and never come to rest
} wg_spring_options;

/// The branches of one tree in their rest pose, borrowed. Double precision, so that a tree far from
/// the origin loses nothing: only differences of positions are used.
typedef struct wg_branches {
    int32_t count;
    const double* position;  ///< [count][3] m, pivots
    const double* direction; ///< [count][3] unit vectors
    const double* length;    ///< [count] m, > 0
    const int32_t* parent;   ///< [count], -1 for a root, else below the own index
} wg_branches;

/// Spring parameters of every branch, borrowed.
typedef struct wg_springs {
    const double* mass;      ///< [count] kg, > 0
    const double* stiffness; ///< [count] >= 0
    const double* damping;   ///< [count] >= 0
    const double* drag;      ///< [count] >= 0
} wg_springs;

/// Motion of one tree, changed in place.
typedef struct wg_motion {
    float* rotation;         ///< [count][3] rad, frame n-1; becomes n
    float* previous;         ///< [count][3] rad, frame n-2; becomes n-1
    float* angular_velocity; ///< [count][3] rad/s
} wg_motion;

/// Bytes of scratch that wg_sway_step_springs needs for a tree of `count` branches.
WG_API size_t wg_sway_step_springs_scratch(int32_t count);

/// One step of every spring of one tree, in place.
///
///     alpha = (d tau - k theta - c rate) / m                                          (1)
///     omega' = omega + alpha dt,  R(n) = Q(omega' dt) Q(C) R(n-1)                      (2)
///
/// theta and every other rotation read is that of frame n-1. tau = (R dir) x (P^T wind), with P the
/// product of the ancestors' rotations. C is the shortest rotation that takes the arm of the centre
/// of mass (75 % of the length) to where that point was one frame earlier, as far as the ancestors
/// moved it: own rotation held, identity for roots and without inertia. rate = omega + C/dt with
/// relative damping, else omega. With WG_CLAMP_EXPONENTIAL (2) is the exact flow of
/// theta' = r, r' = (d tau - k theta - c r)/m from r = omega + C/dt over dt, with C inside it.
///
/// Source: the tree model of GPU Zen 4, section 3.3.2, eq. (3.1); docs/numerics/springs.md.
/// Cost: about 500 flop a branch, three passes, no allocation.
///
/// @param branches  parents before children
/// @param wind      [count][3] m/s at the centres of mass, in the axes of the tree
/// @param motion    finite on entry; must not overlap an input
/// @param scratch   wg_sway_step_springs_scratch(count) bytes, 32-byte aligned
/// @param culprit   out, may be NULL: the first branch whose state is not finite, else -1
/// @param exec      threads; does not change the result, not in the last bit
/// @return WG_OK; WG_ERR_VALUE or WG_ERR_TOPOLOGY, and nothing is written; WG_ERR_DIVERGED if a new
///         state is not finite: every branch was stepped. NaN in the wind or state of a branch
///         reaches that branch in this step, and through its state the branches it carries.
WG_API wg_status wg_sway_step_springs(
    const wg_branches* branches, const wg_springs* springs, const wg_spring_options* options,
    const float* wind, const wg_motion* motion, void* scratch, int32_t* culprit,
    const wg_exec* exec);

/// World rotation and world pivot of every branch, for `pose_count` poses of one tree.
///
///     G_i = G_parent R_i,  pivot_i = pivot_parent + G_parent (position_i - position_parent)
///
/// Source: docs/numerics/springs.md. Double precision; cost: two trigonometric calls a branch, no
/// allocation.
///
/// @param branches    `direction` and `length` are not read
/// @param rotation    [pose_count][count][3] rad
/// @param quaternion  out [pose_count][count][4], (w, x, y, z), unit length
/// @param pivot       out [pose_count][count][3] m
/// @return WG_OK, or WG_ERR_TOPOLOGY: then nothing is written. NaN in the rotation of a branch
///         reaches that branch and those it carries.
WG_API wg_status wg_sway_rotation_frames(
    const wg_branches* branches, const double* rotation, size_t pose_count, double* quaternion,
    double* pivot);

/// Rotations as the source stores them: two 16-bit angles of the turned direction, torsion dropped.
///
///     azimuth about z in steps of 2 pi / 2^16, polar angle from z in steps of pi / (2^16 - 1)
///
/// Source: GPU Zen 4, section 3.4. The direction read back is off by at most half a step of
/// each, 0.0031 degrees, poles included. Double precision, no allocation.
///
/// @param rotation   [count][3] rad, finite
/// @param direction  [count][3] unit vectors, the rest directions
/// @param packed     out [count][2], azimuth and polar angle
WG_API void
wg_pack_rotation(const double* rotation, const double* direction, size_t count, uint16_t* packed);

/// The shortest rotation from the rest direction to the packed one; a half turn about some axis
/// across where they are opposite.
/// @param rotation  out [count][3] rad
WG_API void
wg_unpack_rotation(const uint16_t* packed, const double* direction, size_t count, double* rotation);
