// One step of eight springs: MODEL of docs/numerics/springs.md, the part that no layout changes.
#pragma once

#include "sway/rotation.h"

/// What a frame hands to the branches it carries.
typedef struct wgi_frame {
    wgi_quat world; ///< G(n-1)
    wgi_quat back;  ///< G(n-1)^T G(n-2)
    wgi_vec3 moved; ///< G(n-1)^T (pivot(n-2) - pivot(n-1)), m
    wgi_vec3 pivot; ///< pivot(n-1) from the tree's origin, m
} wgi_frame;

/// Per-branch constants in the form the step reads; see wgi_spring_coefficients.
typedef struct wgi_spring {
    wgf8 theta, rate, torque; ///< omega' = omega + (torque tau - theta theta_i - rate r)
    wgf8 extra[5];            ///< WG_CLAMP_EXPONENTIAL alone
} wgi_spring;

/// Same for the 8 lanes.
typedef struct wgi_step_flags {
    float dt, inverse_dt;
    bool inertia, relative_damping, torsion, exponential, limit_turn;
} wgi_step_flags;

typedef struct wgi_rest {
    wgi_vec3 direction;
    wgi_vec3 offset_by_arm; ///< (position - parent's position) / arm
    wgf8 inverse_arm;       ///< 1 / (0.75 length), 1/m
} wgi_rest;

typedef struct wgi_state {
    wgi_vec3 rotation, angular_velocity;
} wgi_state;

/// Frame of a branch from its parent's.
WGI_INLINE wgi_frame wgi_frame_of_child(
    const wgi_frame* parent, wgi_vec3 offset, wgi_quat now, wgi_vec3 previous, bool inertia)
{
    wgi_frame frame;
    frame.world = wgi_quat_multiply(parent->world, now);
    frame.pivot = wgi_vec3_add(parent->pivot, wgi_quat_rotate(parent->world, offset));
    if (inertia) {
        const wgi_quat before = wgi_quat_from_vector(previous);
        const wgi_vec3 moved = wgi_vec3_add(parent->moved, wgi_quat_displace(parent->back, offset));
        const wgi_quat back = wgi_quat_divide(now, wgi_quat_multiply(parent->back, before));
        frame.back = wgi_quat_normalise(back);
        frame.moved = wgi_quat_rotate_back(now, moved);
    } else {
        frame.back = wgi_quat_identity();
        frame.moved = wgi_vec3_set(0.0f, 0.0f, 0.0f);
    }
    return frame;
}

/// Torque over drag, in the frame the spring lives in: that of the ancestors.
WGI_INLINE wgi_vec3 wgi_torque(wgi_vec3 arm, wgi_quat parent_world, wgi_vec3 wind)
{
    return wgi_vec3_cross(arm, wgi_quat_rotate_back(parent_world, wind));
}

WGI_INLINE wgf8 wgi_flow(
    const wgi_spring* s, const wgi_step_flags* f, wgf8 theta, wgf8 omega, wgf8 lag, wgf8 tau,
    wgf8* increment)
{
    const wgf8 rate = f->relative_damping ? omega + lag : omega;
    const wgf8 next = omega + (s->torque * tau - s->theta * theta - s->rate * rate);
    *increment = next;
    return next;
}

/// The exact flow: the same form for the mean rate over the step, whose coefficients differ.
WGI_INLINE wgf8 wgi_exact_flow(
    const wgi_spring* s, const wgi_step_flags* f, wgf8 theta, wgf8 omega, wgf8 lag, wgf8 tau,
    wgf8* increment)
{
    const wgf8 rate = omega + lag;
    wgf8 mean = s->extra[2] * tau - s->extra[0] * theta - s->extra[1] * rate;
    wgf8 last = s->torque * tau - s->theta * theta - s->rate * rate;
    if (!f->relative_damping) {
        mean += s->extra[4] * lag;
        last += s->extra[3] * lag;
    }
    *increment = omega + mean;
    return omega + last;
}

/// Rotation, direction and reach of a branch as they are before the step.
typedef struct wgi_pose {
    wgi_quat turn;
    wgi_vec3 arm;   ///< R dir, in the frame of the ancestors
    wgi_vec3 reach; ///< arm + offset_by_arm: parent's pivot to centre of mass, in arm lengths
} wgi_pose;

WGI_INLINE wgi_pose wgi_pose_of(wgi_vec3 rotation, const wgi_rest* rest)
{
    wgi_pose pose;
    pose.turn = wgi_quat_from_vector(rotation);
    pose.arm = wgi_quat_rotate(pose.turn, rest->direction);
    pose.reach = wgi_vec3_add(rest->offset_by_arm, pose.arm);
    return pose;
}

/// The shortest rotation that takes the arm back to where the ancestors carried it from.
WGI_INLINE wgi_quat wgi_lag(const wgi_pose* pose, const wgi_frame* parent, const wgi_rest* rest)
{
    const wgi_vec3 moved = wgi_vec3_add(
        wgi_vec3_scale(rest->inverse_arm, parent->moved),
        wgi_quat_displace(parent->back, pose->reach));
    return wgi_quat_between(pose->arm, moved);
}

/// Rotation after the inertia and how fast it happened.
typedef struct wgi_carried {
    wgi_quat turn; ///< Q(C) R(n-1)
    wgi_vec3 lag;  ///< C / dt, rad/s
} wgi_carried;

WGI_INLINE wgi_carried wgi_carried_by(wgi_quat correction, wgi_quat turn, const wgi_step_flags* f)
{
    return (wgi_carried){
        wgi_quat_multiply(correction, turn),
        wgi_vec3_scale(wgf8_set(f->inverse_dt), wgi_vector_from_quat(correction)),
    };
}

WGI_INLINE wgi_carried wgi_carry(
    const wgi_pose* pose, const wgi_frame* parent, const wgi_rest* rest, const wgi_step_flags* f)
{
    if (!f->inertia)
        return (wgi_carried){ pose->turn, wgi_vec3_set(0.0f, 0.0f, 0.0f) };
    return wgi_carried_by(wgi_lag(pose, parent, rest), pose->turn, f);
}

/// Shortens a step of more than half a turn to that, and the velocity in proportion; what has
/// overflowed stays, to be found.
WGI_INLINE void wgi_limit_turn(wgi_vec3* step, wgi_vec3* velocity)
{
    const wgf8 pi = wgf8_set(3.14159265f);
    const wgf8 angle = wgf8_sqrt(wgi_vec3_dot(*step, *step));
    const wgi8 over = (wgi8)(angle > pi) & (wgi8)(angle <= wgf8_set(3.402823466e+38f));
    const wgf8 share = pi / angle;
    *step = wgi_vec3_select(over, wgi_vec3_scale(share, *step), *step);
    *velocity = wgi_vec3_select(over, wgi_vec3_scale(share, *velocity), *velocity);
}

/// A branch after its step: not yet as a rotation vector.
typedef struct wgi_turned {
    wgi_quat turn;
    wgi_vec3 angular_velocity;
} wgi_turned;

/// The step. `torque` is (R dir) x (P^T wind), without the drag.
WGI_INLINE wgi_turned wgi_turn_on(
    const wgi_state* state, const wgi_carried* carried, wgi_vec3 torque, const wgi_spring* s,
    const wgi_step_flags* f)
{
    const wgi_vec3 theta = state->rotation, omega = state->angular_velocity;
    const wgi_vec3 lag = carried->lag;
    wgi_turned next;
    wgi_vec3 rate;
    if (f->exponential) {
        next.angular_velocity = (wgi_vec3){
            wgi_exact_flow(s, f, theta.x, omega.x, lag.x, torque.x, &rate.x),
            wgi_exact_flow(s, f, theta.y, omega.y, lag.y, torque.y, &rate.y),
            wgi_exact_flow(s, f, theta.z, omega.z, lag.z, torque.z, &rate.z),
        };
    } else {
        next.angular_velocity = (wgi_vec3){
            wgi_flow(s, f, theta.x, omega.x, lag.x, torque.x, &rate.x),
            wgi_flow(s, f, theta.y, omega.y, lag.y, torque.y, &rate.y),
            wgi_flow(s, f, theta.z, omega.z, lag.z, torque.z, &rate.z),
        };
    }
    wgi_vec3 step = wgi_vec3_scale(wgf8_set(f->dt), rate);
    if (f->limit_turn && wgi8_any(wgi_vec3_dot(step, step) > wgf8_set(9.8696f)))
        wgi_limit_turn(&step, &next.angular_velocity);
    next.turn = wgi_quat_multiply(wgi_quat_from_vector(step), carried->turn);
    return next;
}

WGI_INLINE wgi_state
wgi_turned_state(const wgi_turned* next, wgi_vec3 direction, const wgi_step_flags* f)
{
    const wgi_quat turn = f->torsion ? next->turn : wgi_quat_swing(next->turn, direction);
    return (wgi_state){ wgi_vector_from_quat(turn), next->angular_velocity };
}

/// The new state; see wgi_turn_on.
WGI_INLINE wgi_state wgi_integrate(
    const wgi_state* state, const wgi_carried* carried, wgi_vec3 torque, wgi_vec3 direction,
    const wgi_spring* s, const wgi_step_flags* f)
{
    const wgi_turned next = wgi_turn_on(state, carried, torque, s, f);
    return wgi_turned_state(&next, direction, f);
}

/// The old state where the mask is set, else the new one.
WGI_INLINE wgi_state wgi_hold(wgi8 held, const wgi_state* old, wgi_state next)
{
    return (wgi_state){
        wgi_vec3_select(held, old->rotation, next.rotation),
        wgi_vec3_select(held, old->angular_velocity, next.angular_velocity),
    };
}

/// |x| + |y| + |z|
WGI_INLINE wgf8 wgi_vec3_size(wgi_vec3 v)
{
    return wgf8_abs(v.x) + wgf8_abs(v.y) + wgf8_abs(v.z);
}

/// A state that is finite has a finite sum of magnitudes; one that is not has not, in that lane.
WGI_INLINE wgi8 wgi_sum_not_finite(wgf8 sum)
{
    return ~(wgi8)(sum <= wgf8_set(3.402823466e+38f));
}

WGI_INLINE wgi8 wgi_not_finite(const wgi_state* s)
{
    return wgi_sum_not_finite(wgi_vec3_size(s->rotation) + wgi_vec3_size(s->angular_velocity));
}
