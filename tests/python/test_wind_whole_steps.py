"""A step of the wind is taken whole or not at all, and a state is checked before it is taken."""

import copy
import dataclasses
import pickle
import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import windgrove as wg

CELLS = {"cells": (8, 8, 4), "levels": 2}


def same(a, b):
    assert a.time == b.time
    for level in range(a.levels):
        assert_array_equal(a.velocity(level), b.velocity(level))
        assert_array_equal(a.solid(level), b.solid(level))
        assert a.origin(level) == b.origin(level)
    assert_array_equal(a.state().drift, b.state().drift)


class Way:
    """A motion that fails once at a time."""

    def __init__(self, when, how):
        self.when, self.how = when, how

    def __call__(self, time):
        if self.when is not None and time > self.when:
            self.when = None
            if self.how == "raises":
                raise RuntimeError("motion")
            return (np.nan, 0.0, 0.0)
        return (0.5 * time, 0.0, 0.0)


def moving(when=None, how="raises", **more):
    sphere = wg.Sphere((0.0, 0.0, 1.0), 0.8, motion=Way(when, how))
    return wg.Wind((6, 1, 0), **CELLS, solids=[sphere], **more)


@pytest.mark.parametrize("how", ["raises", "is not a number"])
def test_a_motion_that_fails_leaves_the_wind_where_it_was(how):
    wind, other = moving(0.05, how), moving()
    wind.step()
    other.step()
    with pytest.raises((RuntimeError, ValueError), match="motion"):
        wind.step(focus=(3.0, 0.0, 1.0))
    same(wind, other)
    for focus in ((3.0, 0.0, 1.0), None):
        wind.step(focus)
        other.step(focus)
    same(wind, other)


def test_a_solver_that_meets_a_solid_it_cannot_have_leaves_the_wind_where_it_was():
    far = wg.Box((9, -1, 0), (11, 1, 2))
    wind, other = (wg.Wind((6, 1, 0), **CELLS, projection="direct", solids=[far]) for _ in range(2))
    wind.step()
    other.step()
    with pytest.raises(ValueError, match="projection: 'direct'"):
        wind.step(focus=(10.0, 0.0, 1.0))
    same(wind, other)


STEPPED = ("cascade.py", "stepping.py", "marking.py", "inflow.py", "grids.py", "effectors.py")


def interrupted(wind, focus, at):
    """Takes a step in which KeyboardInterrupt comes before the bytecode with number `at`, as from
    a signal's handler; whether there was one."""
    left = at

    def trace(frame, event, argument):
        nonlocal left
        if "windgrove/wind" not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        if not frame.f_code.co_filename.endswith(STEPPED):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        wind.step(focus)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("first", range(3))
def test_an_interrupt_at_any_bytecode_leaves_clock_and_air_together(first):
    """Every 18th of the bytecodes of a step."""
    start = moving(effectors=[wg.Blast(speed=3.0, radius=1.0, duration=9.0)])
    start.step()
    focus = (2.0, 0.0, 1.0)
    whole, after = start.copy(), start.copy()
    whole.step(focus)
    after.step(focus)
    after.step()
    at, seen = 1 + 6 * first, set()
    while True:
        wind = start.copy()
        if not interrupted(wind, focus, at):
            break
        taken = wind.time > start.time
        seen.add(taken)
        same(wind, whole if taken else start)
        if not taken:
            wind.step(focus)
        wind.step()
        same(wind, after)
        at += 18
    assert seen == {True, False}


def test_control_c_is_answered_when_the_step_is_done():
    def prevailing(time):
        if 0.05 < time < 0.08:
            signal.raise_signal(signal.SIGINT)
        return (6.0, 1.0, 0.0)

    wind, other = wg.Wind(prevailing, **CELLS), wg.Wind(lambda t: (6.0, 1.0, 0.0), **CELLS)
    wind.step()
    with pytest.raises(KeyboardInterrupt):
        wind.step()
    other.step()
    other.step()
    same(wind, other)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# -- states --------------------------------------------------------------------------------------


def spoiled(array, value):
    array = array.copy()
    array.flat[array.size // 2] = value
    return array


SPOILED = {
    "low": lambda s: {"low": s.low + 10**17},
    "low, as floats": lambda s: {"low": s.low + 0.5},
    "the next coarser": lambda s: {"low": s.low + np.array([[40, 0, 0], [0, 0, 0]])},
    "low, and its shape": lambda s: {"low": s.low[:1]},
    "drift": lambda s: {"drift": np.full(3, np.nan)},
    "drift, beyond": lambda s: {"drift": np.full(3, 1e9)},
    "drift, and its shape": lambda s: {"drift": s.drift[:2]},
    "steps": lambda s: {"steps": -1},
    "steps, as text": lambda s: {"steps": "3"},
    "start_time": lambda s: {"start_time": np.inf},
    "pressure": lambda s: {"pressure": s.pressure[:1]},
    "pressure[1]": lambda s: {"pressure": (s.pressure[0], spoiled(s.pressure[1], np.nan))},
    "pressure, by type": lambda s: {"pressure": s.pressure[0]},
    "velocity[0]": lambda s: {"velocity": (spoiled(s.velocity[0], np.inf), s.velocity[1])},
    "velocity[1]": lambda s: {"velocity": (s.velocity[0], "text")},
    "its grids": lambda s: {"velocity": s.velocity[:1]},
    "shelter": lambda s: {"shelter": 5},
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_state_is_refused_by_name_before_anything_changes(name):
    wind = moving()
    wind.step()
    other, state = wind.copy(), wind.state()
    wind.step((4.0, 0.0, 1.0))
    kept = wind.copy()
    with pytest.raises((ValueError, TypeError), match=name.split(",")[0].replace("[", r"\[")):
        wind.restore(dataclasses.replace(state, **SPOILED[name](state)))
    same(wind, kept)
    wind.step()
    kept.step()
    same(wind, kept)
    wind.restore(state)
    same(wind, other)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cell_size", {"cell_size": 1.0}),
        ("dt", {"dt": 0.1}),
        ("seed", {"seed": 5}),
        ("solids", {"solids": [wg.Sphere((0.0, 0.0, 1.0), 0.7)]}),
        ("prevailing", {"prevailing": (5, 1, 0)}),
        ("turbulence", {"turbulence": 0.3}),
        ("projection", {"projection": "quality"}),
        ("vorticity", {"vorticity": 0.0}),
        ("floor", {"floor": 0.0}),
    ],
)
def test_a_state_of_another_wind_is_refused_by_the_parameter(name, change):
    def make(**change):
        arguments = {"solids": [wg.Sphere((0.0, 0.0, 1.0), 0.8)], "prevailing": (6, 1, 0)} | change
        return wg.Wind(arguments.pop("prevailing"), **CELLS, **arguments)

    wind, kept = make(), make()
    state = pickle.loads(pickle.dumps(make(**change).state()))
    with pytest.raises(ValueError, match=f"state: of a wind with another {name}: "):
        wind.restore(state)
    same(wind, kept)
    wind.restore(pickle.loads(pickle.dumps(make(start_time=3.0).state())))
    assert wind.time == 3.0
    wind.restore(dataclasses.replace(state, parameters=None))


def test_both_kinds_of_copy_have_air_of_their_own():
    wind = moving()
    for other in (copy.copy(wind), copy.deepcopy(wind)):
        other.step()
        assert not np.shares_memory(other.velocity(0), wind.velocity(0))
    same(wind, moving())


# -- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("prevailing", {"prevailing": (1e30, 0, 0)}),
        ("prevailing", {"prevailing": lambda t: (1e308, 1e308, 0)}),
        ("turbulence", {"turbulence": 1e300}),
        ("turbulence", {"start_time": 1e308}),
        ("turbulence", {"turbulence": wg.Turbulence(scale=1e-310), "start_time": 1.0}),
        ("turbulence", {"turbulence": wg.Turbulence(speed=1e308, scale=1e-3), "start_time": 1.0}),
        ("dt", {"dt": 1e30, "turbulence": 0.0}),
    ],
)
def test_what_makes_air_that_is_no_number_is_refused_by_name(name, change):
    arguments = {"prevailing": (60, 0, 0)} | change
    with pytest.raises(ValueError, match=f"^{name}: "):
        wg.Wind(arguments.pop("prevailing"), **CELLS, **arguments)


@pytest.mark.parametrize(
    "effector",
    [
        wg.Rotor(thrust=1e300, radius=1.0),
        wg.Blast(speed=1e38, radius=1.0),
        wg.LinearForce(acceleration=1e30, radius=1.0, direction=(1, 0, 0)),
        wg.Vortex(acceleration=1e300, radius=1.0),
        wg.Blast(speed=1.0, radius=1.0, velocity=(1e308, 1e308, 0), start=-1e3, duration=1e9),
    ],
)
def test_a_force_that_no_air_follows_is_refused_and_the_wind_stays(effector):
    calm = wg.LinearForce(acceleration=1.0, radius=1.0, direction=(1, 0, 0))
    wind, other = (
        wg.Wind((6, 1, 0), **CELLS, effectors=[calm, effector]),
        wg.Wind((6, 1, 0), **CELLS),
    )
    with pytest.raises(ValueError, match=rf"effectors\[1\]: {type(effector).__name__}: "):
        wind.step()
    same(wind, other)


def test_air_that_is_no_number_is_found_within_some_steps():
    wind = wg.Wind((6, 1, 0), cells=(16, 16, 8), levels=3)
    wind.step()
    wind._grids[1].velocity[0, 4, 9, 3] = np.nan
    with pytest.raises(
        FloatingPointError, match=r"not finite: step \d+ \(.* s\), level \d, cell \[\d+, \d+, \d+\]"
    ):
        for _ in range(6):
            wind.step()
