#include "check.h"
#include "windgrove/tree.h"

// A vertical trunk of 10 m, a branch at 4 m and a twig on it, and one branch above the trunk's end.
static const int32_t parent[4] = { -1, 0, 1, 0 };
static const double position[12] = { 0, 0, 0, 0, 0, 4, 1, 0, 4, 0, 0, 12 };
static const double direction[12] = { 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1 };
static const double length[4] = { 10, 2, 1, 1 };
static const wg_tree_view tree = { 4, parent, position, direction, length };

static void the_trunk_carries_the_whole_mass(void)
{
    const double own[4] = { 8, 4, 2, 1 };
    double total[4];
    CHECK(wg_total_mass(parent, own, 4, total) == WG_OK);
    CHECK(total[0] == 15 && total[1] == 6 && total[2] == 2 && total[3] == 1);
}

static void drag_is_weighted_by_place_and_propagation(void)
{
    const double direct[4] = { 1, 2, 4, 8 }, propagation[4] = { 0.5, 0.25, 1, 1 };
    double arriving[4], drag[4];
    CHECK(wg_propagate_drag(&tree, direct, propagation, arriving, drag) == WG_OK);
    // Twig at half of branch 1: 2 + 0.25 * 4 * 0.5. Branch 1 hands 2 + 0.25 * 4 = 3 to the trunk,
    // at 0.4 of it; branch 3 sits beyond the end, which counts as the end.
    CHECK_CLOSE(drag[1], 2.5, 1e-15);
    CHECK_CLOSE(drag[0], 1 + 0.5 * (3 * 0.4 + 8), 1e-15);
    CHECK(drag[2] == 4 && drag[3] == 8);
    CHECK_CLOSE(arriving[0], 1 + 0.5 * (3 + 8), 1e-15);
}

static void bad_input_is_refused_and_nothing_written(void)
{
    const int32_t late[3] = { -1, 2, 0 }, below[2] = { -1, -2 }, itself[1] = { 0 };
    const double own[3] = { 1, 1, 1 };
    double out[4] = { 7, 7, 7, 7 }, scratch[4];
    size_t bad = 99;
    CHECK(wg_total_mass(late, own, 3, out) == WG_ERR_TOPOLOGY && out[0] == 7);
    CHECK(wg_tree_check_order(late, 3, &bad) == WG_ERR_TOPOLOGY && bad == 1);
    CHECK(wg_tree_check_order(below, 2, NULL) == WG_ERR_TOPOLOGY);
    CHECK(wg_tree_check_order(itself, 1, NULL) == WG_ERR_TOPOLOGY);

    const double no_length[4] = { 10, 0, 1, 1 }, ones[4] = { 1, 1, 1, 1 };
    wg_tree_view flat = tree;
    flat.length = no_length;
    CHECK(wg_propagate_drag(&flat, ones, ones, scratch, out) == WG_ERR_VALUE && out[0] == 7);
    CHECK(wg_total_mass(NULL, NULL, 0, NULL) == WG_OK);
}

int main(void)
{
    the_trunk_carries_the_whole_mass();
    drag_is_weighted_by_place_and_propagation();
    bad_input_is_refused_and_nothing_written();
    return check_report();
}
