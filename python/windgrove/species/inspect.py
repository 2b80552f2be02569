"""Checking a preset file: is it valid, does it show what it claims, what looks odd."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .. import checks
from .claims import CheckedClaim, check_claims
from .load import load_species
from .species import LEVELS, Species

CLAIM_TOLERANCE = 0.02
# One beta serves a modest range of sizes; within a quarter f_n is off by less than that.
SIZE_RANGE = 1.25
PRODUCTION_ZETA = (0.05, 0.15)  # GPU Zen 4, section 3.3.1


@dataclass(frozen=True)
class SpeciesCheck:
    """What `check_species` found in a valid preset.

    Attributes
    ----------
    path : str
    species : Species
    schema_version : int
        Of the file; older ones are read too.
    claims : tuple of CheckedClaim
        Recomputed on grown trees; empty where the preset claims nothing or has no growth.
    remarks : tuple of str
        What is allowed but looks odd; each names the path inside the file.
    """

    path: str
    species: Species
    schema_version: int
    claims: tuple[CheckedClaim, ...]
    remarks: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Every claim is met within 2 %."""
        return all(abs(item.error) <= CLAIM_TOLERANCE for item in self.claims)

    def __str__(self) -> str:
        lines = [
            f"{self.path}: a valid preset, {self.species.name!r}, schema {self.schema_version}"
        ]
        for item in self.claims:
            verdict = "ok" if abs(item.error) <= CLAIM_TOLERANCE else "MISSED"
            lines.append(f"  {verdict}: {item}")
        lines += [f"  remark: {remark}" for remark in self.remarks]
        return "\n".join(lines)


def check_species(path: str | os.PathLike[str], *, claims: bool = True) -> SpeciesCheck:
    """Check a preset: a file, or a shipped name.

    Parameters
    ----------
    path : str or path
        A ``.toml`` file or anything else `load_species` takes.
    claims : bool, default True
        Recompute the claims of its provenance on five grown trees (about a second).

    Returns
    -------
    SpeciesCheck

    Raises
    ------
    ValueError
        The file is not valid; every line of the message names the file and the path inside it,
        e.g. ``oak.toml: trunk.zetta: no such key (value 0.1)``.
    """
    from .schema import SCHEMA_VERSION

    claims = checks.flag(claims, "claims")
    species = load_species(path)
    version = SCHEMA_VERSION
    if not isinstance(path, Species) and Path(path).is_file():
        version = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))["schema_version"]
    checked = check_claims(species) if claims and species.growth is not None else ()
    return SpeciesCheck(os.fspath(path), species, version, checked, tuple(_remarks(species)))


def _remarks(species: Species) -> list[str]:
    found = unit_remarks(species)
    for name in LEVELS:
        zeta = species.level(name).zeta
        if zeta < 1 and not PRODUCTION_ZETA[0] <= zeta <= PRODUCTION_ZETA[1]:
            found.append(f"{name}.zeta: {zeta:g} is outside the usual 0.05 to 0.15")
    if not species.provenance.source:
        found.append("provenance.source: is empty; nobody can tell where the numbers come from")
    if species.provenance.tree_height is None:
        found.append("provenance.tree_height: is missing; one beta fits a modest range of sizes")
    elif species.growth is not None:
        low, high = species.provenance.tree_height
        if not low / SIZE_RANGE <= species.growth.height <= high * SIZE_RANGE:
            sizes = f"{low:.3g} m" if low == high else f"{low:.3g} to {high:.3g} m"
            found.append(
                f"growth.height: grow_tree grows {species.growth.height:.3g} m, the values are "
                f"for {sizes} (provenance.tree_height); height= grows one of them"
            )
    if species.growth is None:
        found.append("growth: is missing; grow_tree cannot grow it and claims cannot be checked")
    return found


def unit_remarks(species: Species) -> list[str]:
    """What looks like a slip of units: a beta in other units, a damping ratio in per cent."""
    found = []
    beta = species.trunk.beta
    if not 1e4 <= beta <= 1e7:
        found.append(
            f"trunk.beta: {beta:g} kg m^-1 s^-2 is far from the 1e5 to 2e6 of the shipped "
            "presets; is the unit SI?"
        )
    for name in LEVELS:
        zeta = species.level(name).zeta
        if zeta >= 1:
            found.append(f"{name}.zeta: {zeta:g} is overdamped; {zeta:g} % would be {zeta / 100:g}")
    return found
