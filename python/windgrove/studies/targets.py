"""Calibration targets: what was measured, and what the model says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks
from ..analysis.frequencies import discrete_response
from ..analysis.statics import steady_angle
from ..species.species import LEVELS, Species
from ..trees.foliage import bare as without_leaves
from ..trees.parameters import BranchParameters, branch_parameters
from ..trees.tree import FOLIAGE, Tree

# Relative standard deviations taken where the caller gives none: the scatter of repeated pulls on
# one tree in the published sets (frequency a few per cent, damping ratio a third).
DEFAULT_UNCERTAINTY = {
    "frequency_hz": 0.03,
    "damping_ratio": 0.2,
    "sway_deg": 0.1,
    "leaf_ratio": 0.03,
    "leaf_load_ratio": 0.15,
    "pull_and_release": 0.0,
    "spectrum": 0.0,
}


@dataclass(frozen=True)
class Target:
    """One number to be met.

    Attributes
    ----------
    kind : str
        Name of the argument it came from.
    level : str
        "trunk", "branch" or "foliage".
    tree : int
        Which of the trees.
    value, deviation : float
        The number and its standard deviation, in `unit`.
    condition : float
        Wind speed of a sway angle, m/s; else NaN.
    """

    kind: str
    level: str
    tree: int
    value: float
    deviation: float
    unit: str
    condition: float = float("nan")

    @property
    def label(self) -> str:
        where = "" if np.isnan(self.condition) else f" at {self.condition:g} m/s"
        return f"{self.kind}[{self.level}]{where} (tree {self.tree})"


class Model:
    """The model's own equations for a set of trees; remembers the parameters of one species."""

    def __init__(self, trees: Sequence[Tree], *, dt: float, match: str, clamp: str) -> None:
        self.trees = tuple(trees)
        self._bare: dict[int, Tree] = {}
        self.dt, self.match, self.clamp = dt, match, clamp
        self._cached: tuple[Species | None, dict[tuple[int, bool], BranchParameters]] = (None, {})

    def parameters(self, species: Species, tree: int, *, bare: bool = False) -> BranchParameters:
        if self._cached[0] is not species:
            self._cached = (species, {})
        known = self._cached[1]
        if (tree, bare) not in known:
            subject = self._winter(tree) if bare else self.trees[tree]
            known[tree, bare] = branch_parameters(subject, species)
        return known[tree, bare]

    def _winter(self, tree: int) -> Tree:
        if tree not in self._bare:
            self._bare[tree] = without_leaves(self.trees[tree])
        return self._bare[tree]

    def members(self, tree: int, level: str) -> np.ndarray:
        """Branches that speak for a level: its branches, the first root for the trunk."""
        if level == "trunk":
            return self.trees[tree].roots[:1]
        return np.flatnonzero(self.trees[tree].kind == LEVELS.index(level))

    def predict(self, target: Target, species: Species) -> float:
        """What the species gives for a target."""
        return _PREDICTORS[target.kind](self, target, species)


def _oscillator(model: Model, target: Target, species: Species, *, damping: bool) -> float:
    p = model.parameters(species, target.tree)
    which = model.members(target.tree, target.level)
    if model.match == "set":
        values = p.damping_ratio[which] if damping else p.frequency[which]
    else:
        response = discrete_response(
            p.mass[which], p.stiffness[which], p.damping[which], model.dt, model.clamp
        )
        values = response.damping_ratio if damping else response.frequency
    return float(np.median(values))


def _sway(model: Model, target: Target, species: Species) -> float:
    p = model.parameters(species, target.tree)
    which = model.members(target.tree, target.level)
    stiffness = p.stiffness[which]
    if model.match == "realised" and model.clamp == "source":
        stiffness = np.minimum(stiffness, p.mass[which] / model.dt**2)
    angles = steady_angle(p.drag[which] / stiffness * target.condition)
    return float(np.degrees(np.median(angles)))


def _leaf_ratio(model: Model, target: Target, species: Species) -> float:
    leaf = model.parameters(species, target.tree).frequency[model.members(target.tree, "trunk")]
    bare = model.parameters(species, target.tree, bare=True).frequency[0]
    return float(bare / leaf[0])


def _leaf_load_ratio(model: Model, target: Target, species: Species) -> float:
    leaf = model.parameters(species, target.tree).drag[model.members(target.tree, "trunk")]
    bare = model.parameters(species, target.tree, bare=True).drag[0]
    return float(leaf[0] / bare)


_PREDICTORS: dict[str, Callable[[Model, Target, Species], float]] = {
    "frequency_hz": lambda m, t, s: _oscillator(m, t, s, damping=False),
    "damping_ratio": lambda m, t, s: _oscillator(m, t, s, damping=True),
    "sway_deg": _sway,
    "leaf_ratio": _leaf_ratio,
    "leaf_load_ratio": _leaf_load_ratio,
}
_UNITS = {
    "frequency_hz": "Hz",
    "damping_ratio": "1",
    "sway_deg": "deg",
    "leaf_ratio": "1",
    "leaf_load_ratio": "1",
}


def collect(
    trees: Sequence[Tree],
    given: Mapping[str, Any],
    uncertainty: Mapping[str, float],
) -> list[Target]:
    """Targets from the arguments of `calibrate`; each is checked and named in errors."""
    targets = []
    for kind in _UNITS:
        if given.get(kind) is None:
            continue
        relative = checks.number(
            uncertainty.get(kind, DEFAULT_UNCERTAINTY[kind]), f"uncertainty[{kind!r}]", above=0
        )
        by_level = given[kind] if isinstance(given[kind], Mapping) else {"trunk": given[kind]}
        for level, value in by_level.items():
            checks.choice(level, kind, LEVELS)
            if kind.startswith("leaf") and level != "trunk":
                raise ValueError(f"{kind}: a ratio of the whole tree: give one number, no levels")
            for tree, one in _per_tree(value, len(trees), kind):
                targets += _make(kind, level, tree, one, relative, trees)
    return targets


def _per_tree(value: Any, count: int, kind: str) -> list[tuple[int, Any]]:
    if count == 1:
        return [(0, value)]
    if np.ndim(value) == 0 or (kind == "sway_deg" and isinstance(value, tuple)):
        return [(tree, value) for tree in range(count)]
    if len(value) != count:
        raise ValueError(f"{kind}: expected one value for each of {count} trees, got {len(value)}")
    return [(tree, one) for tree, one in enumerate(value) if one is not None]


def _make(
    kind: str, level: str, tree: int, value: Any, relative: float, trees: Sequence[Tree]
) -> list[Target]:
    _require_level(kind, level, trees[tree])
    if kind == "sway_deg":
        pairs = [value] if np.ndim(value) < 2 else list(value)
        return [_sway_target(level, tree, pair, relative) for pair in pairs]
    if np.ndim(value) == 1 and len(value) == 1:
        value = value[0]
    number = checks.number(value, kind, above=0)
    return [Target(kind, level, tree, number, relative * number, _UNITS[kind])]


def _sway_target(level: str, tree: int, pair: Any, relative: float) -> Target:
    if np.ndim(pair) != 1 or len(pair) != 2:
        raise ValueError("sway_deg: expected (angle in degrees, wind speed in m/s)")
    angle = checks.number(pair[0], "sway_deg: angle", above=0)
    if angle >= 90:
        raise ValueError(
            f"sway_deg: {angle:g} degrees cannot be reached: the torque of a wind across the "
            "branch falls with cos(angle) and vanishes at 90"
        )
    speed = checks.number(pair[1], "sway_deg: wind speed", above=0)
    return Target("sway_deg", level, tree, angle, relative * angle, "deg", speed)


def _require_level(kind: str, level: str, tree: Tree) -> None:
    if kind.startswith("leaf") and not (tree.kind == FOLIAGE).any():
        raise ValueError(f"{kind}: the tree has no foliage; add it with foliage='bundles'")
    if level != "trunk" and not (tree.kind == LEVELS.index(level)).any():
        raise ValueError(f"{kind}: the tree has no branch of level {level!r}")
