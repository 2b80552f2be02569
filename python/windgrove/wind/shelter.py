"""Trees take from the wind what it pushes them with: a momentum sink in the grids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from .effectors import AIR_DENSITY
from .grids import Grid

if TYPE_CHECKING:
    from ..species.species import Species
    from ..trees.tree import Tree

# Where a branch's mass is taken to be: share of its length from its root.
CENTRE_OF_MASS = 0.75


@dataclass(frozen=True, eq=False)
class Shelter:
    """Points that slow the air: the force of each on the air is ``-drag u``.

    Parameters
    ----------
    points : array_like, shape (n, 3)
        [m]
    drag : array_like, shape (n,) or a number
        Force per wind speed [kg/s = N s/m], not negative.
    air_density : float, default 1.225
        [kg/m^3]

    Examples
    --------
    >>> from windgrove import Wind
    >>> wind = Wind((6, 0, 0), cells=(8, 8, 8), levels=1, shelter=Shelter([[0, 0, 2]], 50.0))
    >>> wind.shelter = None
    """

    points: NDArray[np.float64]
    drag: NDArray[np.float64]
    air_density: float = AIR_DENSITY

    def __post_init__(self) -> None:
        points = checks.array(self.points, "points", dtype=np.float64, shape=(None, 3), finite=True)
        drag = checks.array(self.drag, "drag", dtype=np.float64, finite=True)
        if drag.shape not in ((), (len(points),)):
            raise ValueError(f"drag: expected a number or shape ({len(points)},), got {drag.shape}")
        if np.any(drag < 0):
            raise ValueError("drag: a drag cannot push the air along; expected no value below 0")
        object.__setattr__(self, "points", points.copy())
        object.__setattr__(self, "drag", np.broadcast_to(drag, len(points)).copy())
        checks.number(self.air_density, "air_density", above=0.0)

    @classmethod
    def of_tree(
        cls,
        tree: Tree,
        species: Species | str | os.PathLike[str],
        at: ArrayLike = (0.0, 0.0, 0.0),
        *,
        air_density: float = AIR_DENSITY,
        spacing: float = 0.25,
    ) -> Shelter:
        """The shelter of a tree at rest, or of the same tree in several places.

        In equation (3.1) the wind's torque over the unit lever is ``d tau``; multiplied by the
        arm of the centre of mass, 75 % of a branch's length l, the equation is one of forces, so
        that each branch takes ``0.75 l D u`` from the air with its own direct drag D. It does so
        evenly along its axis, as D is that of a cylinder of even radius.

        Parameters
        ----------
        tree : Tree
        species : Species, or the name or path of one
        at : array_like, shape (3,) or (n, 3), default the origin
            Where the tree stands [m].
        spacing : float, default 0.25 m
            Points of a branch are no further apart: half the finest cell, or less, leaves no gaps.
        """
        from ..trees.parameters import branch_parameters

        checks.tree(tree)
        places = checks.array(at, "at", dtype=np.float64, shape=(None, 3), finite=True, ndmin=2)
        drag = CENTRE_OF_MASS * tree.length * branch_parameters(tree, species).direct_drag
        spacing = checks.spacing(spacing)
        which, along, share = along_axes(tree.length, spacing)
        axis = (along * tree.length[which])[:, None] * tree.direction[which]
        points = places[:, None, :] + (tree.position[which] + axis)[None]
        return cls(points.reshape(-1, 3), np.tile(drag[which] * share, len(places)), air_density)

    @property
    def total_drag(self) -> float:
        """Force per wind speed of all points together [kg/s]."""
        return float(self.drag.sum())

    def __add__(self, other: Shelter) -> Shelter:
        if not isinstance(other, Shelter):
            return NotImplemented
        if other.air_density != self.air_density:
            raise ValueError("air_density: two shelters in one wind have one density of air")
        return Shelter(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.drag, other.drag]),
            self.air_density,
        )

    def __len__(self) -> int:
        return len(self.drag)


def shelter_of(value: Any) -> Shelter | None:
    """`shelter` of `Wind`: None, one `Shelter`, or several."""
    if value is None or isinstance(value, Shelter):
        return value
    if isinstance(value, Sequence) and value and all(isinstance(v, Shelter) for v in value):
        total = value[0]
        for more in value[1:]:
            total = total + more
        return total
    raise TypeError(f"shelter: expected a Shelter or None, got {type(value).__name__}")


def along_axes(
    length: NDArray[np.float64], spacing: float
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Points that stand for even loads along branches, the middles of pieces of equal length.

    The branch of each point, its place along it from 0 to 1, and its share of the branch's load.
    """
    count = np.maximum(np.ceil(np.asarray(length) / spacing), 1).astype(np.intp)
    which = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    pieces = count[which]
    return which, (number + 0.5) / pieces, 1.0 / pieces


def spread(shelter: Shelter, grid: Grid) -> NDArray[np.float32]:
    """Rate at which the air of each cell is slowed [1/s]: drag over the mass of the cell's air.

    A point's drag is shared among the eight nearest cells with trilinear weights, so that it moves
    smoothly with the point; what falls on border cells is lost, as they are not simulated.
    """
    nz, ny, nx = grid.solid.shape
    at = (shelter.points.T - np.array(grid.origin)[:, None]) / grid.spacing - 0.5
    low = np.floor(at)
    share = at - low
    # Per axis: index of the lower and upper cell and their weights, (2, n), 0 on the border.
    axes = []
    for axis, size in enumerate((nx, ny, nz)):
        cell = low[axis].astype(np.int64) + np.array([[0], [1]])
        weight = np.stack([1.0 - share[axis], share[axis]])
        weight[(cell < 1) | (cell >= size - 1)] = 0.0
        axes.append((np.clip(cell, 0, size - 1), weight))
    (i, x), (j, y), (k, z) = axes
    load = shelter.drag / (shelter.air_density * grid.spacing**3)
    cell = (k[:, None, None] * ny + j[:, None]) * nx + i
    weight = (z * load)[:, None, None] * y[:, None] * x
    rate = np.bincount(cell.ravel(), weight.ravel(), minlength=nz * ny * nx)
    return rate.reshape(nz, ny, nx).astype(np.float32)
