"""Several trees of one file as one table with several roots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .cylinders import Cylinders
from .readers import Parsed
from .tree import Tree


def combine(parsed: list[Parsed]) -> Parsed:
    """All trees of a file in their order; ids and rows count on from tree to tree."""
    notes = parsed[0].notes.copy()
    notes.path = parsed[0].source.path
    source = replace(parsed[0].source, attributes={})
    size = sum(one.size for one in parsed)

    def build() -> Cylinders | Tree:
        tables = [one.build() for one in parsed]
        assert all(isinstance(table, Cylinders) for table in tables)
        for one in parsed:
            notes.repairs += [r for r in one.notes.repairs if r not in notes.repairs]
        return _stack([table for table in tables if isinstance(table, Cylinders)])

    return Parsed(source, notes, build, size, scaled=parsed[0].scaled)


def _stack(tables: list[Cylinders]) -> Cylinders:
    before = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    columns: dict[str, NDArray | None] = {}
    for name in Cylinders.__dataclass_fields__:
        parts = [getattr(table, name) for table in tables]
        columns[name] = None if any(part is None for part in parts) else np.concatenate(parts)
    parent = [
        np.where(t.parent >= 0, t.parent + n, -1) for t, n in zip(tables, before, strict=False)
    ]
    columns["parent"] = np.concatenate(parent)
    if columns["branch"] is not None:
        columns["branch"] = _apart([table.branch for table in tables if table.branch is not None])
    return Cylinders(**columns)  # type: ignore[arg-type]


def _apart(ids: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Ids of each tree moved past those of the trees before it, so that none is shared."""
    moved, highest = [], 0
    for column in ids:
        moved.append(np.where(column >= 0, column + highest, column))
        highest = max(highest, int(moved[-1].max(initial=0)) + 1)
    return np.concatenate(moved)
