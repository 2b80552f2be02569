"""A turbulent wind from a seed, where no measured one is at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .recorded import RecordedWind

# Standard deviations across and up over that along the wind (IEC 61400-1, normal turbulence).
ACROSS, UP = 0.8, 0.5


def turbulent_wind(
    mean: ArrayLike,
    *,
    intensity: float = 0.25,
    timescale: float = 8.0,
    duration: float = 600.0,
    rate: float = 30.0,
    seed: int = 0,
    **profile: Any,
) -> RecordedWind:
    """A gusty record of wind, the same for the same seed, repeated for ever.

    Parameters
    ----------
    mean : array_like, shape (3,)
        Mean wind [m/s]; its horizontal part is not zero.
    intensity : float, default 0.25
        Standard deviation along the mean over its speed; across 0.8 and up 0.5 of that
        (IEC 61400-1). 0.1 is open water, 0.25 open land, 0.4 a town or a wood.
    timescale : float, default 8
        Integral time scale [s]: correlation falls as exp(-lag / timescale).
    duration : float, default 600
        Length of the record before it repeats [s]; at least ten time scales.
    rate : float, default 30
        Samples per second [Hz]; the wind is linear between them, which takes the power away at this
        frequency and its multiples.
    seed : int, default 0
    **profile
        ``profile``, ``ground``, ``reference_height``, ``roughness``, ``exponent``: see
        `HeightProfile`.

    Returns
    -------
    RecordedWind
        Mean and standard deviations are met exactly over its whole length.

    Notes
    -----
    Three independent first-order processes (Ornstein-Uhlenbeck): the spectrum falls with the second
    power of the frequency, a little steeper than the 5/3 of the inertial range.
    """
    vector = checks.vector(mean, "mean")
    speed = float(np.hypot(vector[0], vector[1]))
    if speed == 0:
        raise ValueError("mean: expected a horizontal wind, got (0, 0)")
    intensity = checks.number(intensity, "intensity", low=0.0, high=1.0)
    timescale = checks.number(timescale, "timescale", above=0.0)
    duration = checks.number(duration, "duration", low=10.0 * timescale)
    rate = checks.number(rate, "rate", above=0.0, high=1000.0)
    count = max(2, round(duration * rate))
    random = np.random.default_rng(checks.integer(seed, "seed", low=0))
    waves = _correlated(random.normal(size=(count, 3)), np.exp(-1.0 / (rate * timescale)))
    waves -= waves.mean(axis=0)
    waves /= waves.std(axis=0)
    along = np.array([vector[0], vector[1], 0.0]) / speed
    axes = np.array([along, [-along[1], along[0], 0.0], [0.0, 0.0, 1.0]])
    velocity = vector + (waves * (intensity * speed * np.array([1.0, ACROSS, UP]))) @ axes
    return RecordedWind(velocity, rate=rate, end="repeat", **profile)


def _correlated(noise: np.ndarray, memory: float) -> np.ndarray:
    """x[i] = memory x[i-1] + noise[i], run round once before, so that the end meets the start."""
    from scipy.signal import lfilter

    twice = np.concatenate([noise, noise])
    return np.asarray(lfilter([1.0], [1.0, -memory], twice, axis=0))[len(noise) :]
