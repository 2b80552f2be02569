"""Merging short twigs so that a scanned tree fits a branch budget.

The rule: the shortest twig (a branch that carries no wood) is merged into the branch it grows on;
if that is a trunk, into the nearest of the trunk's other branches, since a trunk that takes up
twigs would change its own frequency. A branch that has taken up twigs has their volumes,
V = sum V_i, and a length that keeps the sum of direct drags, sqrt(l V) = sum sqrt(l_i V_i). So
mass, direct drag and the trunk's frequency stay what they were; what changes is where the drag
sits, and the lengths (hence the frequencies) of the branches that took twigs up. Both are measured
and reported.
"""

from __future__ import annotations

import heapq
import math
import os
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..kernels.trees import propagate_drag_double, total_mass_double
from ..species.load import load_species
from ..species.species import Species
from .foliage import MAX_BUNDLES, extended
from .parameters import WOOD_DENSITY, branch_parameters
from .tree import FOLIAGE, MAX_BRANCHES, Repair, Tree


def merge_twigs(
    tree: Tree,
    budget: int,
    *,
    room_for_foliage: bool = False,
    tolerance: float = 0.01,
    species: Species | str | os.PathLike[str] | None = None,
) -> Tree:
    """A tree of at most `budget` branches, short twigs merged.

    Parameters
    ----------
    tree : Tree
        With or without foliage. The bundles of merged twigs become one bundle of the same area.
    budget : int
        Most branches of the result, foliage included. 250 to 1500 is what the model is made for.
    room_for_foliage : bool, default False
        Leave room for one bundle at the end of every childless branch, which `add_foliage` adds.
    tolerance : float, default 0.01
        Largest relative change allowed in total mass, direct drag and every trunk's natural
        frequency. The rule keeps all three, so that this guards against rounding and surprises.
    species : Species, name or path, optional
        Whose propagation, gamma, rho and beta the changes are worked out with. Without one,
        propagation, gamma, rho (kg/m2) and beta are 1 at every level. Only the drag that reaches
        the trunk depends on the choice by more than rounding: where propagation is below 1, a twig
        that is merged into the branch below hands its drag down in one step less.

    Returns
    -------
    Tree
        The same tree where it fits already. Otherwise its report's `attributes` hold
        ``merged_branches`` and the relative changes ``merge_mass_change``,
        ``merge_direct_drag_change``, ``merge_trunk_frequency_change``, ``merge_trunk_drag_change``
        (of the drag d of the trunk, its own and what reaches it, as `branch_parameters` has it;
        the one farthest from 0 where there are several trunks) and ``merge_stretch``, the largest
        length over the same branch's length before. `segments` keep all cylinders, those of a
        merged twig with the branch that took it up.

    Raises
    ------
    ValueError
        `budget` cannot be met (it is below two branches a root), or a change is above `tolerance`.
    """
    checks.tree(tree)
    budget = checks.integer(budget, "budget", low=1, high=MAX_BRANCHES)
    tolerance = checks.number(tolerance, "tolerance", low=0)
    room_for_foliage = checks.flag(room_for_foliage, "room_for_foliage")
    known = None if species is None else load_species(species)
    merging = _Merging(tree, room_for_foliage)
    if merging.count <= budget:
        return tree
    while merging.count > budget:
        if not merging.merge_shortest():
            raise ValueError(
                f"budget: {budget} branches cannot be met; the least for this tree is "
                f"{merging.count}"
            )
    merged = merging.tree()
    return _reported(tree, merged, merging, tolerance, known)


class _Merging:
    def __init__(self, tree: Tree, room_for_foliage: bool) -> None:
        n = len(tree)
        self.source = tree
        self.wood = tree.kind != FOLIAGE
        self.host = np.arange(n)
        self.parent = tree.parent.tolist()
        self.children: list[set[int]] = [set() for _ in range(n)]
        self.bundles = np.zeros(n, dtype=np.int64)
        for i, p in enumerate(self.parent):
            if p >= 0 and self.wood[i]:
                self.children[p].add(i)
            elif p >= 0:
                self.bundles[p] += 1
        self.room = room_for_foliage and not self.bundles.any()
        self.childless = sum(1 for i in range(n) if self.wood[i] and not self.children[i])
        self.branches = n
        self.merged = 0
        self.heap = [(float(tree.length[i]), i) for i in range(n) if self._is_twig(i)]
        heapq.heapify(self.heap)

    @property
    def count(self) -> int:
        """Branches of the result, with the bundles that are still to come."""
        return self.branches + (min(self.childless, MAX_BUNDLES) if self.room else 0)

    def _is_twig(self, i: int) -> bool:
        return bool(self.wood[i]) and self.parent[i] >= 0 and not self.children[i]

    def merge_shortest(self) -> bool:
        """Merges one twig. False where none is left that could be merged."""
        while self.heap:
            _, twig = heapq.heappop(self.heap)
            host = self._host_of(twig)
            if host is not None:
                self._merge(twig, host)
                return True
        return False

    def _host_of(self, twig: int) -> int | None:
        carrier = self.parent[twig]
        if self.parent[carrier] >= 0:
            return carrier
        others = [i for i in self.children[carrier] if i != twig]
        if not others:
            return None
        gap = self.source.position[others] - self.source.position[twig]
        distance = (gap * gap).sum(axis=1)
        return min(zip(distance.tolist(), others, strict=True))[1]

    def _merge(self, twig: int, host: int) -> None:
        carrier = self.parent[twig]
        self.host[twig] = host
        self.children[carrier].discard(twig)
        self.merged += 1
        self.branches -= 1
        self.childless -= 1 if self.children[carrier] else 0
        if self.bundles[twig]:
            # The twig's bundles and those of its host become one.
            self.branches -= int(self.bundles[twig] + self.bundles[host]) - 1
            self.bundles[host], self.bundles[twig] = 1, 0
        if self._is_twig(host) and host == carrier:
            heapq.heappush(self.heap, (float(self.source.length[host]), host))

    def tree(self) -> Tree:
        """The tree after all merges."""
        source, wood = self.source, self.wood
        final = self.host.copy()
        while (final[final] != final).any():
            final = final[final]
        final[~wood] = np.flatnonzero(~wood)
        group_volume = np.bincount(final[wood], weights=source.volume[wood], minlength=len(final))
        root_lv = np.sqrt(source.length * source.volume)
        group_root = np.bincount(final[wood], weights=root_lv[wood], minlength=len(final))
        kept = wood & (final == np.arange(len(final)))
        length = np.where(kept, group_root**2 / np.where(kept, group_volume, 1.0), source.length)
        untouched = np.bincount(final[wood], minlength=len(final)) == 1
        length = np.where(untouched | ~kept, source.length, length)
        number = np.full(len(final) + 1, -1)
        number[:-1][kept] = np.arange(kept.sum())
        carrier = np.where(source.parent >= 0, final[source.parent], -1)
        segments = source.segments
        if segments is not None:
            segments = replace(segments, branch=number[final[segments.branch]].astype(np.int32))
        arrays = {
            name: getattr(source, name)[kept]
            for name in ("position", "direction", "kind", "area", "source_id")
        }
        result = source.replace(
            length=length[kept],
            volume=np.where(untouched, source.volume, group_volume)[kept],
            parent=number[carrier[kept]],
            segments=segments,
            **arrays,
        )
        self.stretch = float((length[kept] / source.length[kept]).max())
        return self._with_bundles(result, final, number)

    def _with_bundles(
        self, wood: Tree, final: NDArray[np.int64], number: NDArray[np.int64]
    ) -> Tree:
        """The wood with its bundles; those of a branch that took up others become one."""
        source = self.source
        leaves = np.flatnonzero(~self.wood)
        if not len(leaves):
            return wood
        carrier = final[source.parent[leaves]]
        took_up = np.zeros(len(final), dtype=bool)
        took_up[carrier[carrier != source.parent[leaves]]] = True
        group = np.where(took_up[carrier], carrier, leaves)
        _, first, of = np.unique(group, return_index=True, return_inverse=True)
        area = np.bincount(of, weights=source.area[leaves]).astype(np.float64)
        share = source.area[leaves] / area[of]
        position, direction = np.zeros((2, len(area), 3))
        for axis in range(3):
            position[:, axis] = np.bincount(of, weights=share * source.position[leaves, axis])
            direction[:, axis] = np.bincount(of, weights=share * source.direction[leaves, axis])
        size = np.linalg.norm(direction, axis=1)
        opposed = size < 1e-6
        direction[opposed], size[opposed] = source.direction[leaves][first[opposed]], 1.0
        alone = np.bincount(of) == 1
        return extended(
            wood,
            position=position,
            direction=direction / size[:, None],
            length=np.where(alone, source.length[leaves][first], np.sqrt(area)),
            area=area,
            carrier=number[carrier[first]],
            source_id=source.source_id[leaves][first],
        )


def _sums(tree: Tree, species: Species | None) -> dict[str, NDArray[np.float64]]:
    """Mass, direct drag, trunk drag and trunk frequency, up to factors that cancel."""
    roots = tree.roots
    if species is not None:
        p = branch_parameters(tree, species)
        mass, direct, drag, frequency = p.mass, p.direct_drag, p.drag, p.frequency[roots]
    else:
        leaf = tree.kind == FOLIAGE
        direct = np.where(leaf, tree.area, 2 * np.sqrt(tree.length * tree.volume / math.pi))
        mass = total_mass_double(np.where(leaf, tree.area, WOOD_DENSITY * tree.volume), tree.parent)
        drag = propagate_drag_double(
            direct, tree.position, tree.direction, tree.length, tree.parent, np.ones(len(tree))
        )
        frequency = np.sqrt(tree.volume[roots] / tree.length[roots] ** 2 / mass[roots])
    return {
        "merge_mass_change": mass[roots].sum(keepdims=True),
        "merge_direct_drag_change": direct.sum(keepdims=True),
        "merge_trunk_frequency_change": frequency,
        "merge_trunk_drag_change": drag[roots],
    }


def _reported(
    before: Tree, after: Tree, merging: _Merging, tolerance: float, species: Species | None
) -> Tree:
    old, new = _sums(before, species), _sums(after, species)
    changes = {}
    for name, values in old.items():
        # A species without drag has none before and after.
        relative = np.divide(new[name], values, out=np.ones_like(values), where=values > 0) - 1.0
        changes[name] = float(relative[np.argmax(np.abs(relative))])
    for name in ("merge_mass_change", "merge_direct_drag_change", "merge_trunk_frequency_change"):
        if abs(changes[name]) > tolerance:
            raise ValueError(
                f"tolerance: {name.replace('_', ' ')} is {changes[name]:.2g}, above {tolerance:g}"
            )
    merged, stretch = merging.merged, merging.stretch
    assumed = "propagation and gamma 1" if species is None else f"as {species.name} propagates it"
    message = (
        f"merged {merged} short twigs to meet a budget: total mass changed by "
        f"{changes['merge_mass_change']:.1e}, direct drag by "
        f"{changes['merge_direct_drag_change']:.1e}, the trunk's frequency by "
        f"{changes['merge_trunk_frequency_change']:.1e}, drag at the trunk by "
        f"{changes['merge_trunk_drag_change']:.1e} ({assumed}); "
        f"lengths grew by up to x {stretch:.2f}"
    )
    report = before.report
    return after.replace(
        report=replace(
            report,
            repairs=(*report.repairs, Repair("merged-twigs", message, count=merged)),
            attributes={
                **report.attributes,
                "merged_branches": float(merged),
                **changes,
                "merge_stretch": stretch,
            },
        )
    )
