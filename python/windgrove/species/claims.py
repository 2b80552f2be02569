"""Recomputing what a preset claims: frequency, damping, leaf-on against bare, sway."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.statics import steady_angle
from .species import Claim, Species

if TYPE_CHECKING:
    from ..trees.tree import Tree

CLAIM_SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class CheckedClaim:
    """A claim beside what the preset shows on trees grown at its own size.

    `seen` is the geometric mean over the seeds; `low` and `high` are the extremes.
    """

    claim: Claim
    seen: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """seen / claimed - 1."""
        return self.seen / self.claim.value - 1.0

    def __str__(self) -> str:
        borrowed = ", borrowed" if self.claim.borrowed else ""
        return (
            f"{self.claim.quantity}: claimed {self.claim.value:.4g}, seen {self.seen:.4g} "
            f"({self.low:.4g} to {self.high:.4g}) [{self.claim.source}{borrowed}]"
        )


def check_claims(
    species: Species,
    seeds: Iterable[int] = CLAIM_SEEDS,
    *,
    trees: Sequence[Tree] | None = None,
) -> tuple[CheckedClaim, ...]:
    """Recompute every claim of a preset on trees grown from `seeds` at its own height and dbh.

    The trees differ from seed to seed, and so do their frequencies: the claim is about the
    geometric mean over the seeds. `trees` in full leaf take the place of grown ones.

    Raises
    ------
    ValueError
        The species has no `growth` and no `trees` are given.
    """
    from ..trees.grow import grow_tree

    if trees is None:
        trees = [grow_tree(species, seed) for seed in seeds]
    checked = []
    for claim in species.provenance.claims:
        values = np.array([_QUANTITIES[claim.quantity](tree, species, claim) for tree in trees])
        mean = math.exp(float(np.mean(np.log(values))))
        checked.append(CheckedClaim(claim, mean, float(values.min()), float(values.max())))
    return tuple(checked)


def _in_season(tree: Tree, species: Species, fraction: float) -> tuple[Tree, Species]:
    from ..trees.foliage import set_leaf_fraction

    return set_leaf_fraction(tree, fraction), species.at_leaf_fraction(fraction)


def _trunk(tree: Tree, species: Species, fraction: float, name: str) -> float:
    """A parameter of the roots, their mean weighted by volume."""
    from ..trees.parameters import branch_parameters

    tree, species = _in_season(tree, species, fraction)
    values = getattr(branch_parameters(tree, species), name)[tree.roots]
    return float(np.average(values, weights=tree.volume[tree.roots]))


def _frequency(tree: Tree, species: Species, claim: Claim) -> float:
    return _trunk(tree, species, claim.leaf_fraction, "frequency")


def _damping_ratio(tree: Tree, species: Species, claim: Claim) -> float:
    return _trunk(tree, species, claim.leaf_fraction, "damping_ratio")


def _bare_over_leaf_frequency(tree: Tree, species: Species, claim: Claim) -> float:
    bare = _trunk(tree, species, 0.0, "frequency")
    return bare / _trunk(tree, species, 1.0, "frequency")


def _leaf_over_bare_load(tree: Tree, species: Species, claim: Claim) -> float:
    return _trunk(tree, species, 1.0, "drag") / _trunk(tree, species, 0.0, "drag")


def _sway_deg(tree: Tree, species: Species, claim: Claim) -> float:
    fraction = claim.leaf_fraction
    drag = _trunk(tree, species, fraction, "drag")
    push = drag * claim.wind_speed / _trunk(tree, species, fraction, "stiffness")
    return math.degrees(float(steady_angle(push)))


def _level_sway(tree: Tree, species: Species, claim: Claim, kind: int) -> float:
    """Median steady angle of the branches of one kind in a wind across them, degrees."""
    from ..trees.parameters import branch_parameters

    tree, species = _in_season(tree, species, claim.leaf_fraction)
    p = branch_parameters(tree, species)
    push = np.median((p.drag / p.stiffness)[tree.kind == kind]) * claim.wind_speed
    return math.degrees(float(steady_angle(float(push))))


def _branch_sway_deg(tree: Tree, species: Species, claim: Claim) -> float:
    return _level_sway(tree, species, claim, 1)


def _foliage_sway_deg(tree: Tree, species: Species, claim: Claim) -> float:
    return _level_sway(tree, species, claim, 2)


def _large_branch_over_trunk_frequency(tree: Tree, species: Species, claim: Claim) -> float:
    """Median over the branches of the trunk that are at least half as long as the longest."""
    from ..trees.parameters import branch_parameters

    tree, species = _in_season(tree, species, claim.leaf_fraction)
    frequency = branch_parameters(tree, species).frequency
    first = (tree.level == 1) & (tree.kind == 1)
    large = first & (tree.length >= 0.5 * tree.length[first].max())
    return float(np.median(frequency[large]) / frequency[tree.roots[0]])


_QUANTITIES: dict[str, Callable[[Tree, Species, Claim], float]] = {
    "frequency": _frequency,
    "damping_ratio": _damping_ratio,
    "bare_over_leaf_frequency": _bare_over_leaf_frequency,
    "leaf_over_bare_load": _leaf_over_bare_load,
    "sway_deg": _sway_deg,
    "branch_sway_deg": _branch_sway_deg,
    "foliage_sway_deg": _foliage_sway_deg,
    "large_branch_over_trunk_frequency": _large_branch_over_trunk_frequency,
}
