"""Leaves by rule: bundles at the ends of the twigs, and the seasons."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import checks
from .tree import FOLIAGE, MAX_BRANCHES, Tree

MAX_BUNDLES = 1000


def add_foliage(
    tree: Tree,
    *,
    leaf_area_index: float = 3.0,
    leaf_area: float | None = None,
    limit: int = MAX_BUNDLES,
) -> Tree:
    """A tree with one foliage branch at the end of each childless branch.

    Parameters
    ----------
    tree : Tree
        Foliage it has already is replaced.
    leaf_area_index : float, default 3.0
        m2 of leaf per m2 of ground under the crown (the convex hull of all branches seen from
        above).
    leaf_area : float, optional
        Total area in m2, instead of `leaf_area_index` times the crown's ground area.
    limit : int, default 1000
        At most so many bundles, on the longest childless branches.

    Returns
    -------
    Tree
        The bundles come last, each along the direction of the branch it sits on, with an area in
        proportion to that branch's length and the length sqrt(area). The report's `attributes` hold
        ``leaf_area`` and ``crown_ground_area`` (m2).

    Raises
    ------
    ValueError
        The crown covers no ground (a bare upright stem) and `leaf_area` is not given, or the tree
        would have more than 65,536 branches.

    References
    ----------
    Bundles: seed 000, section 3.3. The rule is windgrove's own: docs/concepts/growing.md.
    """
    checks.tree(tree)
    limit = checks.integer(limit, "limit", low=1, high=MAX_BRANCHES)
    wood = bare(tree)
    ground = crown_ground_area(wood)
    if leaf_area is None:
        index = checks.number(leaf_area_index, "leaf_area_index", above=0)
        if ground <= 0:
            raise ValueError("leaf_area: the crown covers no ground; give the leaf area in m2")
        total = index * ground
    else:
        total = checks.number(leaf_area, "leaf_area", above=0)
    carriers = _carriers(wood, limit)
    if len(wood) + len(carriers) > MAX_BRANCHES:
        raise ValueError(
            f"limit: {len(wood)} branches and {len(carriers)} bundles are more than {MAX_BRANCHES}"
        )
    share = wood.length[carriers] / wood.length[carriers].sum()
    area = total * share
    report = replace(
        wood.report,
        attributes={
            **wood.report.attributes,
            "leaf_area": float(total),
            "crown_ground_area": float(ground),
        },
    )
    return extended(
        wood.replace(report=report),
        position=wood.tip[carriers],
        direction=wood.direction[carriers],
        length=np.sqrt(area),
        area=area,
        carrier=carriers,
    )


def extended(
    wood: Tree,
    *,
    position: NDArray[np.float64],
    direction: NDArray[np.float64],
    length: NDArray[np.float64],
    area: NDArray[np.float64],
    carrier: NDArray[np.integer],
    source_id: NDArray[np.int64] | None = None,
) -> Tree:
    """The tree with more foliage branches after its own; `carrier` are the branches they sit on."""
    count = len(area)
    ids = np.full(count, -1) if source_id is None else source_id
    return wood.replace(
        position=np.concatenate([wood.position, position]),
        direction=np.concatenate([wood.direction, direction]),
        length=np.concatenate([wood.length, length]),
        volume=np.concatenate([wood.volume, np.zeros(count)]),
        area=np.concatenate([wood.area, area]),
        kind=np.concatenate([wood.kind, np.full(count, FOLIAGE, dtype=np.uint8)]),
        parent=np.concatenate([wood.parent, carrier]),
        source_id=np.concatenate([wood.source_id, ids]),
    )


def _carriers(wood: Tree, limit: int) -> NDArray[np.intp]:
    childless = np.ones(len(wood), dtype=bool)
    childless[wood.parent[wood.parent >= 0]] = False
    candidates = np.flatnonzero(childless)
    longest = np.argsort(-wood.length[candidates], kind="stable")[:limit]
    return np.sort(candidates[longest])


def bare(tree: Tree) -> Tree:
    """The tree without its foliage: a broadleaf in winter."""
    return set_leaf_fraction(tree, 0.0)


def set_leaf_fraction(tree: Tree, fraction: float) -> Tree:
    """A season: the areas of all foliage times `fraction`, from 0 (bare) to 1 (as given).

    At 0 the foliage branches are left out, since a branch without area has no mass; the wood keeps
    its indices where, as everywhere in this package, foliage carries nothing.
    """
    checks.tree(tree)
    fraction = checks.number(fraction, "fraction", low=0, high=1)
    foliage = tree.kind == FOLIAGE
    if fraction == 1 or not foliage.any():
        return tree
    if fraction > 0:
        area = tree.area * fraction
        length = np.where(foliage, tree.length * math.sqrt(fraction), tree.length)
        return tree.replace(area=area, length=length)
    keep = ~foliage
    if not keep.any():
        raise ValueError("fraction: the tree is nothing but foliage")
    bad = keep & (tree.parent >= 0) & foliage[tree.parent]
    if bad.any():
        raise ValueError(f"tree: branch {int(np.argmax(bad))} is wood and grows on foliage")
    number = np.append(np.cumsum(keep) - 1, -1)
    names = ("position", "direction", "length", "volume", "area", "kind", "source_id")
    arrays = {name: getattr(tree, name)[keep] for name in names}
    segments = tree.segments
    if segments is not None:
        segments = replace(segments, branch=number[segments.branch].astype(np.int32))
    return tree.replace(parent=number[tree.parent[keep]], segments=segments, **arrays)


def crown_ground_area(tree: Tree) -> float:
    """Area of the convex hull of all wood seen from above, m2; 0 for an upright stem."""
    return _hull_area(tree, tree.kind != FOLIAGE, 2)


def crown_hull_area(tree: Tree, along: str) -> float:
    """Area of the convex hull of the crown seen along the x, y or z axis, m2.

    The crown is all that grows on a root, foliage included. A tree that is nothing but roots is
    seen as a whole.
    """
    axis = "xyz".index(checks.choice(along, "along", "xyz"))
    crown = tree.parent >= 0
    return _hull_area(tree, crown if crown.any() else ~crown, axis)


def _hull_area(tree: Tree, wanted: NDArray[np.bool_], axis: int) -> float:
    points = [tree.position[wanted], tree.tip[wanted]]
    if tree.segments is not None and len(tree.segments):
        rows = wanted[tree.segments.branch]
        points += [tree.segments.start[rows], tree.segments.end[rows]]
    hull = _hull(np.concatenate(points)[:, [i for i in range(3) if i != axis]])
    x, y = hull[:, 0], hull[:, 1]
    return float(abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2)


def _hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convex hull by Andrew's monotone chain; any number of points, collinear ones too."""
    points = _extremes(points)
    ordered = np.unique(points, axis=0).tolist()
    if len(ordered) < 3:
        return np.array(ordered)
    halves = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[list[float]] = []
        for p in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        halves += chain[:-1]
    return np.array(halves)


def _extremes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drops points inside the octagon of the eight extreme ones: they are on no hull."""
    if len(points) < 100:
        return points
    x, y = points[:, 0], points[:, 1]
    corners = points[[f(v) for v in (x, x + y, y, y - x) for f in (np.argmin, np.argmax)]]
    order = [1, 3, 5, 7, 0, 2, 4, 6]  # counter-clockwise from the greatest x
    ring = corners[order]
    inside = np.ones(len(points), dtype=bool)
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if (a == b).all():
            continue
        inside &= (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0
    return points[~inside]


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
