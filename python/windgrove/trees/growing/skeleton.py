"""From a skeleton of nodes to a tree: pipe-model radii, chains of segments, branches.

Radii follow the pipe model of Shinozaki et al. (1964), a cross-section carries the pipes of all
tips above it, with a share for the shoots between (their length) so that a stem also tapers where
nothing forks. Cross-sections add at forks, as Leonardo noted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..tree import BRANCH, TRUNK, Segments, Tree, TreeReport
from .chance import norm, unit

BREAST_HEIGHT = 1.3


@dataclass
class Skeleton:
    """Nodes, parents before children. Node i is the end of the segment from parent[i] to i.

    Attributes
    ----------
    position : (n, 3) m
    parent : (n,) int, -1 for the foot of a stem
    chain : (n,) int or None
        Which branch the segment that ends at the node belongs to; None: the thicker child goes on.
    radius : (n,) m or None
        Radius of the segment that ends at the node; None: pipe model.
    """

    position: NDArray[np.float64]
    parent: NDArray[np.int64]
    chain: NDArray[np.int64] | None = None
    radius: NDArray[np.float64] | None = None


def pipe_areas(skeleton: Skeleton, shoot_share: float) -> NDArray[np.float64]:
    """Cross-sections at every node in units of the stem's foot; 1 at the thickest foot.

    `shoot_share` is the part of the foot's cross-section that the lengths of shoots make; the rest
    is made by the number of tips.
    """
    parent = skeleton.parent.tolist()
    step = segment_lengths(skeleton)
    tips = np.ones(len(parent))
    tips[np.unique(skeleton.parent[skeleton.parent >= 0])] = 0.0
    shoots = step.copy()
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] >= 0:
            tips[parent[i]] += tips[i]
            shoots[parent[i]] += shoots[i]
    area = (1.0 - shoot_share) * tips / tips.max() + shoot_share * shoots / shoots.max()
    return area / area.max()


def segment_lengths(skeleton: Skeleton) -> NDArray[np.float64]:
    """Length of the segment that ends at each node, 0 for a foot."""
    inner = skeleton.parent >= 0
    step = np.zeros(len(skeleton.parent))
    step[inner] = norm(skeleton.position[inner] - skeleton.position[skeleton.parent[inner]])
    return step


def chains_by_thickness(parent: NDArray[np.int64], area: NDArray[np.float64]) -> NDArray[np.int64]:
    """Chain of every node: at a fork the thickest child goes on, the others start new chains."""
    n = len(parent)
    heir = np.full(n, -1)
    for i, p in enumerate(parent.tolist()):
        if p >= 0 and (heir[p] < 0 or area[i] > area[heir[p]]):
            heir[p] = i
    chain = np.empty(n, dtype=np.int64)
    count = 0
    for i, p in enumerate(parent.tolist()):
        if p >= 0 and heir[p] == i:
            chain[i] = chain[p]
        else:
            chain[i] = count
            count += 1
    return chain


def tree_from_skeleton(
    skeleton: Skeleton, radius: NDArray[np.float64], *, name: str, format: str
) -> Tree:
    """Branches from the chains; `radius` (n,) is that of the segment that ends at a node."""
    assert skeleton.chain is not None
    ends = np.flatnonzero(skeleton.parent >= 0)
    starts = skeleton.parent[ends]
    names, of = np.unique(skeleton.chain[ends], return_inverse=True)
    count = len(names)
    order = np.arange(len(ends))
    first, last = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    first[of[::-1]] = order[::-1]
    last[of] = order
    row = np.full(len(skeleton.parent), -1, dtype=np.int64)
    row[ends] = order
    step, r = segment_lengths(skeleton)[ends], radius[ends]
    volume, length = _sums(of, np.pi * r * r * step, count), _sums(of, step, count)
    foot = skeleton.position[starts[first]]
    carrier = np.searchsorted(names, skeleton.chain[starts[first]])
    parent = np.where(carrier == np.arange(count), -1, carrier)
    return Tree(
        position=foot,
        direction=unit(skeleton.position[ends[last]] - foot),
        length=length,
        volume=volume,
        area=np.zeros(count),
        kind=np.where(parent < 0, TRUNK, BRANCH),
        parent=parent,
        name=name,
        report=TreeReport(
            format=format,
            cylinders=len(ends),
            roots=int((parent < 0).sum()),
            branches=count,
            volume=float(volume.sum()),
            cylinder_length=float(length.sum()),
            drag_area=float((2.0 * r * step).sum()),
            units="m",
            radius_provenance="pipe model" if skeleton.radius is None else "grown",
        ),
        segments=Segments(
            start=skeleton.position[starts],
            end=skeleton.position[ends],
            radius=r,
            branch=of.astype(np.int32),
            source_id=ends.astype(np.int64),
            parent=row[starts],
        ),
    )


def _sums(of: NDArray[np.int64], values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    return np.bincount(of, weights=values, minlength=count).astype(np.float64)
