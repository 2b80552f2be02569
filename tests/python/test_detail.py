"""Simulation detail: what does not move is carried, and nothing jumps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg
from trees_for_tests import sapling, sturdy

WIND = wg.UniformWind((5, 1, 0))


@pytest.mark.parametrize("state", ["float32", "packed"])
@pytest.mark.parametrize("count", [1, 9])
def test_what_does_not_move_keeps_angle_and_velocity_and_the_rest_goes_on(state, count):
    tree = sapling(60)
    at = [(3.0 * i, 0, 0) for i in range(count)]
    sway = wg.Sway(tree, sturdy(), at=at, state=state)
    sway.step(WIND, steps=20)
    for detail, limit in (("wood", 2), ("trunk", 1), ("frozen", 0)):
        held = tree.kind >= limit
        before, rate = sway.rotation, sway.angular_velocity
        sway.set_detail(detail)
        assert set(sway.detail) == {detail}
        assert_array_equal(sway.rotation, before)
        sway.step(WIND, steps=7)
        assert_array_equal(sway.rotation[:, held], before[:, held])
        assert_array_equal(sway.angular_velocity[:, held], rate[:, held])
        assert limit == 0 or (sway.rotation[:, ~held] != before[:, ~held]).any(axis=2).all()
    before = sway.rotation
    sway.set_detail("full")
    sway.step(WIND)
    # One step at the velocities that were kept: no jump.
    assert np.abs(sway.rotation - before).max() < 0.2
    sway.step(None, steps=3000)
    assert np.abs(sway.rotation).max() < 1e-3


def test_detail_is_a_matter_of_each_tree_and_changes_no_other():
    at = [(3.0 * i, 0, 0) for i in range(9)]
    mixed, full = (wg.Sway(sapling(60), sturdy(), at=at) for _ in range(2))
    mixed.set_detail("trunk", [2, 5])
    for sway in (mixed, full):
        sway.step(WIND, steps=20)
    others = np.setdiff1d(np.arange(9), [2, 5])
    assert_array_equal(mixed.rotation[others], full.rotation[others])
    # Without its leaves' and branches' own motion the trunk moves the same: it leads.
    assert_array_equal(mixed.rotation[2, 0], full.rotation[2, 0])


def test_the_error_falls_with_distance_and_chooses_the_detail():
    sway = wg.Sway(sapling(60), sturdy(), at=[(0, 0, 0), (100, 0, 0), (10000, 0, 0)])
    error = sway.detail_error((0, -10, 3))
    assert error.shape == (3, 4) and not error[:, 0].any()
    assert (np.diff(error, axis=1) >= 0).all() and (error[0, 1:] > error[2, 1:]).all()
    middle = np.array([0, 0, 0.5 * sway.tree.height])
    near, far = (np.linalg.norm(sway.at[i] + middle - [0, -10, 3]) for i in (0, 2))
    assert_allclose(error[0] * near, error[2] * far, rtol=1e-12)
    sway.choose_detail((0, -10, 3), tolerance=1e-3)
    assert sway.detail[0] == "full" and sway.detail[2] == "frozen"
    with pytest.raises(ValueError, match="detail"):
        sway.set_detail("half")
    with pytest.raises(ValueError, match="instance"):
        sway.set_detail("full", 7)
