"""The synthetic turbulent wind keeps what it promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import windgrove as wg


def test_mean_and_intensities_are_met_exactly():
    wind = wg.turbulent_wind((3, 4, 0), intensity=0.3, seed=2)
    values = wind.samples
    along, across = np.array([0.6, 0.8, 0]), np.array([-0.8, 0.6, 0])
    assert_allclose(values.mean(axis=0), [3, 4, 0], atol=1e-12)
    spread = [(values @ axis).std() for axis in (along, across, np.array([0, 0, 1]))]
    assert_allclose(spread, [1.5, 1.2, 0.75], rtol=1e-12)


def test_gusts_last_as_long_as_asked():
    """Autocorrelation at one time scale is 1/e. 400 time scales: its error is about 0.05."""
    wind = wg.turbulent_wind((5, 0, 0), timescale=5, duration=2000, rate=4, seed=1)
    u = wind.samples[:, 0] - 5
    lag = 20
    assert abs(np.mean(u[:-lag] * u[lag:]) / np.mean(u**2) - np.exp(-1)) < 0.15


def test_a_seed_gives_the_same_wind_and_another_seed_another():
    one, same, other = (wg.turbulent_wind((5, 0, 0), seed=s).samples for s in (1, 1, 2))
    assert_array_equal(one, same)
    assert (one != other).any()


def test_it_repeats_without_a_jump():
    wind = wg.turbulent_wind((5, 0, 0), duration=100, rate=10, seed=3)
    u = wind.samples[:, 0]
    assert abs(u[0] - u[-1]) < 5 * np.std(np.diff(u))
    assert_allclose(wind.velocity(100.0 + 7.3), wind.velocity(7.3), atol=1e-9)


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(ValueError, match="mean: expected a horizontal wind"):
        wg.turbulent_wind((0, 0, 1))
    with pytest.raises(ValueError, match="intensity"):
        wg.turbulent_wind((1, 0, 0), intensity=-0.1)
    with pytest.raises(ValueError, match="duration"):
        wg.turbulent_wind((1, 0, 0), timescale=8, duration=10)
