"""Three classical estimates of a free decay, to set beside `fit_decay`.

They take a uniform step and no noise model; none gives an interval. Where they differ from the
fit by more than a few percent, look at the record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import signal

from .. import checks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DecayEstimate:
    """Frequency and damping without an interval.

    Attributes
    ----------
    frequency, damped_frequency : float, Hz
        Undamped natural frequency, and what the zero crossings show.
    damping_ratio : float
    method : str
    """

    frequency: float
    damped_frequency: float
    damping_ratio: float
    method: str


def linear_prediction(time: ArrayLike, angle: ArrayLike) -> DecayEstimate:
    """Least squares of theta[n+2] = tr theta[n+1] - det theta[n] + constant.

    Exact, to rounding, for the records of a linear discrete map such as the springs.
    Noise biases it towards more damping: not for field data.

    Raises ValueError where the roots do not oscillate or grow.
    """
    _, y, dt = _read(time, angle)
    scale = np.abs(y).max()
    design = np.stack([y[1:-1], -y[:-2], np.full(len(y) - 2, scale)], axis=1)
    trace, determinant, _ = np.linalg.lstsq(design, y[2:], rcond=None)[0]
    if trace * trace >= 4 * determinant:
        raise ValueError("angle: no oscillation: the recursion has real roots")
    root = np.log(complex(trace / 2, np.sqrt(determinant - trace * trace / 4))) / dt
    return _estimate(abs(root), -root.real, "linear prediction")


def log_decrement(time: ArrayLike, angle: ArrayLike) -> DecayEstimate:
    """Logarithm of the half swings from one extreme to the next, against their number.

    Differences of successive extremes need no rest position. Extremes are refined by a parabola;
    those below 5 % of the first swing are left out, as noise makes extremes of its own.

    Raises ValueError with fewer than three extremes or a growing record.
    """
    _, y, dt = _read(time, angle)
    middle = np.median(y)
    sides = [_extremes(y - middle), _extremes(middle - y)]
    index = np.concatenate([where for where, _ in sides])
    value = np.concatenate([sides[0][1], -sides[1][1]])
    order = np.argsort(index)
    index, value = _alternating(index[order], value[order])
    swing = np.abs(np.diff(value))
    if len(swing) == 0:
        raise ValueError("angle: fewer than three extremes")
    below = swing < 0.05 * swing[0]
    count = int(np.argmax(below)) if below.any() else len(swing)
    if count < 2:
        raise ValueError("angle: fewer than three extremes stand out of the noise")
    number = np.arange(count)
    decrement = -np.polyfit(number, np.log(swing[:count]), 1)[0]
    half_period = dt * np.polyfit(np.arange(count + 1), index[: count + 1], 1)[0]
    rate, damped = decrement / half_period, np.pi / half_period
    return _estimate(float(np.hypot(rate, damped)), float(rate), "log decrement")


def half_power(time: ArrayLike, angle: ArrayLike) -> DecayEstimate:
    """Width of the spectral peak where its power is half: zeta = (f2 - f1) / (2 f).

    For light damping (zeta below 0.1) in a record that has died away: a record cut off earlier
    has a peak as wide as its length allows, and is refused.

    Raises ValueError where the peak cannot be measured.
    """
    _, y, dt = _read(time, angle)
    tail = y[-max(len(y) // 10, 3) :]
    y = y - tail.mean()
    size = 1 << int(np.ceil(np.log2(len(y) * 16)))
    power = np.abs(np.fft.rfft(y, size)) ** 2
    step = 1 / (size * dt)
    first = max(int(1 / (len(y) * dt) / step), 1)
    top = first + int(np.argmax(power[first:]))
    left, right = _crossing(power, top, -1), _crossing(power, top, +1)
    peak, width = top * step, (right - left) * step
    ratio = width / (2 * peak)
    # Died away to exp(-pi) or less: the width is (rate / pi), a cut alone gives 0.9 / length.
    if width * len(y) * dt < 1.0:
        raise ValueError("angle: cut off before it died away: the peak shows the record's length")
    return _estimate(2 * np.pi * peak, 2 * np.pi * peak * ratio, "half power")


def _read(time: ArrayLike, angle: ArrayLike) -> tuple[Array, Array, float]:
    t = checks.array(time, "time", dtype=np.float64, shape=(None,), finite=True)
    y = checks.array(angle, "angle", dtype=np.float64, shape=(len(t),), finite=True)
    if len(t) < 6:
        raise ValueError(f"angle: too short: {len(t)} samples, at least 6 needed")
    steps = np.diff(t)
    dt = float(np.median(steps))
    if dt <= 0 or np.abs(steps - dt).max() > 1e-3 * dt:
        raise ValueError("time: expected a uniform step; fit_decay takes any")
    if np.ptp(y) <= 1e-12 * np.abs(y).max():
        raise ValueError("angle: constant: there is nothing to fit")
    return t, y, dt


def _estimate(circular: float, rate: float, method: str) -> DecayEstimate:
    ratio = rate / circular
    if not 0 < ratio < 1:
        raise ValueError(f"angle: no decaying oscillation (damping ratio {ratio:.3g})")
    frequency = float(circular) / (2 * np.pi)
    return DecayEstimate(frequency, frequency * float(np.sqrt(1 - ratio**2)), float(ratio), method)


def _extremes(y: Array) -> tuple[Array, Array]:
    """Places (in samples) and heights of the maxima, by parabolas through three samples."""
    found, _ = signal.find_peaks(y, prominence=0.02 * np.ptp(y))
    a, b, c = y[found - 1], y[found], y[found + 1]
    curve = a - 2 * b + c
    shift = np.where(curve < 0, 0.5 * (a - c) / np.where(curve < 0, curve, -1.0), 0.0)
    return found + shift, b - 0.25 * (a - c) * shift


def _alternating(index: Array, value: Array) -> tuple[Array, Array]:
    """Of successive extremes of one sign of turning only the outer one is kept."""
    keep: list[int] = []
    for i in range(len(value)):
        if len(keep) >= 2:
            before, last = value[keep[-2]], value[keep[-1]]
            if (last - before) * (value[i] - last) > 0:
                keep[-1] = i
                continue
        keep.append(i)
    return index[keep], value[keep]


def _crossing(power: Array, top: int, step: int) -> float:
    half, i = power[top] / 2, top
    while 0 < i < len(power) - 1 and power[i] > half:
        i += step
    if power[i] > half:
        raise ValueError("angle: the spectral peak has no half-power point")
    inner = i - step
    return inner + step * float((power[inner] - half) / (power[inner] - power[i]))
