// windgrove/forest.h - many instances of one specimen, many steps in one call.
//
// A specimen is the rest pose and hierarchy of one tree, laid out once and never changed. Its
// instances are placed, turned and scaled, each with its own springs where a study wants it.
// Everything that changes lies in the caller's arrays. Rows are [row][padded] floats with `padded`
// the branch count rounded up to 8; lanes beyond the count are at rest and mean nothing.
#pragma once

#include "windgrove/sway.h"
#include "windgrove/wind.h"

/// Bytes of a specimen of `count` branches, 0 where the count is out of range.
WG_API size_t wg_specimen_size(int32_t count);

/// Lays out a specimen in `memory` (wg_specimen_size bytes, 32-byte aligned).
/// @return WG_OK; WG_ERR_VALUE or WG_ERR_TOPOLOGY, and the memory means nothing.
WG_API wg_status wg_specimen_init(const wg_branches* branches, void* memory);

/// Rows of spring coefficients for a clamp: 3, or 8 for WG_CLAMP_EXPONENTIAL.
WG_API int32_t wg_forest_spring_rows(int32_t clamp);

/// Spring coefficients of one set of parameters for one dt and clamp.
/// @param out  [wg_forest_spring_rows(clamp)][padded]
/// @return WG_OK, or WG_ERR_VALUE: then nothing is written.
WG_API wg_status wg_forest_springs(
    int32_t count, const wg_springs* springs, const wg_spring_options* options, float* out);

/// Packed motion: 15 bytes a branch, 21 where it carries others (15 padded + 6 inner_padded for an
/// instance: at most 20 a branch while five sixths or fewer carry others). 24 bits a number, the
/// lowest byte first. Rotations are swings, two components across the rest direction, without torsion, in steps
/// of pi / 2^22 = 7.5e-7 rad. Rates are floats of 16 significant bits (relative error 2^-16).
/// Branches that carry others keep how far they swung in the last step, as such a float: the inertia
/// of what they carry magnifies it, so that a difference of two rounded swings would not do. Nobody
/// reads it of the others.
typedef struct wg_packed {
    uint8_t* swing;  ///< [instance_count][2][padded][3] of frame n-1
    uint8_t* change; ///< [instance_count][2][inner_padded][3] since frame n-2
    uint8_t* rate;   ///< [instance_count][3][padded][3] angular velocities
} wg_packed;

/// Branches of a specimen that carry others; `inner_padded` is this rounded up to 8.
WG_API int32_t wg_specimen_inner_count(const void* specimen);

/// Where instances stand and what they are made of, borrowed.
typedef struct wg_forest {
    const void* specimen; ///< from wg_specimen_init
    int32_t instance_count;
    int32_t spring_sets;     ///< 1 (shared) or instance_count
    const float* springs;    ///< [spring_sets][rows][padded] from wg_forest_springs
    const float* frequency;  ///< [spring_sets][padded] Hz, speed of the noise
    const double* place;     ///< [instance_count][3] m, world position of the tree's origin
    const float* turn;       ///< [instance_count][4] unit quaternion, tree to world axes
    const float* scale;      ///< [instance_count] > 0; moves points, never the springs
    const uint8_t* kind;     ///< [padded] 0 trunk, 1 branch, 2 foliage; for `kinds` alone
    const uint8_t* kinds;    ///< [instance_count] how many kinds move: 3 all, 2 wood, 1 the trunk,
                             ///< 0 none; what does not move keeps angle and velocity and is carried
    const uint32_t* key;     ///< [instance_count] what the noise of the instance is keyed by
    float* rotation;         ///< [instance_count][3][padded] rad, frame n-1; becomes n
    float* previous;         ///< frame n-2; becomes n-1
    float* angular_velocity; ///< rad/s
    const wg_packed* packed; ///< NULL, or the state in place of the three arrays above
} wg_forest;

/// The packed motion of instances as float32 rows, or back; for looking at it and changing it.
/// @param rotation, angular_velocity  [instance_count][3][padded]
/// @param previous                    [instance_count][3][padded]; 0 for branches that carry none
WG_API void wg_forest_unpack(
    const wg_forest* forest, float* rotation, float* previous, float* angular_velocity);
WG_API void
wg_forest_pack(const wg_forest* forest, float* rotation, float* previous, float* angular_velocity);

/// How the wind becomes a torque, the same for all.
typedef struct wg_forest_options {
    wg_spring_options spring;
    double time;           ///< s, of step 0 of the run that this call is part of
    int64_t first_step;    ///< steps of that run before this call
    float noise;           ///< rad, greatest angle by which the noise turns the wind
    float drag_exponent;   ///< torque grows as |v|^(1 + exponent): 0 linear, 1 quadratic
    float reference_speed; ///< m/s, where all drag laws agree; > 0
} wg_forest_options;

/// Where the wind comes from.
typedef enum wg_forest_wind_kind {
    WG_WIND_SAMPLES = 0, ///< velocities given at every centre of mass
    WG_WIND_SERIES = 1,  ///< one prevailing velocity for each step, with a height profile
    WG_WIND_VIEW = 2,    ///< grids of one instant, sampled at the centres of mass; the same for
                         ///< every step of the call
} wg_forest_wind_kind;

typedef struct wg_forest_wind {
    int32_t kind;             ///< a wg_forest_wind_kind
    const float* samples;     ///< [instance_count][3][padded] m/s, world axes
    const double* series;     ///< [steps][3] m/s
    const wg_wind_view* view; ///< for WG_WIND_SERIES its `outside` gives the profile
} wg_forest_wind;

/// What a run leaves behind besides the state; every pointer may be NULL.
typedef struct wg_forest_record {
    int32_t every; ///< steps between two frames, >= 1
    int32_t branch_count;
    const int32_t* branch;   ///< [branch_count] branches to record
    float* rotation;         ///< [steps/every][instance][branch_count][3] rad
    float* angular_velocity; ///< rad/s
    float* tip;              ///< m, world
    float* wind;             ///< m/s, world, noise in: what the step to that frame felt
    float* torque;           ///< N m, d tau of that step, in the axes of the rotation
    double* sum_square;      ///< [instance][padded] rad^2, adds |theta|^2 of every step
    float* peak;             ///< [instance][padded] rad, keeps the greatest |theta|
} wg_forest_record;

/// Where a state stopped being finite.
typedef struct wg_forest_fault {
    int32_t step; ///< 0-based in this call
    int32_t instance;
    int32_t branch;
} wg_forest_fault;

/// Bytes of scratch of a run.
WG_API size_t wg_forest_scratch(int32_t branch_count, const wg_exec* exec);

/// Steps all instances `steps` times. Each step is that of wg_sway_step_springs; the wind at a
/// centre of mass is turned about the vertical by noise(frequency t + phase) times the amplitude.
///
/// The noise is Perlin's gradient noise in one dimension, its slopes and phase drawn by hashing the
/// instance's key and the branch's index, with the time in double precision.
///
/// Results do not depend on threads, on how instances are ordered or grouped in calls, or on how
/// many steps a call takes, to the last bit.
/// Cost: about 600 flop a branch and step, 750 with WG_WIND_VIEW; no allocation.
///
/// @param drag     [spring_sets][padded], only read where torque is recorded; else NULL
/// @param fault    out: the earliest step at which a state was not finite, then the lowest
///                 instance and branch; written with WG_ERR_DIVERGED
/// @return WG_OK; WG_ERR_VALUE before anything is written; WG_ERR_DIVERGED: an instance that
///         diverged stopped after that step, the others ran to the end.
WG_API wg_status wg_forest_run(
    const wg_forest* forest, const wg_forest_options* options, const wg_forest_wind* wind,
    int32_t steps, const wg_forest_record* record, const float* drag, void* scratch,
    wg_forest_fault* fault, const wg_exec* exec);
