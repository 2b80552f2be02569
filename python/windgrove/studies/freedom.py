"""Which parameters a calibration fits: what each target determines, and what moves together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .. import checks
from ..species.species import LEVELS, Species
from ..trees.tree import Tree
from . import parameters
from .parameters import Group
from .targets import Target


def choose_groups(
    species: Species,
    targets: Sequence[Target],
    free: Iterable[str] | None,
    fixed: Iterable[str],
    tied: Mapping[str, str] | None,
    bounds: Mapping[str, tuple[float, float]] | None,
    trees: Sequence[Tree],
) -> tuple[Group, ...]:
    fixed = checks.items(fixed, "fixed")
    bounds = checks.mapping(bounds, "bounds")
    for name in fixed:
        parameters.split(name, "fixed")
    ties = checks.mapping(tied, "tied")
    if free is None:
        free = list(dict.fromkeys(name for t in targets for name in freed_by(t)))
        kinds = {t.kind for t in targets}
        if "sway_deg" in kinds and tied is None:
            ties = _gamma_ties(species, free, fixed, trees, "leaf_load_ratio" in kinds)
    else:
        free = list(checks.items(free, "free"))
        for name in free:
            parameters.split(name, "free")
    free = [name for name in free if name not in fixed]
    ties = {f: l for f, l in ties.items() if f not in fixed}
    if not free:
        raise ValueError("fixed: nothing is left to fit; free a parameter that the targets need")
    return parameters.make_groups(species, free, tied=ties, bounds=bounds)


def freed_by(target: Target) -> tuple[str, ...]:
    return {
        "frequency_hz": (f"{target.level}.beta",),
        "damping_ratio": (f"{target.level}.zeta",),
        "sway_deg": (f"{target.level}.gamma",),
        "leaf_ratio": ("foliage.rho",),
        "leaf_load_ratio": ("foliage.gamma",),
    }[target.kind]


def _gamma_ties(
    species: Species,
    free: Sequence[str],
    fixed: Sequence[str],
    trees: Sequence[Tree],
    foliage_is_told: bool,
) -> dict[str, str]:
    """All gammas follow the first free one: one angle cannot tell the levels apart."""
    gammas = [name for name in free if name.endswith(".gamma")]
    if len(gammas) != 1 + foliage_is_told and len(gammas) != 1:
        return {}
    leader = gammas[0]
    present = {LEVELS[kind] for tree in trees for kind in np.unique(tree.kind)}
    return {
        f"{level}.gamma": leader
        for level in LEVELS
        if f"{level}.gamma" not in (*gammas, *fixed)
        and level in present
        and species.level(level).gamma > 0
    }
