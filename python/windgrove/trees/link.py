"""Parents by id become parents by row; what does not resolve is refused with its row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cylinders import Notes

IntArray = NDArray[np.int64]

NO_PARENT = -(2**62)  # a blank or NA parent cell
_WRAPPED = (2**16 - 1, 2**32 - 1, 2**63 - 1)  # -1 through an unsigned or clipped column


def resolve_parents(
    ids: IntArray,
    parents: IntArray,
    notes: Notes,
    *,
    missing: str = "refuse",
    root_marks: tuple[int, ...] = (-1, 0),
    rows: IntArray | None = None,
) -> IntArray:
    """Rows of the parents, -1 for a root.

    A root is marked by a blank, by a number below 0, by one of `root_marks` that is no id, or by
    -1 wrapped through an unsigned column. One row that is its own parent is the root when
    nothing else is. `missing="roots"` makes rows whose parent does not exist roots.
    """
    rows = np.arange(len(ids)) if rows is None else rows
    order = np.argsort(ids, kind="stable")
    found = np.searchsorted(ids, parents, sorter=order)
    found = np.where(found < len(ids), found, 0)
    row = order[found].astype(np.int64)
    known = ids[row] == parents
    _refuse_ambiguous(ids, parents, order, known, notes, rows)
    root = ~known & (np.isin(parents, root_marks) | (parents < 0))
    wrapped = ~known & ~root & np.isin(parents, _WRAPPED)
    if wrapped.any():
        notes.repaired(
            "unsigned-underflow",
            f"{wrapped.sum()} parent(s) read {parents[wrapped][0]}, which is -1 in an unsigned "
            "column: taken as roots",
            rows[wrapped],
        )
        root |= wrapped
    own = known & (row == np.arange(len(ids)))
    if own.sum() == 1 and not root.any():
        notes.repaired(
            "own-parent",
            "the only row without another parent names itself: taken as the root",
            rows[own],
        )
        root |= own
        own = np.zeros_like(own)
    lost = ~known & ~root
    _refuse_broken(own, lost, parents, missing, notes, rows)
    if lost.any():
        notes.repaired(
            "missing-parents",
            f"{lost.sum()} row(s) name a parent that does not exist, the first in row "
            f"{rows[lost][0]}: each became a root",
            rows[lost],
        )
    return np.where(root | lost, -1, row)


def skip_rows(parent: IntArray, skipped: NDArray[np.bool_]) -> IntArray | None:
    """Parents with some rows passed over: each row hangs on the nearest row kept below it.

    None where passing over goes round in a circle. Takes log2(n) passes, each over all rows.
    """
    parent = parent.copy()
    for _ in range(len(parent).bit_length() + 1):
        through = (parent >= 0) & skipped[parent]
        if not through.any():
            return parent
        parent[through] = parent[parent[through]]
    return None


def _refuse_ambiguous(
    ids: IntArray,
    parents: IntArray,
    order: NDArray[np.intp],
    known: NDArray[np.bool_],
    notes: Notes,
    rows: IntArray,
) -> None:
    """Two rows with one id: harmless where nobody's parent is that id, else refused."""
    again = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if not len(again):
        return
    doubled = np.unique(ids[order][again])
    asked = known & np.isin(parents, doubled)
    if asked.any():
        child = int(np.argmax(asked))
        twins = rows[ids == parents[child]]
        notes.refuse(
            f"parent {parents[child]} is the id of {len(twins)} rows ({twins[0]}, {twins[1]}"
            f"{', ...' if len(twins) > 2 else ''}): ids have to be unique where they are parents",
            rows[child],
        )
    notes.repaired(
        "duplicate-ids",
        f"{len(doubled)} id(s) occur more than once, none of them as a parent: rows kept apart",
        rows[np.sort(order[again + 1])],
    )


def _refuse_broken(
    own: NDArray[np.bool_],
    lost: NDArray[np.bool_],
    parents: IntArray,
    missing: str,
    notes: Notes,
    rows: IntArray,
) -> None:
    lost_text = ""
    if lost.any():
        first = int(np.argmax(lost))
        lost_text = (
            f"{lost.sum()} row(s) name a parent that does not exist, the first row {rows[first]} "
            f"(parent {parents[first]})"
        )
    if own.any():
        first = int(np.argmax(own))
        notes.refuse(
            f"is its own parent ({own.sum()} such row(s))"
            + (f"; {lost_text}" if lost_text else ""),
            rows[first],
        )
    if lost.any() and missing == "refuse":
        notes.refuse(
            f"{lost_text}; missing_parents='roots' keeps them as trees of their own",
            rows[int(np.argmax(lost))],
        )


def graph_of(above: NDArray[np.int64], below: NDArray[np.int64], count: int) -> Any:
    """A sparse graph of `count` vertices for `scipy.sparse.csgraph`, which reads indices of 32 bits
    in every version; older ones go wrong on others without saying so."""
    from scipy.sparse import coo_array

    ends = above.astype(np.int32), below.astype(np.int32)
    return coo_array((np.ones(len(above), dtype=np.int8), ends), shape=(count, count)).tocsr()
