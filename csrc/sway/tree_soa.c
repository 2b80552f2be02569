#include "sway/tree_soa.h"

#include <math.h>
#include <string.h>

#include "sway/coefficients.h"

enum { LANES = 8 };

static int32_t round_up(int32_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

// A group of inner branches never crosses a depth, so there can be as many groups as branches.
static size_t carve(size_t* used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + 63) / 64 * 64;
    return at;
}

typedef struct soa_layout {
    size_t rest, spring, parent_slot, inner, inner_slot, frame, depth, total;
} soa_layout;

static soa_layout soa_layout_for(int32_t count)
{
    const size_t padded = (size_t)round_up(count), n = (size_t)count;
    soa_layout at;
    size_t used = 0;
    at.rest = carve(&used, WGI_REST_ROWS * padded * sizeof(float));
    at.spring = carve(&used, WGI_SPRING_ROWS * padded * sizeof(float));
    at.parent_slot = carve(&used, padded * sizeof(int32_t));
    at.inner = carve(&used, n * LANES * sizeof(int32_t));
    at.inner_slot = carve(&used, n * LANES * sizeof(int32_t));
    at.frame = carve(&used, (n + 1) * WGI_FRAME_FLOATS * sizeof(float));
    at.depth = carve(&used, 2 * n * sizeof(int32_t));
    at.total = used;
    return at;
}

size_t wgi_tree_soa_size(int32_t count)
{
    return soa_layout_for(count).total;
}

static bool finite3(const double* v)
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

static wg_status check_branches(const wg_branches* b)
{
    for (int32_t i = 0; i < b->count; ++i) {
        if (b->parent[i] < -1 || b->parent[i] >= i)
            return WG_ERR_TOPOLOGY;
        const double* d = b->direction + 3 * i;
        if (!finite3(b->position + 3 * i) || !finite3(d) ||
            fabs(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1.0) > 1e-3 ||
            !(b->length[i] > 0.0 && isfinite(b->length[i])))
            return WG_ERR_VALUE;
    }
    return b->count > 0 ? WG_OK : WG_ERR_VALUE;
}

static void fill_rest(const wgi_tree_soa* tree, const wg_branches* b)
{
    const size_t padded = (size_t)tree->padded;
    memset(tree->rest, 0, WGI_REST_ROWS * padded * sizeof(float));
    for (size_t i = 0; i < padded; ++i) {
        tree->rest[(WGI_REST_DIRECTION + 2) * padded + i] = 1.0f;
        tree->rest[WGI_REST_INVERSE_ARM * padded + i] = 1.0f;
    }
    for (size_t i = 0; i < (size_t)b->count; ++i) {
        const double arm = 0.75 * b->length[i];
        const int32_t parent = b->parent[i];
        tree->rest[WGI_REST_INVERSE_ARM * padded + i] = (float)(1.0 / arm);
        for (size_t axis = 0; axis < 3; ++axis) {
            const double offset =
                parent < 0 ? 0.0 : b->position[3 * i + axis] - b->position[3 * parent + axis];
            tree->rest[(WGI_REST_DIRECTION + axis) * padded + i] =
                (float)b->direction[3 * i + axis];
            tree->rest[(WGI_REST_REACH + axis) * padded + i] = (float)(offset / arm);
            tree->rest[(WGI_REST_OFFSET + axis) * padded + i] = (float)offset;
        }
    }
}

// Depths, and a slot for every branch that carries others; -1 for the rest. Returns the greatest
// depth of a branch that carries others, -1 where there is none.
static int32_t number_slots(const wg_branches* b, int32_t* depth, int32_t* slot)
{
    int32_t deepest = -1, slots = 0;
    for (int32_t i = 0; i < b->count; ++i)
        slot[i] = -1;
    for (int32_t i = 0; i < b->count; ++i) {
        const int32_t parent = b->parent[i];
        depth[i] = parent < 0 ? 0 : depth[parent] + 1;
        if (parent < 0)
            continue;
        if (slot[parent] < 0)
            slot[parent] = ++slots;
        if (depth[parent] > deepest)
            deepest = depth[parent];
    }
    return deepest;
}

// Parents' frames are needed before their children's: one depth after the other.
static void
group_inner(wgi_tree_soa* tree, int32_t deepest, const int32_t* depth, const int32_t* slot)
{
    int32_t groups = 0;
    for (int32_t level = 0; level <= deepest; ++level) {
        int32_t lane = 0;
        for (int32_t i = 0; i < tree->count; ++i) {
            if (slot[i] < 0 || depth[i] != level)
                continue;
            const int32_t at = groups * LANES + lane;
            for (int32_t rest = lane; rest < LANES; ++rest) {
                tree->inner[at + rest - lane] = i;
                tree->inner_slot[at + rest - lane] = slot[i];
            }
            lane = (lane + 1) % LANES;
            groups += lane == 0;
        }
        groups += lane != 0;
    }
    tree->inner_groups = groups;
}

wg_status wgi_tree_soa_init(wgi_tree_soa* out, const wg_branches* branches, void* memory)
{
    const wg_status status = check_branches(branches);
    if (status != WG_OK)
        return status;
    const soa_layout at = soa_layout_for(branches->count);
    char* base = memory;
    *out = (wgi_tree_soa){ .count = branches->count,
                           .padded = round_up(branches->count),
                           .rest = (float*)(base + at.rest),
                           .spring = (float*)(base + at.spring),
                           .parent_slot = (int32_t*)(base + at.parent_slot),
                           .inner = (int32_t*)(base + at.inner),
                           .inner_slot = (int32_t*)(base + at.inner_slot),
                           .frame = (float*)(base + at.frame) };
    int32_t* depth = (int32_t*)(base + at.depth);
    int32_t* slot = depth + branches->count;
    const int32_t deepest = number_slots(branches, depth, slot);
    group_inner(out, deepest, depth, slot);
    for (int32_t i = 0; i < out->padded; ++i) {
        const bool root = i >= out->count || branches->parent[i] < 0;
        out->parent_slot[i] = root ? 0 : slot[branches->parent[i]];
    }
    memset(out->frame, 0, WGI_FRAME_FLOATS * sizeof(float));
    out->frame[0] = out->frame[4] = 1.0f;
    fill_rest(out, branches);
    return WG_OK;
}

wg_status wgi_tree_soa_springs(
    wgi_tree_soa* tree, const wg_springs* springs, const wg_spring_options* options)
{
    const size_t padded = (size_t)tree->padded;
    memset(tree->spring, 0, WGI_SPRING_ROWS * padded * sizeof(float));
    for (size_t i = 0; i < (size_t)tree->count; ++i) {
        double row[WGI_SPRING_ROWS];
        if (!wgi_spring_is_valid(
                springs->mass[i], springs->stiffness[i], springs->damping[i], springs->drag[i]))
            return WG_ERR_VALUE;
        wgi_spring_coefficients(
            springs->mass[i], springs->stiffness[i], springs->damping[i], springs->drag[i], options,
            row);
        for (size_t r = 0; r < WGI_SPRING_ROWS; ++r)
            tree->spring[r * padded + i] = (float)row[r];
    }
    return WG_OK;
}
