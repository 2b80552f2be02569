"""Placing instances: turns as quaternions, and the keys of their noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks

_GRID = 1e-3  # m: trees closer than this share their noise


def quaternions_of(turn: ArrayLike, count: int) -> NDArray[np.float32]:
    """(count, 4) unit quaternions from angles about z, rotation vectors or quaternions."""
    values = checks.array(turn, "turn", dtype=np.float64, finite=True)
    if values.ndim <= 1:
        angle = np.broadcast_to(values.ravel(), (count,))
        zero = np.zeros(count)
        q = np.stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)], axis=1)
    elif values.ndim == 2 and values.shape[1] == 3:
        angle = np.linalg.norm(values, axis=1, keepdims=True)
        half = np.where(angle > 1e-8, np.sin(angle / 2) / np.maximum(angle, 1e-8), 0.5)
        q = np.concatenate([np.cos(angle / 2), half * values], axis=1)
    elif values.ndim == 2 and values.shape[1] == 4:
        norm = np.linalg.norm(values, axis=1, keepdims=True)
        if np.abs(norm - 1).max() > 1e-3:
            raise ValueError("turn: expected unit quaternions")
        q = values / norm
    else:
        raise ValueError(f"turn: expected shape (m,), (m, 3) or (m, 4), got {values.shape}")
    if len(q) not in (1, count):
        raise ValueError(f"turn: has {len(q)} entries where others have {count}")
    return np.ascontiguousarray(np.broadcast_to(q, (count, 4)), dtype=np.float32)


def keys_of(
    ids: ArrayLike | None, place: NDArray[np.float64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Ids (m,) and noise keys (m,): the ids given, else numbers that follow from the place."""
    if ids is None:
        grid = np.round(place / _GRID).astype(np.int64).astype(np.uint64)
        mixed = np.zeros(len(place), dtype=np.uint64)
        for axis in range(3):
            mixed = _mix(mixed + grid[:, axis] + np.uint64(axis + 1))
        numbers = (mixed >> np.uint64(1)).astype(np.int64)
    else:
        numbers = checks.array(ids, "ids", dtype=np.int64, ndmin=1)
        numbers = np.ascontiguousarray(np.broadcast_to(numbers, (len(place),)))
    key = _mix(numbers.astype(np.uint64) + _mix(np.array([seed], dtype=np.uint64)))
    return numbers, (key >> np.uint64(32)).astype(np.uint32)


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of splitmix64 (Steele, Lea, Flood 2014) on every number."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
