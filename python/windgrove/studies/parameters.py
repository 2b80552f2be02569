"""Species parameters by dotted name, and groups of them that move together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..species.species import LEVELS, Species

UNITS = {
    "beta": "kg m^-1 s^-2",
    "zeta": "1",
    "gamma": "kg m^-1 s^-1 per m2",
    "rho": "kg/m2",
    "propagation": "1",
}
# Outside these a preset is a typing error, not a tree (docs/concepts/calibration.md).
DEFAULT_BOUNDS = {
    "beta": (1e1, 1e9),
    "zeta": (1e-4, 3.0),
    "gamma": (1e-4, 1e3),
    "rho": (1e-3, 1e2),
    "propagation": (1e-3, 1.0),
}


def split(name: str, argument: str) -> tuple[str, str]:
    """("trunk", "beta") of "trunk.beta"."""
    level, _, key = str(name).partition(".")
    if level not in LEVELS or key not in UNITS:
        raise ValueError(
            f"{argument}: {name!r} is no parameter; write level.parameter with a level of "
            f"{', '.join(LEVELS)} and a parameter of {', '.join(UNITS)}"
        )
    return level, key


def get(species: Species, name: str) -> float:
    """Value of a parameter by its dotted name."""
    level, key = split(name, "name")
    return float(getattr(species.level(level), key))


@dataclass(frozen=True)
class Group:
    """Parameters that keep their ratio to the preset: the first is the one that is reported."""

    names: tuple[str, ...]
    start: tuple[float, ...]  # values of the preset
    low: float  # bounds of the first
    high: float

    @property
    def name(self) -> str:
        return self.names[0]


def make_groups(
    species: Species,
    free: Iterable[str],
    *,
    tied: Mapping[str, str],
    bounds: Mapping[str, tuple[float, float]],
) -> tuple[Group, ...]:
    """One group for each free parameter, with those tied to it."""
    for name in (*bounds, *tied, *tied.values()):
        split(name, "bounds" if name in bounds else "tied")
    members = {name: [name] for name in dict.fromkeys(free)}
    for follower, leader in tied.items():
        if leader in members and follower in members and follower != leader:
            del members[follower]
    for follower, leader in tied.items():
        if leader not in members:
            raise ValueError(f"tied: {follower} is tied to {leader}, which is not fitted")
        members[leader].append(follower)
    return tuple(_group(species, names, bounds) for names in members.values())


def _group(species: Species, names: list[str], bounds: Mapping[str, tuple[float, float]]) -> Group:
    start = tuple(get(species, name) for name in names)
    for name, value in zip(names, start, strict=True):
        if value <= 0:
            raise ValueError(
                f"species: {name} is {value:g}; a fitted parameter starts above 0, give the "
                "species a first guess with replace()"
            )
    low, high = bounds.get(names[0], DEFAULT_BOUNDS[split(names[0], "bounds")[1]])
    if not 0 < low < high:
        raise ValueError(f"bounds: {names[0]}: expected 0 < low < high, got ({low:g}, {high:g})")
    return Group(tuple(names), start, float(low), float(high))


def apply(species: Species, groups: Iterable[Group], values: NDArray[np.float64]) -> Species:
    """The species with each group's first parameter at its value and the others in proportion."""
    changes: dict[str, dict[str, float]] = {}
    for group, value in zip(groups, values, strict=True):
        for name, start in zip(group.names, group.start, strict=True):
            level, key = split(name, "name")
            scaled = float(value) * start / group.start[0]
            if key == "propagation":
                scaled = min(scaled, 1.0)
            changes.setdefault(level, {})[key] = scaled
    return species.replace(**changes)
