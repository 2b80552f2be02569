// wg_sway_step_springs: one tree, one step, arrays of (count, 3).
#include <math.h>
#include <string.h>

#include "support/kernel_table.h"
#include "support/parallel.h"
#include "sway/specimen.h"

enum { GROUP_GRAIN = 16 };

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t rows_size(int32_t count, size_t rows)
{
    return rounded(rows * (size_t)wgi_padded(count) * sizeof(float));
}

size_t wg_sway_step_springs_scratch(int32_t count)
{
    if (wg_specimen_size(count) == 0)
        return 0;
    return rounded(wg_specimen_size(count)) + rows_size(count, WGI_SPRING_ROWS) +
           4 * rows_size(count, 3) +
           rounded(((size_t)count + 1) * WGI_FRAME_FLOATS * sizeof(float));
}

static float* take_rows(char** memory, int32_t count, size_t rows)
{
    float* taken = (float*)*memory;
    *memory += rows_size(count, rows);
    memset(taken, 0, rows_size(count, rows));
    return taken;
}

static void to_rows(const float* from, const wgi_specimen* tree, float* rows)
{
    const size_t padded = (size_t)tree->padded;
    for (size_t i = 0; i < (size_t)tree->count; ++i)
        for (size_t axis = 0; axis < 3; ++axis)
            rows[axis * padded + i] = from[3 * i + axis];
}

static void from_rows(const float* rows, const wgi_specimen* tree, float* to)
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

static void step_in_rows(
    const wgi_specimen* tree, const float* spring, const wg_spring_options* options,
    const float* wind, const wg_motion* motion, char* memory, const wg_exec* exec)
{
    const wgi_motion_rows rows = { .rotation = take_rows(&memory, tree->count, 3),
                                   .previous = take_rows(&memory, tree->count, 3),
                                   .angular_velocity = take_rows(&memory, tree->count, 3) };
    float* wind_rows = take_rows(&memory, tree->count, 3);
    wgi_given_step step = { tree, &rows, options, spring, wind_rows, (float*)memory };
    wgi_frame_zero(step.frame);
    to_rows(wind, tree, wind_rows);
    to_rows(motion->rotation, tree, rows.rotation);
    to_rows(motion->previous, tree, rows.previous);
    to_rows(motion->angular_velocity, tree, rows.angular_velocity);

    wgi_kernels()->spring_frames(&step);
    wgi_parallel_for(exec, (size_t)tree->padded / 8, GROUP_GRAIN, update_groups, &step);

    from_rows(rows.rotation, tree, motion->rotation);
    from_rows(rows.previous, tree, motion->previous);
    from_rows(rows.angular_velocity, tree, motion->angular_velocity);
}

wg_status wg_sway_step_springs(
    const wg_branches* branches, const wg_springs* springs, const wg_spring_options* options,
    const float* wind, const wg_motion* motion, void* scratch, int32_t* culprit,
    const wg_exec* exec)
{
    if (!wgi_spring_options_are_valid(options))
        return WG_ERR_VALUE;
    wg_status status = wg_specimen_init(branches, scratch);
    if (status != WG_OK)
        return status;
    char* memory = (char*)scratch + rounded(wg_specimen_size(branches->count));
    float* spring = take_rows(&memory, branches->count, WGI_SPRING_ROWS);
    status = wg_forest_springs(branches->count, springs, options, spring);
    if (status != WG_OK)
        return status;

    const wgi_specimen tree = wgi_specimen_open(scratch);
    step_in_rows(&tree, spring, options, wind, motion, memory, exec);
    const int32_t bad = first_not_finite(motion, branches->count);
    if (culprit)
        *culprit = bad;
    return bad < 0 ? WG_OK : WG_ERR_DIVERGED;
}
