"""A tree file of raycloudtools: one line, segments of x, y, z, radius, parent_id and our fields.

A segment starts at its parent's point. Where a cylinder starts elsewhere, a segment of radius 0
leads there; `joint` marks these and the root's point, so that they are no cylinders when read back.
"""

from __future__ import annotations

import numpy as np

from ..tree import Tree
from .pieces import Pieces, pieces

HEADER = "x,y,z,radius,parent_id,branch_id,cylinder_length,source_id,joint"


def encode(tree: Tree, *, world: bool) -> bytes:
    """A comment, the header and the tree's line."""
    cylinders = pieces(tree, world, "raycloud")
    if (cylinders.parent < 0).sum() != 1:
        raise ValueError("tree: a line of a tree file has one root; roots='largest' keeps one")
    segments = ", ".join(",".join(map(str, values)) for values in _rows(cylinders))
    comment = "# Tree file. 'x,y,z,radius' and other values of each segment:"
    return f"{comment}\n{HEADER}\n{segments}\n".encode()


def _rows(cylinders: Pieces) -> list[list[float]]:
    rows: list[list[float]] = []
    number = np.zeros(len(cylinders.radius), dtype=np.int64)
    start, end = cylinders.start.tolist(), cylinders.end.tolist()
    length, radius = cylinders.length.tolist(), cylinders.radius.tolist()
    branch, source = cylinders.run.tolist(), cylinders.source_id.tolist()
    for i, above in enumerate(cylinders.parent.tolist()):
        below = -1 if above < 0 else int(number[above])
        if above < 0 or start[i] != end[above]:
            rows.append([*start[i], 0.0 if above >= 0 else radius[i], below, branch[i], 0.0, -1, 1])
            below = len(rows) - 1
        rows.append([*end[i], radius[i], below, branch[i], length[i], source[i], 0])
        number[i] = len(rows) - 1
    return rows
