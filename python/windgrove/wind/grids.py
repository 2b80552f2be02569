"""The arrays of one grid of the cascade, and a saved state of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .protocol import GridView

if TYPE_CHECKING:
    from .shelter import Shelter


LARGEST_SPEED = 1e8  # m/s; what blows in, or one step's force adds: far within float32


class Grid:
    """One grid: arrays are made once and keep their identity, so that views of them stay live."""

    def __init__(self, cells: tuple[int, int, int], spacing: float) -> None:
        nx, ny, nz = (n + 2 for n in cells)
        self.spacing = spacing
        self.low = np.zeros(3, np.int64)
        self.velocity = np.zeros((3, nz, ny, nx), np.float32)
        self.other = np.zeros((3, nz, ny, nx), np.float32)
        self.pressure = np.zeros((nz, ny, nx), np.float32)
        self.solid = np.zeros((nz, ny, nx), np.bool_)
        self.has_solid = False
        self.drag: NDArray[np.float32] | None = None

    @property
    def marked(self) -> NDArray[np.bool_] | None:
        """The markers for the kernels; None where no cell is solid."""
        return self.solid if self.has_solid else None

    @property
    def fields(self) -> tuple:
        """What the C code of the cascade takes as a grid."""
        return self.velocity, self.pressure, self.marked, self.low, self.spacing

    @property
    def origin(self) -> tuple[float, float, float]:
        """Low corner of cell [0, 0, 0] [m]."""
        x, y, z = ((n - 1) * self.spacing for n in self.low.tolist())
        return x, y, z

    def view(self) -> GridView:
        """The grid for the C kernels, live."""
        return GridView(self.velocity, self.origin, self.spacing)


@dataclass(frozen=True, eq=False)
class WindState:
    """A copy of all that changes while a `Wind` steps; see `Wind.state`. Pickles.

    Attributes
    ----------
    steps : int
        Steps since `start_time` [s].
    drift : (3,) float64
        Place of the border's noise, in lattice cells.
    low : (levels, 3) int64
        Low corners of the interiors, in cells of each level.
    velocity, pressure : tuple of arrays
        Finest first, with their borders [m/s, m^2/s].
    shelter : Shelter or None
    parameters : mapping or None
        Those of the wind that it is of; `Wind.restore` refuses it where they differ. None, as in
        states that older versions saved, leaves that to the caller.
    """

    steps: int
    start_time: float
    drift: NDArray[np.float64]
    low: NDArray[np.int64]
    velocity: tuple[NDArray[np.float32], ...]
    pressure: tuple[NDArray[np.float32], ...]
    shelter: Shelter | None = None
    parameters: Mapping[str, Any] | None = None
