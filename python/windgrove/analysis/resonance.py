"""Frequency and damping from the resonance in a power spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from .. import checks


@dataclass(frozen=True)
class ResonanceFit:
    """A damped oscillator driven by a sloping spectrum.

    Attributes
    ----------
    frequency : float, Hz
        Undamped natural frequency.
    damping_ratio : float
    frequency_interval, damping_ratio_interval : (low, high)
        95 %.
    slope : float
        Exponent of the driving spectrum, density ~ f^slope.
    r2 : float
        Share of the variance of the log density that is explained.
    """

    frequency: float
    damping_ratio: float
    frequency_interval: tuple[float, float]
    damping_ratio_interval: tuple[float, float]
    slope: float
    r2: float


def fit_resonance(
    frequency: ArrayLike,
    density: ArrayLike,
    *,
    band: tuple[float, float] | None = None,
) -> ResonanceFit:
    """Fit one resonance to a power spectral density.

    The model is ``density = a f^s / ((1 - r^2)^2 + (2 zeta r)^2)`` with ``r = f / f0``, the
    response of a single degree of freedom to a driving spectrum of constant slope, fitted to the
    logarithm of the density by least squares.

    Parameters
    ----------
    frequency : array_like, shape (n,), Hz
        Increasing; a zero frequency is left out.
    density : array_like, shape (n,)
        Any unit.
    band : (low, high), Hz
        What to fit; by default from a third of the highest peak's frequency to three times it.

    Returns
    -------
    ResonanceFit

    Raises
    ------
    ValueError
        Fewer than 8 points in the band, no peak inside it, or a resonance that the fit cannot tell
        from a slope.

    References
    ----------
    Clough and Penzien, Dynamics of Structures, chapter 3: the frequency response of a single
    degree of freedom.
    """
    f, s = _spectrum(frequency, density)
    if band is None:
        # Against a red background the resonance is the highest point of f^2 S.
        peak = f[np.argmax(s * f**2)]
        band = (peak / 3, peak * 3)
    inside = (f >= band[0]) & (f <= band[1])
    f, s = f[inside], s[inside]
    if len(f) < 8:
        raise ValueError(f"frequency: only {len(f)} points in {band[0]:.3g} to {band[1]:.3g} Hz")
    log_s = np.log(s)

    def residual(x: np.ndarray) -> np.ndarray:
        return _log_model(x, f) - log_s

    start_f = f[np.argmax(s * f**2)]
    fits = [
        optimize.least_squares(
            residual, [np.log(start_f), np.log(zeta), log_s.mean(), slope], method="lm"
        )
        for zeta in (0.02, 0.1, 0.3)
        for slope in (0.0, -2.0)
    ]
    fit = min(fits, key=lambda one: one.cost)
    return _result(fit, f, log_s)


def _spectrum(frequency: ArrayLike, density: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    f = checks.array(frequency, "frequency", dtype=np.float64, shape=(None,), finite=True)
    s = checks.array(density, "density", dtype=np.float64, shape=(len(f),), finite=True)
    if (np.diff(f) <= 0).any():
        raise ValueError("frequency: expected increasing values")
    keep = (f > 0) & (s > 0)
    if keep.sum() < 8:
        raise ValueError(f"density: only {keep.sum()} points are above 0, 8 are needed")
    return f[keep], s[keep]


def _log_model(x: np.ndarray, f: np.ndarray) -> np.ndarray:
    r = f / np.exp(x[0])
    zeta = np.exp(x[1])
    return x[2] + x[3] * np.log(r) - np.log((1 - r**2) ** 2 + (2 * zeta * r) ** 2)


def _result(fit: optimize.OptimizeResult, f: np.ndarray, log_s: np.ndarray) -> ResonanceFit:
    f0, zeta = np.exp(fit.x[:2])
    dof = len(f) - 4
    covariance = np.linalg.pinv(fit.jac.T @ fit.jac) * 2 * fit.cost / dof
    half = stats.t.ppf(0.975, dof) * np.sqrt(np.diag(covariance))
    variance = float(np.sum((log_s - log_s.mean()) ** 2))
    if not f[0] < f0 < f[-1]:
        raise ValueError(f"density: no resonance between {f[0]:.3g} and {f[-1]:.3g} Hz")
    if half[1] > 1.5 or zeta > 0.7:
        raise ValueError("density: no resonance stands out of the slope of the spectrum")
    return ResonanceFit(
        frequency=float(f0),
        damping_ratio=float(zeta),
        frequency_interval=(float(f0 * np.exp(-half[0])), float(f0 * np.exp(half[0]))),
        damping_ratio_interval=(float(zeta * np.exp(-half[1])), float(zeta * np.exp(half[1]))),
        slope=float(fit.x[3]),
        r2=1.0 - 2 * fit.cost / variance if variance > 0 else 1.0,
    )
