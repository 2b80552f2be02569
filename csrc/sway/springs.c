// The step of one tree in a given wind, a lane for each branch. Once per instruction set.
#include "support/kernel_table.h"

#include "sway/lane_branch.h"

void WGI_ISA(spring_frames)(const wgi_given_step* step)
{
    wgi_tree_frames(step->tree, step->motion, step->options->inertia, step->frame);
}

void WGI_ISA(spring_update)(const wgi_given_step* step, size_t group_begin, size_t group_end)
{
    const wgi_specimen* tree = step->tree;
    const wgi_motion_rows* motion = step->motion;
    const size_t padded = (size_t)tree->padded;
    const wgi_step_flags flags = wgi_step_flags_of(step->options);
    for (size_t group = group_begin; group < group_end; ++group) {
        const size_t lane = group * WGI_LANES;
        const wgi_frame parent = wgi_gather_frames(step->frame, tree->parent_slot + lane);
        const wgi_rest rest = wgi_load_rest(tree, lane);
        const wgi_spring spring = wgi_load_spring(step->spring, padded, lane, flags.exponential);
        const wgi_state state = { wgi_load_rows(motion->rotation, padded, lane),
                                  wgi_load_rows(motion->angular_velocity, padded, lane) };
        const wgi_vec3 wind = wgi_load_rows(step->wind, padded, lane);
        const wgi_pose pose = wgi_pose_of(state.rotation, &rest);
        const wgi_vec3 torque = wgi_torque(pose.arm, parent.world, wind);
        const wgi_carried carried = wgi_carry(&pose, &parent, &rest, &flags);
        const wgi_state next =
            wgi_integrate(&state, &carried, torque, rest.direction, &spring, &flags);
        wgi_store_rows(motion->previous, padded, lane, state.rotation);
        wgi_store_rows(motion->rotation, padded, lane, next.rotation);
        wgi_store_rows(motion->angular_velocity, padded, lane, next.angular_velocity);
    }
}
