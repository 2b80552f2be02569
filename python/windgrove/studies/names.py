"""What a calibrated preset is called, and what it says about where it comes from."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from ..species.species import Provenance, Species
from ..trees.tree import Tree
from .targets import Target

_ENDING = "-calibrated"


def calibrated_name(start: Species, name: str | None) -> str:
    """The name given, or that of the preset it started from and an ending."""
    if name is None:
        return start.name if start.name.endswith(_ENDING) else start.name + _ENDING
    if not isinstance(name, str) or not name:
        raise TypeError(f"name: expected a word, got {name!r}")
    return name


def provenance(start: Species, trees: Sequence[Tree], targets: Sequence[Target]) -> Provenance:
    """Start, trees, heights of their wood, targets and today."""
    heights = [tree.wood_height for tree in trees]
    aims = "; ".join(f"{t.label} = {t.value:.4g} {t.unit}" for t in targets)
    named = ", ".join(f"{tree.name} ({tree.wood_height:.3g} m of wood)" for tree in trees[:5])
    return Provenance(
        source=f"calibrated from preset {start.name!r}",
        calibrated_on=f"{len(heights)} tree(s): {named}",
        tree_height=(min(heights), max(heights)),
        date=datetime.date.today().isoformat(),
        notes=f"targets: {aims}" if aims else "",
    )
