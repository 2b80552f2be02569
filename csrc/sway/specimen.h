// One specimen as the kernels read it: rest pose and hierarchy in rows, a lane for each branch.
//
// Rows are [row][padded] floats, `padded` the branch count rounded up to a whole number of vectors;
// the lanes beyond the count hold a branch at rest that nobody reads.
#pragma once

#include "windgrove/forest.h"

enum {
    WGI_REST_DIRECTION = 0, ///< 3 rows
    WGI_REST_REACH = 3,     ///< 3 rows, offset / arm
    WGI_REST_INVERSE_ARM = 6,
    WGI_REST_OFFSET = 7, ///< 3 rows, position - parent's position, a root's own position; m
    WGI_REST_ARM = 10,   ///< 0.75 length, pivot to centre of mass; m
    WGI_REST_LENGTH = 11,
    WGI_REST_FIRST = 12,  ///< 3 rows, unit vector across the direction
    WGI_REST_SECOND = 15, ///< 3 rows, direction x first
    WGI_REST_ROWS = 18,

    WGI_SPRING_THETA = 0,
    WGI_SPRING_RATE = 1,
    WGI_SPRING_TORQUE = 2,
    WGI_SPRING_EXTRA = 3, ///< 5 rows, used by WG_CLAMP_EXPONENTIAL alone
    WGI_SPRING_ROWS = 8,

    WGI_FRAME_FLOATS = 16, ///< world 4, back 4, moved 3, pivot 3, 2 unused
};

typedef struct wgi_specimen {
    int32_t count, padded;
    int32_t inner_groups;       ///< vectors of branches that carry others, roots first
    int32_t slots;              ///< frames, the tree's own axes included as slot 0
    int32_t inner_count;        ///< branches that carry others
    const float* rest;          ///< [WGI_REST_ROWS][padded]
    const int32_t* parent_slot; ///< [padded] frame of the parent, 0 for a root
    const int32_t* own_slot;    ///< [padded] frame that the branch writes, -1 for none
    const int32_t* inner_rank;  ///< [padded] number among those that carry others, else -1
    const int32_t* inner;       ///< [inner_groups][8] branch; a group is padded with its last one
    const int32_t* inner_slot;  ///< [inner_groups][8] frame that the branch writes
} wgi_specimen;

/// Motion of one tree in rows.
typedef struct wgi_motion_rows {
    float* rotation; ///< [3][padded]
    float* previous;
    float* angular_velocity;
} wgi_motion_rows;

/// One step of one tree whose wind is given; see wg_sway_step_springs.
typedef struct wgi_given_step {
    const wgi_specimen* tree;
    const wgi_motion_rows* motion;
    const wg_spring_options* options;
    const float* spring; ///< [WGI_SPRING_ROWS][padded]
    const float* wind;   ///< [3][padded] m/s in the axes of the tree
    float* frame;        ///< [slots][WGI_FRAME_FLOATS]
} wgi_given_step;

/// Borrows what wg_specimen_init laid out.
wgi_specimen wgi_specimen_open(const void* memory);

/// Sets frame 0 to the tree's own axes.
void wgi_frame_zero(float* frame);

/// The coefficients of one branch, in double precision; see wgi_spring in sway/spring.h.
void wgi_spring_coefficients(
    double mass, double stiffness, double damping, double drag, const wg_spring_options* options,
    double out[WGI_SPRING_ROWS]);

bool wgi_spring_options_are_valid(const wg_spring_options* options);

static inline int32_t wgi_padded(int32_t count)
{
    return (count + 7) / 8 * 8;
}
