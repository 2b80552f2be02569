"""Air on one grid: advection, vorticity confinement, sampling, voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks
from ..wind.protocol import WindView


def _field(value: ArrayLike, name: str) -> tuple[NDArray[Any], bool]:
    """A field as (c, nz, ny, nx), and whether it came without its component axis."""
    given = np.asarray(value)
    if given.ndim not in (3, 4):
        raise ValueError(
            f"{name}: expected shape (nz, ny, nx) or (c, nz, ny, nx), got {given.shape}"
        )
    scalar = given.ndim == 3
    field = checks.array(given[None] if scalar else given, name, shape=(None,) * 4)
    if field.size == 0:
        raise ValueError(f"{name}: expected at least one cell, got shape {given.shape}")
    return field, scalar


def sample(
    field: ArrayLike, origin: ArrayLike, spacing: float, points: ArrayLike, *, threads: int = 1
) -> NDArray[np.float32]:
    """Sample a field at points, trilinear between cell centres.

    Parameters
    ----------
    field : array_like, shape (nz, ny, nx) or (c, nz, ny, nx)
        Values at the cell centres.
    origin : array_like, shape (3,)
        Low corner of cell [0, 0, 0], x y z [m].
    spacing : float
        Edge of a cell [m].
    points : array_like, shape (n, 3)
        x y z [m]. Beyond the outermost centres the nearest place on them is read.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, shape (n,) or (n, c), float32
        A point with a NaN gives NaN in its row alone; infinite coordinates clamp.

    Examples
    --------
    >>> ramp = np.arange(4.0) * np.ones((4, 4, 4))
    >>> sample(ramp, (0, 0, 0), 1.0, [(2.0, 1, 1), (99, 1, 1)]).tolist()
    [1.5, 3.0]
    """
    values, scalar = _field(field, "field")
    corner = checks.vector(origin, "origin")
    size = checks.number(spacing, "spacing", above=0.0)
    where = checks.array(points, "points", dtype=np.float64, shape=(None, 3))
    out = np.empty((len(where), len(values)), np.float32)
    _kernels.sample(values, corner, size, where, out, checks.threads(threads))
    return out[:, 0] if scalar else out


def sample_wind(view: WindView, points: ArrayLike, *, threads: int = 1) -> NDArray[np.float32]:
    """Sample nested grids and the wind around them.

    The finest grid around a point, trilinear; over a grid's last interior cell it fades into the
    next coarser grid, and on the coarsest into the prevailing wind, so that a moving point sees
    no jump. Equations: ``windgrove/flow.h``, `wg_wind_sample`.

    Parameters
    ----------
    view : WindView
        The wind of one instant.
    points : array_like, shape (n, 3)
        x y z [m], double precision.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, shape (n, 3), float32
        [m/s]. A point with a NaN gives NaN in its row alone; infinite coordinates are outside.
    """
    where = checks.array(points, "points", dtype=np.float64, shape=(None, 3))
    out = np.empty((len(where), 3), np.float32)
    _kernels.wind_sample(view, where, out, checks.threads(threads))
    return out
