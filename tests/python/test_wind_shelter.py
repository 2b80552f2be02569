"""Trees shelter the wind: the sink's sums, its limits, and the wake of a windbreak."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from windgrove import Shelter, Wind
from windgrove.sway.sheltering import TreeShelter
from windgrove.wind.shelter import spread

SMALL = {"cells": (16, 12, 8), "levels": 2, "cell_size": 0.5, "turbulence": 0.0}


def fence(drag=30.0):
    """A porous fence across the wind at x = -1, 2 m high."""
    y, z = np.meshgrid(np.arange(-1.75, 2, 0.5), np.arange(0.25, 2, 0.5))
    return Shelter(np.stack([np.full(y.size, -1.0), y.ravel(), z.ravel()], axis=1), drag / y.size)


def test_off_is_the_same_to_the_bit():
    never = Wind((6, 0, 0), **SMALL)
    ended = Wind((6, 0, 0), **SMALL, shelter=fence())
    ended.shelter = None
    for number in range(5):
        never.step(focus=(0.4 * number, 0, 2))
        ended.step(focus=(0.4 * number, 0, 2))
    assert_array_equal(ended.velocity(0), never.velocity(0))


def test_the_sink_holds_all_of_the_drag():
    """Sum of rate x mass of the cell's air: float32 rates, a few 1e-7 relative."""
    rng = np.random.default_rng(0)
    shelter = Shelter(rng.uniform((-3, -2, 0.5), (3, 2, 3.5), (500, 3)), rng.uniform(0, 2, 500))
    wind = Wind((6, 0, 0), **SMALL)
    for grid in wind._grids:
        rate = spread(shelter, grid)
        assert_allclose(
            rate.sum(dtype=float) * 1.225 * grid.spacing**3, shelter.total_drag, rtol=1e-6
        )
        border = np.ones(rate.shape, bool)
        border[1:-1, 1:-1, 1:-1] = False
        assert not rate[border].any()


def test_a_point_on_a_cell_centre_slows_that_cell_alone():
    wind = Wind((6, 0, 0), **SMALL, shelter=Shelter([[0.25, 0.25, 1.25]], 0.5))
    rate = wind._grids[0].drag
    at = tuple(
        round((p - o) / 0.5 - 0.5)
        for p, o in zip((1.25, 0.25, 0.25), wind.origin(0)[::-1], strict=True)
    )
    assert np.argwhere(rate).tolist() == [list(at)]
    assert_allclose(rate[at], 0.5 / (1.225 * 0.125), rtol=1e-6)


def test_even_an_endless_drag_only_stops_the_air():
    """Implicit: the wind never turns round. Beside the sink the projection makes air recoil."""
    wind = Wind((6, 0, 0), **SMALL, shelter=fence(drag=1e9), vorticity=0.0)
    rate = wind._grids[0].drag
    from windgrove import _kernels

    _kernels.cascade_drag(wind._grids[0].fields, rate, wind.dt, 1)
    slowed = wind.velocity(0)[0]
    assert np.all((slowed >= 0) & (slowed <= 6))
    assert slowed[rate > 0].max() < 1e-3


def test_a_windbreak_casts_a_wake():
    shelter = fence()
    sheltered, free = Wind((6, 0, 0), **SMALL, shelter=shelter), Wind((6, 0, 0), **SMALL)
    for _ in range(90):
        sheltered.step()
        free.step()
    x = np.arange(-3.5, 3.6, 0.5)
    points = np.stack([x, 0 * x, 0 * x + 1.0], axis=1)
    with_it, without = (wind.sample(points)[:, 0] for wind in (sheltered, free))
    assert_allclose(without, 6, atol=1e-5)
    behind = with_it[(x > -0.5) & (x < 2.5)]
    assert behind.max() < 5.5
    assert with_it[0] > behind.max()
    above = sheltered.sample([[0.5, 0, 3.2]])[0, 0]
    assert above > behind.max()


def test_the_wake_follows_a_grid_that_moves():
    shelter = fence()
    wind = Wind((6, 0, 0), **SMALL, shelter=shelter)
    wind.step(focus=(2, 0, 2))
    fresh = Wind((6, 0, 0), **SMALL, shelter=shelter, focus=(2, 0, 2))
    for level in range(2):
        assert_array_equal(wind._grids[level].drag, fresh._grids[level].drag)


def test_a_tree_takes_its_direct_drag_times_its_arm_evenly_along_each_branch():
    tree = wg.grow_tree("oak", seed=3)
    shelter = Shelter.of_tree(tree, "oak", at=[(0, 0, 0), (10, 0, 0)])
    direct = wg.branch_parameters(tree, "oak").direct_drag
    count = np.maximum(np.ceil(tree.length / 0.25), 1).astype(int)
    assert len(shelter) == 2 * count.sum()
    # Rounding of a few thousand summands in double precision.
    assert_allclose(shelter.total_drag, 2 * np.sum(0.75 * tree.length * direct), rtol=1e-12)
    stem = shelter.drag[: count[0]]
    assert_allclose(stem, stem[0], rtol=1e-14)
    assert_allclose(stem.sum(), 0.75 * tree.length[0] * direct[0], rtol=1e-12)
    at = (shelter.points[: count[0]] - tree.position[0]) @ tree.direction[0]
    # Middles of equal pieces: no more than a quarter of a metre apart, from end to end.
    assert_allclose(at, (np.arange(count[0]) + 0.5) * tree.length[0] / count[0], atol=1e-12)
    assert np.diff(at).max() <= 0.25
    first, second = np.split(shelter.points, 2)
    assert_allclose(second - first, np.tile([10.0, 0, 0], (count.sum(), 1)), atol=1e-12)


def test_the_drag_of_a_trunk_leaves_no_cell_along_it_out():
    """A stem of 6 m in cells of half a metre: every cell along it takes the same share."""
    stem = wg.Tree(
        position=[[0.25, 0.25, 0.5]], direction=[[0, 0, 1]], length=[2.0], volume=[0.02],
        area=[0.0], kind=[0], parent=[-1],
    )  # fmt: skip
    wind = Wind((6, 0, 0), cells=(16, 12, 8), levels=1, turbulence=0.0)
    rate = spread(Shelter.of_tree(stem, "oak"), wind._grids[0])
    column = rate.max(axis=(1, 2))
    low = round((0.5 - wind.origin(0)[2]) / 0.5)
    # Points at the middles of quarter metres: half a cell's lies on each side of every face.
    assert_allclose(column[low : low + 4] / column[low + 1], [0.875, 1.0, 1.0, 0.875], rtol=1e-5)


def test_a_turned_tree_shelters_from_where_its_branches_are():
    tree = wg.grow_tree("birch", seed=1)
    sway = wg.Sway(tree, "birch", at=[(3.0, 0, 0)], turn=[0.7], scale=[0.5])
    sway.step(wg.UniformWind((9, 0, 0)), steps=40)
    wind = Wind((6, 0, 0), **SMALL)
    trees = TreeShelter(sway, wind)
    trees.apply()
    direct = wg.branch_parameters(tree, "birch").direct_drag
    expected = np.sum(0.75 * 0.5 * tree.length * direct)
    assert_allclose(wind.shelter.total_drag, expected, rtol=1e-12)
    # The load of a branch that is even along it acts at its middle.
    root, tip = (ends[0] for ends in sway.groups[0].ends())
    weight = tree.length * direct
    middle = np.average(0.5 * (root + tip), axis=0, weights=weight)
    seen = np.average(wind.shelter.points, axis=0, weights=wind.shelter.drag)
    assert_allclose(seen, middle, atol=1e-10)


def test_shelter_is_part_of_state_copies_and_pickles():
    wind = Wind((6, 0, 0), **SMALL, shelter=fence())
    wind.step()
    others = [wind.copy(), pickle.loads(pickle.dumps(wind)), Wind((6, 0, 0), **SMALL)]
    others[2].restore(wind.state())
    wind.step()
    for other in others:
        other.step()
        assert_array_equal(other.velocity(0), wind.velocity(0))


def test_the_thread_count_changes_no_bit():
    runs = []
    for threads in (1, 3):
        wind = Wind((6, 0, 0), **SMALL, shelter=fence(), threads=threads)
        for _ in range(4):
            wind.step()
        runs.append(wind.velocity(0))
    assert_array_equal(runs[0], runs[1])


@pytest.mark.parametrize(
    ("make", "error", "name"),
    [
        (lambda: Shelter([[0, 0]], 1.0), ValueError, "points"),
        (lambda: Shelter([[0, 0, np.nan]], 1.0), ValueError, "points"),
        (lambda: Shelter([[0, 0, 0]], [1.0, 2.0]), ValueError, "drag"),
        (lambda: Shelter([[0, 0, 0]], -1.0), ValueError, "drag"),
        (lambda: Shelter([[0, 0, 0]], 1.0, air_density=0), ValueError, "air_density"),
        (lambda: Wind((6, 0, 0), shelter=3), TypeError, "shelter"),
    ],
)
def test_bad_input_names_the_argument(make, error, name):
    with pytest.raises(error, match=name):
        make()


def test_a_tree_that_shelters_slows_the_wind_behind_it_and_sways_less():
    tree = wg.grow_tree("oak", seed=2)
    runs = {}
    for shelter in (False, True):
        wind = Wind((8, 0, 0), cells=(16, 16, 16), levels=2, cell_size=1.0, turbulence=0.0)
        sway = wg.Sway(tree, "oak")
        run = wg.simulate(sway, wind, duration=4, shelter=shelter, progress=False)
        height = tree.position[:, 2].max() * 0.7
        behind = wind.sample([[x, 0, height] for x in (3.0, 4.0, 5.0)])[:, 0].mean()
        runs[shelter] = (behind, np.abs(run.rotation.isel(branch=0, time=-1)).max().item(), wind)
    assert runs[True][0] < 0.95 * runs[False][0]
    assert runs[True][1] < runs[False][1]
    assert runs[True][2].shelter is None


def test_only_a_wind_with_grids_can_be_sheltered():
    sway = wg.Sway(wg.grow_tree("oak", seed=2), "oak")
    with pytest.raises(ValueError, match="shelter: only the grids of a Wind"):
        wg.simulate(sway, wg.UniformWind((5, 0, 0)), duration=0.1, shelter=True)
