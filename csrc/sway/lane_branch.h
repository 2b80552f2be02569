// Loads and stores where a lane is a branch of one tree.
#pragma once

#include "sway/specimen.h"
#include "sway/spring.h"
#include "sway/tile.h"

WGI_INLINE wgi_vec3 wgi_load_rows(const float* rows, size_t padded, size_t lane)
{
    return (wgi_vec3){ wgf8_load(rows + lane), wgf8_load(rows + padded + lane),
                       wgf8_load(rows + 2 * padded + lane) };
}

WGI_INLINE void wgi_store_rows(float* rows, size_t padded, size_t lane, wgi_vec3 v)
{
    wgf8_store(rows + lane, v.x);
    wgf8_store(rows + padded + lane, v.y);
    wgf8_store(rows + 2 * padded + lane, v.z);
}

WGI_INLINE wgi_vec3 wgi_gather_rows(const float* rows, size_t padded, const int32_t* index)
{
    wgi8 at;
    memcpy(&at, index, sizeof at);
    return (wgi_vec3){ wgf8_gather(rows, at), wgf8_gather(rows + padded, at),
                       wgf8_gather(rows + 2 * padded, at) };
}

WGI_INLINE wgi_frame wgi_gather_frames(const float* frames, const int32_t* slot)
{
    wgf8 low[WGI_LANES], high[WGI_LANES];
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        const float* f = frames + (size_t)slot[lane] * WGI_FRAME_FLOATS;
        low[lane] = wgf8_load(f);
        high[lane] = wgf8_load(f + WGI_LANES);
    }
    wgi_turn8(low);
    wgi_turn8(high);
    return (wgi_frame){ { low[0], low[1], low[2], low[3] },
                        { low[4], low[5], low[6], low[7] },
                        { high[0], high[1], high[2] },
                        { high[3], high[4], high[5] } };
}

WGI_INLINE void wgi_scatter_frames(float* frames, const int32_t* slot, const wgi_frame* frame)
{
    const wgf8 unused = wgf8_set(0.0f);
    wgf8 low[WGI_LANES] = { frame->world.w, frame->world.x, frame->world.y, frame->world.z,
                            frame->back.w,  frame->back.x,  frame->back.y,  frame->back.z };
    wgf8 high[WGI_LANES] = { frame->moved.x, frame->moved.y, frame->moved.z, frame->pivot.x,
                             frame->pivot.y, frame->pivot.z, unused,         unused };
    wgi_turn8(low);
    wgi_turn8(high);
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        float* f = frames + (size_t)slot[lane] * WGI_FRAME_FLOATS;
        wgf8_store(f, low[lane]);
        wgf8_store(f + WGI_LANES, high[lane]);
    }
}

WGI_INLINE wgi_rest wgi_load_rest(const wgi_specimen* tree, size_t lane)
{
    const size_t padded = (size_t)tree->padded;
    return (wgi_rest){ wgi_load_rows(tree->rest + WGI_REST_DIRECTION * padded, padded, lane),
                       wgi_load_rows(tree->rest + WGI_REST_REACH * padded, padded, lane),
                       wgf8_load(tree->rest + WGI_REST_INVERSE_ARM * padded + lane) };
}

WGI_INLINE wgi_spring
wgi_load_spring(const float* rows, size_t padded, size_t lane, bool exponential)
{
    wgi_spring s = { wgf8_load(rows + WGI_SPRING_THETA * padded + lane),
                     wgf8_load(rows + WGI_SPRING_RATE * padded + lane),
                     wgf8_load(rows + WGI_SPRING_TORQUE * padded + lane),
                     { wgf8_set(0.0f) } };
    if (exponential)
        for (size_t i = 0; i < 5; ++i)
            s.extra[i] = wgf8_load(rows + (WGI_SPRING_EXTRA + i) * padded + lane);
    return s;
}

WGI_INLINE wgi_step_flags wgi_step_flags_of(const wg_spring_options* options)
{
    return (wgi_step_flags){ .dt = (float)options->dt,
                             .inverse_dt = (float)(1.0 / options->dt),
                             .inertia = options->inertia,
                             .relative_damping = options->relative_damping,
                             .torsion = options->torsion,
                             .limit_turn = options->limit_turn,
                             .exponential = options->clamp == WG_CLAMP_EXPONENTIAL };
}

/// Frames of all branches that carry others, depth by depth.
WGI_INLINE void wgi_tree_frames(
    const wgi_specimen* tree, const wgi_motion_rows* motion, bool inertia, float* frames)
{
    const size_t padded = (size_t)tree->padded;
    for (int32_t group = 0; group < tree->inner_groups; ++group) {
        const int32_t* index = tree->inner + group * WGI_LANES;
        int32_t parent_slot[WGI_LANES];
        for (int lane = 0; lane < WGI_LANES; ++lane)
            parent_slot[lane] = tree->parent_slot[index[lane]];
        const wgi_frame parent = wgi_gather_frames(frames, parent_slot);
        const wgi_quat now = wgi_quat_from_vector(wgi_gather_rows(motion->rotation, padded, index));
        const wgi_frame frame = wgi_frame_of_child(
            &parent, wgi_gather_rows(tree->rest + WGI_REST_OFFSET * padded, padded, index), now,
            wgi_gather_rows(motion->previous, padded, index), inertia);
        wgi_scatter_frames(frames, tree->inner_slot + group * WGI_LANES, &frame);
    }
}

/// Adds the new rotations of eight branches to the running sums.
WGI_INLINE void wgi_reduce(const wg_forest_record* record, size_t at, wgi_vec3 theta)
{
    if (record->sum_square)
        for (int lane = 0; lane < WGI_LANES; ++lane) {
            const double x = (double)theta.x[lane], y = (double)theta.y[lane];
            const double z = (double)theta.z[lane];
            record->sum_square[at + (size_t)lane] += x * x + y * y + z * z;
        }
    if (record->peak) {
        const wgf8 angle = wgf8_sqrt(wgi_vec3_dot(theta, theta));
        wgf8_store(record->peak + at, wgf8_max(angle, wgf8_load(record->peak + at)));
    }
}
