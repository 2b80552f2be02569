"""What stirs the air from within: swung weapons, blasts, vortices, rotors.

An effector acts from `start` for `duration` seconds while its position moves, and falls off
smoothly with distance; it never acts in solids. Formulas: ``windgrove/cascade.h``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from .grids import LARGEST_SPEED

Vector = tuple[float, float, float]
COLUMNS = 13  # of a row for the C code: kind, start, end, direction, radius, half length, a
BLAST_COLUMNS = 5  # centre, radius, speed
AIR_DENSITY = 1.225  # kg/m3, dry air at 15 degrees C and 101.325 kPa (ISO 2533)


def _vector(value: ArrayLike, name: str) -> Vector:
    x, y, z = checks.vector(value, name).tolist()
    return (x, y, z)


def _unit(value: ArrayLike, name: str) -> Vector:
    vector = checks.vector(value, name)
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        raise ValueError(f"{name}: expected a vector that is not 0")
    x, y, z = (vector / length).tolist()
    return (x, y, z)


@dataclass(frozen=True, kw_only=True)
class Effector:
    """Time and motion, shared by all effectors.

    Parameters
    ----------
    position : array_like, shape (3,)
        Centre at `start` [m].
    radius : float
        Beyond this distance the effector does nothing [m] (a `Blast` reaches further).
    start, duration : float
        [s]; a duration of infinity is allowed.
    velocity : array_like, shape (3,), default 0
        Of the centre [m/s].
    path : array_like, shape (n, 4), optional
        Rows of time since `start` [s] and position [m]; linear in between, resting before the
        first and after the last. Replaces `position` and `velocity`.
    """

    position: Vector = (0.0, 0.0, 0.0)
    radius: float
    start: float = 0.0
    duration: float = math.inf
    velocity: Vector = (0.0, 0.0, 0.0)
    path: tuple[tuple[float, float, float, float], ...] | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "position", _vector(self.position, "position"))
        set_field(self, "velocity", _vector(self.velocity, "velocity"))
        set_field(
            self,
            "radius",
            checks.number(self.radius, "radius", above=0.0, low=checks.SMALLEST_CELL),
        )
        set_field(self, "start", checks.number(self.start, "start"))
        if not (isinstance(self.duration, float) and self.duration == math.inf):
            set_field(self, "duration", checks.number(self.duration, "duration", above=0.0))
        if self.path is not None:
            rows = checks.array(self.path, "path", dtype=np.float64, shape=(None, 4), finite=True)
            if len(rows) == 0 or np.any(np.diff(rows[:, 0]) <= 0):
                raise ValueError("path: expected rows (time, x, y, z) with increasing times")
            set_field(self, "path", tuple(map(tuple, rows.tolist())))

    def position_at(self, time: float) -> NDArray[np.float64]:
        """Centre (3,) at a time of the wind [m]."""
        since = time - self.start
        if self.path is not None:
            rows = np.array(self.path)
            return np.array([np.interp(since, rows[:, 0], rows[:, n]) for n in (1, 2, 3)])
        return np.array(self.position) + since * np.array(self.velocity)

    def active(self, begin: float, end: float) -> tuple[float, float] | None:
        """The part of [begin, end] in which the effector acts; None where it does not."""
        first, last = max(begin, self.start), min(end, self.start + self.duration)
        return (first, last) if last > first else None

    def row(self, begin: float, end: float) -> NDArray[np.float64] | None:
        """The force over a step from `begin` to `end` for the C code; None for none."""
        return None

    def source(self, begin: float, end: float) -> NDArray[np.float64] | None:
        """The source of air over a step for the C code; None for none."""
        return None


def _row(
    kind: int,
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    direction: ArrayLike,
    radius: float,
    half_length: float,
    acceleration: float,
) -> NDArray[np.float64]:
    return np.concatenate(
        [[kind], start, end, np.asarray(direction), [radius, half_length, acceleration]]
    )


@dataclass(frozen=True, kw_only=True)
class LinearForce(Effector):
    """Accelerates the air along its motion: a swung weapon, a passing body.

    In a step it acts in the capsule of `radius` around the way its centre goes, with
    ``(1 - (r / radius)^2)^2``.

    Parameters
    ----------
    acceleration : float
        On the axis [m/s^2].
    direction : array_like, shape (3,), optional
        Of the force; None is the direction of the motion. Needed where the effector rests.

    See `Effector` for the others.
    """

    acceleration: float
    direction: Vector | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number(self.acceleration, "acceleration")
        if self.direction is not None:
            object.__setattr__(self, "direction", _unit(self.direction, "direction"))
        elif self.path is None and not any(self.velocity):
            raise ValueError("direction: needed where the effector does not move")

    def row(self, begin: float, end: float) -> NDArray[np.float64] | None:
        times = self.active(begin, end)
        if times is None:
            return None
        a, b = self.position_at(times[0]), self.position_at(times[1])
        if self.direction is not None:
            direction = np.array(self.direction)
        else:
            moved = float(np.linalg.norm(b - a))
            if moved == 0.0:
                return None
            direction = (b - a) / moved
        share = (times[1] - times[0]) / (end - begin)
        return _row(0, a, b, direction, self.radius, self.radius, share * self.acceleration)


@dataclass(frozen=True, kw_only=True)
class Vortex(Effector):
    """Turns the air about an axis, right-handed: a whirl.

    The force has its peak `acceleration` at ``radius / sqrt(5)`` and is 0 on the axis; along the
    axis it fades over `half_length`. It has no divergence, so the projection keeps all of it.

    Parameters
    ----------
    acceleration : float
        At the peak [m/s^2]; negative turns the other way.
    axis : array_like, shape (3,), default up
    half_length : float, optional
        [m]; None is `radius`.

    See `Effector` for the others.
    """

    acceleration: float
    axis: Vector = (0.0, 0.0, 1.0)
    half_length: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number(self.acceleration, "acceleration")
        object.__setattr__(self, "axis", _unit(self.axis, "axis"))
        if self.half_length is not None:
            checks.number(self.half_length, "half_length", above=0.0, low=checks.SMALLEST_CELL)

    def row(self, begin: float, end: float) -> NDArray[np.float64] | None:
        times = self.active(begin, end)
        if times is None:
            return None
        centre = self.position_at(0.5 * (times[0] + times[1]))
        share = (times[1] - times[0]) / (end - begin)
        length = self.radius if self.half_length is None else self.half_length
        return _row(1, centre, centre, self.axis, self.radius, length, share * self.acceleration)


@dataclass(frozen=True, kw_only=True)
class Rotor(Effector):
    """Downwash of a rotor: an actuator disc that pushes air with a given thrust.

    The momentum given to the air per second is `thrust` over the density of air, spread with
    ``(1 - s^2)^2`` across the disc and along its axis. In still air the disc's induced velocity is
    about ``sqrt(thrust / (2 rho A))`` (momentum theory).

    Parameters
    ----------
    thrust : float
        [N], of the air on the rotor and so, reversed, of the rotor on the air.
    direction : array_like, shape (3,), default down
        In which the air is pushed.
    half_length : float, optional
        Half the thickness of the disc's region [m]; None is half of `radius`.
    air_density : float, default 1.225
        [kg/m^3]

    See `Effector` for the others. `radius` should span two cells or more of the finest grid.

    References
    ----------
    Rankine-Froude momentum theory: Leishman, Principles of Helicopter Aerodynamics, chapter 2.
    """

    thrust: float
    direction: Vector = (0.0, 0.0, -1.0)
    half_length: float | None = None
    air_density: float = AIR_DENSITY

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number(self.thrust, "thrust")
        checks.number(self.air_density, "air_density", above=0.0)
        object.__setattr__(self, "direction", _unit(self.direction, "direction"))
        if self.half_length is not None:
            checks.number(self.half_length, "half_length", above=0.0, low=checks.SMALLEST_CELL)

    @property
    def acceleration(self) -> float:
        """Peak acceleration of the air [m/s^2]."""
        length = 0.5 * self.radius if self.half_length is None else self.half_length
        # Integrals of (1 - s^2)^2: pi R^2 / 3 over the disc, 16/15 H along the axis.
        volume = math.pi * self.radius**2 / 3 * (16 / 15) * length
        return self.thrust / (self.air_density * volume)

    def row(self, begin: float, end: float) -> NDArray[np.float64] | None:
        times = self.active(begin, end)
        if times is None:
            return None
        centre = self.position_at(0.5 * (times[0] + times[1]))
        share = (times[1] - times[0]) / (end - begin)
        length = 0.5 * self.radius if self.half_length is None else self.half_length
        return _row(
            2, centre, centre, self.direction, self.radius, length, share * self.acceleration
        )


@dataclass(frozen=True, kw_only=True)
class Blast(Effector):
    """A burst that pushes the air outward from a point.

    A force along the radius would be undone by the pressure, which removes every gradient; so a
    blast is a source of air. In free space it blows with `speed` at `radius` and ``speed (radius /
    r)^2`` beyond, (5 s - 3 s^3) / 2 of `speed` inside with s = r / radius. It lasts `duration`; the
    wind it made stops with it, but for what solids and the grid made turn. A projection that stops
    early ("source") needs some steps until the blast reaches its full width.

    Parameters
    ----------
    speed : float
        At the distance `radius` [m/s]; negative draws the air in.
    duration : float, default 0.2
        [s]

    See `Effector` for the others.
    """

    speed: float
    duration: float = field(default=0.2)

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number(self.speed, "speed")

    def source(self, begin: float, end: float) -> NDArray[np.float64] | None:
        times = self.active(begin, end)
        if times is None:
            return None
        centre = self.position_at(0.5 * (times[0] + times[1]))
        share = (times[1] - times[0]) / (end - begin)
        return np.array([*centre, self.radius, share * self.speed])


def _bounded(
    row: NDArray[np.float64], speed: float, number: int, effector: Effector
) -> NDArray[np.float64]:
    name = f"effectors[{number}]: {type(effector).__name__}"
    if not np.isfinite(row).all():
        raise ValueError(f"{name}: its place or its force is not a finite number")
    if not speed <= LARGEST_SPEED:
        raise ValueError(
            f"{name}: {speed:g} m/s in one step; expected at most {LARGEST_SPEED:g} m/s"
        )
    return row


def force_tables(
    effectors: Iterable[Effector], begin: float, end: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows of all forces and of all sources of air that act between two times, for the C code."""
    rows, sources = [], []
    for number, effector in enumerate(effectors):
        with np.errstate(all="ignore"):
            row, source = effector.row(begin, end), effector.source(begin, end)
        if row is not None:
            rows.append(_bounded(row, abs(row[-1]) * (end - begin), number, effector))
        if source is not None:
            sources.append(_bounded(source, abs(source[-1]), number, effector))
    return np.array(rows).reshape(-1, COLUMNS), np.array(sources).reshape(-1, BLAST_COLUMNS)
