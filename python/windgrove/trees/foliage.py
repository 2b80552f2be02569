"""Leaves by rule: bundles at the ends of the twigs, and the seasons."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import checks
from .tree import FOLIAGE, MAX_BRANCHES, Tree

MAX_BUNDLES = 1000
LARGEST_BUNDLE = 2.0  # m2: 1.4 m across; a bundle's steady angle grows as the root of its area
CROWDING = 2.0
SHARES = ("pipes", "length")


def add_foliage(
    tree: Tree,
    *,
    leaf_area_index: float = 3.0,
    leaf_area: float | None = None,
    limit: int = MAX_BUNDLES,
    share: str = "pipes",
    largest: float = LARGEST_BUNDLE,
) -> Tree:
    """A tree with foliage branches, bundles of leaves, on each childless branch.

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
    share : {"pipes", "length"}
        How the childless branches share the area: by the cross-section of their wood (the pipe
        model), where no branch on the way to them holds more than twice as much for its own
        cross-section as the twigs do on average; or by their length alone.
    largest : float, default 2 m2
        A branch whose share is larger carries several equal bundles, one at its end and the others
        along its outer half, as long as `limit` allows; infinity makes it one bundle a branch.

    Returns
    -------
    Tree
        The bundles come last, each along the direction of the branch it sits on and of the length
        sqrt(area). The total area is the same for every `share` and `largest`. The report's
        `attributes` hold ``leaf_area`` and ``crown_ground_area`` (m2).

    Raises
    ------
    ValueError
        The crown covers no ground (a bare upright stem) and `leaf_area` is not given, or the tree
        would have more than 65,536 branches.

    References
    ----------
    Bundles: GPU Zen 4, section 3.3. Leaf area in proportion to the cross-section below it: the
    pipe model of Shinozaki et al. 1964. How both meet on a scan: docs/concepts/growing.md.
    """
    checks.tree(tree)
    limit = checks.integer(limit, "limit", low=1, high=MAX_BRANCHES)
    checks.choice(share, "share", SHARES)
    if largest != math.inf:
        largest = checks.number(largest, "largest", above=0)
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
    weight = wood.length[carriers] if share == "length" else _pipes(wood, carriers)
    area = total * (weight / weight.sum())
    count = _bundles(area, limit, largest)
    if len(wood) + int(count.sum()) > MAX_BRANCHES:
        raise ValueError(
            f"limit: {len(wood)} branches and {int(count.sum())} bundles are more than "
            f"{MAX_BRANCHES}"
        )
    attributes = {"leaf_area": float(total), "crown_ground_area": float(ground)}
    report = replace(wood.report, attributes={**wood.report.attributes, **attributes})
    return _hung(wood.replace(report=report), carriers, area, count)


def _pipes(wood: Tree, carriers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Cross-sections (m2) of the carriers that all the branches below them can supply.

    In a scan the thinnest cylinders are too thick and a thin limb may bear a whole crown of them,
    so that the cross-sections of twigs alone would hang on a limb what it never held.
    """
    section = wood.volume / wood.length
    section = np.maximum(section, 1e-12 * float(section.max()))
    parent, root = wood.parent, wood.parent < 0
    spare = CROWDING * max(1.0, float(section[carriers].sum() / section[root].sum()))
    supply = np.zeros(len(wood))
    supply[carriers] = section[carriers]
    leafy = supply > 0
    for i in reversed(range(len(wood))):
        if not leafy[i]:
            supply[i] = min(supply[i], spare * section[i])
        if parent[i] >= 0:
            supply[parent[i]] += supply[i]
    wanted = np.zeros(len(wood))
    np.add.at(wanted, parent[~root], supply[~root])
    given = np.where(root, supply, 0.0)
    for i in np.flatnonzero(~root & (supply > 0)).tolist():
        given[i] = given[parent[i]] * (supply[i] / wanted[parent[i]])
    return given[carriers]


def _bundles(area: NDArray[np.float64], limit: int, largest: float) -> NDArray[np.int64]:
    """How many bundles each carrier gets: none above `largest`, and at most `limit` in all."""
    spare = limit - len(area)
    if spare <= 0 or largest == math.inf:
        return np.ones(len(area), dtype=np.int64)
    # A sum of ceilings is at most the sum and one more for each.
    least = max(largest, float(area.sum()) / spare)
    return np.maximum(np.ceil(area / least * (1.0 - 1e-12)), 1.0).astype(np.int64)


def _hung(
    wood: Tree, carriers: NDArray[np.intp], area: NDArray[np.float64], count: NDArray[np.int64]
) -> Tree:
    """The bundles on their branches: the first at the end, the others along the outer half."""
    carrier = np.repeat(carriers, count)
    number = np.arange(len(carrier)) - np.repeat(np.cumsum(count) - count, count)
    each = np.repeat(area / count, count)
    inward = 0.5 * number / np.repeat(count, count) * wood.length[carrier]
    return extended(
        wood,
        position=wood.tip[carrier] - inward[:, None] * wood.direction[carrier],
        direction=wood.direction[carrier],
        length=np.sqrt(each),
        area=each,
        carrier=carrier,
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
