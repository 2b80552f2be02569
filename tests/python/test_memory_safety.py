"""What would reach memory that is not the caller's: refused, or copied before it is checked."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from windgrove import _kernels, kernels
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
