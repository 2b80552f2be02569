"""Leaves by rule, seasons, and merging twigs to a budget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import windgrove as wg
from windgrove.trees.budget import merge_twigs
from windgrove.trees.foliage import (
    add_foliage,
    bare,
    crown_ground_area,
    crown_hull_area,
    set_leaf_fraction,
)
from windgrove.trees.tree import Tree


def random_wood(rng, n):
    """A tree of n branches: a trunk, the others on a random earlier one."""
    parent = np.array([-1, *[int(rng.integers(0, i)) for i in range(1, n)]])
    direction = rng.normal(size=(n, 3))
    direction[0] = 0, 0, 1
    return Tree(
        position=rng.uniform(-3, 3, (n, 3)) + np.array([0, 0, 5]),
        direction=direction / np.linalg.norm(direction, axis=1)[:, None],
        length=rng.uniform(0.01, 3, n) * np.where(np.arange(n) == 0, 4, 1),
        volume=rng.uniform(1e-7, 1e-2, n) * np.where(np.arange(n) == 0, 100, 1),
        area=np.zeros(n),
        kind=(np.arange(n) > 0).astype(int),
        parent=parent,
    )


def childless(tree):
    return np.setdiff1d(np.flatnonzero(tree.kind < 2), tree.parent)


@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.floats(0.1, 8))
def test_every_childless_branch_carries_one_bundle_in_proportion_to_its_length(n, seed, index):
    wood = random_wood(np.random.default_rng(seed), n)
    tree = add_foliage(wood, leaf_area_index=index, share="length", largest=np.inf)
    carriers = childless(wood)
    leaf = tree.kind == 2
    assert np.array_equal(tree.parent[leaf], carriers)
    assert_allclose(tree.position[leaf], wood.tip[carriers])
    assert_allclose(tree.direction[leaf], wood.direction[carriers])
    assert_allclose(tree.length[leaf], np.sqrt(tree.area[leaf]), rtol=1e-14)
    share = wood.length[carriers] / wood.length[carriers].sum()
    assert_allclose(tree.area[leaf], index * crown_ground_area(wood) * share, rtol=1e-12)


def stem_with_twigs(sections, parents):
    """Upright branches 1 m long of the given cross-sections (m2); the first is a 4 m stem."""
    n = len(sections)
    length = np.where(np.arange(n) == 0, 4.0, 1.0)
    return Tree(
        position=np.stack([np.arange(n) * 0.1, np.arange(n) ** 2 * 0.1, np.ones(n)], 1),
        direction=np.tile([0.0, 0, 1], (n, 1)),
        length=length,
        volume=np.array(sections) * length,
        area=np.zeros(n),
        kind=(np.arange(n) > 0).astype(int),
        parent=parents,
    )


def test_twigs_carry_leaves_in_proportion_to_their_cross_section():
    # The pipe model (Shinozaki et al. 1964): a twig of twice the radius has four times the leaves.
    wood = stem_with_twigs([1e-2, 1e-4, 4e-4], [-1, 0, 0])
    assert_allclose(add_foliage(wood, leaf_area=1.0).area[3:], [0.2, 0.8], rtol=1e-14)


def test_a_thin_limb_does_not_bear_the_crown_that_its_twigs_could():
    # Ten twigs of 1 cm2 on a limb of 1 cm2 and ten on the stem: the limb supplies twice its own
    # cross-section, 2 of 12, where the twigs alone would have 10 of 20.
    sections = [4e-3, 1e-4, *[1e-4] * 20]
    wood = stem_with_twigs(sections, [-1, 0, *[1] * 10, *[0] * 10])
    area = add_foliage(wood, leaf_area=12.0).area[22:]
    assert_allclose(area, [0.2] * 10 + [1.0] * 10, rtol=1e-12)


@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.floats(0.01, 5), st.integers(60, 400))
def test_no_bundle_is_larger_than_asked_while_the_limit_allows_it(n, seed, largest, limit):
    wood = random_wood(np.random.default_rng(seed), n)
    tree = add_foliage(wood, leaf_area=30.0, largest=largest, limit=limit)
    area = tree.area[tree.kind == 2]
    carriers = childless(wood)
    assert area.sum() == pytest.approx(30.0, rel=1e-12)
    assert len(area) <= limit
    assert set(tree.parent[n:]) == set(carriers)
    assert area.max() <= max(largest, 30.0 / (limit - len(carriers))) * (1 + 1e-9)
    # Never on the inner half of what carries them.
    along = np.sum((tree.position[n:] - wood.position[tree.parent[n:]]) ** 2, axis=1) ** 0.5
    assert (along >= 0.5 * wood.length[tree.parent[n:]] * (1 - 1e-9)).all()


def test_at_most_the_longest_thousand_carry_leaves():
    wood = random_wood(np.random.default_rng(1), 400)
    carriers = childless(wood)
    tree = add_foliage(wood, limit=50)
    longest = carriers[np.argsort(-wood.length[carriers])[:50]]
    assert set(tree.parent[tree.kind == 2]) == set(longest)
    assert tree.area.sum() == pytest.approx(3.0 * crown_ground_area(wood))


def test_the_hull_of_a_square_crown_has_its_area():
    corners = np.array([[1, 1, 3], [-1, 1, 3], [-1, -1, 3], [1, -1, 3], [0.2, 0.1, 4]], float)
    n = len(corners) + 1
    up = np.tile([0.0, 0, 1], (n, 1))
    tree = Tree(
        position=np.concatenate([[[0, 0, 0]], corners]),
        direction=up,
        length=np.full(n, 2.0),
        volume=np.full(n, 0.01),
        area=np.zeros(n),
        kind=[0, 1, 1, 1, 1, 1],
        parent=[-1, 0, 0, 0, 0, 0],
    )
    assert crown_ground_area(tree) == pytest.approx(4.0, rel=1e-14)
    # From the side: 2 m wide from 3 to 5 m and a triangle to the tip at 6 m.
    assert crown_hull_area(tree, "x") == pytest.approx(2 * 2 + 2 * 1 / 2, rel=1e-12)


@given(st.integers(3, 400), st.integers(0, 2**32 - 1))
def test_the_hull_is_that_of_scipy(n, seed):
    from scipy.spatial import ConvexHull

    from windgrove.trees.foliage import _hull

    points = np.random.default_rng(seed).normal(size=(n, 2))
    x, y = _hull(points).T
    area = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
    assert area == pytest.approx(ConvexHull(points).volume, rel=1e-12)


def test_an_upright_stem_needs_its_leaf_area_told():
    stem = random_wood(np.random.default_rng(2), 2).replace(
        position=[[0, 0, 0], [0, 0, 3]], direction=[[0, 0, 1], [0, 0, 1]]
    )
    with pytest.raises(ValueError, match="leaf_area: the crown covers no ground"):
        add_foliage(stem)
    assert add_foliage(stem, leaf_area=2.5).area.sum() == pytest.approx(2.5)


def test_seasons_scale_the_leaves_and_bare_takes_them_off():
    tree = wg.grow_tree("maple", seed=3)
    half = set_leaf_fraction(tree, 0.5)
    assert_allclose(half.area, 0.5 * tree.area)
    leaf = tree.kind == 2
    assert_allclose(half.length[leaf], np.sqrt(half.area[leaf]), rtol=1e-12)
    assert np.array_equal(half.length[~leaf], tree.length[~leaf])
    winter = bare(tree)
    assert len(winter) == int((~leaf).sum()) and not winter.area.any()
    assert np.array_equal(winter.length, tree.length[~leaf])
    assert np.array_equal(winter.parent, tree.parent[~leaf])
    assert set_leaf_fraction(tree, 1.0) is tree
    assert len(wg.grow_tree("maple", seed=3, foliage=False)) == len(winter)
    assert_allclose(wg.grow_tree("maple", seed=3, leaf_fraction=0.5).area, half.area)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, np.nan])
def test_a_season_outside_bare_to_full_is_refused(fraction):
    with pytest.raises(ValueError, match="fraction"):
        set_leaf_fraction(wg.grow_tree("maple", seed=3), fraction)


def direct_drag(tree):
    return np.where(tree.kind == 2, tree.area, 2 * np.sqrt(tree.length * tree.volume / np.pi))


@given(st.integers(4, 80), st.integers(0, 2**32 - 1), st.booleans())
def test_merging_keeps_mass_direct_drag_and_the_trunk(n, seed, leaves):
    """The rule keeps all three exactly; 1e-12 is the rounding of sums of 80 terms."""
    tree = random_wood(np.random.default_rng(seed), n)
    if leaves:
        tree = add_foliage(tree)
    budget = max(len(tree) // 3, 3)
    merged = merge_twigs(tree, budget)
    assert len(merged) <= budget
    assert merged.volume.sum() == pytest.approx(tree.volume.sum(), rel=1e-12)
    assert merged.area.sum() == pytest.approx(tree.area.sum(), rel=1e-12)
    assert direct_drag(merged).sum() == pytest.approx(direct_drag(tree).sum(), rel=1e-12)
    before, after = wg.natural_frequencies(tree, "oak")[0], wg.natural_frequencies(merged, "oak")[0]
    assert float(after) == pytest.approx(float(before), rel=1e-12)
    assert merged.report.attributes["merged_branches"] > 0
    assert merged.report.repairs[-1].kind == "merged-twigs"


def test_a_tree_within_its_budget_is_left_alone():
    tree = wg.grow_tree("oak", seed=1)
    assert merge_twigs(tree, len(tree)) is tree


def branch_with_two_twigs():
    return Tree(
        position=[[0, 0, 0], [0, 0, 8], [1, 0, 8], [2, 0, 8]],
        direction=[[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0]],
        length=[10.0, 4.0, 0.5, 0.3],
        volume=[1.0, 0.04, 0.002, 0.001],
        area=np.zeros(4),
        kind=[0, 1, 1, 1],
        parent=[-1, 0, 1, 1],
    )


def test_two_twigs_on_one_branch_become_longer_by_the_rule():
    """By hand: V adds up, sqrt(l V) adds up."""
    tree = branch_with_two_twigs()
    merged = merge_twigs(tree, 2)
    root = np.sqrt(4.0 * 0.04) + np.sqrt(0.5 * 0.002) + np.sqrt(0.3 * 0.001)
    assert_allclose(merged.volume, [1.0, 0.043])
    assert_allclose(merged.length, [10.0, root**2 / 0.043])
    with pytest.raises(ValueError, match=r"budget: 1 branches cannot be met; the least .* is 2"):
        merge_twigs(tree, 1)


def test_the_drag_that_a_species_hands_down_is_reported_for_that_species():
    """By hand: the branch sits at 0.8 of the trunk; its twigs' drag passes the branch's propagation
    before they are merged, and no longer after. 1e-12 is rounding."""
    tree = branch_with_two_twigs()
    oak = wg.load_species("oak").replace(
        trunk={"gamma": 0.3, "propagation": 0.7}, branch={"gamma": 0.5, "propagation": 0.4}
    )
    trunk, branch, *twigs = 2 * np.sqrt(tree.length * tree.volume / np.pi)
    own, on_the_way = 0.3 * trunk, 0.7 * 0.8 * 0.5
    before = own + on_the_way * (branch + 0.4 * sum(twigs))
    after = own + on_the_way * (branch + sum(twigs))
    report = merge_twigs(tree, 2, species=oak).report
    change = report.attributes["merge_trunk_drag_change"]
    assert change == pytest.approx(after / before - 1, rel=1e-12)
    assert f"drag at the trunk by {change:.1e} (as oak propagates it)" in str(report.repairs[-1])
    everything = merge_twigs(tree, 2).report
    assert everything.attributes["merge_trunk_drag_change"] == pytest.approx(0, abs=1e-15)
    assert "(propagation and gamma 1)" in str(everything.repairs[-1])


def test_a_species_without_drag_reports_no_change_of_drag():
    still = {"gamma": 0.0}
    oak = wg.load_species("oak").replace(trunk=still, branch=still, foliage=still)
    attributes = merge_twigs(branch_with_two_twigs(), 2, species=oak).report.attributes
    assert attributes["merge_trunk_drag_change"] == attributes["merge_direct_drag_change"] == 0


def test_a_scanned_tree_reports_the_drag_that_its_species_hands_down(data):
    """The report against the parameters of both trees, asked for one by one."""
    path, oak = data / "leafgen/ExampleQSM.mat", wg.load_species("oak")
    whole = wg.read_tree(path, foliage="bundles")
    merged = wg.read_tree(path, foliage="bundles", branch_budget=600, species="oak")
    expected = wg.branch_parameters(merged, oak).drag[0] / wg.branch_parameters(whole, oak).drag[0]
    assert expected > 1.1
    change = merged.report.attributes["merge_trunk_drag_change"]
    assert change == pytest.approx(expected - 1, rel=1e-12)


def test_cylinders_of_merged_twigs_follow_the_branch_that_took_them_up():
    tree = wg.grow_tree("ash", seed=2)
    merged = merge_twigs(tree, 250)
    assert len(merged.segments) == len(tree.segments)
    assert merged.segments.branch.max() < len(merged)
    assert np.array_equal(tree.segments.branch == 0, merged.segments.branch == 0)


@pytest.mark.parametrize(
    ("name", "budget"),
    [("leafgen/ExampleQSM.mat", 600), ("canopyhydro/example_tree.csv", 1500)],
)
def test_scanned_trees_meet_a_budget_without_a_change_that_shows(data, name, budget):
    """Drag at the trunk moves by 3e-6 and 1e-6; where it sits on the limbs may move a little."""
    tree = wg.read_tree(data / name, foliage="bundles", branch_budget=budget)
    assert len(tree) <= budget
    changes = tree.report.attributes
    assert abs(changes["merge_trunk_drag_change"]) < 1e-3
    assert abs(changes["merge_trunk_frequency_change"]) < 1e-12
    assert changes["merge_stretch"] < 6


@pytest.mark.parametrize("budget", [600, 250])
def test_leaves_by_rule_are_those_of_the_whole_tree_whatever_the_budget(data, budget):
    """Sums of the merging rule are kept exactly; what differs is the order of summation."""
    oak = wg.load_species("oak")
    path = data / "leafgen/ExampleQSM.mat"
    whole = wg.read_tree(path, foliage="bundles")
    merged = wg.read_tree(path, foliage="bundles", branch_budget=budget)
    assert len(merged) <= budget
    assert merged.area.sum() == pytest.approx(whole.area.sum(), rel=1e-12)
    before, after = wg.branch_parameters(whole, oak), wg.branch_parameters(merged, oak)
    assert after.mass[0] == pytest.approx(before.mass[0], rel=1e-12)
    assert after.direct_drag.sum() == pytest.approx(before.direct_drag.sum(), rel=1e-12)
    assert after.frequency[0] == pytest.approx(before.frequency[0], rel=1e-12)


def leaf_load(tree):
    """m2 of leaf that every branch of wood bears, and its cross-section, cm2."""
    load = tree.area.copy()
    for i in reversed(range(len(tree))):
        if tree.parent[i] >= 0:
            load[tree.parent[i]] += load[i]
    wood = tree.kind < 2
    return load[wood], 1e4 * tree.volume[wood] / tree.length[wood]


def test_no_limb_of_a_scan_bears_many_times_the_leaves_of_its_trunk(data):
    """The figures of docs/concepts/growing.md: by length a limb of archi bears 5.7 m2 a cm2."""
    seen = {}
    for share in ("length", "pipes"):
        tree = wg.read_tree(
            data / "archi" / "Tree_1_TreeQSM.txt",
            foliage="bundles",
            foliage_options={"leaf_area_index": 4.0, "share": share},
        )
        load, section = leaf_load(tree)
        limb = load > 100
        limb[0] = False
        seen[share] = (load[limb] / section[limb]).max() / (load[0] / section[0])
        assert load[0] / section[0] == pytest.approx(0.62, abs=0.01)
    assert seen["length"] == pytest.approx(5.7 / 0.62, rel=0.02)
    assert seen["pipes"] < 3.0
