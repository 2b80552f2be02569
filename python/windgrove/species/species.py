"""Species: what a practitioner tunes, by level. Immutable; read from and saved to TOML."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

LEVELS = ("trunk", "branch", "foliage")


@dataclass(frozen=True)
class Level:
    """Parameters of one level (MODEL 2.2).

    Attributes
    ----------
    beta : float, kg m^-1 s^-2
        Stiffness: k = beta V / l^2 for wood, beta sqrt(A) for foliage.
    zeta : float
        Damping ratio.
    gamma : float, kg m^-1 s^-1 per m2
        Drag: D = 2 gamma sqrt(l V / pi) for wood, gamma A for foliage.
    rho : float, kg/m2
        Mass of foliage per area; unused for wood.
    propagation : float, 0 to 1
        How much a branch is moved by the drag of its children.
    """

    beta: float
    zeta: float
    gamma: float
    rho: float = 0.0
    propagation: float = 1.0


@dataclass(frozen=True)
class Provenance:
    """Where a preset comes from."""

    source: str = ""
    calibrated_on: str = ""
    tree_height: tuple[float, float] | None = None  # m, the sizes it may be used for
    date: str = ""
    notes: str = ""


@dataclass(frozen=True)
class Species:
    """A preset: one `Level` for trunk, branch and foliage."""

    name: str
    trunk: Level
    branch: Level
    foliage: Level
    latin_name: str = ""
    leaf_area_index: float = 3.0  # m2 of leaf per m2 of ground, in full leaf
    provenance: Provenance = field(default_factory=Provenance)

    def level(self, name: str) -> Level:
        """The parameters of "trunk", "branch" or "foliage"."""
        if name not in LEVELS:
            raise ValueError(f"level: expected one of {', '.join(LEVELS)}; got {name!r}")
        return getattr(self, name)

    def replace(self, **changes: Any) -> Species:
        """A new species; a level is given as a dict of what changes in it."""
        merged = {
            key: replace(self.level(key), **value)
            if key in LEVELS and isinstance(value, dict)
            else value
            for key, value in changes.items()
        }
        return replace(self, **merged)
