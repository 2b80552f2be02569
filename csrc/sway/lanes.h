// Eight instances of one specimen at once, a lane for each instance: parameters and hierarchy become
// broadcasts. Included once, by forest_trees.c.
//
// The work on a chunk of branches is cut into short passes with their results in L1: one long body
// would not fit the processor's reorder window, and branches could not overlap. Passes end where a long
// chain of dependent operations does: a polynomial waits for a square root one pass earlier.
#pragma once

#include "sway/lane_rows.h"

static void pose_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    for (size_t i = 0; i < count; ++i) {
        const wgi_quat turn = wgi_quat_from_vector(load3(w->rows->rotation[i]));
        store4(w->rows->turn[i], turn);
        store3(
            w->rows->arm[i],
            wgi_quat_rotate(turn, broadcast3(tree, WGI_REST_DIRECTION, begin + i)));
    }
}

WGI_INLINE void store_frame_wind(const lanes_walk* w, int32_t slot, wgi_quat world)
{
    store3(
        (float(*)[WGI_LANES])frame_at(w, slot) + FRAME_WIND,
        wgi_quat_rotate_back(world, w->wind_in_tree));
}

static void frame_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    for (size_t i = 0; i < count; ++i) {
        const int32_t slot = tree->own_slot[begin + i];
        if (slot < 0)
            continue;
        const wgi_frame parent = load_frame(w, tree->parent_slot[begin + i]);
        const wgi_frame frame = wgi_frame_of_child(
            &parent, broadcast3(tree, WGI_REST_OFFSET, begin + i), load4(w->rows->turn[i]),
            load3(w->rows->previous[i]), w->flags.inertia);
        store_frame(w, slot, &frame);
        if (w->level_wind)
            store_frame_wind(w, slot, frame.world);
    }
}

// Centres of mass from the trees' places, in the rows that later hold the wind.
static void centre_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    for (size_t i = 0; i < count; ++i) {
        const size_t branch = begin + i;
        const wgi_frame parent = load_frame(w, tree->parent_slot[branch]);
        const wgi_vec3 arm = load3(w->rows->arm[i]);
        const wgi_pose pose = { .arm = arm,
                                .reach =
                                    wgi_vec3_add(broadcast3(tree, WGI_REST_REACH, branch), arm) };
        store3(
            w->rows->wind[i],
            wgi_centre(&w->stand, &parent, &pose, broadcast(tree, WGI_REST_ARM, branch)));
    }
}

WGI_INLINE void store_spot(lanes_walk* w, size_t i, int32_t level, const wgi_lane_spot* spot)
{
    const bool finer = i >= CHUNK;
    w->rows->level[i] = level;
    memcpy(w->rows->index[i], &spot->index, sizeof spot->index);
    store3(
        finer ? w->rows->lag[i - CHUNK] : w->rows->wind[i],
        (wgi_vec3){ spot->t[0], spot->t[1], spot->t[2] });
}

// Where the centres lie in the grids; where that is not all there is to it, the wind itself. What
// concerns a finer grid that fades in goes to rows that are free until the lag is known.
static void spot_pass(lanes_walk* w, const wgi_lane_wind* wind, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        float(*row)[WGI_LANES] = w->rows->wind[i];
        wgf8 local[3] = { wgf8_load(row[0]), wgf8_load(row[1]), wgf8_load(row[2]) };
        wgi_lane_plan plan;
        if (wgi_lane_plan8(wind, &w->stand.anchor, local, &plan)) {
            store_spot(w, i, plan.level, &plan.spot);
            w->rows->level[CHUNK + i] = plan.finer;
            if (plan.finer >= 0) {
                store_spot(w, CHUNK + i, plan.finer, &plan.finer_spot);
                wgf8_store(w->rows->correction[i][0], plan.share);
            }
        } else {
            wgf8 velocity[3];
            wgi_sample_several8(wind, &w->stand.anchor, local, velocity);
            store3(row, (wgi_vec3){ velocity[0], velocity[1], velocity[2] });
            w->rows->level[i] = w->rows->level[CHUNK + i] = -1;
        }
    }
}

WGI_INLINE void blend_spot(lanes_walk* w, const wgi_lane_wind* wind, size_t i, wgf8 velocity[3])
{
    float(*row)[WGI_LANES] = i < CHUNK ? w->rows->wind[i] : w->rows->lag[i - CHUNK];
    wgi_lane_spot spot = { .t = { wgf8_load(row[0]), wgf8_load(row[1]), wgf8_load(row[2]) } };
    memcpy(&spot.index, w->rows->index[i], sizeof spot.index);
    wgi_blend8(&wind->level[w->rows->level[i]], &spot, velocity);
}

static void blend_pass(lanes_walk* w, const wgi_lane_wind* wind, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (w->rows->level[i] < 0)
            continue;
        wgf8 velocity[3];
        blend_spot(w, wind, i, velocity);
        store3(w->rows->wind[i], (wgi_vec3){ velocity[0], velocity[1], velocity[2] });
    }
    for (size_t i = 0; i < count; ++i) {
        if (w->rows->level[CHUNK + i] < 0)
            continue;
        wgf8 own[3];
        blend_spot(w, wind, CHUNK + i, own);
        float(*row)[WGI_LANES] = w->rows->wind[i];
        wgf8 velocity[3] = { wgf8_load(row[0]), wgf8_load(row[1]), wgf8_load(row[2]) };
        wgi_lane_fade8(wgf8_load(w->rows->correction[i][0]), own, velocity);
        store3(row, (wgi_vec3){ velocity[0], velocity[1], velocity[2] });
    }
}

static void sample_pass(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count)
{
    centre_pass(w, begin, count);
    spot_pass(w, gust->wind, count);
    blend_pass(w, gust->wind, count);
}

static void noise_pass(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t n = (uint32_t)(begin + i);
        const wgi_u32x8 branch = { n, n, n, n, n, n, n, n };
        const wgf8 frequency = w->own_springs ? wgf8_load(w->rows->frequency[i][0])
                                              : wgf8_set(w->frequency[0][begin + i]);
        store3(
            w->rows->wind[i],
            wgi_wind_with_noise(gust, &w->stand, load3(w->rows->wind[i]), branch, frequency));
    }
}

static void torque_pass(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    for (size_t i = 0; i < count; ++i) {
        const wgi_quat world = frame_world(w, tree->parent_slot[begin + i]);
        const wgi_vec3 wind = load3(w->rows->wind[i]);
        const wgi_vec3 in_tree = wgi_quat_rotate_back(w->stand.turn, wind);
        store3(
            w->rows->torque[i],
            wgi_vec3_scale(
                wgi_drag_factor(gust, wind), wgi_torque(load3(w->rows->arm[i]), world, in_tree)));
    }
}

// The same where every branch of a tree has one wind, which its frame holds.
static void level_torque_pass(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    const wgf8 drag = wgi_drag_factor(gust, gust->velocity);
    for (size_t i = 0; i < count; ++i) {
        const int32_t slot = tree->parent_slot[begin + i];
        const wgi_vec3 wind = load3((float(*)[WGI_LANES])frame_at(w, slot) + FRAME_WIND);
        store3(
            w->rows->torque[i], wgi_vec3_scale(drag, wgi_vec3_cross(load3(w->rows->arm[i]), wind)));
    }
}

static void lag_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    for (size_t i = 0; i < count; ++i) {
        const wgi_frame parent = load_frame(w, tree->parent_slot[begin + i]);
        const wgi_rest rest = rest_of(tree, begin + i);
        wgi_pose pose = { .arm = load3(w->rows->arm[i]) };
        pose.reach = wgi_vec3_add(rest.offset_by_arm, pose.arm);
        store4(w->rows->correction[i], wgi_lag(&pose, &parent, &rest));
    }
}

static void carry_pass(lanes_walk* w, size_t count)
{
    const wgi_vec3 zero = wgi_vec3_set(0.0f, 0.0f, 0.0f);
    for (size_t i = 0; i < count; ++i) {
        wgi_carried carried = { load4(w->rows->turn[i]), zero };
        if (w->flags.inertia)
            carried =
                wgi_carried_by(load4(w->rows->correction[i]), load4(w->rows->turn[i]), &w->flags);
        store4(w->rows->turn[i], carried.turn);
        store3(w->rows->lag[i], carried.lag);
    }
}

WGI_INLINE wgi_spring spring_of(const lanes_walk* w, size_t branch, size_t i, bool exponential)
{
    const size_t padded = (size_t)w->job->tree.padded;
    wgi_spring s = { .extra = { wgf8_set(0.0f) } };
    wgf8* const to[] = { &s.theta, &s.rate, &s.torque };
    for (size_t r = 0; r < 3; ++r)
        *to[r] = w->own_springs ? wgf8_load(w->rows->spring[i][r])
                                : wgf8_set(w->spring[0][r * padded + branch]);
    if (exponential)
        for (size_t r = 0; r < 5; ++r)
            s.extra[r] = w->own_springs
                             ? wgf8_load(w->rows->spring[i][WGI_SPRING_EXTRA + r])
                             : wgf8_set(w->spring[0][(WGI_SPRING_EXTRA + r) * padded + branch]);
    return s;
}

WGI_INLINE wgi8 held_lanes(const lanes_walk* w, size_t branch)
{
    return wgi8_set(w->job->forest->kind[branch]) >= w->kinds;
}

// New turns and velocities; rotation vectors stay those before the step.
static void turn_pass(lanes_walk* w, size_t begin, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const wgi_carried carried = { load4(w->rows->turn[i]), load3(w->rows->lag[i]) };
        const wgi_spring spring = spring_of(w, begin + i, i, w->flags.exponential);
        const wgi_state state = { load3(w->rows->rotation[i]),
                                  load3(w->rows->angular_velocity[i]) };
        const wgi_turned turned =
            wgi_turn_on(&state, &carried, load3(w->rows->torque[i]), &spring, &w->flags);
        store4(w->rows->turn[i], turned.turn);
        store3(
            w->rows->angular_velocity[i],
            wgi_vec3_select(
                held_lanes(w, begin + i), state.angular_velocity, turned.angular_velocity));
    }
}

// New rotation vectors; returns the lanes that are not finite.
static wgi8 rotation_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    wgi8 bad = wgi8_set(0);
    for (size_t i = 0; i < count; ++i) {
        wgi_quat turn = load4(w->rows->turn[i]);
        if (!w->flags.torsion)
            turn = wgi_quat_swing(turn, broadcast3(tree, WGI_REST_DIRECTION, begin + i));
        const wgi_state next = {
            wgi_vec3_select(
                held_lanes(w, begin + i), load3(w->rows->rotation[i]), wgi_vector_from_quat(turn)),
            load3(w->rows->angular_velocity[i]),
        };
        store3(w->rows->rotation[i], next.rotation);
        bad |= wgi_not_finite(&next);
    }
    return bad;
}

// The same where the state is packed: swings, and changes of the inner branches' swings.
static wgi8 swing_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    chunk_rows* rows = w->rows;
    const bool seen = w->job->record != NULL;
    wgi8 bad = wgi8_set(0);
    for (size_t i = 0, k = 0; i < count; ++i) {
        const wgi_basis basis = basis_of(tree, begin + i);
        const wgi_swing old = load_swing(rows->swing[i]);
        const wgi_swing now = wgi_swing_from_quat(load4(rows->turn[i]), &basis);
        const wgi8 held = held_lanes(w, begin + i);
        const wgi_swing next = { wgf8_select(held, old.first, now.first),
                                 wgf8_select(held, old.second, now.second) };
        store_swing(rows->swing[i], next);
        if (tree->inner_rank[begin + i] >= 0)
            store_swing(
                rows->change[k++], (wgi_swing){ next.first - old.first, next.second - old.second });
        if (seen)
            store3(rows->rotation[i], wgi_swing_vector(next, &basis));
        bad |= wgi_sum_not_finite(
            wgf8_abs(next.first) + wgf8_abs(next.second) +
            wgi_vec3_size(load3(rows->angular_velocity[i])));
    }
    return bad;
}

// Whether any branch of a chunk moves in any lane.
static bool moves(const lanes_walk* w, size_t begin, size_t count)
{
    for (size_t i = begin; i < begin + count; ++i)
        if (w->job->forest->kind[i] < w->most_kinds)
            return true;
    return false;
}

static void wind_passes(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count)
{
    if (w->level_wind) {
        level_torque_pass(w, gust, begin, count);
        return;
    }
    if (w->job->lanes && gust->uniform)
        for (size_t i = 0; i < count; ++i)
            store3(w->rows->wind[i], gust->velocity);
    else if (w->job->lanes)
        sample_pass(w, gust, begin, count);
    if (gust->noise > 0.0f)
        noise_pass(w, gust, begin, count);
    torque_pass(w, gust, begin, count);
}

static wgi8 step_chunk(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count, bool keep)
{
    const wg_forest_record* record = w->job->record;
    const bool reduced = record && (record->sum_square || record->peak);
    wgi8 bad = wgi8_set(0);
    rank_chunk(w, begin, count);
    load_chunk(w, begin, count);
    pose_pass(w, begin, count);
    frame_pass(w, begin, count);
    if (keep || moves(w, begin, count)) {
        wind_passes(w, gust, begin, count);
        if (keep) {
            memcpy(w->wind_rows + 24 * begin, w->rows->wind, count * sizeof w->rows->wind[0]);
            memcpy(w->torque_rows + 24 * begin, w->rows->torque, count * sizeof w->rows->torque[0]);
        }
        if (w->flags.inertia)
            lag_pass(w, begin, count);
        carry_pass(w, count);
        turn_pass(w, begin, count);
        bad = w->job->forest->packed ? swing_pass(w, begin, count) : rotation_pass(w, begin, count);
    } else {
        memset(w->rows->change, 0, sizeof w->rows->change);
    }
    store_chunk(w, begin, count);
    if (reduced)
        reduce_chunk(w, begin, count);
    return bad;
}

// -- a run ---------------------------------------------------------------------------------------

// The float32 rows of a lane; packed motion is unpacked into scratch first.
static wgi_motion_rows lanes_rows(const lanes_walk* w, size_t lane)
{
    if (!w->job->forest->packed)
        return (wgi_motion_rows){ w->rotation[lane], w->previous[lane], w->angular_velocity[lane] };
    const size_t padded = (size_t)w->job->tree.padded;
    const wgi_motion_rows rows = { w->unpacked, w->unpacked + 3 * padded,
                                   w->unpacked + 6 * padded };
    WGI_ISA(unpack_motion)(&w->job->tree, w->job->forest->packed, w->first + lane, &rows);
    return rows;
}

// Writes (branch_count, 3) of one frame from rows of an instance.
static void
copy_rows(const wg_forest_record* record, const float* rows, size_t padded, float* restrict out)
{
    const float *x = rows, *y = rows + padded, *z = rows + 2 * padded;
    for (size_t n = 0; n < (size_t)record->branch_count; ++n) {
        const size_t branch = (size_t)record->branch[n];
        out[3 * n] = x[branch];
        out[3 * n + 1] = y[branch];
        out[3 * n + 2] = z[branch];
    }
}

// The same from one lane of the tiles [branch][3][lane], times a factor of the branch.
static void copy_tiles(
    const wg_forest_record* record, const float* tiles, const float* factor, float* restrict out)
{
    for (size_t n = 0; n < (size_t)record->branch_count; ++n) {
        const size_t branch = (size_t)record->branch[n];
        for (size_t c = 0; c < 3; ++c) {
            const float value = tiles[(3 * branch + c) * WGI_LANES];
            out[3 * n + c] = factor ? value * factor[branch] : value;
        }
    }
}

// Frames of the lanes in `keep`.
static void lanes_write(const lanes_walk* w, size_t frame, const bool* keep)
{
    const wgi_forest_job* job = w->job;
    const wg_forest_record* record = job->record;
    const size_t padded = (size_t)job->tree.padded, k = (size_t)record->branch_count;
    for (size_t lane = 0; lane < w->used; ++lane) {
        if (!keep[lane])
            continue;
        const size_t instance = w->first + lane;
        const size_t at = (frame * (size_t)job->forest->instance_count + instance) * 3 * k;
        const wgi_motion_rows rows = lanes_rows(w, lane);
        const float* drag =
            job->drag ? job->drag + (job->forest->spring_sets == 1 ? 0 : instance) * padded : NULL;
        if (record->rotation)
            copy_rows(record, rows.rotation, padded, record->rotation + at);
        if (record->angular_velocity)
            copy_rows(record, rows.angular_velocity, padded, record->angular_velocity + at);
        if (record->wind)
            copy_tiles(record, w->wind_rows + lane, NULL, record->wind + at);
        if (record->torque)
            copy_tiles(record, w->torque_rows + lane, drag, record->torque + at);
        if (record->tip) {
            walk alone = alone_start(job, instance, (char*)w->alone);
            alone.motion = rows;
            write_tips(&alone, record->tip + at);
        }
    }
}

static void prepare_wind(lanes_walk* w, const wgi_gust* gust, bool keep)
{
    w->level_wind = w->job->lanes && gust->uniform && !(gust->noise > 0.0f) && !keep;
    if (!w->level_wind)
        return;
    w->wind_in_tree = wgi_quat_rotate_back(w->stand.turn, gust->velocity);
    store_frame_wind(w, 0, wgi_quat_identity());
}

// Steps [0, steps). Where lanes are not finite it stops after that step, with `good` naming the
// others; returns the step, or -1. Packed instances are not stepped alone: there it goes on, what is
// not finite staying so.
static int32_t lanes_run(lanes_walk* w, wgi_lane_wind* wind, bool good[WGI_LANES])
{
    const wgi_forest_job* job = w->job;
    const wg_forest_record* record = job->record;
    const bool keep = record && (record->wind || record->torque);
    int32_t first_fault = -1;
    for (size_t lane = 0; lane < WGI_LANES; ++lane)
        good[lane] = lane < w->used;
    for (int32_t step = 0; step < job->steps; ++step) {
        const wgi_gust gust = wgi_gust_of(job, wind, step);
        prepare_wind(w, &gust, keep);
        wgi8 bad = wgi8_set(0);
        for (size_t begin = 0; begin < (size_t)job->tree.padded; begin += CHUNK) {
            const size_t left = (size_t)job->tree.padded - begin;
            bad |= step_chunk(w, &gust, begin, left < CHUNK ? left : CHUNK, keep);
        }
        const bool failed = wgi8_any(bad);
        if (failed)
            for (size_t lane = 0; lane < w->used; ++lane)
                good[lane] = good[lane] && bad[lane] == 0;
        if (record && record->branch_count > 0 && (step + 1) % record->every == 0)
            lanes_write(w, (size_t)((step + 1) / record->every - 1), good);
        if (failed && !job->forest->packed)
            return step;
        if (failed && first_fault < 0)
            first_fault = step;
    }
    return first_fault;
}
