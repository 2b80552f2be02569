"""Air on one grid, the twins of `windgrove.kernels`: advection, vorticity, sampling, voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..wind.profile import height_factor
from ..wind.protocol import WindView


def advect(
    field: ArrayLike,
    velocity: ArrayLike,
    spacing: float,
    dt: float,
    solid: ArrayLike | None = None,
    *,
    method: str = "semi_lagrangian",
    out: None = None,
    threads: int = 1,
) -> NDArray[np.float64]:
    """``out(x) = field(x - dt velocity(x))`` in interior air cells; the others are copied.

    ``method="maccormack"`` adds half of what does not return when the result is moved back.
    """
    given = np.asarray(field, dtype=np.float64)
    velocity = np.asarray(velocity, dtype=np.float64)
    grid = velocity.shape[1:]
    values = given.reshape(-1, *grid)
    air = np.ones(grid) if solid is None else 1.0 - (np.asarray(solid) != 0)

    cell, _ = _places(velocity, dt / spacing)
    weight = _trilinear(air[None], cell)
    with np.errstate(invalid="ignore", divide="ignore"):
        read = (_trilinear(values * air, cell) / weight).reshape(values.shape)
    simulated = _interior(grid, 1) & (air > 0) & (weight.reshape(grid) != 0)
    moved = np.where(simulated, read, values)
    if method == "maccormack":
        moved = _correct(values, moved, velocity, dt / spacing, air)
    return moved.reshape(given.shape)


def _places(
    velocity: NDArray[Any], cells_per_velocity: float
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Where the air of each cell was, (n, 3) in cells from the first centre; whether it left."""
    grid = velocity.shape[1:]
    k, j, i = np.indices(grid)
    wanted = -velocity * cells_per_velocity
    step = np.clip(wanted, [-i, -j, -k], [grid[2] - 1 - i, grid[1] - 1 - j, grid[0] - 1 - k])
    left = (step != wanted).any(axis=0)
    whole = np.round(step)
    step = np.where(np.abs(step - whole) <= 2.0**-22 * np.abs(step), whole, step)
    return (np.array([i, j, k]) + step).reshape(3, -1).T, left


def _correct(
    field: NDArray[Any],
    moved: NDArray[Any],
    velocity: NDArray[Any],
    cells_per_velocity: float,
    air: NDArray[Any],
) -> NDArray[Any]:
    """MacCormack's second pass, kept between the eight values that `moved` was read from."""
    grid = velocity.shape[1:]
    back, left = _places(velocity, cells_per_velocity)
    forth, left_too = _places(-velocity, cells_per_velocity)
    corners = np.stack([_corner(field, back, c) for c in np.ndindex(2, 2, 2)])
    all_air = (air > 0) & _interior(grid, 1) & ~left & ~left_too
    for place in (back, forth):
        for corner in np.ndindex(2, 2, 2):
            all_air &= _corner(air[None], place, corner)[0] > 0
    returned = _trilinear(moved, forth).reshape(field.shape)
    corrected = moved + 0.5 * (field - returned)
    return np.where(all_air, np.clip(corrected, corners.min(axis=0), corners.max(axis=0)), moved)


def _corner(field: NDArray[Any], cell: NDArray[Any], corner: tuple[int, ...]) -> NDArray[Any]:
    """One of the eight values around each place; a place on a centre has no far side there."""
    low = np.nan_to_num(np.floor(cell)).astype(np.int64)
    i, j, k = np.where((np.array(corner) == 1) & (cell > low), low + 1, low).T
    return field[:, k, j, i].reshape(field.shape)


def _interior(grid: tuple[int, ...], margin: int) -> NDArray[np.bool_]:
    """True in the cells at least `margin` cells away from the outside."""
    inside = np.zeros(grid, dtype=bool)
    inside[(slice(margin, -margin),) * 3] = True
    return inside


def _difference(values: NDArray[Any], axis: int, spacing: float) -> NDArray[Any]:
    """Central difference along x (0), y (1) or z (2); only interior cells are meaningful."""
    along = 2 - axis
    return (np.roll(values, -1, along) - np.roll(values, 1, along)) / (2 * spacing)


def confine_vorticity(
    velocity: ArrayLike,
    spacing: float,
    dt: float,
    epsilon: float,
    solid: ArrayLike | None = None,
    *,
    out: None = None,
    threads: int = 1,
) -> NDArray[np.float64]:
    """``u + dt epsilon h (N x omega)`` with ``N = grad|omega| / |grad|omega||``."""
    velocity = np.asarray(velocity, dtype=np.float64)
    grid = velocity.shape[1:]
    u, v, w = velocity
    closed = _six_neighbours(~_interior(grid, 1), solid)

    omega = np.array(
        [
            _difference(w, 1, spacing) - _difference(v, 2, spacing),
            _difference(u, 2, spacing) - _difference(w, 0, spacing),
            _difference(v, 0, spacing) - _difference(u, 1, spacing),
        ]
    )
    size = np.sqrt((omega**2).sum(axis=0))
    gradient = np.array([_difference(size, axis, spacing) for axis in range(3)])
    length = np.sqrt((gradient**2).sum(axis=0))
    rounding = np.sqrt((velocity**2).sum(axis=0) + (2 * spacing * size) ** 2)
    vanishes = 4 * spacing**2 * length <= 2.0**-19 * rounding
    with np.errstate(invalid="ignore", divide="ignore"):
        normal = np.where(vanishes, 0, gradient / length)
    force = epsilon * spacing * np.cross(normal, omega, axis=0)
    return velocity + dt * np.where(closed, 0, force)


def _six_neighbours(border: NDArray[np.bool_], solid: ArrayLike | None) -> NDArray[np.bool_]:
    """Cells that are border or solid, or have such a cell among their six neighbours."""
    marked = border if solid is None else border | (np.asarray(solid) != 0)
    near = marked.copy()
    for axis in range(3):
        for shift in (1, -1):
            near |= np.roll(marked, shift, axis)
    return near


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
