"""Air on one grid, the twins of `windgrove.kernels`: advection, vorticity, sampling, voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..wind.profile import height_factor
from ..wind.protocol import WindView


def sample(
    field: ArrayLike, origin: ArrayLike, spacing: float, points: ArrayLike, *, threads: int = 1
) -> NDArray[np.float64]:
    """Trilinear sample at (n, 3) points; beyond the outermost cell centres it clamps."""
    field = np.asarray(field, dtype=np.float64)
    points = np.asarray(points, dtype=np.float64)
    cell = (points - np.asarray(origin, dtype=np.float64)) / spacing - 0.5
    values = _trilinear(field.reshape(-1, *field.shape[-3:]), cell)
    return values[0] if field.ndim == 3 else values.T


def _trilinear(field: NDArray[Any], cell: NDArray[Any]) -> NDArray[Any]:
    """Values (c, n) of a (c, nz, ny, nx) field at (n, 3) places in cells from the first centre."""
    last = np.array(field.shape[:0:-1]) - 1
    inside = np.clip(cell, 0, last)
    low = np.nan_to_num(np.floor(inside)).astype(np.int64)
    fraction = inside - low
    total = np.zeros((len(field), len(cell)))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, fraction, 1 - fraction), axis=1)
        i, j, k = np.minimum(low + corner, last).T
        total += weight * field[:, k, j, i]
    return total


def sample_wind(view: WindView, points: ArrayLike, *, threads: int = 1) -> NDArray[np.float64]:
    """The finest grid around each point, faded over its last interior cell into the coarser one."""
    points = np.asarray(points, dtype=np.float64)
    values = height_factor(view.outside, points[:, 2])[:, None] * np.array(view.outside.velocity)
    for level in reversed(view.levels):
        velocity = np.asarray(level.velocity, dtype=np.float64)
        cell = (points - np.array(level.origin)) / level.spacing - 0.5
        last = np.array(velocity.shape[:0:-1]) - 1
        from_border = np.minimum(cell - 0.5, last - 0.5 - cell).min(axis=1)
        share = np.clip(from_border, 0, 1)[:, None]
        own = _trilinear(velocity, cell).T
        values = np.where(share > 0, values + share * (own - values), values)
    return values + 0 * np.where(np.isnan(points), np.nan, 0).sum(axis=1, keepdims=True)
