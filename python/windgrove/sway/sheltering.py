"""Trees that slow the wind which moves them: their drag as a momentum sink of a `Wind`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..trees.parameters import branch_parameters
from ..wind.shelter import CENTRE_OF_MASS, Shelter, along_axes

if TYPE_CHECKING:
    from .sway import Sway


class TreeShelter:
    """The sink of all trees of a `Sway`, where their branches are at the moment.

    Every branch takes ``0.75 l D u`` from the air, evenly along its axis, with the direct drag D of
    its species and its length l in the world; see `windgrove.Shelter.of_tree`. Points are at most
    half of the wind's finest cell apart.
    """

    def __init__(self, sway: Sway, wind: Any) -> None:
        if not (hasattr(wind, "shelter") and hasattr(wind, "step")):
            raise ValueError("shelter: only the grids of a Wind can be sheltered")
        self._sway = sway
        self._wind = wind
        self._before: Shelter | None = wind.shelter
        spacing = 0.5 * float(wind.spacing(0))
        self._axes = [self._axes_of(number, spacing) for number in range(len(sway.groups))]

    def _axes_of(
        self, number: int, spacing: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Of the points of a group: branch, place along it, and drag (instances, k) [kg/s]."""
        sway, group = self._sway, self._sway.groups[number]
        mine = np.flatnonzero(sway._where[:, 0] == number)
        kinds = [sway.species[i] for i in mine[np.argsort(sway._where[mine, 1])]]
        made = {id(kind): branch_parameters(group.tree, kind).direct_drag for kind in kinds}
        direct = np.stack([made[id(kind)] for kind in kinds])
        scale = group.placement.scale.astype(np.float64)
        drag = CENTRE_OF_MASS * scale[:, None] * group.tree.length * direct
        which, along, share = along_axes(group.tree.length * scale.max(), spacing)
        return which, along[:, None], drag[:, which] * share

    def apply(self) -> None:
        """Gives the wind the sink of the trees as they stand, beside what it had before."""
        points = []
        for group, (which, along, _) in zip(self._sway.groups, self._axes, strict=True):
            root, tip = (end[:, which] for end in group.ends())
            points.append((root + along * (tip - root)).reshape(-1, 3))
        drag = [values.ravel() for _, _, values in self._axes]
        trees = Shelter(np.concatenate(points), np.concatenate(drag))
        self._wind.shelter = trees if self._before is None else self._before + trees

    def end(self) -> None:
        """Gives the wind back what it had before the run."""
        self._wind.shelter = self._before
