// One tree with a lane for each branch: what the kernels of springs.c read and write.
//
// Rows are [row][padded] floats, `padded` the branch count rounded up to a whole number of vectors;
// the lanes beyond the count hold a branch at rest that nobody reads.
#pragma once

#include "windgrove/sway.h"

enum {
    WGI_REST_DIRECTION = 0, ///< 3 rows
    WGI_REST_REACH = 3,     ///< 3 rows, (position - parent's position) / arm
    WGI_REST_INVERSE_ARM = 6,
    WGI_REST_OFFSET = 7, ///< 3 rows, position - parent's position, m
    WGI_REST_ROWS = 10,

    WGI_SPRING_THETA = 0,
    WGI_SPRING_RATE = 1,
    WGI_SPRING_TORQUE = 2,
    WGI_SPRING_EXTRA = 3, ///< 5 rows, used by WG_CLAMP_EXPONENTIAL alone
    WGI_SPRING_ROWS = 8,

    WGI_FRAME_FLOATS = 16, ///< world 4, back 4, moved 3, pivot 3, 2 unused
};

typedef struct wgi_tree_soa {
    int32_t count, padded;
    int32_t inner_groups; ///< vectors of branches that carry others, roots first
    float* rest;          ///< [WGI_REST_ROWS][padded]
    float* spring;        ///< [WGI_SPRING_ROWS][padded]
    int32_t* parent_slot; ///< [padded] frame of the parent, 0 for a root
    int32_t* inner;       ///< [inner_groups][8] branch; a group is padded with its last one
    int32_t* inner_slot;  ///< [inner_groups][8] frame that the branch writes
    float* frame;         ///< [slots][WGI_FRAME_FLOATS]; slot 0 is the tree's own axes
} wgi_tree_soa;

/// Motion of the tree in rows.
typedef struct wgi_motion_soa {
    float* rotation; ///< [3][padded]
    float* previous;
    float* angular_velocity;
    const float* wind; ///< [3][padded] m/s in the axes of the tree
} wgi_motion_soa;

typedef struct wgi_soa_step {
    const wgi_tree_soa* tree;
    const wgi_motion_soa* motion;
    const wg_spring_options* options;
} wgi_soa_step;

/// Bytes that wgi_tree_soa_init carves from a block aligned to 32.
size_t wgi_tree_soa_size(int32_t count);

/// Lays out rest pose, hierarchy and frames. WG_ERR_TOPOLOGY or WG_ERR_VALUE: `out` is not usable.
wg_status wgi_tree_soa_init(wgi_tree_soa* out, const wg_branches* branches, void* memory);

/// Fills `spring` for the options; WG_ERR_VALUE where a parameter is out of range.
wg_status wgi_tree_soa_springs(
    wgi_tree_soa* tree, const wg_springs* springs, const wg_spring_options* options);

/// The coefficients of one branch, in double precision; see wgi_spring in sway/spring.h.
void wgi_spring_coefficients(
    double mass, double stiffness, double damping, double drag, const wg_spring_options* options,
    double out[WGI_SPRING_ROWS]);
