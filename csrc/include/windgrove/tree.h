// windgrove/tree.h - sums along a hierarchy of branches: the mass and the wind drag each one carries.
//
// A hierarchy is an array of parent indices in canonical order: the parent of a branch has a lower
// index, a root has -1. Everything is double precision: these sums are made once a tree, not once a
// step.
#pragma once

#include "windgrove/base.h"

/// A hierarchy in its rest pose, borrowed.
typedef struct wg_tree_view {
    size_t count;            ///< branches, any number, 0 included
    const int32_t* parent;   ///< [count], -1 for a root, else less than the branch's own index
    const double* position;  ///< [count][3] m, attachment to the parent
    const double* direction; ///< [count][3] unit vectors
    const double* length;    ///< [count] m, > 0
} wg_tree_view;

/// Checks the order of a hierarchy.
/// @param bad  receives the first branch whose parent is below -1 or not before it; may be NULL
/// @return WG_OK, or WG_ERR_TOPOLOGY
WG_API wg_status wg_tree_check_order(const int32_t* parent, size_t count, size_t* bad);

/// Mass that each branch carries: m_i = M_i + the sum of m_c over its children c.
///
/// Source: Beaudoin & Marcoux-Ouellet, GPU Zen 4, section 3.3.1, Mass.
/// Cost: one pass, one addition a branch. Order of the sums: by descending index, always.
///
/// @param own    [count] kg; NaN reaches the ancestors of its branch and no others
/// @param total  out [count] kg; must not overlap own
/// @return WG_OK, or WG_ERR_TOPOLOGY: then nothing is written
WG_API wg_status
wg_total_mass(const int32_t* parent, const double* own, size_t count, double* total);

/// Wind drag that each branch feels: its own and what the branches it carries hand down to it.
///
/// The published listing walks from every branch to its root: on the way the drag is multiplied by
/// propagation[j] at each ancestor j and added to d[j] times
///     s = saturate(dot(anchor - position[j], direction[j]) / length[j]),
/// `anchor` being the attachment of the branch of that path just below j. s depends on j and that
/// child alone and is not carried on, so that one pass from the last branch to the first gives the
/// same sums:
///     E[c] = D[c] + sum over children e of c:  propagation[c] E[e]
///     d[a] = D[a] + sum over children c of a:  propagation[a] s(c, a) E[c]
///
/// Source: the same, section 3.3.1, listing 3.1; derivation in docs/numerics/parameters.md.
/// Cost: one pass, about 12 flop a branch. Order of the sums: by descending index, always.
///
/// @param tree         read only
/// @param direct       [count] D, kg m^-1 s^-1
/// @param propagation  [count], usually 0 to 1
/// @param arriving     out [count] E, drag of the branch and of all it carries; scratch for most
/// @param drag         out [count] d, kg m^-1 s^-1; outputs overlap nothing
/// @return WG_OK, WG_ERR_TOPOLOGY, or WG_ERR_VALUE for a length that is not above 0: then nothing
///         is written. NaN in a row reaches the ancestors of that branch and no others.
WG_API wg_status wg_propagate_drag(
    const wg_tree_view* tree, const double* direct, const double* propagation, double* arriving,
    double* drag);
