"""Space colonisation: shoots grow towards free space until it is taken.

Source: Runions, Lane & Prusinkiewicz, "Modeling Trees with a Space Colonization Algorithm",
Eurographics Workshop on Natural Phenomena 2007. Points in the crown's envelope attract the nearest
node; a node grows one step towards the mean of those it attracts; a point that a shoot comes near
to is taken. Nearest nodes are kept up to date with the new nodes of a round alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .chance import Chance, dot, norm, profile, unit

MAX_NODES = 40_000


@dataclass(frozen=True)
class Colony:
    """How shoots take the space. Lengths in m."""

    step: float
    influence: float  # a point farther than this attracts nobody
    kill: float  # a point nearer than this is taken
    wander: float = 0.15  # random part of a step's direction
    lift: float = 0.0  # upward part of a step's direction, negative hangs
    rise: float = 0.0  # more of it near the stem, half of it five steps out
    inertia: float = 0.3  # part of the shoot's former direction
    rounds: int = 400


def colonise(
    points: NDArray[np.float64],
    position: NDArray[np.float64],
    parent: NDArray[np.int64],
    colony: Colony,
    chance: Chance,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nodes and parents of `position`, `parent` grown into the `points`."""
    state = _State(points, position, parent)
    for _ in range(colony.rounds):
        if not state.grow(colony, chance) or state.count > MAX_NODES:
            break
    return state.position[: state.count], state.parent[: state.count]


class _State:
    def __init__(
        self, points: NDArray[np.float64], position: NDArray[np.float64], parent: NDArray[np.int64]
    ) -> None:
        self.count = len(position)
        room = MAX_NODES + len(points) + self.count
        self.position = np.zeros((room, 3))
        self.position[: self.count] = position
        self.parent = np.full(room, -1, dtype=np.int64)
        self.parent[: self.count] = parent
        self.out = np.zeros(room)  # steps since the shoot left the given nodes
        self.points = points
        self.nearest = np.zeros(len(points), dtype=np.int64)
        self.squared = np.full(len(points), np.inf)
        self._look_at(0, self.count)

    def _look_at(self, first: int, last: int) -> None:
        """Compares every free point with nodes first..last-1."""
        nodes = self.position[first:last]
        for begin in range(0, len(nodes), 256):
            part = nodes[begin : begin + 256]
            gap = self.points[:, None, :] - part[None, :, :]
            squared = dot(gap, gap)
            best = squared.argmin(axis=1)
            value = squared[np.arange(len(best)), best]
            nearer = value < self.squared
            self.squared[nearer] = value[nearer]
            self.nearest[nearer] = best[nearer] + first + begin

    def _drop(self, gone: NDArray[np.bool_]) -> None:
        self.points, self.nearest = self.points[~gone], self.nearest[~gone]
        self.squared = self.squared[~gone]

    def grow(self, colony: Colony, chance: Chance) -> bool:
        """One round. False when nothing grows any more."""
        self._drop(self.squared < colony.kill**2)
        drawn = self.squared < colony.influence**2
        if not drawn.any():
            return False
        nodes, of = np.unique(self.nearest[drawn], return_inverse=True)
        pull = unit(self.points[drawn] - self.position[self.nearest[drawn]])
        mean = np.stack(
            [np.bincount(of, weights=pull[:, axis], minlength=len(nodes)) for axis in range(3)], 1
        )
        came_from = self.position[nodes] - self.position[np.maximum(self.parent[nodes], 0)]
        along = np.where(self.parent[nodes][:, None] >= 0, unit(came_from), [0.0, 0.0, 1.0])
        stray = chance.unit_vectors(len(nodes)) * colony.wander
        aim = unit(mean) + along * colony.inertia + stray
        aim[:, 2] += colony.lift + colony.rise / (1.0 + 0.2 * self.out[nodes])
        new = self.position[nodes] + unit(aim) * colony.step
        self._add(nodes, new, colony.step)
        return True

    def _add(self, nodes: NDArray[np.int64], new: NDArray[np.float64], step: float) -> None:
        """Adds the new nodes; one that would repeat a sibling gives its points up instead."""
        stuck = self._repeats(nodes, new, step)
        if stuck.any():
            self._drop(np.isin(self.nearest, nodes[stuck]))
        first, last = self.count, self.count + int((~stuck).sum())
        self.position[first:last] = new[~stuck]
        self.parent[first:last] = nodes[~stuck]
        self.out[first:last] = self.out[nodes[~stuck]] + 1.0
        self.count = last
        self._look_at(first, last)

    def _repeats(
        self, nodes: NDArray[np.int64], new: NDArray[np.float64], step: float
    ) -> NDArray[np.bool_]:
        children = np.flatnonzero(np.isin(self.parent[: self.count], nodes))
        rank = np.searchsorted(nodes, self.parent[children])
        close = norm(self.position[children] - new[rank]) < 0.3 * step
        stuck = np.zeros(len(nodes), dtype=bool)
        stuck[rank[close]] = True
        return stuck


def sprout(
    position: NDArray[np.float64],
    parent: NDArray[np.int64],
    first: int,
    every: int,
    step: float,
    chance: Chance,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Short shoots of two steps along unbranched ends, one at `every` so many nodes.

    Only nodes from `first` on carry them, so that the stem stays clear.
    """
    n = len(parent)
    children = np.bincount(parent[parent >= 0], minlength=n).tolist()
    parents = parent.tolist()
    at = []
    for tip in range(first, n):
        if children[tip]:
            continue
        run = [tip]
        while run[-1] >= first and children[parents[run[-1]]] == 1 and parents[run[-1]] >= first:
            run.append(parents[run[-1]])
        at += run[::-1][every - 1 : -2 : every]
    carrier = np.array(at, dtype=np.int64)
    if not len(carrier):
        return position, parent
    along = unit(position[carrier] - position[parent[carrier]])
    stray = chance.unit_vectors(len(carrier))
    aim = unit(0.7 * along + unit(stray - along * dot(stray, along)[:, None]))
    inner = position[carrier] + aim * step
    outer = inner + unit(aim + 0.3 * along) * step
    number = n + np.arange(len(carrier))
    return (
        np.concatenate([position, inner, outer]),
        np.concatenate([parent, carrier, number]),
    )


def fill_crown(
    outline: NDArray[np.float64],
    base: float,
    top: float,
    radius: float,
    count: int,
    chance: Chance,
    *,
    shell: float = 0.5,
) -> NDArray[np.float64]:
    """`count` points in a crown of revolution, denser near its surface.

    `outline` holds (t, r) with t from 0 at the crown's base to 1 at its top and r the half width
    in units of `radius`. Of the points inside the inner 0.7 of the crown only the part 1 - `shell`
    is kept.
    """
    kept = np.empty((0, 3))
    while len(kept) < count:
        cube = chance.uniform(4 * 8 * count).reshape(-1, 4)
        xy = (2.0 * cube[:, :2] - 1.0) * outline[:, 1].max()
        width = profile(outline, cube[:, 2])
        across = np.sqrt(xy[:, 0] * xy[:, 0] + xy[:, 1] * xy[:, 1])
        inner = across < 0.7 * width
        keep = (across < width) & (~inner | (cube[:, 3] >= shell))
        z = base + cube[:, 2] * (top - base)
        kept = np.concatenate([kept, np.column_stack([xy * radius, z])[keep]])
    return kept[:count]
