// wg_sway_step_springs: one tree, one step, arrays of (count, 3).
#include <math.h>
#include <string.h>

#include "support/kernel_table.h"
#include "support/parallel.h"
#include "sway/coefficients.h"

enum { GROUP_GRAIN = 16 };

static size_t rows_size(int32_t count)
{
    const size_t padded = ((size_t)count + 7) / 8 * 8;
    return (3 * padded * sizeof(float) + 63) / 64 * 64;
}

size_t wg_sway_step_springs_scratch(int32_t count)
{
    return count < 1 ? 0 : wgi_tree_soa_size(count) + 4 * rows_size(count);
}

static float* take_rows(char** memory, int32_t count)
{
    float* rows = (float*)*memory;
    *memory += rows_size(count);
    memset(rows, 0, rows_size(count));
    return rows;
}

static void to_rows(const float* from, const wgi_tree_soa* tree, float* rows)
{
    const size_t padded = (size_t)tree->padded;
    for (size_t i = 0; i < (size_t)tree->count; ++i)
        for (size_t axis = 0; axis < 3; ++axis)
            rows[axis * padded + i] = from[3 * i + axis];
}

static void from_rows(const float* rows, const wgi_tree_soa* tree, float* to)
{
    const size_t padded = (size_t)tree->padded;
    for (size_t i = 0; i < (size_t)tree->count; ++i)
        for (size_t axis = 0; axis < 3; ++axis)
            to[3 * i + axis] = rows[axis * padded + i];
}

static void update_groups(size_t begin, size_t end, void* context)
{
    wgi_kernels()->spring_update(context, begin, end);
}

static int32_t first_not_finite(const wg_motion* motion, int32_t count)
{
    for (int32_t i = 0; i < count; ++i)
        for (int32_t axis = 0; axis < 3; ++axis)
            if (!isfinite(motion->rotation[3 * i + axis]) ||
                !isfinite(motion->angular_velocity[3 * i + axis]))
                return i;
    return -1;
}

wg_status wg_sway_step_springs(
    const wg_branches* branches, const wg_springs* springs, const wg_spring_options* options,
    const float* wind, const wg_motion* motion, void* scratch, int32_t* culprit,
    const wg_exec* exec)
{
    if (!wgi_spring_options_are_valid(options))
        return WG_ERR_VALUE;
    wgi_tree_soa tree;
    wg_status status = wgi_tree_soa_init(&tree, branches, scratch);
    if (status == WG_OK)
        status = wgi_tree_soa_springs(&tree, springs, options);
    if (status != WG_OK)
        return status;

    char* memory = (char*)scratch + wgi_tree_soa_size(branches->count);
    float* wind_rows = take_rows(&memory, branches->count);
    const wgi_motion_soa rows = { .rotation = take_rows(&memory, branches->count),
                                  .previous = take_rows(&memory, branches->count),
                                  .angular_velocity = take_rows(&memory, branches->count),
                                  .wind = wind_rows };
    to_rows(wind, &tree, wind_rows);
    to_rows(motion->rotation, &tree, rows.rotation);
    to_rows(motion->previous, &tree, rows.previous);
    to_rows(motion->angular_velocity, &tree, rows.angular_velocity);

    wgi_soa_step step = { &tree, &rows, options };
    wgi_kernels()->spring_frames(&step);
    wgi_parallel_for(exec, (size_t)tree.padded / 8, GROUP_GRAIN, update_groups, &step);

    from_rows(rows.rotation, &tree, motion->rotation);
    from_rows(rows.previous, &tree, motion->previous);
    from_rows(rows.angular_velocity, &tree, motion->angular_velocity);
    const int32_t bad = first_not_finite(motion, branches->count);
    if (culprit)
        *culprit = bad;
    return bad < 0 ? WG_OK : WG_ERR_DIVERGED;
}
