// Instances one after the other, a lane for each branch: the way of one tree or a few. Included
// once, by forest_trees.c.
#pragma once

#include <math.h>

#include "sway/branch_wind.h"
#include "sway/lane_branch.h"

// One instance on its way through a run.
typedef struct walk {
    const wgi_forest_job* job;
    size_t instance;
    wgi_motion_rows motion;
    const float* spring;
    const float* frequency;
    const float* samples;
    wgi_stand stand;
    wgi_step_flags flags;
    float* frame;
    float* wind_rows;   // [3][padded], kept where a channel needs them
    float* torque_rows; // over the drag
} walk;

static wgi_stand stand_of(const wgi_forest_job* job, size_t instance)
{
    const wg_forest* forest = job->forest;
    const float* q = forest->turn + 4 * instance;
    wgi_stand stand = { .turn = { wgf8_set(q[0]), wgf8_set(q[1]), wgf8_set(q[2]), wgf8_set(q[3]) },
                        .scale = wgf8_set(forest->scale[instance]) };
    stand.upright = wgi_is_upright(stand.turn);
    for (int lane = 0; lane < WGI_LANES; ++lane) {
        stand.key[lane] = forest->key[instance];
        if (job->lanes)
            wgi_lane_anchor_set(job->lanes, forest->place + 3 * instance, lane, &stand.anchor);
    }
    return stand;
}

static walk alone_start(const wgi_forest_job* job, size_t instance, char* scratch)
{
    const wg_forest* forest = job->forest;
    const size_t padded = (size_t)job->tree.padded, rows = 3 * padded * instance;
    const size_t set = forest->spring_sets == 1 ? 0 : instance;
    const size_t spring_rows = (size_t)wg_forest_spring_rows(job->options->spring.clamp);
    walk w = { .job = job,
               .instance = instance,
               .spring = forest->springs + set * spring_rows * padded,
               .frequency = forest->frequency + set * padded,
               .samples = job->lanes ? NULL : job->wind->samples + rows,
               .stand = stand_of(job, instance),
               .flags = wgi_step_flags_of(&job->options->spring),
               .frame = (float*)scratch };
    if (!forest->packed)
        w.motion = (wgi_motion_rows){ forest->rotation + rows, forest->previous + rows,
                                      forest->angular_velocity + rows };
    w.wind_rows = w.frame + (size_t)job->tree.slots * WGI_FRAME_FLOATS;
    w.torque_rows = w.wind_rows + 3 * padded;
    wgi_frame_zero(w.frame);
    return w;
}

// Lanes whose kind of branch does not move.
static wgi8 held_branches(const walk* w, size_t lane)
{
    const wg_forest* forest = w->job->forest;
    return wgi8_load_bytes(forest->kind + lane) >= wgi8_set(forest->kinds[w->instance]);
}

// Vectors of branches that go through the passes together: a body of all of them would not fit the
// processor's reorder window.
enum { GROUPS = 4 };

typedef struct group_rows {
    wgi_frame parent;
    wgi_rest rest;
    wgi_state state;
    wgi_pose pose;
    wgi_vec3 torque;
    wgi_quat correction;
    wgi_turned turned;
} group_rows;

static void load_group(const walk* w, size_t lane, group_rows* g)
{
    const wgi_specimen* tree = &w->job->tree;
    const size_t padded = (size_t)tree->padded;
    g->parent = wgi_gather_frames(w->frame, tree->parent_slot + lane);
    g->rest = wgi_load_rest(tree, lane);
    g->state = (wgi_state){ wgi_load_rows(w->motion.rotation, padded, lane),
                            wgi_load_rows(w->motion.angular_velocity, padded, lane) };
    g->pose = wgi_pose_of(g->state.rotation, &g->rest);
}

static void blow_on_group(walk* w, const wgi_gust* gust, size_t lane, bool keep, group_rows* g)
{
    const wgi_specimen* tree = &w->job->tree;
    const size_t padded = (size_t)tree->padded;
    const wgi_vec3 velocity = w->samples
                                  ? wgi_load_rows(w->samples, padded, lane)
                                  : wgi_wind_at(
                                        gust, &w->stand, &g->parent, &g->pose,
                                        wgf8_load(tree->rest + WGI_REST_ARM * padded + lane));
    wgi_u32x8 branch;
    for (int i = 0; i < WGI_LANES; ++i)
        branch[i] = (uint32_t)lane + (uint32_t)i;
    const wgi_vec3 wind =
        wgi_wind_with_noise(gust, &w->stand, velocity, branch, wgf8_load(w->frequency + lane));
    const wgi_vec3 in_tree = wgi_quat_rotate_back(w->stand.turn, wind);
    g->torque = wgi_vec3_scale(
        wgi_drag_factor(gust, wind), wgi_torque(g->pose.arm, g->parent.world, in_tree));
    if (keep) {
        wgi_store_rows(w->wind_rows, padded, lane, wind);
        wgi_store_rows(w->torque_rows, padded, lane, g->torque);
    }
}

static void turn_group(const walk* w, size_t lane, group_rows* g)
{
    const wgi_spring spring =
        wgi_load_spring(w->spring, (size_t)w->job->tree.padded, lane, w->flags.exponential);
    wgi_carried carried = { g->pose.turn, wgi_vec3_set(0.0f, 0.0f, 0.0f) };
    if (w->flags.inertia)
        carried = wgi_carried_by(g->correction, g->pose.turn, &w->flags);
    g->turned = wgi_turn_on(&g->state, &carried, g->torque, &spring, &w->flags);
}

// The lanes that are not finite.
static wgi8 store_group(walk* w, size_t lane, const group_rows* g)
{
    const size_t padded = (size_t)w->job->tree.padded;
    const wgi_state next = wgi_hold(
        held_branches(w, lane), &g->state,
        wgi_turned_state(&g->turned, g->rest.direction, &w->flags));
    wgi_store_rows(w->motion.previous, padded, lane, g->state.rotation);
    wgi_store_rows(w->motion.rotation, padded, lane, next.rotation);
    wgi_store_rows(w->motion.angular_velocity, padded, lane, next.angular_velocity);
    if (w->job->record)
        wgi_reduce(w->job->record, w->instance * padded + lane, next.rotation);
    return wgi_not_finite(&next);
}

// The branches of `count` vectors from `begin` on.
static wgi8 update_groups(walk* w, const wgi_gust* gust, size_t begin, size_t count, bool keep)
{
    group_rows rows[GROUPS];
    wgi8 bad = wgi8_set(0);
    for (size_t n = 0; n < count; ++n)
        load_group(w, begin + n * WGI_LANES, &rows[n]);
    for (size_t n = 0; n < count; ++n)
        blow_on_group(w, gust, begin + n * WGI_LANES, keep, &rows[n]);
    for (size_t n = 0; n < count && w->flags.inertia; ++n)
        rows[n].correction = wgi_lag(&rows[n].pose, &rows[n].parent, &rows[n].rest);
    for (size_t n = 0; n < count; ++n)
        turn_group(w, begin + n * WGI_LANES, &rows[n]);
    for (size_t n = 0; n < count; ++n)
        bad |= store_group(w, begin + n * WGI_LANES, &rows[n]);
    return bad;
}

// Writes (branch_count, 3) of one frame from rows.
static void write_rows(const walk* w, const float* rows, float* out, const float* factor)
{
    const wg_forest_record* record = w->job->record;
    const size_t padded = (size_t)w->job->tree.padded;
    for (int32_t n = 0; n < record->branch_count; ++n) {
        const size_t branch = (size_t)record->branch[n];
        for (size_t axis = 0; axis < 3; ++axis)
            out[3 * n + (int32_t)axis] =
                rows[axis * padded + branch] * (factor ? factor[branch] : 1.0f);
    }
}

// World tips, of the new frame: its frames are made again, which the next step would do anyway.
static void write_tips(walk* w, float* out)
{
    const wg_forest_record* record = w->job->record;
    const wgi_specimen* tree = &w->job->tree;
    const size_t padded = (size_t)tree->padded;
    const double* place = w->job->forest->place + 3 * w->instance;
    wgi_tree_frames(tree, &w->motion, w->flags.inertia, w->frame);
    for (int32_t n = 0; n < record->branch_count; ++n) {
        int32_t index[WGI_LANES], slot[WGI_LANES];
        for (int lane = 0; lane < WGI_LANES; ++lane) {
            index[lane] = record->branch[n];
            slot[lane] = tree->parent_slot[record->branch[n]];
        }
        const wgi_frame parent = wgi_gather_frames(w->frame, slot);
        const wgi_quat turn =
            wgi_quat_from_vector(wgi_gather_rows(w->motion.rotation, padded, index));
        const wgi_vec3 rest =
            wgi_gather_rows(tree->rest + WGI_REST_DIRECTION * padded, padded, index);
        const wgf8 length = wgf8_set(tree->rest[WGI_REST_LENGTH * padded + (size_t)index[0]]);
        const wgi_vec3 along = wgi_vec3_add(
            wgi_gather_rows(tree->rest + WGI_REST_OFFSET * padded, padded, index),
            wgi_vec3_scale(length, wgi_quat_rotate(turn, rest)));
        const wgi_vec3 local = wgi_vec3_scale(
            w->stand.scale, wgi_vec3_add(parent.pivot, wgi_quat_rotate(parent.world, along)));
        const wgi_vec3 world = wgi_quat_rotate(w->stand.turn, local);
        out[3 * n] = (float)(place[0] + (double)world.x[0]);
        out[3 * n + 1] = (float)(place[1] + (double)world.y[0]);
        out[3 * n + 2] = (float)(place[2] + (double)world.z[0]);
    }
}

static void write_frame(walk* w, size_t frame)
{
    const wgi_forest_job* job = w->job;
    const wg_forest_record* record = job->record;
    const size_t per_instance = 3 * (size_t)record->branch_count;
    const size_t at = (frame * (size_t)job->forest->instance_count + w->instance) * per_instance;
    const size_t set = job->forest->spring_sets == 1 ? 0 : w->instance;
    if (record->rotation)
        write_rows(w, w->motion.rotation, record->rotation + at, NULL);
    if (record->angular_velocity)
        write_rows(w, w->motion.angular_velocity, record->angular_velocity + at, NULL);
    if (record->wind)
        write_rows(w, w->wind_rows, record->wind + at, NULL);
    if (record->torque)
        write_rows(
            w, w->torque_rows, record->torque + at, job->drag + set * (size_t)job->tree.padded);
    if (record->tip)
        write_tips(w, record->tip + at);
}

static int32_t first_bad_branch(const walk* w)
{
    const size_t padded = (size_t)w->job->tree.padded;
    for (size_t i = 0; i < (size_t)w->job->tree.count; ++i)
        for (size_t axis = 0; axis < 3; ++axis)
            if (!isfinite(w->motion.rotation[axis * padded + i]) ||
                !isfinite(w->motion.angular_velocity[axis * padded + i]))
                return (int32_t)i;
    return 0;
}

// Steps [from, steps); the step at which a state was not finite, or -1.
static int32_t alone_run(walk* w, wgi_lane_wind* wind, int32_t from)
{
    const wgi_forest_job* job = w->job;
    const wg_forest_record* record = job->record;
    const bool keep = record && (record->wind || record->torque);
    for (int32_t step = from; step < job->steps; ++step) {
        const wgi_gust gust = wgi_gust_of(job, wind, step);
        wgi_tree_frames(&job->tree, &w->motion, w->flags.inertia, w->frame);
        const size_t groups = (size_t)job->tree.padded / WGI_LANES;
        wgi8 bad = wgi8_set(0);
        for (size_t at = 0; at < groups; at += GROUPS)
            bad |= update_groups(
                w, &gust, at * WGI_LANES, groups - at < GROUPS ? groups - at : GROUPS, keep);
        if (wgi8_any(bad))
            return step;
        if (record && record->branch_count > 0 && (step + 1) % record->every == 0)
            write_frame(w, (size_t)((step + 1) / record->every - 1));
    }
    return -1;
}
