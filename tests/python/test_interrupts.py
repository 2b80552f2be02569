"""Ctrl-C in the middle of a run: answered between blocks, nothing recorded is lost."""

import signal

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import windgrove as wg
from trees_for_tests import sapling, sturdy


class Pressed:
    """A wind in which somebody presses Ctrl-C at half a second."""

    def __init__(self, presses=1):
        self.presses = presses

    def sample(self, points, time=None):
        if time > 0.5:
            for _ in range(self.presses):
                signal.raise_signal(signal.SIGINT)
            self.presses = 0
        return np.tile([5.0, 0, 0], (len(points), 1))


def test_a_recorded_run_closes_its_file_and_can_go_on(tmp_path):
    sway = wg.Sway(sapling(20), sturdy(), noise=0)
    with pytest.raises(KeyboardInterrupt):
        wg.simulate(sway, Pressed(), duration=600, record=tmp_path / "run.h5", progress=False)
    with wg.open_recording(tmp_path / "run.h5") as ds:
        assert ds.attrs["status"] == "interrupted"
        assert 15 <= ds.sizes["time"] - 1 <= sway.steps
        frames = ds.rotation.values
    other = wg.Sway(sapling(20), sturdy(), noise=0)
    other.step(wg.UniformWind((5, 0, 0)), steps=sway.steps)
    assert_array_equal(other.rotation, sway.rotation)
    assert_array_equal(frames[-1], sway.rotation)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    sway.step(None, steps=3)


def test_without_a_file_the_frames_so_far_are_returned():
    sway = wg.Sway(sapling(20), sturdy())
    with pytest.warns(UserWarning, match="interrupted"):
        ds = wg.simulate(sway, Pressed(), duration=60, progress=False)
    assert 1 < ds.sizes["time"] < 1801 and ds.attrs["status"] == "interrupted"
    assert_array_equal(ds.rotation[-1], sway.rotation)


def test_a_second_press_is_not_held_back():
    sway = wg.Sway(sapling(20), sturdy())
    with pytest.warns(UserWarning, match="interrupted"):
        wg.simulate(sway, Pressed(2), duration=60, progress=False)
    assert sway.steps >= 14


def test_steps_by_hand_end_with_clock_and_motion_together():
    sway = wg.Sway(sapling(20), sturdy(), noise=0)
    with pytest.raises(KeyboardInterrupt):
        sway.step(Pressed(), steps=60)
    assert 15 <= sway.steps <= 60
    other = wg.Sway(sapling(20), sturdy(), noise=0)
    other.step(wg.UniformWind((5, 0, 0)), steps=sway.steps)
    assert_array_equal(other.rotation, sway.rotation)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_a_wind_has_made_diverge_keeps_its_cause():
    class Storm:
        def sample(self, points, time=None):
            return np.full((len(points), 3), np.nan if time > 0.5 else 5.0)

    sway = wg.Sway(sapling(20), sturdy())
    with pytest.raises(wg.Diverged, match="wind is not finite") as first:
        sway.step(Storm(), steps=60)
    with pytest.raises(wg.Diverged, match="wind is not finite") as again:
        sway.step(wg.UniformWind((5, 0, 0)))
    assert again.value.step == first.value.step == sway.steps
