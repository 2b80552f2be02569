"""Winds in closed form: values, profiles, arguments."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from windgrove import GustWind, UniformWind
from windgrove.wind.protocol import WindSource
from windgrove.wind.sources import HeightProfile

POINTS = np.array([[0, 0, 2.0], [50, -3, 10.0], [1, 1, -1.0]])


def test_a_uniform_wind_is_the_same_everywhere_and_always():
    wind = UniformWind((6, -1, 0.5))
    assert isinstance(wind, WindSource)
    assert_allclose(wind.sample(POINTS, 1e6), [[6, -1, 0.5]] * 3, rtol=0)


def test_the_profiles_follow_their_formulas():
    log = UniformWind((6, 0, 0), profile="log", roughness=0.1, reference_height=8, ground=1)
    expected = 6 * math.log(1.1 / 0.1) / math.log(8.1 / 0.1)
    # Both forms round a few times in double precision.
    assert_allclose(log.sample(POINTS)[0, 0], expected, rtol=1e-14)
    power = UniformWind((6, 0, 0), profile=HeightProfile(kind="power", exponent=0.2))
    assert_allclose(power.sample(POINTS)[:, 0], [6 * 0.2**0.2, 6, 0], rtol=1e-14)


def test_the_gusts_follow_their_formulas():
    gust = GustWind((5, 0, 0), shape="1-cos", amplitude=4, start=2, duration=6)
    for time, speed in [(0, 5), (2, 5), (3.5, 7), (5, 9), (8, 5), (9, 5)]:
        assert_allclose(gust.velocity(time), [speed, 0, 0], atol=1e-14)
    step = GustWind((0, 0, 0), shape="step", amplitude=(0, 3, 0), start=1)
    assert step.velocity(0.999).tolist() == [0, 0, 0]
    assert step.velocity(1).tolist() == [0, 3, 0]
    wave = GustWind((0, 2, 0), shape="periodic", amplitude=1, frequency=0.25)
    assert_allclose(wave.velocity(1), [0, 3, 0], atol=1e-14)
    # An hour of whole periods later the phase is the same to rounding of the product s * f.
    assert_allclose(wave.velocity(4 * 900 + 1), [0, 3, 0], atol=1e-12)


@pytest.mark.parametrize(
    "wind",
    [
        UniformWind((1, 2, 3), profile="log"),
        GustWind((5, 0, 0), shape="periodic", amplitude=1, frequency=2),
    ],
    ids=repr,
)
def test_winds_pickle_and_describe_themselves(wind):
    copy = pickle.loads(pickle.dumps(wind))
    assert copy.describe() == wind.describe()
    assert_allclose(copy.sample(POINTS, 1.3), wind.sample(POINTS, 1.3), rtol=0)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: UniformWind((1, 2)), "velocity"),
        (lambda: UniformWind((1, 2, math.nan)), "velocity"),
        (lambda: UniformWind((1, 0, 0), profile="linear"), "profile"),
        (lambda: UniformWind((1, 0, 0), profile="log", roughness=0), "roughness"),
        (lambda: UniformWind((1, 0, 0), profile=HeightProfile(), ground=1), "ground"),
        (lambda: GustWind((1, 0, 0), amplitude=1), "duration"),
        (lambda: GustWind((1, 0, 0), shape="periodic", amplitude=1), "frequency"),
        (lambda: GustWind((1, 0, 0), shape="step", amplitude=1, frequency=1), "frequency"),
        (lambda: UniformWind((1, 0, 0)).sample([1, 2, 3]), "points"),
        (lambda: UniformWind((1, 0, 0)).sample(POINTS, math.nan), "time"),
    ],
)
def test_bad_input_names_the_argument(make, name):
    with pytest.raises(ValueError, match=name):
        make()
