"""What would reach memory that is not the caller's: refused, or copied before it is checked."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from windgrove import Wind, _kernels, kernels
from windgrove.kernels.trees import total_mass
from windgrove.wind.protocol import GridView, Prevailing, WindView

AIR = np.ones((3, 9, 9, 9), np.float32)


@pytest.mark.parametrize("scratch", [[1], bytearray(99), "text", 5, b"bytes", object()])
def test_scratch_that_is_no_array_is_refused_by_name(scratch):
    for call in (
        lambda: kernels.jacobi_sweeps(AIR[0], 1.0, scratch=scratch),
        lambda: kernels.project(AIR, 1.0, scratch=scratch),
        lambda: kernels.advect(AIR, AIR, 1.0, 0.1, scratch=scratch),
        lambda: kernels.confine_vorticity(AIR, 1.0, 0.1, 1.0, scratch=scratch),
    ):
        with pytest.raises(TypeError, match="scratch: expected"):
            call()


@pytest.mark.parametrize("method", [("pcg", "consistent"), ("multigrid", "compact")])
@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_iterations_make_nan_of_a_velocity_that_is_not_finite(method, built, bad):
    """Not what the memory held; and the next call with the same scratch knows nothing of it."""
    name, form = method
    solid = np.zeros(AIR.shape[1:], bool)
    solid[2, 3, 4] = built
    options = {"method": name, "discretisation": form, "solid": solid if built else None}
    scratch = kernels.projection_scratch(
        AIR.shape[1:], method=name, discretisation=form, solid=built
    )
    noise = np.random.default_rng(1).normal(size=AIR.shape).astype(np.float32)
    clean = kernels.project(noise, 1.0, **options)
    dirty = AIR.copy()
    dirty[0, 4, 4, 4] = bad
    inside = (slice(None), *(slice(1, -1),) * 3)
    for _ in range(2):
        kernels.project(1e6 * noise, 1.0, scratch=scratch, **options)
        seen = kernels.project(dirty, 1.0, scratch=scratch, **options)
        assert np.isnan(seen[inside]).sum() >= 3 * (7**3 - 1 - 6)
        assert_array_equal(kernels.project(noise, 1.0, scratch=scratch, **options), clean)


def test_a_grid_that_makes_its_array_at_each_look_is_refused():
    class Fleeting:
        origin, spacing = (0.0, 0.0, 0.0), 1.0

        @property
        def velocity(self):
            return np.ones((3, 4, 4, 4), np.float32)

    class FleetingCells(Fleeting):
        velocity = np.ones((3, 4, 4, 4), np.float32)

        @property
        def cells(self):
            return np.ones((4, 4, 4, 4), np.float32)

    class FleetingLevels:
        outside = Prevailing((0.0, 0.0, 0.0))

        @property
        def levels(self):
            return (GridView(np.ones((3, 4, 4, 4), np.float32), (0.0, 0.0, 0.0), 1.0),)

    outside = Prevailing((0.0, 0.0, 0.0))
    for view, name in (
        (WindView((Fleeting(),), outside), "velocity"),
        (WindView((FleetingCells(),), outside), "cells"),
        (FleetingLevels(), "levels"),
    ):
        with pytest.raises(TypeError, match=f"{name}: made anew at each look"):
            kernels.sample_wind(view, [[1.0, 1.0, 1.0]])


def test_parents_are_copied_before_they_are_checked(monkeypatch):
    """Another thread may write to the caller's array while the C code runs without the lock."""
    parent = np.array([-1, 0, 1], np.int32)
    given = []
    true = _kernels.total_mass
    monkeypatch.setattr(
        "windgrove.kernels.trees._kernels.total_mass", lambda *a: (given.append(a[1]), true(*a))
    )
    total_mass(np.ones(3), parent)
    assert not np.shares_memory(given[0], parent)
    step = _kernels.step_springs
    monkeypatch.setattr(
        "windgrove.kernels.sway._kernels.step_springs", lambda *a: (given.append(a[6]), step(*a))[1]
    )
    zeros, ones = np.zeros((3, 3), np.float32), np.ones(3)
    kernels.step_springs(
        zeros, zeros.copy(), zeros.copy(), position=np.zeros((3, 3)),
        direction=np.tile([0.0, 0.0, 1.0], (3, 1)), length=ones, parent=parent, mass=ones,
        stiffness=ones, damping=ones, drag=ones, wind=zeros.copy(), dt=0.01,
    )  # fmt: skip
    assert not np.shares_memory(given[1], parent)


def _grids(lows):
    sides = (6, 10, 10)
    return tuple(
        (np.zeros((3, *sides), np.float32), np.zeros(sides, np.float32), None,
         np.array(low, np.int64), 2.0**level)
        for level, low in enumerate(lows)
    )  # fmt: skip


NESTED = [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "lows",
    [
        [[100, 100, 100], [0, 0, 0]],
        [[0, 0, 0], [2, 0, 0]],
        [[1, 0, 0], [0, 0, 0]],
        [[10**17, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [-(2**63), 0, 0]],
    ],
)
def test_grids_that_are_not_inside_each_other_are_refused(lows):
    outside = Prevailing((5.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="low: "):
        _kernels.cascade_move(_grids(lows), None, outside, None, 1)
    with pytest.raises(ValueError, match="low: "):
        _kernels.cascade_move(_grids(NESTED), np.array(lows, np.int64), outside, None, 1)
    _kernels.cascade_move(_grids(NESTED), np.array(NESTED, np.int64), outside, None, 1)


@pytest.mark.parametrize("drift", [np.nan, np.inf, 1e300])
def test_a_drift_of_the_noise_that_no_lattice_holds_is_refused(drift):
    noise = (np.zeros((3, 512), np.uint8), 0.1, 4.0, np.array([drift, 0.0, 0.0]))
    with pytest.raises(ValueError, match="offset: expected finite numbers below"):
        _kernels.cascade_inject(_grids(NESTED)[0], Prevailing((5.0, 0.0, 0.0)), noise, True, 1)


@pytest.mark.parametrize("height", [1e300, -1e300, 1e16])
def test_a_floor_beyond_every_integer_is_refused(height):
    with pytest.raises(ValueError, match="focus or floor: expected a point within"):
        Wind((5, 0, 0), cells=(8, 8, 4), levels=2, floor=height, focus=(0, 0, 2))
