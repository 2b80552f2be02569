"""A trunk that ends in a stub: the stem that goes on from it is the trunk.

Where a bush forks at the ground, the run of cylinders that starts there is a few centimetres long.
As a branch of its own it would stand for nothing: its spring would be stiffer than any other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .cylinders import Notes
from .tree import TRUNK, Tree

STUB = 0.05  # of the longest stem on it; a trunk below a fork in a crown is longer than that


def continue_stubs(wood: Tree, notes: Notes) -> tuple[Tree, NDArray[np.int64]]:
    """Wood whose roots are no stubs, and the new index of every branch.

    A root shorter than a twentieth of the longest branch that grows on it takes that branch in, and
    so on: lengths and volumes add up, what grew on either grows on the trunk. Where lengths are
    equal the greater volume counts, then the lower index.
    """
    index = np.arange(len(wood))
    for root in np.flatnonzero(wood.parent < 0).tolist():
        while True:
            here = int(index[root])
            stems = np.flatnonzero(wood.parent == here)
            if not stems.size:
                break
            order = np.lexsort((stems, -wood.volume[stems], -wood.length[stems]))
            stem = int(stems[order[0]])
            if wood.length[here] >= STUB * wood.length[stem]:
                break
            notes.noticed(
                "stub-trunk",
                f"a trunk of {wood.length[here]:.3g} m ends where {len(stems)} stems part: the "
                f"longest, {wood.length[stem]:.3g} m, continues it"
                + (" (multi-stem)" if len(stems) > 1 else ""),
            )
            wood, moved = _taken_in(wood, here, stem)
            index = moved[index]
    return wood, index


def _taken_in(wood: Tree, root: int, stem: int) -> tuple[Tree, NDArray[np.int64]]:
    number = np.arange(len(wood)) - (np.arange(len(wood)) > stem)
    number[stem] = root
    keep = np.arange(len(wood)) != stem
    arrays = {name: getattr(wood, name).copy() for name in ("length", "volume", "direction")}
    for name in ("length", "volume"):
        arrays[name][root] += arrays[name][stem]
    way = _end(wood, stem) - wood.position[root]
    reach = float(np.linalg.norm(way))
    if reach > 0:
        arrays["direction"][root] = way / reach
    parent = np.where(wood.parent >= 0, number[wood.parent], -1)
    segments = wood.segments
    if segments is not None:
        segments = replace(segments, branch=number[segments.branch].astype(np.int32))
    kept = {name: values[keep] for name, values in arrays.items()}
    for name in ("position", "area", "source_id"):
        kept[name] = getattr(wood, name)[keep]
    parent = parent[keep]
    kind = np.where(parent < 0, TRUNK, wood.kind[keep])
    return wood.replace(parent=parent, kind=kind, segments=segments, **kept), number


def _end(wood: Tree, branch: int) -> NDArray[np.float64]:
    """Far end of a branch: that of its last cylinder, where they are known."""
    if wood.segments is not None:
        rows = np.flatnonzero(wood.segments.branch == branch)
        if rows.size:
            return wood.segments.end[rows[-1]]
    return wood.tip[branch]
