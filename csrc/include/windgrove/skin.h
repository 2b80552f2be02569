// windgrove/skin.h - meshes that bend with the branches they hang on.
#pragma once

#include "windgrove/sway.h"

/// A mesh in the rest pose, in the axes of the tree; borrowed.
typedef struct wg_skin_mesh {
    size_t count;           ///< vertices
    const float* vertices;  ///< [count][3] m
    const float* normals;   ///< [count][3], or NULL
    const uint16_t* branch; ///< [count] the branch each vertex hangs on
} wg_skin_mesh;

/// The bent mesh.
typedef struct wg_skin_output {
    float* vertices; ///< [count][3] m
    float* normals;  ///< [count][3], or NULL where the mesh has none
} wg_skin_output;

/// Bytes of scratch that wg_skin needs, 8-byte aligned.
WG_API size_t wg_skin_scratch(int32_t branch_count);

/// Bends every vertex with its branch and carries it with the branch's ancestors.
///
///     s = saturate(|x - position_i| / length_i),   x1 = position_i + Q(s theta_i) (x - position_i)
///     then for every ancestor j of i, child first, with c the branch just below j on the way:
///     s = saturate(|position_c - position_j| / length_j),
///     x' = position_j + Q(s theta_j) (x1 - position_j)
///
/// A vertex at the root of its branch does not turn with it, so that branches stay attached, and a
/// branch moves rigidly with the place it grows from. Normals are turned by the same rotations.
///
/// Source: GPU Zen 4, section 3.3.3; docs/numerics/skinning.md.
/// Cost: one pass over the branches in double precision, then about 120 flop a vertex whatever the
/// depth of its branch, eight vertices at a time; no allocation.
///
/// @param branches  parents before children
/// @param rotation  [branches->count][3] rad, rotation vectors of one pose
/// @param mesh      branch indices below branches->count
/// @param output    must not overlap an input
/// @param scratch   wg_skin_scratch(branches->count) bytes
/// @param exec      threads; does not change the result, not in the last bit
/// @return WG_OK; WG_ERR_TOPOLOGY, or WG_ERR_VALUE for a branch index out of range: then nothing is
///         written. NaN in a vertex reaches that vertex, NaN in the rotation of a branch the
///         vertices of that branch and of those it carries.
WG_API wg_status wg_skin(
    const wg_branches* branches, const double* rotation, const wg_skin_mesh* mesh,
    const wg_skin_output* output, void* scratch, const wg_exec* exec);
