"""SimpleForest's cylinder table: its 36 columns, and one of ours that keeps the branches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..chains import subtree_length
from ..tree import Tree
from .pieces import Pieces, pieces

IntArray = NDArray[np.int64]

HEADER = (
    "type, ID, parentID, startX, startY, startZ, endX, endY, endZ, radius, volume, growthVolume, "
    "length, growthLength, FittingType, segmentID, parentSegmentID, segmentMedianRadius, "
    "segmentGrowthVolume, segmentGrowthLength, branchOrder, reverseBranchOrder, "
    "reversePipeRadiusBranchorder, reversePipeAreaBranchorder, branchID, treeID, treeSpecies, "
    "translateX, translateY, translatez, gvA, gvB, gvC, glA, glB, glC, windgroveRun"
)


def encode(tree: Tree, *, world: bool) -> bytes:
    """The table; a segment is an unbranched run between forks, as SimpleForest has it."""
    cylinders = pieces(tree, world, "simpleforest")
    columns = [column if isinstance(column, list) else column.tolist()
               for column in _columns(cylinders, tree)]  # fmt: skip
    lines = [", ".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join([HEADER, *lines, ""]).encode()


def _columns(cylinders: Pieces, tree: Tree) -> list[list[str] | NDArray]:
    count = len(cylinders.radius)
    parent = cylinders.parent
    volume = np.pi * cylinders.radius**2 * cylinders.length
    grown_volume = subtree_length(parent, volume)
    grown_length = subtree_length(parent, cylinders.length)
    segment, above, first = _segments(parent)
    median = _medians(cylinders.radius, segment)
    ids = np.append(cylinders.ids, -1)
    from_tip, tips = _reverse_orders(parent, segment, above)
    assert tree.level is not None
    zero = np.zeros(count, dtype=np.int64)
    return [
        ["cylinder"] * count, cylinders.ids, ids[parent], *cylinders.start.T, *cylinders.end.T,
        cylinders.radius, volume, grown_volume, cylinders.length, grown_length,
        ["WINDGROVE"] * count, segment, above[segment], median[segment],
        grown_volume[first[segment]], grown_length[first[segment]], tree.level[cylinders.branch],
        from_tip[segment], np.sqrt(tips[segment]), tips[segment], cylinders.branch, zero,
        ["unknownSpecies"] * count, *[zero] * 9, cylinders.run,
    ]  # fmt: skip


def _segments(parent: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Segment of each cylinder, parent segment and first cylinder of each segment."""
    children = np.bincount(parent[parent >= 0], minlength=len(parent))
    follows = (parent >= 0) & (children[parent] == 1)
    segment = np.cumsum(~follows) - 1
    for row in np.flatnonzero(follows):
        segment[row] = segment[parent[row]]
    first = np.flatnonzero(~follows)
    above = np.where(parent[first] >= 0, segment[parent[first]], -1)
    return segment, above, first


def _reverse_orders(
    parent: IntArray, segment: IntArray, above: IntArray
) -> tuple[IntArray, IntArray]:
    """Segments to the farthest tip, and tips carried, of each segment."""
    depth = np.zeros(len(above), dtype=np.int64)
    tips = np.zeros(len(above), dtype=np.int64)
    for i in range(len(above) - 1, -1, -1):
        tips[i] = max(tips[i], 1)
        if above[i] >= 0:
            depth[above[i]] = max(depth[above[i]], depth[i] + 1)
            tips[above[i]] += tips[i]
    return depth, tips


def _medians(values: NDArray[np.float64], segment: IntArray) -> NDArray[np.float64]:
    order = np.argsort(segment, kind="stable")
    cuts = np.flatnonzero(np.diff(segment[order])) + 1
    return np.array([np.median(part) for part in np.split(values[order], cuts)])
