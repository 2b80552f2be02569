"""What a point of a sweep makes of the tree, the species and the wind."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..species.species import LEVELS, Species
from ..trees.foliage import set_leaf_fraction
from ..trees.tree import FOLIAGE, Tree
from ..wind.cascade import Wind
from ..wind.protocol import WindSource
from ..wind.sources import UniformSource
from .design import SPECIES_PARAMETERS, Axis

WIND_PARAMETERS = ("wind_speed", "heading", "turbulence", "seed")
TREE_PARAMETERS = ("size", "season")


class TurnedWind(UniformSource):
    """A wind in closed form with all speeds times a factor, turned about the vertical.

    Parameters
    ----------
    base : UniformSource
    factor : float
    turn : float
        rad, from x towards y.
    """

    def __init__(self, base: UniformSource, *, factor: float = 1.0, turn: float = 0.0) -> None:
        self.base = base
        self.factor = float(factor)
        self.turn = float(turn)
        self.profile = base.profile

    def velocity(self, time: float | None = None) -> NDArray[np.float64]:
        """Velocity (3,) at the reference height [m/s]."""
        x, y, z = self.factor * np.asarray(self.base.velocity(time), dtype=np.float64)
        c, s = np.cos(self.turn), np.sin(self.turn)
        return np.array([c * x - s * y, s * x + c * y, z])

    def describe(self) -> dict[str, Any]:
        return {
            "type": "TurnedWind",
            "base": self.base.describe(),
            "factor": self.factor,
            "turn": self.turn,
        }


def species_of(species: Species, swept: Sequence[Axis], point: Sequence[float]) -> Species:
    """The species with the point's parameters."""
    for axis, value in zip(swept, point, strict=True):
        if axis.parameter not in SPECIES_PARAMETERS:
            if axis.parameter == "season":
                species = species.at_leaf_fraction(float(value))
            continue
        changes = {}
        for level in LEVELS if axis.level is None else (axis.level,):
            preset = getattr(species.level(level), axis.parameter)
            changes[level] = {axis.parameter: float(preset * value if axis.is_factor else value)}
        try:
            species = species.replace(**changes)
        except ValueError as error:
            raise ValueError(f"{axis.name}: {value:g}: {error}") from None
    return species


def tree_of(tree: Tree, size: float, season: float) -> Tree:
    """The tree scaled as a solid, all lengths times `size`, and in a season."""
    if size != 1.0:
        tree = tree.replace(
            position=tree.position * size,
            length=tree.length * size,
            area=tree.area * size**2,
            volume=tree.volume * size**3,
            segments=None,
        )
    if season != 1.0 and (tree.kind == FOLIAGE).any():
        tree = set_leaf_fraction(tree, season)
    return tree


def wind_of(wind: WindSource, changes: dict[str, float]) -> WindSource:
    """The wind at another speed, heading, turbulence or seed.

    Closed forms are scaled and turned about their own mean; the grids of a `Wind` are made anew,
    which needs one that has not been stepped.
    """
    if not changes:
        return wind
    if isinstance(wind, Wind):
        return _grids_of(wind, changes)
    changes = {name: value for name, value in changes.items() if name != "seed"}
    if not changes:
        return wind
    if "turbulence" in changes:
        raise ValueError(f"turbulence: only a Wind has one, not {type(wind).__name__}")
    if not isinstance(wind, UniformSource):
        name = sorted(changes)[0]
        raise ValueError(f"{name}: cannot be changed for a wind of type {type(wind).__name__}")
    return _closed_form(wind, changes)


def _closed_form(wind: UniformSource, changes: dict[str, float]) -> UniformSource:
    mean = reference_velocity(wind)
    speed = float(np.hypot(mean[0], mean[1]))
    factor, turn = 1.0, 0.0
    if "wind_speed" in changes:
        if speed == 0.0:
            raise ValueError("wind_speed: the wind given is calm and has no direction")
        factor = changes["wind_speed"] / speed
    if "heading" in changes:
        turn = changes["heading"] - float(np.arctan2(mean[1], mean[0]))
    return TurnedWind(wind, factor=factor, turn=turn)


def reference_velocity(wind: UniformSource) -> NDArray[np.float64]:
    """The velocity that `wind_speed` and `heading` are measured by: the mean where there is one."""
    mean = wind.describe().get("mean")
    if mean is not None:
        return np.asarray(mean, dtype=np.float64)
    return np.asarray(wind.velocity(0.0), dtype=np.float64)


def _grids_of(wind: Wind, changes: dict[str, float]) -> Wind:
    replaced: dict[str, Any] = {}
    if "turbulence" in changes:
        replaced["turbulence"] = float(changes["turbulence"])
    if "seed" in changes:
        replaced["seed"] = int(changes["seed"])
    flow = {k: v for k, v in changes.items() if k in ("wind_speed", "heading")}
    if flow:
        replaced["prevailing"] = _closed_form(wind.source, flow)
    try:
        return wind.replace(**replaced)
    except ValueError as error:
        raise ValueError(f"{sorted(changes)[0]}: {error}") from None


def identity(wind: WindSource) -> Any:
    """What tells a wind from another: for grids their description and state, not their scratch."""
    if isinstance(wind, Wind):
        return [type(wind), wind.describe(), wind.state(), wind.source, wind.solids, wind.effectors]
    return wind


def own_copy(wind: WindSource) -> WindSource:
    """A wind that a run may step without anybody noticing."""
    return copy.deepcopy(wind)
