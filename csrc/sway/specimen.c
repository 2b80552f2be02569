// Laying out a specimen: rest pose in rows, hierarchy as slots and depth groups.
#include "sway/specimen.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, MAGIC = 0x77677331 };

typedef struct specimen_header {
    int32_t magic, count, inner_groups, slots, inner_count;
    int32_t unused[11];
} specimen_header;

typedef struct specimen_layout {
    size_t rest, parent_slot, own_slot, inner_rank, inner, inner_slot, depth, total;
} specimen_layout;

static size_t carve(size_t* used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + 63) / 64 * 64;
    return at;
}

// A group of inner branches never crosses a depth, so there can be as many groups as branches.
static specimen_layout layout_for(int32_t count)
{
    const size_t padded = (size_t)wgi_padded(count), n = (size_t)count;
    specimen_layout at;
    size_t used = sizeof(specimen_header);
    at.rest = carve(&used, WGI_REST_ROWS * padded * sizeof(float));
    at.parent_slot = carve(&used, padded * sizeof(int32_t));
    at.own_slot = carve(&used, padded * sizeof(int32_t));
    at.inner_rank = carve(&used, padded * sizeof(int32_t));
    at.inner = carve(&used, n * LANES * sizeof(int32_t));
    at.inner_slot = carve(&used, n * LANES * sizeof(int32_t));
    at.depth = carve(&used, n * sizeof(int32_t));
    at.total = used;
    return at;
}

size_t wg_specimen_size(int32_t count)
{
    return count < 1 || count > INT32_MAX / 64 ? 0 : layout_for(count).total;
}

wgi_specimen wgi_specimen_open(const void* memory)
{
    const specimen_header* header = memory;
    const specimen_layout at = layout_for(header->count);
    const char* base = memory;
    return (wgi_specimen){ .count = header->count,
                           .padded = wgi_padded(header->count),
                           .inner_groups = header->inner_groups,
                           .slots = header->slots,
                           .inner_count = header->inner_count,
                           .inner_rank = (const int32_t*)(base + at.inner_rank),
                           .rest = (const float*)(base + at.rest),
                           .parent_slot = (const int32_t*)(base + at.parent_slot),
                           .own_slot = (const int32_t*)(base + at.own_slot),
                           .inner = (const int32_t*)(base + at.inner),
                           .inner_slot = (const int32_t*)(base + at.inner_slot) };
}

static bool finite3(const double* v)
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

static wg_status check_branches(const wg_branches* b)
{
    if (wg_specimen_size(b->count) == 0)
        return WG_ERR_VALUE;
    for (int32_t i = 0; i < b->count; ++i) {
        if (b->parent[i] < -1 || b->parent[i] >= i)
            return WG_ERR_TOPOLOGY;
        const double* d = b->direction + 3 * i;
        if (!finite3(b->position + 3 * i) || !finite3(d) ||
            fabs(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1.0) > 1e-3 ||
            !(b->length[i] > 0.0 && isfinite(b->length[i])))
            return WG_ERR_VALUE;
    }
    return WG_OK;
}

static void fill_rest(float* rest, size_t padded, const wg_branches* b)
{
    memset(rest, 0, WGI_REST_ROWS * padded * sizeof(float));
    for (size_t i = 0; i < padded; ++i) {
        rest[(WGI_REST_DIRECTION + 2) * padded + i] = 1.0f;
        rest[WGI_REST_INVERSE_ARM * padded + i] = 1.0f;
        rest[WGI_REST_ARM * padded + i] = 1.0f;
    }
    for (size_t i = 0; i < (size_t)b->count; ++i) {
        const double arm = 0.75 * b->length[i];
        const int32_t parent = b->parent[i];
        rest[WGI_REST_INVERSE_ARM * padded + i] = (float)(1.0 / arm);
        rest[WGI_REST_ARM * padded + i] = (float)arm;
        rest[WGI_REST_LENGTH * padded + i] = (float)b->length[i];
        for (size_t axis = 0; axis < 3; ++axis) {
            const double base = parent < 0 ? 0.0 : b->position[3 * parent + (int)axis];
            const double offset = b->position[3 * i + axis] - base;
            rest[(WGI_REST_DIRECTION + axis) * padded + i] = (float)b->direction[3 * i + axis];
            rest[(WGI_REST_REACH + axis) * padded + i] = (float)(offset / arm);
            rest[(WGI_REST_OFFSET + axis) * padded + i] = (float)offset;
        }
    }
}

// Two unit vectors across the direction and each other: what a swing is told in.
static void fill_basis(float* rest, size_t padded, const wg_branches* b)
{
    for (size_t i = 0; i < padded; ++i) {
        const double up[3] = { 0.0, 0.0, 1.0 };
        const double* d = i < (size_t)b->count ? b->direction + 3 * i : up;
        int least = fabs(d[0]) <= fabs(d[1]) ? 0 : 1;
        least = fabs(d[2]) < fabs(d[least]) ? 2 : least;
        double first[3] = { 0.0, 0.0, 0.0 };
        const int a = (least + 1) % 3, c = (least + 2) % 3;
        const double norm = sqrt(d[a] * d[a] + d[c] * d[c]);
        first[a] = -d[c] / norm;
        first[c] = d[a] / norm;
        for (int axis = 0; axis < 3; ++axis) {
            const int j = (axis + 1) % 3, k = (axis + 2) % 3;
            rest[(WGI_REST_FIRST + (size_t)axis) * padded + i] = (float)first[axis];
            rest[(WGI_REST_SECOND + (size_t)axis) * padded + i] =
                (float)(d[j] * first[k] - d[k] * first[j]);
        }
    }
}

// Depths, and a slot for every branch that carries others. Returns the greatest depth of one.
static int32_t number_slots(const wg_branches* b, int32_t* depth, int32_t* slot, int32_t* slots)
{
    int32_t deepest = -1;
    *slots = 1;
    for (int32_t i = 0; i < wgi_padded(b->count); ++i)
        slot[i] = -1;
    for (int32_t i = 0; i < b->count; ++i) {
        const int32_t parent = b->parent[i];
        depth[i] = parent < 0 ? 0 : depth[parent] + 1;
        if (parent < 0)
            continue;
        if (slot[parent] < 0)
            slot[parent] = (*slots)++;
        if (depth[parent] > deepest)
            deepest = depth[parent];
    }
    return deepest;
}

// Parents' frames are needed before their children's: one depth after the other.
static int32_t group_inner(
    int32_t count, int32_t deepest, const int32_t* depth, const int32_t* slot, int32_t* inner,
    int32_t* inner_slot)
{
    int32_t groups = 0;
    for (int32_t level = 0; level <= deepest; ++level) {
        int32_t lane = 0;
        for (int32_t i = 0; i < count; ++i) {
            if (slot[i] < 0 || depth[i] != level)
                continue;
            for (int32_t rest = lane; rest < LANES; ++rest) {
                inner[groups * LANES + rest] = i;
                inner_slot[groups * LANES + rest] = slot[i];
            }
            lane = (lane + 1) % LANES;
            groups += lane == 0;
        }
        groups += lane != 0;
    }
    return groups;
}

wg_status wg_specimen_init(const wg_branches* branches, void* memory)
{
    const wg_status status = check_branches(branches);
    if (status != WG_OK)
        return status;
    const specimen_layout at = layout_for(branches->count);
    char* base = memory;
    int32_t* depth = (int32_t*)(base + at.depth);
    int32_t* slot = (int32_t*)(base + at.own_slot);
    int32_t* parent_slot = (int32_t*)(base + at.parent_slot);
    specimen_header header = { .magic = MAGIC, .count = branches->count };
    const int32_t deepest = number_slots(branches, depth, slot, &header.slots);
    header.inner_groups = group_inner(
        branches->count, deepest, depth, slot, (int32_t*)(base + at.inner),
        (int32_t*)(base + at.inner_slot));
    const int32_t padded = wgi_padded(branches->count);
    for (int32_t i = 0; i < padded; ++i) {
        const bool root = i >= branches->count || branches->parent[i] < 0;
        parent_slot[i] = root ? 0 : slot[branches->parent[i]];
    }
    int32_t* rank = (int32_t*)(base + at.inner_rank);
    for (int32_t i = 0; i < padded; ++i)
        rank[i] = slot[i] < 0 ? -1 : header.inner_count++;
    fill_rest((float*)(base + at.rest), (size_t)padded, branches);
    fill_basis((float*)(base + at.rest), (size_t)padded, branches);
    memcpy(base, &header, sizeof header);
    return WG_OK;
}

void wgi_frame_zero(float* frame)
{
    memset(frame, 0, WGI_FRAME_FLOATS * sizeof(float));
    frame[0] = frame[4] = 1.0f;
}
