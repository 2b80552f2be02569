"""What a wind is to the rest of the toolkit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

PROFILES = ("none", "log", "power")


@dataclass(frozen=True)
class Prevailing:
    """Wind outside every grid: the C struct `wg_prevailing`."""

    velocity: tuple[float, float, float]  # m/s at the reference height
    profile: str = "none"  # one of PROFILES
    ground: float = 0.0  # m
    reference_height: float = 10.0  # m above the ground
    parameter: float = 0.0  # roughness length (m) or exponent


@dataclass(frozen=True)
class GridView:
    """One grid of an instant: live, not a copy."""

    velocity: NDArray[np.float32]  # (3, nz, ny, nx) with the border, m/s
    origin: tuple[float, float, float]  # m, low corner of cell [0, 0, 0]
    spacing: float  # m
    # The same as (nz, ny, nx, 4), from _kernels.wind_cells: many samples are faster then.
    cells: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class WindView:
    """The wind of one instant in the form the C kernels read: the C struct `wg_wind_view`."""

    levels: tuple[GridView, ...]  # finest first; empty for a wind without grids
    outside: Prevailing


@runtime_checkable
class WindSource(Protocol):
    """Anything that can be sampled. Only `sample` is asked of a user's own class.

    The winds of this package also have ``view(time) -> WindView``, which the C code samples
    without a call to Python; a wind without it is sampled once a frame at the centres of mass.
    """

    def sample(self, points: ArrayLike, time: float | None = None) -> NDArray[np.floating]:
        """Velocities (n, 3) in m/s at the (n, 3) points in m, at `time` in s."""
        ...
