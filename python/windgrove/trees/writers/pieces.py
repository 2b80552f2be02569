"""The cylinders of a tree, as the formats of cylinders want them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..tree import FOLIAGE, Segments, Tree


@dataclass(frozen=True)
class Pieces:
    """Cylinders in the coordinates asked for, parents before children."""

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    length: NDArray[np.float64]
    radius: NDArray[np.float64]
    parent: NDArray[np.int64]
    branch: NDArray[np.int64]
    run: NDArray[np.int64]  # the branch's id in its file where these tell branches apart
    source_id: NDArray[np.int64]

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids of the file they came from, where these tell them apart; else the rows."""
        ids = self.source_id
        apart = len(np.unique(ids)) == len(ids) and (ids >= 0).all()
        return ids if apart else np.arange(len(ids))


def pieces(tree: Tree, world: bool, format: str) -> Pieces:
    """The tree's segments; without any, one cylinder a branch. Leaves are refused."""
    if (tree.kind == FOLIAGE).any():
        raise ValueError(
            f"tree: {format} files hold no leaves; write windgrove.trees.foliage.bare(tree), or "
            "format='json'"
        )
    segments = tree.segments if tree.segments is not None else _one_each(tree)
    assert tree.offset is not None
    offset = tree.offset if world else np.zeros(3)
    length = segments.length
    if length is None:
        length = np.linalg.norm(segments.end - segments.start, axis=1)
    parent = segments.parent if segments.parent is not None else _parents(tree, segments)
    assert tree.source_id is not None
    apart = len(np.unique(tree.source_id)) == len(tree) and (tree.source_id >= 0).all()
    return Pieces(
        start=segments.start + offset,
        end=segments.end + offset,
        length=length,
        radius=segments.radius,
        parent=parent,
        branch=segments.branch.astype(np.int64),
        run=(tree.source_id if apart else np.arange(len(tree)))[segments.branch],
        source_id=segments.source_id,
    )


def _one_each(tree: Tree) -> Segments:
    assert tree.source_id is not None
    return Segments(
        start=tree.position,
        end=tree.tip,
        radius=tree.radius,
        branch=np.arange(len(tree), dtype=np.int32),
        source_id=tree.source_id,
        length=tree.length,
        parent=tree.parent.astype(np.int64),
    )


def _parents(tree: Tree, segments: Segments) -> NDArray[np.int64]:
    """Within a branch the row before; for its first row the nearest end on the parent branch."""
    rows: dict[int, list[int]] = {}
    for row, branch in enumerate(segments.branch.tolist()):
        rows.setdefault(branch, []).append(row)
    parent = np.full(len(segments), -1, dtype=np.int64)
    for branch, own in rows.items():
        parent[own[1:]] = own[:-1]
        above = int(tree.parent[branch])
        if above >= 0 and above in rows:
            candidates = np.array(rows[above])
            gap = np.linalg.norm(segments.end[candidates] - segments.start[own[0]], axis=1)
            parent[own[0]] = candidates[np.argmin(gap)]
    return parent
