"""Natural frequency and damping from a free decay, as measured by pull-and-release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from .. import checks
from .decay_start import starting_points

FEWEST_SAMPLES = 10
LEAST_CYCLES = 0.5
GREATEST_RATIO = 0.95
FALSE_ALARM = 1e-4
MOST_CREEP_CYCLES = 5  # beyond them two exponentials are no rival
WANDERING_ROOTS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
WIDEST_FREQUENCY = 0.5  # half width of the interval over the value

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DecayFit:
    """A damped sine with offset: a e^(-zeta w t) cos(w_d t + phase) + offset + drift t.

    Attributes
    ----------
    frequency : float, Hz
        Undamped natural frequency w / (2 pi).
    damping_ratio : float
        zeta, above 0.
    frequency_interval, damping_ratio_interval : (float, float)
        95 % intervals. Noise that is correlated in time widens them.
    damped_frequency : float, Hz
        frequency sqrt(1 - zeta^2): what the zero crossings show.
    amplitude, phase : float
        At `start`; the amplitude has the unit of the angle and is above 0.
    offset, drift : float
        Rest position at `start`, and its change per second (0 where none was found).
    start, duration : float, s
        First time of the record, and its length.
    cycles : float
        Damped cycles in the record.
    noise : float
        Standard deviation of what is left.
    r2 : float
        Share of the variance that the fit explains.
    method : str
        How it was fitted.
    """

    frequency: float
    damping_ratio: float
    frequency_interval: tuple[float, float]
    damping_ratio_interval: tuple[float, float]
    damped_frequency: float
    amplitude: float
    phase: float
    offset: float
    drift: float
    start: float
    duration: float
    cycles: float
    noise: float
    r2: float
    method: str

    def evaluate(self, time: ArrayLike) -> Array:
        """The fitted curve at any time in s."""
        t = np.asarray(time, dtype=np.float64) - self.start
        rate = 2 * np.pi * self.frequency * self.damping_ratio
        wave = np.cos(2 * np.pi * self.damped_frequency * t + self.phase)
        return self.amplitude * np.exp(-rate * t) * wave + self.offset + self.drift * t

    def __str__(self) -> str:
        low, high = self.frequency_interval
        least, most = self.damping_ratio_interval
        return (
            f"f = {self.frequency:.4g} Hz ({low:.4g} to {high:.4g}), "
            f"zeta = {self.damping_ratio:.4g} ({least:.4g} to {most:.4g}), "
            f"{self.cycles:.3g} cycles, R2 = {self.r2:.3f}"
        )


def fit_decay(
    time: ArrayLike, angle: ArrayLike, *, drift: bool | None = None, start: float | None = None
) -> DecayFit:
    """Fits a damped sine with offset to a free decay.

    Parameters
    ----------
    time : array_like, shape (n,)
        s, increasing; steps may differ. At least 10 samples.
    angle : array_like, shape (n,)
        The response from the release on, in any unit.
    drift : bool, optional
        Whether the rest position moves at a constant rate; by default the record decides (it
        must speak strongly for it).
    start : float, optional
        Leave out what comes before this time, such as the pull.

    Returns
    -------
    DecayFit
        Reliable for zeta from 0.005 to 0.6 and from less than one cycle to hundreds; the
        intervals say how far.

    Raises
    ------
    ValueError
        With the reason, where no frequency and damping can be given: values that are not finite,
        too few samples or too short a record, a constant record, noise alone, no oscillation, a
        growing one, or damping that cannot be told from zero.

    Notes
    -----
    Least squares in all parameters at once from several starting points; the best is kept. The
    linear parameters are solved for exactly at every starting point (variable projection, Golub
    and Pereyra 1973). Intervals come from the Jacobian at the solution and Student's t, scaled by
    the spectral density of the residual at the frequency found over that of white noise of the
    same variance (an autoregressive model of the residual), where this is above 1.
    """
    drift = checks.optional_flag(drift, "drift")
    t, y = _read(time, angle, start)
    fits = []
    for with_drift in (False, True) if drift is None else (drift,):
        if len(t) > 6 + with_drift:
            fits.append(_fit(t, y, with_drift))
    best = fits[0]
    # Ten units of the Bayesian criterion: "very strong" evidence (Kass and Raftery 1995).
    if len(fits) == 2 and fits[1].criterion < best.criterion - 10:
        best = fits[1]
    return _judge(best)


def _read(time: ArrayLike, angle: ArrayLike, start: float | None) -> tuple[Array, Array]:
    t = checks.array(time, "time", dtype=np.float64, finite=True)
    y = checks.array(angle, "angle", dtype=np.float64)
    if t.ndim != 1 or y.shape != t.shape:
        raise ValueError(
            f"angle: expected one value for each time, got shapes {y.shape} and {t.shape}"
        )
    if not np.isfinite(y).all():
        raise ValueError(f"angle: not finite at index {int(np.argmin(np.isfinite(y)))}")
    if len(t) > 1 and (np.diff(t) <= 0).any():
        where = int(np.argmax(np.diff(t) <= 0)) + 1
        raise ValueError(f"time: does not increase at index {where}")
    if start is not None:
        keep = t >= checks.number(start, "start")
        t, y = t[keep], y[keep]
    if len(t) < FEWEST_SAMPLES:
        raise ValueError(f"angle: too short: {len(t)} samples, at least {FEWEST_SAMPLES} needed")
    if np.ptp(y) <= 1e-12 * np.abs(y).max():
        raise ValueError("angle: constant: there is nothing to fit")
    return t, y


@dataclass(frozen=True)
class _Solution:
    """Parameters ln w, zeta, cosine, sine, offset[, drift per duration] in scaled units."""

    parameters: Array
    covariance: Array  # for a residual of variance 1
    residual: Array
    time: Array
    angle: Array
    scale: float

    @property
    def criterion(self) -> float:
        """Bayesian information criterion."""
        n = len(self.residual)
        floor = (np.finfo(np.float64).eps * self.scale) ** 2
        return n * np.log(np.mean(self.residual**2) + floor) + len(self.parameters) * np.log(n)


def _fit(t: Array, y: Array, with_drift: bool) -> _Solution:
    """Least squares from every promising starting point."""
    duration = t[-1] - t[0]
    x, scale = (t - t[0]) / duration, float(np.std(y))
    z = (y - y.mean()) / scale
    best = None
    for guess in starting_points(x, z, with_drift):
        found = optimize.least_squares(
            _residual,
            guess,
            jac=_jacobian,
            args=(x, z),
            x_scale="jac",
            bounds=_bounds(len(guess)),
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
            max_nfev=200,
        )
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    inverse = np.linalg.pinv(best.jac.T @ best.jac)
    return _Solution(best.x, inverse, best.fun, t, y, scale)


def _bounds(count: int) -> tuple[Array, Array]:
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    low[1], high[1] = -0.9, 0.999
    return low, high


def _wave(p: Array, x: Array) -> tuple[Array, Array, Array, float, float]:
    w, zeta = np.exp(p[0]), p[1]
    root = np.sqrt(1 - zeta * zeta)
    decay = np.exp(np.clip(-zeta * w * x, -700, 700))
    return decay, np.cos(w * root * x), np.sin(w * root * x), w, root


def _residual(p: Array, x: Array, z: Array) -> Array:
    decay, cosine, sine, _, _ = _wave(p, x)
    model = decay * (p[2] * cosine + p[3] * sine) + p[4]
    return model + (p[5] * x if len(p) > 5 else 0.0) - z


def _jacobian(p: Array, x: Array, z: Array) -> Array:
    decay, cosine, sine, w, root = _wave(p, x)
    zeta = p[1]
    value = decay * (p[2] * cosine + p[3] * sine)
    slope = decay * (p[3] * cosine - p[2] * sine) * x  # by the damped circular frequency
    columns = [
        w * (root * slope - zeta * x * value),
        -w * (x * value + zeta / root * slope),
        decay * cosine,
        decay * sine,
        np.ones_like(x),
    ]
    return np.stack(columns + [x] * (len(p) > 5), axis=1)


def _judge(solution: _Solution) -> DecayFit:
    """The result, or the reason why there is none."""
    p, r = solution.parameters, solution.residual
    n, duration = len(r), solution.time[-1] - solution.time[0]
    zeta, freedom = float(p[1]), n - len(p)
    frequency = float(np.exp(p[0])) / (2 * np.pi * duration)
    damped = frequency * np.sqrt(1 - zeta**2)
    model = _noise_model(r)
    variance = float(r @ r) / freedom * _colour(r, model, damped * duration / (n - 1))
    quantile = float(stats.t.ppf(0.975, freedom))
    spread = quantile * np.sqrt(variance * np.diag(solution.covariance))
    _refuse_noise(solution, model)
    _refuse_wandering(solution, model)
    if zeta + spread[1] < 0:
        raise ValueError(
            f"angle: the oscillation grows (damping ratio {zeta:.3g}); a free decay is needed"
        )
    _refuse_no_oscillation(solution, zeta, damped * duration)
    if zeta <= max(0.5 * spread[1], 1e-9):
        raise ValueError(
            f"angle: no damping can be told from zero: {zeta:.2g} +- {spread[1]:.2g}; a longer "
            "or a quieter record is needed"
        )
    if spread[0] > WIDEST_FREQUENCY:
        raise ValueError(
            f"angle: the record does not pin the frequency down: {frequency:.3g} Hz within "
            f"+- {100 * spread[0]:.0f} %; a longer or a quieter record is needed"
        )
    scale = solution.scale
    drift = float(p[5]) if len(p) > 5 else 0.0
    return DecayFit(
        frequency=frequency,
        damping_ratio=zeta,
        frequency_interval=(
            frequency * float(np.exp(-spread[0])),
            frequency * float(np.exp(spread[0])),
        ),
        damping_ratio_interval=(max(zeta - float(spread[1]), 0.0), zeta + float(spread[1])),
        damped_frequency=float(damped),
        amplitude=scale * float(np.hypot(p[2], p[3])),
        phase=float(np.arctan2(-p[3], p[2])),
        offset=scale * float(p[4]) + float(solution.angle.mean()),
        drift=scale * drift / duration,
        start=float(solution.time[0]),
        duration=float(duration),
        cycles=float(damped * duration),
        noise=scale * float(np.sqrt(r @ r / freedom)),
        r2=1 - float(r @ r) / n,
        method="damped sine with offset" + (" and drift" if len(p) > 5 else ""),
    )


def _noise_model(residual: Array) -> Array:
    """Coefficients of an autoregressive model of the residual, none where it is white.

    Yule-Walker by Levinson's recursion; the order with the least Bayesian criterion, up to 12.
    """
    n = len(residual)
    r = residual - residual.mean()
    if n < 30 or float(r @ r) <= 1e-24 * n:
        return np.zeros(0)
    most = min(12, n // 10)
    lags = np.array([r[: n - k] @ r[k:] for k in range(most + 1)]) / n
    error, coefficients = lags[0], np.zeros(0)
    best, chosen = n * np.log(error), coefficients
    for order in range(1, most + 1):
        reflection = (lags[order] - coefficients @ lags[order - 1 : 0 : -1]) / error
        coefficients = np.append(coefficients - reflection * coefficients[::-1], reflection)
        error *= 1 - reflection**2
        if error <= 0:
            break
        criterion = n * np.log(error) + order * np.log(n)
        if criterion < best:
            best, chosen = criterion, coefficients
    return chosen


def _whiten(values: Array, model: Array) -> Array:
    """What the model does not foresee of the values, along the first axis."""
    order = len(model)
    out = values[order:].copy()
    for k, c in enumerate(model, start=1):
        out -= c * values[order - k : len(values) - k]
    return out


def _colour(residual: Array, model: Array, frequency: float) -> float:
    """Spectral density of the residual at `frequency` (in 1/sample) over its mean, at least 1."""
    if not len(model):
        return 1.0
    turn = np.exp(-2j * np.pi * frequency * np.arange(1, len(model) + 1))
    ahead = float(np.var(_whiten(residual, model)))
    return float(max(ahead / abs(1 - model @ turn) ** 2 / np.var(residual), 1.0))


def _refuse_noise(solution: _Solution, model: Array) -> None:
    """F test of the wave against a straight line in noise of the residual's colour.

    The best of about n frequencies was taken, so that chance has n tries. The colour is that of
    the residual, which the wave has made a little whiter than the noise was: some slow noise still
    passes and is left to `_refuse_wandering`.
    """
    p, n = solution.parameters, len(solution.residual)
    t = solution.time - solution.time[0]
    design = _whiten(np.stack([np.ones(n)] + [t / t[-1]] * (len(p) > 5), axis=1), model)
    z = _whiten((solution.angle - solution.angle.mean()) / solution.scale, model)
    rest = z - design @ np.linalg.lstsq(design, z, rcond=None)[0]
    ahead = _whiten(solution.residual, model)
    left = float(ahead @ ahead)
    if left <= 0:
        return
    gain = float(rest @ rest) - left
    chance = float(stats.f.sf(gain / 4 / (left / (n - len(p))), 4, n - len(p)))
    if chance * n > FALSE_ALARM:
        raise ValueError(
            "angle: no oscillation stands out of the noise (a damped sine explains "
            f"{100 * max(gain, 0.0) / max(float(rest @ rest), 1e-300):.0f} % of what the noise "
            "alone does not)"
        )


def _refuse_wandering(solution: _Solution, model: Array) -> None:
    """Against noise that wanders without a wave: autoregression of order two with real roots.

    White and coloured noise, a random walk (a root of 1) and its sum (two) are among it; a decay
    is not, as its roots are complex. Compared are the errors of one step ahead.
    """
    n = len(solution.residual)
    ahead = _whiten(solution.residual, model)
    count = len(solution.parameters) + len(model)
    floor = (np.finfo(np.float64).eps * solution.scale) ** 2
    wave = n * np.log(float(np.mean(ahead**2)) + floor) + count * np.log(n)
    # "Very strong", after frequency and damping were chosen among about n; e23 has the shares.
    if _wandering_criterion(solution) < wave + 10 + 8 / 3 * np.log(n):
        raise ValueError(
            "angle: no oscillation stands out of the noise: noise that wanders slowly explains "
            "the record as well"
        )


def _wandering_criterion(solution: _Solution) -> float:
    """Bayesian criterion of the best such noise: two roots, a rate of drift and a variance."""
    z = (solution.angle - solution.angle.mean()) / solution.scale
    n, least = len(z), np.inf
    for i, root in enumerate(WANDERING_ROOTS):
        once = z[1:] - root * z[:-1]
        for other in WANDERING_ROOTS[: i + 1]:
            twice = once[1:] - other * once[:-1]
            least = min(least, float(np.var(twice)))
    floor = (np.finfo(np.float64).eps * solution.scale) ** 2
    return float(n * np.log(least + floor) + 4 * np.log(n))


def _refuse_no_oscillation(solution: _Solution, zeta: float, cycles: float) -> None:
    if zeta > GREATEST_RATIO:
        raise ValueError(
            f"angle: no oscillation: the record decays without one (damping ratio {zeta:.2f})"
        )
    if cycles < LEAST_CYCLES:
        raise ValueError(
            f"angle: no oscillation, or too short a record: the best damped sine has {cycles:.2f} "
            f"cycles in it; at least {LEAST_CYCLES:g} are needed"
        )
    if cycles < MOST_CREEP_CYCLES and _creep_criterion(solution) < solution.criterion + 6:
        raise ValueError(
            "angle: no oscillation: two exponentials without one explain the record as well"
        )


def _creep_criterion(solution: _Solution) -> float:
    """Bayesian criterion of offset plus two real exponentials, the best rates of a grid."""
    x = (solution.time - solution.time[0]) / (solution.time[-1] - solution.time[0])
    z = (solution.angle - solution.angle.mean()) / solution.scale
    drift = [x] * (len(solution.parameters) > 5)
    best = np.inf
    rates = np.geomspace(0.2, 100, 14)
    for i, fast in enumerate(rates):
        for slow in rates[:i]:
            design = np.stack([np.exp(-fast * x), np.exp(-slow * x), np.ones_like(x), *drift], 1)
            rest = z - design @ np.linalg.lstsq(design, z, rcond=None)[0]
            best = min(best, float(rest @ rest))
    n = len(z)
    count = 5 + len(drift)
    return n * np.log(best / n + (np.finfo(np.float64).eps * solution.scale) ** 2) + count * np.log(
        n
    )
