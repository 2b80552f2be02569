"""Winds in closed form and from records: the same everywhere but for a height profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from .profile import HeightProfile, height_factor, height_profile
from .protocol import Prevailing, WindView

GUST_SHAPES = ("step", "1-cos", "periodic")


class UniformSource:
    """A wind that is one vector at any instant, times a height profile.

    What `UniformWind`, `GustWind` and `RecordedWind` share; subclasses define `velocity`.
    """

    profile: HeightProfile

    def velocity(self, time: float | None = None) -> NDArray[np.float64]:
        """Velocity (3,) at the reference height [m/s]."""
        raise NotImplementedError

    def velocities(self, times: Sequence[float]) -> NDArray[np.float64]:
        """Velocities (n, 3) at several instants [m/s]."""
        return np.array([self.velocity(t) for t in times], dtype=np.float64).reshape(-1, 3)

    def prevailing(self, time: float | None = None) -> Prevailing:
        """The wind of one instant with its height profile."""
        return self.profile.prevailing(self.velocity(time))

    def sample(self, points: ArrayLike, time: float | None = None) -> NDArray[np.float64]:
        """Velocities at points.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            [m]
        time : float, optional
            [s]; None is 0.

        Returns
        -------
        numpy.ndarray, shape (n, 3), float64
            [m/s]. NaN in a row of `points` reaches that row alone, where there is a profile.
        """
        points = checks.array(points, "points", dtype=np.float64, shape=(None, 3))
        now = self.prevailing(time)
        return height_factor(now, points[:, 2])[:, None] * np.array(now.velocity)

    def view(self, time: float | None = None) -> WindView:
        """The wind of one instant, for the C kernels."""
        return WindView(levels=(), outside=self.prevailing(time))

    def describe(self) -> dict[str, Any]:
        """What a recording stores to repeat the wind: plain values only."""
        profile = self.profile
        text: dict[str, Any] = {"type": type(self).__name__, "profile": profile.kind}
        if profile.kind != "none":
            text |= {"ground": profile.ground, "reference_height": profile.reference_height}
            text |= (
                {"roughness": profile.roughness}
                if profile.kind == "log"
                else {"exponent": profile.exponent}
            )
        return text


def _instant(time: float | None) -> float:
    return 0.0 if time is None else checks.number(time, "time")


class UniformWind(UniformSource):
    """The same wind at all times.

    Parameters
    ----------
    velocity : array_like, shape (3,)
        [m/s], at the reference height where there is a profile; z up.
    profile : {"none", "log", "power"} or HeightProfile, keyword-only
    ground, reference_height, roughness, exponent : float, keyword-only
        See `HeightProfile`.

    Examples
    --------
    >>> UniformWind((6, 0, 0)).sample([[0, 0, 2]])
    array([[6., 0., 0.]])
    """

    def __init__(
        self,
        velocity: ArrayLike,
        *,
        profile: str | HeightProfile = "none",
        ground: float | None = None,
        reference_height: float | None = None,
        roughness: float | None = None,
        exponent: float | None = None,
    ) -> None:
        self._velocity = checks.vector(velocity, "velocity").copy()
        self._velocity.flags.writeable = False
        self.profile = height_profile(
            profile,
            ground=ground,
            reference_height=reference_height,
            roughness=roughness,
            exponent=exponent,
        )

    def velocity(self, time: float | None = None) -> NDArray[np.float64]:
        """Velocity (3,) at the reference height [m/s]; `time` does not matter."""
        _instant(time)
        return self._velocity

    def velocities(self, times: Sequence[float]) -> NDArray[np.float64]:
        """The one velocity as often as there are times: (n, 3) [m/s]."""
        if len(times) == 1:
            return self._velocity.reshape(1, 3)
        return np.tile(self._velocity, (len(times), 1))

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"velocity": self._velocity.tolist()}

    def __repr__(self) -> str:
        x, y, z = self._velocity
        return f"UniformWind(({x:g}, {y:g}, {z:g}), profile={self.profile.kind!r})"


class GustWind(UniformSource):
    """A steady wind with a gust in closed form.

    With ``s = time - start``, the gust added to `mean` is

    - ``"step"``: `amplitude` from ``s >= 0`` on, for `duration` seconds (None: for ever);
    - ``"1-cos"``: ``amplitude / 2 (1 - cos(2 pi s / duration))`` for ``0 <= s <= duration``,
      the discrete gust of the airworthiness codes;
    - ``"periodic"``: ``amplitude sin(2 pi frequency s)`` for ``0 <= s`` (and, where `duration` is
      given, ``s <= duration``).

    Parameters
    ----------
    mean : array_like, shape (3,)
        [m/s], z up.
    shape : {"1-cos", "step", "periodic"}, keyword-only
    amplitude : float or array_like of shape (3,), keyword-only
        [m/s]; a number blows along `mean` (along x where the mean is 0).
    start : float, keyword-only, default 0
        [s]
    duration : float or None, keyword-only
        [s]; needed by "1-cos".
    frequency : float, keyword-only
        [Hz]; needed by "periodic".
    profile, ground, reference_height, roughness, exponent
        See `HeightProfile`.

    References
    ----------
    14 CFR 25.341(a)(2), the one-minus-cosine gust.

    Examples
    --------
    >>> gust = GustWind((5, 0, 0), shape="1-cos", amplitude=4, start=2, duration=6)
    >>> gust.sample([[0, 0, 2]], time=5.0)
    array([[9., 0., 0.]])
    """

    def __init__(
        self,
        mean: ArrayLike,
        *,
        shape: str = "1-cos",
        amplitude: float | ArrayLike,
        start: float = 0.0,
        duration: float | None = None,
        frequency: float | None = None,
        profile: str | HeightProfile = "none",
        ground: float | None = None,
        reference_height: float | None = None,
        roughness: float | None = None,
        exponent: float | None = None,
    ) -> None:
        self._mean = checks.vector(mean, "mean").copy()
        self.shape = checks.choice(shape, "shape", GUST_SHAPES)
        self._amplitude = _amplitude_vector(amplitude, self._mean)
        self.start = checks.number(start, "start")
        self.duration = None if duration is None else checks.number(duration, "duration", above=0)
        self.frequency = (
            None if frequency is None else checks.number(frequency, "frequency", above=0)
        )
        if self.shape == "1-cos" and self.duration is None:
            raise ValueError("duration: a '1-cos' gust needs its duration in s")
        if self.shape == "periodic" and self.frequency is None:
            raise ValueError("frequency: a 'periodic' gust needs its frequency in Hz")
        if self.shape != "periodic" and self.frequency is not None:
            raise ValueError("frequency: only a 'periodic' gust has one")
        self.profile = height_profile(
            profile,
            ground=ground,
            reference_height=reference_height,
            roughness=roughness,
            exponent=exponent,
        )

    def strength(self, time: float) -> float:
        """The share of `amplitude` that blows at `time` [s]."""
        s = _instant(time) - self.start
        if s < 0 or (self.duration is not None and s > self.duration):
            return 0.0
        if self.shape == "step":
            return 1.0
        if self.shape == "1-cos":
            assert self.duration is not None
            return 0.5 * (1.0 - math.cos(2 * math.pi * s / self.duration))
        assert self.frequency is not None
        # The phase is reduced first, so that the sine stays exact at late times.
        return math.sin(2 * math.pi * math.fmod(s * self.frequency, 1.0))

    def velocity(self, time: float | None = None) -> NDArray[np.float64]:
        """Velocity (3,) at the reference height [m/s] at `time` [s]; None is 0."""
        return self._mean + self.strength(_instant(time)) * self._amplitude

    def describe(self) -> dict[str, Any]:
        text = {
            "mean": self._mean.tolist(),
            "shape": self.shape,
            "amplitude": self._amplitude.tolist(),
            "start": self.start,
        }
        for name in ("duration", "frequency"):
            if getattr(self, name) is not None:
                text[name] = getattr(self, name)
        return super().describe() | text

    def __repr__(self) -> str:
        return (
            f"GustWind({tuple(self._mean.tolist())}, shape={self.shape!r}, "
            f"amplitude={tuple(self._amplitude.tolist())}, start={self.start:g})"
        )


def _amplitude_vector(
    amplitude: float | ArrayLike, mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    if np.ndim(amplitude) != 0:
        return checks.vector(amplitude, "amplitude").copy()
    size = checks.number(amplitude, "amplitude")
    speed = float(np.linalg.norm(mean))
    return size * (mean / speed if speed > 0 else np.array([1.0, 0.0, 0.0]))
