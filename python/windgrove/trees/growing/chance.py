"""Random numbers and small vector arithmetic that give the same bits on every machine.

NumPy's generators may change their streams between versions, and sin, cos and pow differ in the
last bit between processors; a fork decided by such a bit grows another tree. So: splitmix64 as a
counter-based generator, and vectors built from + - * / and square roots alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vectors = NDArray[np.float64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_COS_1_DEG = 0.9998476951563913
_SIN_1_DEG = 0.01745240643728351


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


class Chance:
    """A stream of random numbers named by a seed and a word; streams do not disturb each other."""

    def __init__(self, seed: int, stream: str) -> None:
        key = np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
        for byte in stream.encode():
            key = _mix(key * _GOLDEN + np.uint64(byte + 1))
        self._key = key
        self._count = 0

    def uniform(self, size: int) -> NDArray[np.float64]:
        """`size` numbers in [0, 1)."""
        index = np.arange(self._count + 1, self._count + size + 1, dtype=np.uint64)
        self._count += size
        bits = _mix(self._key + index * _GOLDEN)
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def between(self, low: float, high: float, size: int = 1) -> NDArray[np.float64]:
        """`size` numbers in [low, high)."""
        return low + (high - low) * self.uniform(size)

    def one(self, low: float = 0.0, high: float = 1.0) -> float:
        """One number in [low, high)."""
        return float(self.between(low, high)[0])

    def unit_vectors(self, size: int) -> Vectors:
        """(size, 3) directions, uniform on the sphere."""
        found = np.empty((0, 3))
        while len(found) < size:
            cube = 2.0 * self.uniform(6 * size + 24).reshape(-1, 3) - 1.0
            squared = dot(cube, cube)
            found = np.concatenate([found, cube[(squared <= 1.0) & (squared > 1e-4)]])
        return unit(found[:size])


def dot(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Scalar products of (..., 3) vectors, in a fixed order of operations."""
    a, b = np.asarray(a), np.asarray(b)
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def cross(a: ArrayLike, b: ArrayLike) -> Vectors:
    """Vector products of (..., 3) vectors."""
    a, b = np.asarray(a), np.asarray(b)
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )


def norm(a: ArrayLike) -> NDArray[np.float64]:
    """Lengths of (..., 3) vectors."""
    return np.sqrt(dot(a, a))


def unit(a: ArrayLike) -> Vectors:
    """(..., 3) vectors divided by their lengths; a zero vector points up."""
    a = np.asarray(a, dtype=np.float64)
    length = norm(a)[..., None]
    return np.where(length > 0, a / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])


def _circle() -> NDArray[np.float64]:
    points = np.empty((361, 2))
    c, s = 1.0, 0.0
    for i in range(361):
        points[i] = c, s
        c, s = c * _COS_1_DEG - s * _SIN_1_DEG, s * _COS_1_DEG + c * _SIN_1_DEG
    return points


_CIRCLE = _circle()


def circle(angle_deg: ArrayLike) -> NDArray[np.float64]:
    """(..., 2) cosine and sine of angles in degrees, within 2e-7 of the exact angle."""
    angle = np.asarray(angle_deg, dtype=np.float64)
    turn = angle - 360.0 * np.floor(angle / 360.0)
    below = np.minimum(turn.astype(np.int64), 359)
    part = (turn - below)[..., None]
    point = _CIRCLE[below] * (1.0 - part) + _CIRCLE[below + 1] * part
    return point / np.sqrt(point[..., :1] * point[..., :1] + point[..., 1:] * point[..., 1:])


def frame(axis: ArrayLike) -> tuple[Vectors, Vectors]:
    """Two unit vectors across each of (..., 3) axes: the first lies level."""
    axis = np.asarray(axis, dtype=np.float64)
    level = cross([0.0, 0.0, 1.0], axis)
    upright = norm(level) < 1e-9
    level = unit(np.where(upright[..., None], [1.0, 0.0, 0.0], level))
    return level, cross(axis, level)


def tilt(axis: ArrayLike, angle_deg: ArrayLike, around_deg: ArrayLike) -> Vectors:
    """(..., 3) axes bent by an angle from themselves, towards a side chosen by the second angle."""
    axis = np.asarray(axis, dtype=np.float64)
    level, above = frame(axis)
    bend, side = circle(angle_deg), circle(around_deg)
    across = level * side[..., :1] + above * side[..., 1:]
    return unit(axis * bend[..., :1] + across * bend[..., 1:])


def profile(points: ArrayLike, at: ArrayLike) -> NDArray[np.float64]:
    """A broken line through (t, value) points, constant beyond its ends."""
    table = np.asarray(points, dtype=np.float64)
    at = np.asarray(at, dtype=np.float64)
    right = np.clip(np.searchsorted(table[:, 0], at, side="right"), 1, len(table) - 1)
    t0, v0 = table[right - 1, 0], table[right - 1, 1]
    t1, v1 = table[right, 0], table[right, 1]
    part = np.clip((at - t0) / (t1 - t0), 0.0, 1.0)
    return v0 + (v1 - v0) * part
