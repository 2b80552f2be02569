// Eight instances on their way through a run, and how the state of a chunk of branches becomes rows of
// eight lanes and goes back. Included once, by lanes.h.
#pragma once

#include "sway/alone.h"
#include "sway/packed.h"

// Defined in pack_state.c.
void WGI_ISA(unpack_motion)(
    const wgi_specimen* tree, const wg_packed* packed, size_t instance,
    const wgi_motion_rows* rows);

enum { CHUNK = 24, FRAME_WIND = 14, FRAME_ROWS = 17 };

// Rows of eight floats; everything a chunk of branches carries between passes.
typedef struct chunk_rows {
    float rotation[CHUNK][3][WGI_LANES];
    float angular_velocity[CHUNK][3][WGI_LANES];
    float previous[CHUNK][3][WGI_LANES];
    float turn[CHUNK][4][WGI_LANES];
    float arm[CHUNK][3][WGI_LANES];
    float torque[CHUNK][3][WGI_LANES];
    float wind[CHUNK][3][WGI_LANES];
    // Cells and levels of the grids that the wind comes from, then of those that fade in.
    int32_t index[2 * CHUNK][WGI_LANES], level[2 * CHUNK];
    float correction[CHUNK][4][WGI_LANES];
    float lag[CHUNK][3][WGI_LANES];
    float swing[CHUNK][2][WGI_LANES];  // where the state is packed
    float change[CHUNK][2][WGI_LANES]; // of the chunk's inner branches, in their order
    float spring[CHUNK][WGI_SPRING_ROWS][WGI_LANES]; // where every instance has its own
    float frequency[CHUNK][1][WGI_LANES];
} chunk_rows;

// Eight instances on their way through a run; lanes beyond the last repeat it and are not stored.
typedef struct lanes_walk {
    const wgi_forest_job* job;
    size_t first, used;
    packed_walk packed;         // where the state is packed
    float* rotation[WGI_LANES]; // rows of every instance
    float* previous[WGI_LANES];
    float* angular_velocity[WGI_LANES];
    const float* spring[WGI_LANES];
    const float* frequency[WGI_LANES];
    const float* samples[WGI_LANES];
    size_t inner_begin, inner_end; // ranks of the chunk's inner branches
    bool own_springs;
    bool level_wind;       // the same at every branch of a tree: frames hold it
    wgi_vec3 wind_in_tree; // then, in the axes of the trees
    wgi8 kinds;            // of every instance, how many move
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
        packed_set(&w->packed, job, lane, instance);
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
    w->stand.upright = wgi_is_upright(w->stand.turn);
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

// -- loading and storing a chunk of branches --------------------------------------------------------

// `components` rows of eight instances, `padded` apart, into [branch][component][8].
WGI_INLINE void load_tiles(
    const float* const rows[WGI_LANES], size_t padded, size_t components, size_t begin,
    size_t count, float* out, size_t out_components)
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES)
        for (size_t c = 0; c < components; ++c) {
            wgf8 in[WGI_LANES];
            for (size_t lane = 0; lane < WGI_LANES; ++lane)
                in[lane] = wgf8_load(rows[lane] + c * padded + begin + tile);
            wgi_transpose8_in(
                in, out + (tile * out_components + c) * WGI_LANES, out_components * WGI_LANES);
        }
}

// Counts the chunk's inner branches, which have the next ranks.
static void rank_chunk(lanes_walk* w, size_t begin, size_t count)
{
    w->inner_begin = begin == 0 ? 0 : w->inner_end;
    w->inner_end = w->inner_begin;
    for (size_t i = begin; i < begin + count; ++i)
        w->inner_end += w->job->tree.inner_rank[i] >= 0;
}

WGI_INLINE wgi_basis basis_of(const wgi_specimen* tree, size_t branch)
{
    return (wgi_basis){ broadcast3(tree, WGI_REST_DIRECTION, branch),
                        broadcast3(tree, WGI_REST_FIRST, branch),
                        broadcast3(tree, WGI_REST_SECOND, branch) };
}

WGI_INLINE wgi_swing load_swing(float (*row)[WGI_LANES])
{
    return (wgi_swing){ wgf8_load(row[0]), wgf8_load(row[1]) };
}

WGI_INLINE void store_swing(float (*row)[WGI_LANES], wgi_swing s)
{
    wgf8_store(row[0], s.first);
    wgf8_store(row[1], s.second);
}

static void load_packed(lanes_walk* w, size_t begin, size_t count)
{
    const wgi_specimen* tree = &w->job->tree;
    chunk_rows* rows = w->rows;
    for (size_t tile = 0; tile < count; tile += WGI_LANES) {
        for (size_t c = 0; c < 2; ++c)
            load_swings(w->packed.swing[c], begin + tile, rows->swing[tile][c], 2 * WGI_LANES);
        for (size_t c = 0; c < 3; ++c)
            load_floats(
                w->packed.rate[c], begin + tile, rows->angular_velocity[tile][c], 3 * WGI_LANES);
    }
    const size_t rank = w->inner_begin, end = w->inner_end;
    const size_t inner = (size_t)wgi_padded(tree->inner_count);
    for (size_t tile = 0; w->flags.inertia && rank + tile < end; tile += WGI_LANES)
        for (size_t c = 0; c < 2; ++c)
            load_changes(
                w->packed.change[c], rank + tile, inner, rows->change[tile][c], 2 * WGI_LANES);
    for (size_t i = 0, k = 0; i < count; ++i) {
        const wgi_basis basis = basis_of(tree, begin + i);
        const wgi_swing now = load_swing(rows->swing[i]);
        store3(rows->rotation[i], wgi_swing_vector(now, &basis));
        if (tree->inner_rank[begin + i] < 0 || !w->flags.inertia)
            continue;
        const wgi_swing change = load_swing(rows->change[k++]);
        const wgi_swing before = { now.first - change.first, now.second - change.second };
        store3(rows->previous[i], wgi_swing_vector(before, &basis));
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
    if (w->flags.inertia && w->inner_end > w->inner_begin)
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

static void store_tiles(
    float* const rows[WGI_LANES], size_t used, size_t padded, size_t begin, size_t count,
    float (*from)[3][WGI_LANES])
{
    for (size_t tile = 0; tile < count; tile += WGI_LANES)
        for (size_t c = 0; c < 3; ++c) {
            wgf8 out[WGI_LANES];
            wgi_transpose8_out(from[tile][c], 3 * WGI_LANES, out);
            for (size_t lane = 0; lane < used; ++lane)
                wgf8_store(rows[lane] + c * padded + begin + tile, out[lane]);
        }
}

static void store_packed(lanes_walk* w, size_t begin, size_t count)
{
    chunk_rows* rows = w->rows;
    const size_t used = w->used;
    for (size_t tile = 0; tile < count; tile += WGI_LANES) {
        for (size_t c = 0; c < 2; ++c)
            store_swings(
                w->packed.swing[c], used, begin + tile, rows->swing[tile][c], 2 * WGI_LANES);
        for (size_t c = 0; c < 3; ++c)
            store_floats(
                w->packed.rate[c], used, begin + tile, WGI_LANES, rows->angular_velocity[tile][c],
                3 * WGI_LANES);
    }
    const size_t rank = w->inner_begin, end = w->inner_end;
    for (size_t tile = 0; rank + tile < end; tile += WGI_LANES)
        for (size_t c = 0; c < 2; ++c) {
            const size_t left = end - rank - tile;
            store_floats(
                w->packed.change[c], used, rank + tile, left < WGI_LANES ? left : WGI_LANES,
                rows->change[tile][c], 2 * WGI_LANES);
        }
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
        for (size_t c = 0; c < 3; ++c) {
            const float* from = w->rotation[lane] + c * padded + begin;
            float* to = w->previous[lane] + c * padded + begin;
            for (size_t i = 0; i < count; i += WGI_LANES)
                wgf8_store(to + i, wgf8_load(from + i));
        }
    store_tiles(w->rotation, w->used, padded, begin, count, w->rows->rotation);
    store_tiles(w->angular_velocity, w->used, padded, begin, count, w->rows->angular_velocity);
}

static void reduce_chunk(const lanes_walk* w, size_t begin, size_t count)
{
    const wg_forest_record* record = w->job->record;
    const size_t padded = (size_t)w->job->tree.padded;
    for (size_t tile = 0; tile < count; tile += WGI_LANES) {
        wgf8 turned[3][WGI_LANES];
        for (size_t c = 0; c < 3; ++c)
            wgi_transpose8_out(w->rows->rotation[tile][c], 3 * WGI_LANES, turned[c]);
        for (size_t lane = 0; lane < w->used; ++lane) {
            const wgi_vec3 theta = { turned[0][lane], turned[1][lane], turned[2][lane] };
            wgi_reduce(record, (w->first + lane) * padded + begin + tile, theta);
        }
    }
}
