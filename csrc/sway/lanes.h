// Eight instances of one specimen at once, a lane for each instance: parameters and hierarchy become
// broadcasts. Included once, by forest_trees.c.
//
// The work on a chunk of branches is cut into short passes with their results in L1: one long body
// would not fit the processor's reorder window, and branches could not overlap.
#pragma once

#include "sway/alone.h"
#include "sway/packed.h"

// Defined in pack_state.c.
void WGI_ISA(unpack_motion)(
    const wgi_specimen* tree, const wg_packed* packed, size_t instance,
    const wgi_motion_rows* rows);

enum { CHUNK = 24, FRAME_ROWS = 14 };

// Rows of eight floats; everything a chunk of branches carries between passes.
typedef struct chunk_rows {
    float rotation[CHUNK][3][WGI_LANES];
    float angular_velocity[CHUNK][3][WGI_LANES];
    float previous[CHUNK][3][WGI_LANES];
    float turn[CHUNK][4][WGI_LANES];
    float arm[CHUNK][3][WGI_LANES];
    float torque[CHUNK][3][WGI_LANES];
    float wind[CHUNK][3][WGI_LANES];
    float lag[CHUNK][3][WGI_LANES];
    float spring[CHUNK][WGI_SPRING_ROWS][WGI_LANES]; // where every instance has its own
    float frequency[CHUNK][1][WGI_LANES];
} chunk_rows;

// Eight instances on their way through a run; lanes beyond the last repeat it and are not stored.
typedef struct lanes_walk {
    const wgi_forest_job* job;
    size_t first, used;
    packed_rows packed[WGI_LANES]; // where the state is packed
    float* rotation[WGI_LANES];    // rows of every instance
    float* previous[WGI_LANES];
    float* angular_velocity[WGI_LANES];
    const float* spring[WGI_LANES];
    const float* frequency[WGI_LANES];
    const float* samples[WGI_LANES];
    bool own_springs;
    wgi8 kinds; // of every instance, how many move
    int32_t most_kinds;
    wgi_stand stand;
    wgi_step_flags flags;
    float* frame;     // [slots][FRAME_ROWS][8]
    float* wind_rows; // [padded][3][8], where a channel needs them
    float* torque_rows;
    chunk_rows* rows;
    float* alone;    // scratch of one instance by itself
    float* unpacked; // [9][padded], of one packed instance
} lanes_walk;

WGI_INLINE wgi_vec3 load3(float (*row)[WGI_LANES])
{
    return (wgi_vec3){ wgf8_load(row[0]), wgf8_load(row[1]), wgf8_load(row[2]) };
}

WGI_INLINE void store3(float (*row)[WGI_LANES], wgi_vec3 v)
{
    wgf8_store(row[0], v.x);
    wgf8_store(row[1], v.y);
    wgf8_store(row[2], v.z);
}

WGI_INLINE wgi_quat load4(float (*row)[WGI_LANES])
{
    return (wgi_quat){ wgf8_load(row[0]), wgf8_load(row[1]), wgf8_load(row[2]), wgf8_load(row[3]) };
}

WGI_INLINE void store4(float (*row)[WGI_LANES], wgi_quat q)
{
    wgf8_store(row[0], q.w);
    wgf8_store(row[1], q.x);
    wgf8_store(row[2], q.y);
    wgf8_store(row[3], q.z);
}

WGI_INLINE wgi_vec3 broadcast3(const wgi_specimen* tree, size_t row, size_t branch)
{
    const size_t padded = (size_t)tree->padded;
    const float* at = tree->rest + row * padded + branch;
    return wgi_vec3_set(at[0], at[padded], at[2 * padded]);
}

WGI_INLINE wgf8 broadcast(const wgi_specimen* tree, size_t row, size_t branch)
{
    return wgf8_set(tree->rest[row * (size_t)tree->padded + branch]);
}

WGI_INLINE wgi_rest rest_of(const wgi_specimen* tree, size_t branch)
{
    return (wgi_rest){ broadcast3(tree, WGI_REST_DIRECTION, branch),
                       broadcast3(tree, WGI_REST_REACH, branch),
                       broadcast(tree, WGI_REST_INVERSE_ARM, branch) };
}

static float* frame_at(const lanes_walk* w, int32_t slot)
{
    return w->frame + (size_t)slot * FRAME_ROWS * WGI_LANES;
}

WGI_INLINE wgi_quat frame_world(const lanes_walk* w, int32_t slot)
{
    return load4((float(*)[WGI_LANES])frame_at(w, slot));
}

WGI_INLINE wgi_frame load_frame(const lanes_walk* w, int32_t slot)
{
    float(*row)[WGI_LANES] = (float(*)[WGI_LANES])frame_at(w, slot);
    return (wgi_frame){ load4(row), load4(row + 4), load3(row + 8), load3(row + 11) };
}

WGI_INLINE void store_frame(const lanes_walk* w, int32_t slot, const wgi_frame* f)
{
    float(*row)[WGI_LANES] = (float(*)[WGI_LANES])frame_at(w, slot);
    store4(row, f->world);
    store4(row + 4, f->back);
    store3(row + 8, f->moved);
    store3(row + 11, f->pivot);
}

static void set_instance(lanes_walk* w, int lane, size_t instance)
{
    const wgi_forest_job* job = w->job;
    const wg_forest* forest = job->forest;
    const size_t padded = (size_t)job->tree.padded, rows = 3 * padded * instance;
    const size_t set = forest->spring_sets == 1 ? 0 : instance;
    const size_t spring_rows = (size_t)wg_forest_spring_rows(job->options->spring.clamp);
    if (forest->packed) {
        w->packed[lane] = packed_of(job, instance);
    } else {
        w->rotation[lane] = forest->rotation + rows;
        w->previous[lane] = forest->previous + rows;
        w->angular_velocity[lane] = forest->angular_velocity + rows;
    }
    w->spring[lane] = forest->springs + set * spring_rows * padded;
    w->frequency[lane] = forest->frequency + set * padded;
    w->samples[lane] = job->lanes ? NULL : job->wind->samples + rows;
    const float* q = forest->turn + 4 * instance;
    w->stand.turn.w[lane] = q[0];
    w->stand.turn.x[lane] = q[1];
    w->stand.turn.y[lane] = q[2];
    w->stand.turn.z[lane] = q[3];
    w->kinds[lane] = forest->kinds[instance];
    if (forest->kinds[instance] > w->most_kinds)
        w->most_kinds = forest->kinds[instance];
    w->stand.scale[lane] = forest->scale[instance];
    w->stand.key[lane] = forest->key[instance];
    if (job->lanes)
        wgi_lane_anchor_set(job->lanes, forest->place + 3 * instance, lane, &w->stand.anchor);
}

static void
lanes_start(lanes_walk* w, const wgi_forest_job* job, size_t first, size_t used, char* scratch)
{
    w->job = job;
    w->first = first;
    w->used = used;
    w->own_springs = job->forest->spring_sets != 1;
    w->flags = wgi_step_flags_of(&job->options->spring);
    w->most_kinds = 0;
    w->kinds = wgi8_set(0);
    memset(&w->stand, 0, sizeof w->stand);
    for (int lane = 0; lane < WGI_LANES; ++lane)
        set_instance(w, lane, first + ((size_t)lane < used ? (size_t)lane : used - 1));
    const size_t padded = (size_t)job->tree.padded;
    w->rows = (chunk_rows*)scratch;
    w->frame = (float*)(scratch + sizeof(chunk_rows));
    w->wind_rows = w->frame + (size_t)job->tree.slots * FRAME_ROWS * WGI_LANES;
    w->torque_rows = w->wind_rows + 3 * padded * WGI_LANES;
    w->unpacked = w->torque_rows + 3 * padded * WGI_LANES;
    w->alone = w->unpacked + 9 * padded;
    const wgi_vec3 zero = wgi_vec3_set(0.0f, 0.0f, 0.0f);
    const wgi_frame origin = { wgi_quat_identity(), wgi_quat_identity(), zero, zero };
    store_frame(w, 0, &origin);
}

// -- passes over a chunk of branches -------------------------------------------------------------

// `components` rows of eight instances, `padded` apart, into [branch][component][8].
WGI_INLINE void load_tiles(
    const float* const rows[WGI_LANES], size_t padded, size_t components, size_t begin,
    size_t count, float* out, size_t out_components)
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES)
        for (size_t c = 0; c < components; ++c)
            wgi_transpose8(
                rows, c * padded + begin + tile, out + (tile * out_components + c) * WGI_LANES,
                out_components * WGI_LANES);
}

static bool any_inner(const wgi_specimen* tree, size_t begin, size_t count)
{
    for (size_t i = begin; i < begin + count; ++i)
        if (tree->own_slot[i] >= 0)
            return true;
    return false;
}

static void load_packed(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    const size_t inner = (size_t)wgi_padded(tree->inner_count);
    float swing[CHUNK][2][WGI_LANES];
    load_codes(w->packed, (size_t)tree->padded, begin, count, swing, w->rows->angular_velocity);
    for (size_t i = 0; i < count; ++i) {
        const wgi_vec3 first = broadcast3(tree, WGI_REST_FIRST, begin + i);
        const wgi_vec3 second = broadcast3(tree, WGI_REST_SECOND, begin + i);
        store3(
            w->rows->rotation[i],
            swing_to_vector(wgf8_load(swing[i][0]), wgf8_load(swing[i][1]), first, second));
        const int32_t rank = tree->inner_rank[begin + i];
        if (rank < 0 || !w->flags.inertia)
            continue;
        float before[2][WGI_LANES];
        load_before(w->packed, inner, (size_t)rank, before);
        store3(
            w->rows->previous[i],
            swing_to_vector(wgf8_load(before[0]), wgf8_load(before[1]), first, second));
    }
}

static void load_state(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    const size_t padded = (size_t)tree->padded;
    const float* const* rotation = (const float* const*)w->rotation;
    const float* const* omega = (const float* const*)w->angular_velocity;
    load_tiles(rotation, padded, 3, begin, count, w->rows->rotation[0][0], 3);
    load_tiles(omega, padded, 3, begin, count, w->rows->angular_velocity[0][0], 3);
    if (w->flags.inertia && any_inner(tree, begin, count))
        load_tiles(
            (const float* const*)w->previous, padded, 3, begin, count, w->rows->previous[0][0], 3);
}

static void load_chunk(lanes_walk* w, size_t begin, size_t count)
{
    const size_t padded = (size_t)w->job->tree.padded;
    if (w->job->forest->packed)
        load_packed(w, begin, count);
    else
        load_state(w, begin, count);
    if (w->own_springs) {
        const size_t rows = w->flags.exponential ? WGI_SPRING_ROWS : WGI_SPRING_EXTRA;
        load_tiles(w->spring, padded, rows, begin, count, w->rows->spring[0][0], WGI_SPRING_ROWS);
        if (w->job->options->noise > 0.0f)
            load_tiles(w->frequency, padded, 1, begin, count, w->rows->frequency[0][0], 1);
    }
    if (!w->job->lanes)
        load_tiles(w->samples, padded, 3, begin, count, w->rows->wind[0][0], 3);
}

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
    }
}

static void sample_pass(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count)
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
            wgi_wind_at(gust, &w->stand, &parent, &pose, broadcast(tree, WGI_REST_ARM, branch)));
    }
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

static void carry_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    for (size_t i = 0; i < count; ++i) {
        const wgi_frame parent = load_frame(w, tree->parent_slot[begin + i]);
        const wgi_rest rest = rest_of(tree, begin + i);
        wgi_pose pose = { .turn = load4(w->rows->turn[i]), .arm = load3(w->rows->arm[i]) };
        pose.reach = wgi_vec3_add(rest.offset_by_arm, pose.arm);
        const wgi_carried carried = wgi_carry(&pose, &parent, &rest, &w->flags);
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

// Returns the lanes that are not finite.
static wgi8 integrate_pass(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    wgi8 bad = wgi8_set(0);
    for (size_t i = 0; i < count; ++i) {
        const wgi_state state = { load3(w->rows->rotation[i]),
                                  load3(w->rows->angular_velocity[i]) };
        const wgi_carried carried = { load4(w->rows->turn[i]), load3(w->rows->lag[i]) };
        const wgi_spring spring = spring_of(w, begin + i, i, w->flags.exponential);
        const wgi8 held = wgi8_set(w->job->forest->kind[begin + i]) >= w->kinds;
        const wgi_state next = wgi_hold(
            held, &state,
            wgi_integrate(
                &state, &carried, load3(w->rows->torque[i]),
                broadcast3(tree, WGI_REST_DIRECTION, begin + i), &spring, &w->flags));
        store3(w->rows->rotation[i], next.rotation);
        store3(w->rows->angular_velocity[i], next.angular_velocity);
        bad |= wgi_not_finite(&next);
    }
    return bad;
}

static void store_tiles(
    float* const rows[WGI_LANES], size_t used, size_t padded, size_t begin, size_t count,
    float (*from)[3][WGI_LANES])
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES)
        for (size_t c = 0; c < 3; ++c) {
            float out[WGI_LANES][WGI_LANES];
            const float* in[WGI_LANES];
            for (size_t i = 0; i < WGI_LANES; ++i)
                in[i] = from[tile + i][c];
            wgi_transpose8(in, 0, out[0], WGI_LANES);
            for (size_t lane = 0; lane < used; ++lane)
                wgf8_store(rows[lane] + c * padded + begin + tile, wgf8_load(out[lane]));
        }
}

static void store_packed(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    const size_t padded = (size_t)tree->padded, inner = (size_t)wgi_padded(tree->inner_count);
    float swing[CHUNK][2][WGI_LANES];
    for (size_t i = 0; i < count; ++i) {
        const int32_t rank = tree->inner_rank[begin + i];
        if (rank >= 0)
            keep_before(w->packed, w->used, padded, inner, begin + i, (size_t)rank);
        const wgi_vec3 theta = load3(w->rows->rotation[i]);
        const wgi_vec3 first = broadcast3(tree, WGI_REST_FIRST, begin + i);
        const wgi_vec3 second = broadcast3(tree, WGI_REST_SECOND, begin + i);
        wgf8_store(swing[i][0], wgi_vec3_dot(theta, first));
        wgf8_store(swing[i][1], wgi_vec3_dot(theta, second));
    }
    store_codes(w->packed, w->used, padded, begin, count, swing, w->rows->angular_velocity);
}

static void store_chunk(lanes_walk* w, size_t begin, size_t count)
{
    if (w->job->forest->packed) {
        store_packed(w, begin, count);
        return;
    }
    const wgi_specimen* tree = &w->job->tree;
    const size_t padded = (size_t)tree->padded;
    for (size_t lane = 0; lane < w->used; ++lane)
        for (size_t c = 0; c < 3; ++c)
            memcpy(
                w->previous[lane] + c * padded + begin, w->rotation[lane] + c * padded + begin,
                count * sizeof(float));
    store_tiles(w->rotation, w->used, padded, begin, count, w->rows->rotation);
    store_tiles(w->angular_velocity, w->used, padded, begin, count, w->rows->angular_velocity);
}

static void reduce_chunk(const lanes_walk* w, size_t begin, size_t count)
{
    const wg_forest_record* record = w->job->record;
    const size_t padded = (size_t)w->job->tree.padded;
    for (size_t tile = 0; tile < count; tile += WGI_LANES) {
        float turned[3][WGI_LANES][WGI_LANES];
        for (size_t c = 0; c < 3; ++c) {
            const float* in[WGI_LANES];
            for (size_t i = 0; i < WGI_LANES; ++i)
                in[i] = w->rows->rotation[tile + i][c];
            wgi_transpose8(in, 0, turned[c][0], WGI_LANES);
        }
        for (size_t lane = 0; lane < w->used; ++lane) {
            const wgi_vec3 theta = { wgf8_load(turned[0][lane]), wgf8_load(turned[1][lane]),
                                     wgf8_load(turned[2][lane]) };
            wgi_reduce(record, (w->first + lane) * padded + begin + tile, theta);
        }
    }
}

// Whether any branch of a chunk moves in any lane.
static bool moves(const lanes_walk* w, size_t begin, size_t count)
{
    for (size_t i = begin; i < begin + count; ++i)
        if (w->job->forest->kind[i] < w->most_kinds)
            return true;
    return false;
}

static wgi8 step_chunk(lanes_walk* w, const wgi_gust* gust, size_t begin, size_t count, bool keep)
{
    load_chunk(w, begin, count);
    pose_pass(w, begin, count);
    if (!keep && !moves(w, begin, count)) {
        frame_pass(w, begin, count);
        store_chunk(w, begin, count);
        if (w->job->record && (w->job->record->sum_square || w->job->record->peak))
            reduce_chunk(w, begin, count);
        return wgi8_set(0);
    }
    frame_pass(w, begin, count);
    if (w->job->lanes && gust->uniform)
        for (size_t i = 0; i < count; ++i)
            store3(w->rows->wind[i], gust->velocity);
    else if (w->job->lanes)
        sample_pass(w, gust, begin, count);
    if (gust->noise > 0.0f)
        noise_pass(w, gust, begin, count);
    torque_pass(w, gust, begin, count);
    if (keep) {
        memcpy(w->wind_rows + 24 * begin, w->rows->wind, count * sizeof w->rows->wind[0]);
        memcpy(w->torque_rows + 24 * begin, w->rows->torque, count * sizeof w->rows->torque[0]);
    }
    carry_pass(w, begin, count);
    const wgi8 bad = integrate_pass(w, begin, count);
    store_chunk(w, begin, count);
    if (w->job->record && (w->job->record->sum_square || w->job->record->peak))
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
        for (size_t n = 0; n < k; ++n) {
            const size_t b = (size_t)record->branch[n];
            for (size_t c = 0; c < 3; ++c) {
                const size_t to = at + 3 * n + c, tile = (3 * b + c) * WGI_LANES + lane;
                if (record->rotation)
                    record->rotation[to] = rows.rotation[c * padded + b];
                if (record->angular_velocity)
                    record->angular_velocity[to] = rows.angular_velocity[c * padded + b];
                if (record->wind)
                    record->wind[to] = w->wind_rows[tile];
                if (record->torque)
                    record->torque[to] = w->torque_rows[tile] * drag[b];
            }
        }
        if (record->tip) {
            walk alone = alone_start(job, instance, (char*)w->alone);
            alone.motion = rows;
            write_tips(&alone, record->tip + at);
        }
    }
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
