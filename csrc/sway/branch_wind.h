// The wind that eight branches feel: sampled, turned by noise, and as torque by a drag law.
#pragma once

#include "sway/forest_job.h"
#include "sway/noise_lanes.h"
#include "sway/spring.h"
#include "wind/sample_lanes.h"

/// Where eight branches stand: one instance in all lanes or eight instances.
typedef struct wgi_stand {
    wgi_lane_anchor anchor;
    wgi_quat turn;
    bool upright; ///< every turn is one about the vertical
    wgf8 scale;
    wgi_u32x8 key;
} wgi_stand;

/// Options of the wind in the form the lanes read.
typedef struct wgi_gust {
    const wgi_lane_wind* wind; ///< NULL where velocities are given
    bool uniform;              ///< the same everywhere: no need to know where a branch is
    wgi_vec3 velocity;         ///< where uniform
    float noise, drag_exponent, inverse_reference;
    double time;
} wgi_gust;

WGI_INLINE bool wgi_is_upright(wgi_quat turn)
{
    const wgf8 zero = wgf8_set(0.0f);
    return !wgi8_any((wgi8)(turn.x != zero) | (wgi8)(turn.y != zero));
}

/// wgi_quat_rotate where x and y of the quaternion are 0: the same but for the sign of a zero.
WGI_INLINE wgi_vec3 wgi_turn_upright(wgi_quat q, wgi_vec3 a)
{
    const wgf8 w = q.w + q.w;
    const wgf8 cx = -(q.z * a.y), cy = q.z * a.x, dx = -(q.z * cy), dy = q.z * cx;
    return (wgi_vec3){ a.x + (w * cx + (dx + dx)), a.y + (w * cy + (dy + dy)), a.z };
}

/// World position of the centre of mass from the tree's place, m.
WGI_INLINE wgi_vec3
wgi_centre(const wgi_stand* stand, const wgi_frame* parent, const wgi_pose* pose, wgf8 arm)
{
    const wgi_vec3 from_parent = wgi_quat_rotate(parent->world, wgi_vec3_scale(arm, pose->reach));
    const wgi_vec3 in_tree = wgi_vec3_scale(stand->scale, wgi_vec3_add(parent->pivot, from_parent));
    return stand->upright ? wgi_turn_upright(stand->turn, in_tree)
                          : wgi_quat_rotate(stand->turn, in_tree);
}

WGI_INLINE wgi_vec3 wgi_wind_at(
    const wgi_gust* gust, const wgi_stand* stand, const wgi_frame* parent, const wgi_pose* pose,
    wgf8 arm)
{
    if (gust->uniform)
        return gust->velocity;
    const wgi_vec3 centre = wgi_centre(stand, parent, pose, arm);
    const wgf8 local[3] = { centre.x, centre.y, centre.z };
    wgf8 velocity[3];
    wgi_sample_wind8(gust->wind, &stand->anchor, local, velocity);
    return (wgi_vec3){ velocity[0], velocity[1], velocity[2] };
}

WGI_INLINE wgi_vec3 wgi_wind_with_noise(
    const wgi_gust* gust, const wgi_stand* stand, wgi_vec3 velocity, wgi_u32x8 branch,
    wgf8 frequency)
{
    if (!(gust->noise > 0.0f))
        return velocity;
    const wgf8 noise = wgi_noise8(wgi_branch_key8(stand->key, branch), frequency, gust->time);
    return wgi_turn_level(velocity, wgf8_set(gust->noise) * noise);
}

/// 2^y for |y| < 126: 2^i by the exponent bits, 2^f on [-1/2, 1/2] by a polynomial of degree 6
/// with relative error 2e-9.
WGI_INLINE wgf8 wgi_exp2(wgf8 y)
{
    y = wgf8_max(wgf8_min(y, wgf8_set(126.0f)), wgf8_set(-126.0f));
    const wgf8 whole = wgf8_floor(y + wgf8_set(0.5f));
    const wgf8 f = y - whole;
    wgf8 p = wgf8_set(1.535340046e-04f);
    p = p * f + wgf8_set(1.339887550e-03f);
    p = p * f + wgf8_set(9.618437245e-03f);
    p = p * f + wgf8_set(5.550332468e-02f);
    p = p * f + wgf8_set(2.402264791e-01f);
    p = p * f + wgf8_set(6.931472029e-01f);
    p = p * f + wgf8_set(1.0f);
    const wgi8 bits = (wgi8_truncate(whole) + 127) << 23;
    return p * wgf8_from_bits(bits);
}

/// log2 x for x > 0 and normal: exponent bits and, on [1/sqrt 2, sqrt 2],
/// s P(s^2) with s = (m - 1) / (m + 1), relative error 7e-10.
WGI_INLINE wgf8 wgi_log2(wgf8 x)
{
    const wgi8 bits = wgf8_bits(x);
    const wgi8 shifted = bits - 0x3f3504f3; // exponent counted from 1/sqrt 2
    const wgi8 exponent = shifted >> 23;
    const wgf8 m = wgf8_from_bits(bits - (exponent << 23));
    const wgf8 s = (m - wgf8_set(1.0f)) / (m + wgf8_set(1.0f)), z = s * s;
    wgf8 p = wgf8_set(4.317358961e-01f);
    p = p * z + wgf8_set(5.767143831e-01f);
    p = p * z + wgf8_set(9.617988477e-01f);
    p = p * z + wgf8_set(2.885390080e+00f);
    return wgf8_from_int(exponent) + s * p;
}

/// Factor of the drag law: (|v| / reference)^exponent, 1 for the linear law.
WGI_INLINE wgf8 wgi_drag_factor(const wgi_gust* gust, wgi_vec3 velocity)
{
    if (gust->drag_exponent == 0.0f)
        return wgf8_set(1.0f);
    const wgf8 speed =
        wgf8_set(gust->inverse_reference) * wgf8_sqrt(wgi_vec3_dot(velocity, velocity));
    if (gust->drag_exponent == 1.0f)
        return speed;
    const wgi8 still = ~(wgi8)(speed > wgf8_set(1e-30f)); // NaN counts, and stays NaN in the torque
    const wgf8 safe = wgf8_select(still, wgf8_set(1.0f), speed);
    const wgf8 factor = wgi_exp2(wgf8_set(gust->drag_exponent) * wgi_log2(safe));
    return wgf8_select(still, wgf8_set(0.0f), factor);
}

/// The wind of one step; a series sets the velocity of `wind`.
WGI_INLINE wgi_gust wgi_gust_of(const wgi_forest_job* job, wgi_lane_wind* wind, int32_t step)
{
    if (job->wind->kind == WG_WIND_SERIES)
        for (int axis = 0; axis < 3; ++axis)
            wind->outside.velocity[axis] = job->wind->series[3 * step + axis];
    const wg_forest_options* options = job->options;
    wgi_gust gust = { .wind = wind,
                      .noise = options->noise,
                      .drag_exponent = options->drag_exponent,
                      .inverse_reference = 1.0f / options->reference_speed };
    gust.time = options->time + (double)(options->first_step + step + 1) * options->spring.dt;
    if (wind && wind->level_count == 0 && wind->outside.profile == WG_PROFILE_NONE) {
        gust.uniform = true;
        gust.velocity = wgi_vec3_set(
            (float)wind->outside.velocity[0], (float)wind->outside.velocity[1],
            (float)wind->outside.velocity[2]);
    }
    return gust;
}
