// The spring step of one tree with a lane for each branch. Compiled once per instruction set.
#include "support/kernel_table.h"

#include "sway/spring.h"
#include "sway/tree_soa.h"

static wgi_vec3 load_rows(const float* rows, size_t padded, size_t lane)
{
    return (wgi_vec3){ wgf8_load(rows + lane), wgf8_load(rows + padded + lane),
                       wgf8_load(rows + 2 * padded + lane) };
}

static void store_rows(float* rows, size_t padded, size_t lane, wgi_vec3 v)
{
    wgf8_store(rows + lane, v.x);
    wgf8_store(rows + padded + lane, v.y);
    wgf8_store(rows + 2 * padded + lane, v.z);
}

static wgi_vec3 gather_rows(const float* rows, size_t padded, const int32_t* index)
{
    wgi_vec3 v;
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        v.x[lane] = rows[index[lane]];
        v.y[lane] = rows[padded + (size_t)index[lane]];
        v.z[lane] = rows[2 * padded + (size_t)index[lane]];
    }
    return v;
}

static wgi_frame gather_frames(const float* frames, const int32_t* slot)
{
    wgf8 row[11];
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        const float* f = frames + (size_t)slot[lane] * WGI_FRAME_FLOATS;
        for (int i = 0; i < 11; ++i)
            row[i][lane] = f[i];
    }
    return (wgi_frame){ { row[0], row[1], row[2], row[3] },
                        { row[4], row[5], row[6], row[7] },
                        { row[8], row[9], row[10] } };
}

static void scatter_frames(float* frames, const int32_t* slot, const wgi_frame* frame)
{
    const wgf8 row[11] = {
        frame->world.w, frame->world.x, frame->world.y, frame->world.z,
        frame->back.w,  frame->back.x,  frame->back.y,  frame->back.z,
        frame->moved.x, frame->moved.y, frame->moved.z,
    };
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        float* f = frames + (size_t)slot[lane] * WGI_FRAME_FLOATS;
        for (int i = 0; i < 11; ++i)
            f[i] = row[i][lane];
    }
}

void WGI_ISA(spring_frames)(const wgi_soa_step* step)
{
    const wgi_tree_soa* tree = step->tree;
    const wgi_motion_soa* motion = step->motion;
    const size_t padded = (size_t)tree->padded;
    for (int32_t group = 0; group < tree->inner_groups; ++group) {
        const int32_t* index = tree->inner + group * WGI_LANES;
        int32_t parent_slot[WGI_LANES];
        for (int lane = 0; lane < WGI_LANES; ++lane)
            parent_slot[lane] = tree->parent_slot[index[lane]];
        const wgi_frame parent = gather_frames(tree->frame, parent_slot);
        const wgi_frame frame = wgi_frame_of_child(
            &parent, gather_rows(tree->rest + WGI_REST_OFFSET * padded, padded, index),
            gather_rows(motion->rotation, padded, index),
            gather_rows(motion->previous, padded, index), step->options->inertia);
        scatter_frames(tree->frame, tree->inner_slot + group * WGI_LANES, &frame);
    }
}

static wgi_step_flags step_flags(const wg_spring_options* options)
{
    return (wgi_step_flags){ .dt = (float)options->dt,
                             .inverse_dt = (float)(1.0 / options->dt),
                             .inertia = options->inertia,
                             .relative_damping = options->relative_damping,
                             .torsion = options->torsion,
                             .exponential = options->clamp == WG_CLAMP_EXPONENTIAL };
}

static wgi_spring load_spring(const float* rows, size_t padded, size_t lane, bool exponential)
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

void WGI_ISA(spring_update)(const wgi_soa_step* step, size_t group_begin, size_t group_end)
{
    const wgi_tree_soa* tree = step->tree;
    const wgi_motion_soa* motion = step->motion;
    const size_t padded = (size_t)tree->padded;
    const wgi_step_flags flags = step_flags(step->options);
    for (size_t group = group_begin; group < group_end; ++group) {
        const size_t lane = group * WGI_LANES;
        const wgi_frame parent = gather_frames(tree->frame, tree->parent_slot + lane);
        const wgi_rest rest = {
            load_rows(tree->rest + WGI_REST_DIRECTION * padded, padded, lane),
            load_rows(tree->rest + WGI_REST_REACH * padded, padded, lane),
            wgf8_load(tree->rest + WGI_REST_INVERSE_ARM * padded + lane),
        };
        const wgi_spring spring = load_spring(tree->spring, padded, lane, flags.exponential);
        const wgi_state state = { load_rows(motion->rotation, padded, lane),
                                  load_rows(motion->angular_velocity, padded, lane) };
        const wgi_vec3 wind = load_rows(motion->wind, padded, lane);
        const wgi_state next = wgi_spring_step(&state, &parent, wind, &rest, &spring, &flags);
        store_rows(motion->previous, padded, lane, state.rotation);
        store_rows(motion->rotation, padded, lane, next.rotation);
        store_rows(motion->angular_velocity, padded, lane, next.angular_velocity);
    }
}
