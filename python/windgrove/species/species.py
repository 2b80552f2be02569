"""Species: what a practitioner tunes, by level. Immutable; read from and saved to TOML."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .. import checks
from .growth import Growth

LEVELS = ("trunk", "branch", "foliage")


@dataclass(frozen=True)
class Level:
    """Parameters of one level (docs/numerics/parameters.md).

    Attributes
    ----------
    beta : float, kg m^-1 s^-2, above 0
        Stiffness: k = beta V / l^2 for wood, beta sqrt(A) for foliage.
    zeta : float, not below 0
        Damping ratio.
    gamma : float, kg m^-1 s^-1 per m2, not below 0
        Drag: D = 2 gamma sqrt(l V / pi) for wood, gamma A for foliage.
    rho : float, kg/m2, above 0 for foliage
        Mass of foliage per area; unused for wood.
    propagation : float, 0 to 1
        How much a branch is moved by the drag of its children.
    zeta_bare : float or None
        Damping ratio without leaves, see `Species.at_leaf_fraction`; None: the same as in leaf.
    """

    beta: float
    zeta: float
    gamma: float
    rho: float = 0.0
    propagation: float = 1.0
    zeta_bare: float | None = None

    def __post_init__(self) -> None:
        checks.number(self.beta, "beta", above=0)
        checks.number(self.zeta, "zeta", low=0)
        checks.number(self.gamma, "gamma", low=0)
        checks.number(self.rho, "rho", low=0)
        checks.number(self.propagation, "propagation", low=0, high=1)
        if self.zeta_bare is not None:
            checks.number(self.zeta_bare, "zeta_bare", low=0)


@dataclass(frozen=True)
class Claim:
    """A figure that the preset shows on trees grown at its own size; `check_claims` recomputes it.

    Attributes
    ----------
    quantity : str
        "frequency" (Hz, trunk), "damping_ratio" (trunk), "bare_over_leaf_frequency",
        "leaf_over_bare_load" (trunk's drag), "sway_deg" (steady trunk angle across a wind of
        `wind_speed`), "branch_sway_deg", "foliage_sway_deg" (medians over the branches of that
        kind) or "large_branch_over_trunk_frequency".
    value : float
    source : str
        Where the figure was published or what it was derived from.
    borrowed : bool
        The figure is of another species or from a law, for want of one of its own.
    leaf_fraction : float
        The season, 1 in full leaf.
    wind_speed : float, m/s
    """

    quantity: str
    value: float
    source: str
    borrowed: bool = False
    leaf_fraction: float = 1.0
    wind_speed: float = 0.0


@dataclass(frozen=True)
class Provenance:
    """Where a preset comes from."""

    source: str = ""
    calibrated_on: str = ""
    tree_height: tuple[float, float] | None = None  # m, the sizes it may be used for
    date: str = ""
    notes: str = ""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Species:
    """A preset: one `Level` for trunk, branch and foliage.

    Attributes
    ----------
    name, latin_name : str
    trunk, branch, foliage : Level
    leaf_area_index : float, above 0
        m2 of leaf per m2 of ground under the crown, in full leaf.
    aliases : tuple of str
        Other names `load_species` knows it by.
    growth : Growth or None
        The form, for `grow_tree`.
    provenance : Provenance
    """

    name: str
    trunk: Level
    branch: Level
    foliage: Level
    latin_name: str = ""
    leaf_area_index: float = 3.0
    aliases: tuple[str, ...] = ()
    growth: Growth | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        for name in LEVELS:
            if not isinstance(getattr(self, name), Level):
                raise TypeError(
                    f"{name}: expected a Level, got {type(getattr(self, name)).__name__}"
                )
        checks.number(self.foliage.rho, "foliage.rho", above=0)
        checks.number(self.leaf_area_index, "leaf_area_index", above=0)

    def level(self, name: str) -> Level:
        """The parameters of "trunk", "branch" or "foliage"."""
        if name not in LEVELS:
            raise ValueError(f"level: expected one of {', '.join(LEVELS)}; got {name!r}")
        return getattr(self, name)

    def replace(self, **changes: Any) -> Species:
        """A new species; a level is given as a dict of what changes in it.

        Examples
        --------
        >>> load_species("oak").replace(trunk=dict(beta=4.1e5)).trunk.beta
        410000.0
        """
        merged = {}
        for key, value in changes.items():
            if key in LEVELS and isinstance(value, dict):
                merged[key] = _replace(self.level(key), key, value)
            else:
                merged[key] = value
        return _replace(self, "", merged)

    def at_leaf_fraction(self, fraction: float) -> Species:
        """The species in a season: damping ratios between `zeta_bare` (0) and `zeta` (1).

        Leaves also change mass and drag; those follow from the tree, see
        `windgrove.trees.foliage.set_leaf_fraction`.
        """
        fraction = checks.number(fraction, "fraction", low=0, high=1)
        levels = {}
        for name in LEVELS:
            level = self.level(name)
            if level.zeta_bare is not None:
                zeta = level.zeta_bare + (level.zeta - level.zeta_bare) * fraction
                levels[name] = {"zeta": zeta}
        return self.replace(**levels)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the species as TOML; `load_species(path)` gives an equal one back."""
        from .schema import save_species

        return save_species(self, path)


def _replace(thing: Any, path: str, changes: dict[str, Any]) -> Any:
    known = {item.name for item in fields(thing)}
    dot = f"{path}." if path else ""
    for key in changes:
        if key not in known:
            raise TypeError(f"{dot}{key}: no such parameter; there are {', '.join(sorted(known))}")
    try:
        return replace(thing, **changes)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{dot}{error}") from None
