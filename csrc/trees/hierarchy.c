// Sums along a hierarchy of branches. Source: GPU Zen 4, section 3.3.1, Mass and listing 3.1.
#include "windgrove/tree.h"

#include <string.h>

wg_status wg_tree_check_order(const int32_t* parent, size_t count, size_t* bad)
{
    for (size_t i = 0; i < count; ++i) {
        if (parent[i] >= -1 && (parent[i] < 0 || (size_t)parent[i] < i))
            continue;
        if (bad)
            *bad = i;
        return WG_ERR_TOPOLOGY;
    }
    return WG_OK;
}

wg_status wg_total_mass(const int32_t* parent, const double* own, size_t count, double* total)
{
    const wg_status status = wg_tree_check_order(parent, count, NULL);
    if (status != WG_OK || count == 0)
        return status;
    memcpy(total, own, count * sizeof *total);
    for (size_t i = count; i-- > 0;)
        if (parent[i] >= 0)
            total[parent[i]] += total[i];
    return WG_OK;
}

// How far along its parent a branch sits, 0 at the root and 1 at the end or beyond. NaN stays NaN.
static double place_on_parent(const wg_tree_view* tree, size_t child, size_t parent)
{
    const double* c = tree->position + 3 * child;
    const double* p = tree->position + 3 * parent;
    const double* axis = tree->direction + 3 * parent;
    const double along =
        (c[0] - p[0]) * axis[0] + (c[1] - p[1]) * axis[1] + (c[2] - p[2]) * axis[2];
    const double place = along / tree->length[parent];
    return place <= 0.0 ? 0.0 : place >= 1.0 ? 1.0 : place;
}

wg_status wg_propagate_drag(
    const wg_tree_view* tree, const double* direct, const double* propagation, double* arriving,
    double* drag)
{
    const size_t count = tree->count;
    const wg_status status = wg_tree_check_order(tree->parent, count, NULL);
    if (status != WG_OK || count == 0)
        return status;
    for (size_t i = 0; i < count; ++i)
        if (!(tree->length[i] > 0.0))
            return WG_ERR_VALUE;

    memcpy(arriving, direct, count * sizeof *arriving);
    memcpy(drag, direct, count * sizeof *drag);
    // Children have higher indices, so arriving[i] is complete when the loop reaches i.
    for (size_t i = count; i-- > 0;) {
        if (tree->parent[i] < 0)
            continue;
        const size_t p = (size_t)tree->parent[i];
        const double handed = propagation[p] * arriving[i];
        arriving[p] += handed;
        drag[p] += handed * place_on_parent(tree, i, p);
    }
    return WG_OK;
}
