"""The nested wind in plain NumPy, double precision: what `Wind` does in one step, to be read.

Without solids, effectors and a moving focus; grids are in a list, finest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .noise import perlin
from .projection import project
from .wind import advect, confine_vorticity, sample


@dataclass
class PlainGrid:
    """One grid with its border; `origin` is the low corner of cell [0, 0, 0] [m]."""

    velocity: NDArray[np.float64]  # (3, nz, ny, nx) m/s
    origin: NDArray[np.float64]
    spacing: float

    def centres(self) -> NDArray[np.float64]:
        """(nz, ny, nx, 3) [m]."""
        axes = [
            self.origin[2 - axis] + self.spacing * (np.arange(count) + 0.5)
            for axis, count in enumerate(self.velocity.shape[1:])
        ]
        z, y, x = np.meshgrid(*axes, indexing="ij")
        return np.stack([x, y, z], axis=-1)

    def border(self) -> NDArray[np.bool_]:
        """Which cells are not simulated."""
        mask = np.ones(self.velocity.shape[1:], bool)
        mask[1:-1, 1:-1, 1:-1] = False
        return mask


def prevailing_at(
    points: NDArray[np.float64],
    prevailing: ArrayLike,
    *,
    strength: float = 0.0,
    scale: float = 1.0,
    drift: ArrayLike = (0.0, 0.0, 0.0),
    seed: int = 0,
) -> NDArray[np.float64]:
    """Prevailing wind with its Perlin noise at points (..., 3); `strength` per unit of noise."""
    mean = np.asarray(prevailing, dtype=np.float64)
    wind = np.broadcast_to(mean, points.shape).copy()
    if strength:
        lattice = (points / scale - np.asarray(drift, dtype=np.float64)).reshape(-1, 3)
        for component in range(3):
            noise = perlin(lattice, 3 * seed + component).reshape(points.shape[:-1])
            wind[..., component] += strength * np.linalg.norm(mean) * noise
    return wind


def inner_border(fine: PlainGrid, coarse: PlainGrid) -> None:
    """Border cells of the finer grid: trilinear from the coarser one."""
    mask = fine.border()
    values = sample(coarse.velocity, coarse.origin, coarse.spacing, fine.centres()[mask])
    fine.velocity[:, mask] = np.asarray(values).T


def restrict(coarse: PlainGrid, fine: PlainGrid) -> None:
    """Coarse cells over the fine interior: the mean of their eight fine cells."""
    inner = fine.velocity[:, 1:-1, 1:-1, 1:-1]
    nz, ny, nx = (n // 2 for n in inner.shape[1:])
    mean = inner.reshape(3, nz, 2, ny, 2, nx, 2).mean(axis=(2, 4, 6))
    corner = (fine.origin + fine.spacing - coarse.origin) / coarse.spacing
    i, j, k = np.round(corner).astype(int)
    coarse.velocity[:, k : k + nz, j : j + ny, i : i + nx] = mean


def cascade_step(
    grids: list[PlainGrid],
    prevailing: ArrayLike,
    dt: float,
    *,
    vorticity: float = 0.0,
    method: str = "jacobi",
    discretisation: str = "compact",
    iterations: int = 20,
    strength: float = 0.0,
    scale: float = 1.0,
    drift: ArrayLike = (0.0, 0.0, 0.0),
    seed: int = 0,
) -> None:
    """One step, in place. `drift` is the noise's place at the end of the step."""
    coarsest = grids[-1]
    mask = coarsest.border()
    coarsest.velocity[:, mask] = prevailing_at(
        coarsest.centres()[mask], prevailing,
        strength=strength, scale=scale, drift=drift, seed=seed,
    ).T  # fmt: skip
    for grid in grids:
        grid.velocity = np.asarray(advect(grid.velocity, grid.velocity, grid.spacing, dt))
        if vorticity:
            grid.velocity = np.asarray(
                confine_vorticity(grid.velocity, grid.spacing, dt, vorticity)
            )
    for coarse, fine in pairwise(reversed(grids)):
        inner_border(fine, coarse)
    for fine, coarse in pairwise(grids):
        restrict(coarse, fine)
    for grid in grids:
        grid.velocity = np.asarray(
            project(
                grid.velocity,
                grid.spacing,
                method=method,
                discretisation=discretisation,
                iterations=iterations,
            )
        )
