"""What blows in at the border of the coarsest grid: the prevailing wind and its noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks
from .grids import LARGEST_SPEED
from .profile import HeightProfile, height_profile
from .protocol import Prevailing
from .sources import UniformSource, UniformWind

PERIOD = 256.0  # of Perlin's noise, in lattice cells

# Root mean square of improved noise: exact mean over a lattice cell, gradients independent and
# drawn from the sixteen of the reference implementation; see docs/numerics/cascade.md.
NOISE_RMS = 0.2700350823341201


@dataclass(frozen=True, kw_only=True)
class Turbulence:
    """Perlin noise on the prevailing wind at the border.

    Each component of the wind gets ``strength |U| n(x / scale - drift) / rms(n)``: three
    independent noises on one lattice that drifts with the wind (Taylor's frozen turbulence).

    Parameters
    ----------
    strength : float, default 0.15
        Turbulence intensity: standard deviation of each component over the local mean speed.
        0 switches the noise off.
    scale : float, optional
        Size of a lattice cell [m]; None is four cells of the coarsest grid, the least that its
        trilinear interpolation carries well.
    speed : float, optional
        Speed of the drift along the prevailing wind [m/s]; None is the wind's own.
    """

    strength: float = 0.15
    scale: float | None = None
    speed: float | None = None

    def __post_init__(self) -> None:
        checks.number(self.strength, "turbulence", low=0.0)
        if self.scale is not None:
            checks.number(self.scale, "scale", above=0.0)
        if self.speed is not None:
            checks.number(self.speed, "speed", low=0.0)


Place = tuple[Prevailing, NDArray[np.float64]]


class CallableWind(UniformSource):
    """A wind given by a function of time.

    Parameters
    ----------
    function : callable
        ``function(time) -> (x, y, z)`` [m/s].
    profile : HeightProfile, optional, keyword-only
    """

    def __init__(
        self,
        function: Callable[[float], ArrayLike],
        *,
        profile: str | HeightProfile = "none",
    ) -> None:
        self.function = function
        self.profile = height_profile(profile)

    def velocity(self, time: float | None = None) -> NDArray[np.float64]:
        """What the function returns at `time` [s]; None is 0."""
        return checks.vector(self.function(0.0 if time is None else time), "prevailing(time)")

    def describe(self) -> dict[str, Any]:
        name = getattr(self.function, "__qualname__", repr(self.function))
        return super().describe() | {"function": name}


class _SampledWind:
    """A foreign wind's velocity at one point, as a function of time."""

    def __init__(self, source: Any, point: tuple[float, float, float]) -> None:
        self.source = source
        self.point = point

    def __call__(self, time: float) -> ArrayLike:
        return np.asarray(self.source.sample(np.array([self.point]), time))[0]


def prevailing_source(prevailing: Any, profile: HeightProfile | None) -> UniformSource:
    """`prevailing` of `Wind` as a source: vector, source, function of time, or sampled wind."""
    if isinstance(prevailing, UniformSource):
        if profile is not None:
            raise ValueError("profile: the prevailing wind given already has its own")
        return prevailing
    chosen = profile if profile is not None else HeightProfile()
    if hasattr(prevailing, "sample"):
        point = (0.0, 0.0, chosen.ground + chosen.reference_height)
        return CallableWind(_SampledWind(prevailing, point), profile=chosen)
    if callable(prevailing):
        return CallableWind(prevailing, profile=chosen)
    return UniformWind(checks.vector(prevailing, "prevailing"), profile=chosen)


def turbulence_of(value: Any, coarsest: float) -> Turbulence:
    """`turbulence` of `Wind` with its scale filled in."""
    if isinstance(value, dict):
        value = Turbulence(**value)
    if not isinstance(value, Turbulence):
        value = Turbulence(strength=checks.number(value, "turbulence", low=0.0))
    scale = 4.0 * coarsest if value.scale is None else float(value.scale)
    return Turbulence(strength=float(value.strength), scale=scale, speed=value.speed)


class Inflow:
    """The prevailing wind of one instant and the place of its noise.

    The drift of the noise is summed in double precision and wrapped to the noise's period, so that
    it goes on without a seam for ever, also while the wind turns.
    """

    def __init__(self, source: UniformSource, turbulence: Turbulence, seed: int, time: float):
        self.source = source
        self.turbulence = turbulence
        self.table = np.empty((3, 512), np.uint8)
        _kernels.noise_table(seed, self.table)
        self.outside = self.outside_at(time)
        self.drift = self._drifted(np.zeros(3), self.outside, time)

    def outside_at(self, time: float) -> Prevailing:
        """The prevailing wind of a time, which must be one that float32 air can follow."""
        outside = self.source.prevailing(time)
        speed = math.hypot(*outside.velocity)
        if not speed <= LARGEST_SPEED:
            raise ValueError(
                f"prevailing: {speed:g} m/s at {time:g} s; expected at most {LARGEST_SPEED:g}"
            )
        strength = self.turbulence.strength
        if not strength * speed <= LARGEST_SPEED:
            raise ValueError(
                f"turbulence: a strength of {strength:g} makes {strength * speed:g} m/s of a wind "
                f"of {speed:g}; expected at most {LARGEST_SPEED:g}"
            )
        return outside

    def _drifted(
        self, drift: NDArray[np.float64], outside: Prevailing, seconds: float
    ) -> NDArray[np.float64]:
        velocity = np.array(outside.velocity)
        assert self.turbulence.scale is not None
        with np.errstate(all="ignore"):
            if self.turbulence.speed is not None:
                speed = float(np.linalg.norm(velocity))
                if speed > 0.0:
                    velocity = velocity * (self.turbulence.speed / speed)
            way = velocity / self.turbulence.scale * seconds
            drifted = np.mod(drift + way, PERIOD)
        if not np.isfinite(drifted).all():
            raise ValueError(
                f"turbulence: its lattice of {self.turbulence.scale:g} m drifts further in "
                f"{seconds:g} s than can be told; choose a larger scale, or a smaller speed, "
                "start_time or dt"
            )
        return drifted

    def ahead(self, time: float, dt: float) -> Place:
        """Where it is at `time`, `dt` after the present place. Nothing is changed."""
        outside = self.outside_at(time)
        return outside, self._drifted(self.drift, outside, dt)

    @property
    def place(self) -> Place:
        """The wind outside, and the drift of the noise."""
        return self.outside, self.drift

    def go(self, place: Place) -> None:
        """Takes a place over."""
        self.outside, self.drift = place

    def advance(self, time: float, dt: float) -> None:
        """Goes on to `time`, `dt` after the last."""
        self.go(self.ahead(time, dt))

    @property
    def noise(self) -> tuple[NDArray[np.uint8], float, float, NDArray[np.float64]] | None:
        """What the C code takes: table, strength, scale, drift; None without noise."""
        if self.turbulence.strength == 0.0:
            return None
        assert self.turbulence.scale is not None
        return self.table, self.turbulence.strength / NOISE_RMS, self.turbulence.scale, self.drift
