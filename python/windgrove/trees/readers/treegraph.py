"""treegraph's models: JSON of tables, or its table of cylinders as CSV (rTwig's export too).

A cylinder belongs to a node, `p1`, and leads down to the node below, `p2`: its start is the outer
end, and its axis points to the base. The lowest node has no cylinder of its own.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes, Source
from ..link import resolve_parents
from . import Options, Parsed
from .own_json import parse_json
from .raycloud import from_points
from .source import Content
from .table import parse_table

NAME = "treegraph"
_NEEDED = ("p1", "p2", "sx", "sy", "sz", "ax", "ay", "az", "radius", "length")
_USED = (*_NEEDED, "nbranch", "ncyl")
_TOUCH = 0.01  # part of a cylinder's length by which its inner end may miss the node below

FloatArray = NDArray[np.float64]


def recognises(content: Content) -> int:
    """The words of its JSON, or its names of columns."""
    head = content.head(200_000)
    if head.lstrip().startswith("{"):
        return 90 if '"internode"' in head and '"created"' in head else 0
    return 91 if set(content.layout.names) >= set(_NEEDED) else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The model as one tree."""
    notes = Notes(content.name, strict=options.strict)
    if content.head(100).lstrip().startswith("{"):
        columns, version = _from_json(content, notes), "json"
    else:
        table = parse_table(content.layout, notes, names=content.layout.header, wanted=_USED)
        missing = [name for name in _NEEDED if table.find(name) is None]
        if missing:
            notes.refuse(f"has no column {', '.join(missing)} of treegraph's cylinders")
        columns = {name: table.numbers(name) for name in _USED if table.find(name)}
        version = "table"
    source = Source(content.name, NAME, version, "m", "fitted")
    count = len(columns["p1"])
    return [Parsed(source, notes, lambda: _cylinders(columns, notes, options), count)]


def _from_json(content: Content, notes: Notes) -> dict[str, FloatArray]:
    """The columns of the table `cyls`, which is JSON in a string in the JSON."""
    document = parse_json(content, notes)
    cylinders = document.get("cyls") if isinstance(document, dict) else None
    if isinstance(cylinders, str):
        try:
            cylinders = json.loads(cylinders)
        except (ValueError, RecursionError) as error:
            notes.refuse(f"cyls: is broken JSON: {error}")
    if not isinstance(cylinders, dict):
        notes.refuse("cyls: has no table of cylinders")
        raise AssertionError
    columns = {name: _column(cylinders, name, notes) for name in _NEEDED}
    columns |= {name: _column(cylinders, name, notes) for name in ("nbranch", "ncyl")
                if name in cylinders}  # fmt: skip
    counts = {len(column) for column in columns.values()}
    if counts == {0}:
        notes.refuse("cyls: holds no cylinders")
    if len(counts) > 1:
        notes.refuse("cyls: its columns are not of one length")
    return columns


def _column(cylinders: dict[str, Any], name: str, notes: Notes) -> FloatArray:
    column = cylinders.get(name)
    values = list(column.values()) if isinstance(column, dict) else column
    if not isinstance(values, list):
        notes.refuse(f"cyls.{name}: expected a column")
        raise AssertionError
    try:
        return np.array([np.nan if v is None else float(v) for v in values])
    except (TypeError, ValueError, OverflowError):
        notes.refuse(f"cyls.{name}: holds something that is not a number")
        raise


def _cylinders(columns: dict[str, FloatArray], notes: Notes, options: Options) -> Cylinders:
    node, below = (_ids(columns[name], name, notes) for name in ("p1", "p2"))
    outer = np.column_stack([columns[name] for name in ("sx", "sy", "sz")])
    axis = np.column_stack([columns[name] for name in ("ax", "ay", "az")])
    inner = outer + axis * columns["length"][:, None]
    base = _base(node, below, columns)
    first = int(np.argmax(below == base)) if base is not None else 0
    ids = np.append(node, node.max() + 1 if base is None else base)
    rows = np.append(np.arange(len(node)), first)
    parents = np.append(below, -1)
    parent = resolve_parents(
        ids, parents, notes, missing=options.missing_parents, root_marks=(-1,), rows=rows
    )
    point = np.vstack([outer, inner[first]])
    _refuse_turned(point, parent, inner, columns["length"], notes)
    table = from_points(point, np.append(columns["radius"], columns["radius"][first]), parent, ids)
    # A root other than the lowest node runs from its own inner end.
    roots = np.flatnonzero(parent[:-1] < 0)
    table.start[roots] = inner[roots]
    keep = np.arange(len(node) + (np.count_nonzero(parent == len(node)) > 1))
    table = table.replace(row=rows, length=np.append(columns["length"], 0.0))
    if "nbranch" in columns:
        runs = np.nan_to_num(np.append(columns["nbranch"], columns["nbranch"][first]), nan=-1)
        table = table.replace(branch=runs.clip(-1, 2.0**53).astype(np.int64))
    return table.take(keep)


def _ids(values: FloatArray, name: str, notes: Notes) -> NDArray[np.int64]:
    with np.errstate(invalid="ignore"):
        broken = ~((values == np.floor(values)) & (np.abs(values) < 2.0**53))
    if broken.any():
        row = int(np.argmax(broken))
        notes.refuse(f"{name}: {values[row]:g} is not a whole number", row)
    return values.astype(np.int64)


def _base(
    node: NDArray[np.int64], below: NDArray[np.int64], columns: dict[str, FloatArray]
) -> int | None:
    """The lowest node: of those without a cylinder the one that the main branch begins at."""
    open_rows = np.flatnonzero(~np.isin(below, node))
    if not len(open_rows):
        return None
    order = np.zeros(len(open_rows))
    keys = [columns[name][open_rows] if name in columns else order for name in ("ncyl", "nbranch")]
    return int(below[open_rows[np.lexsort(keys)[0]]])


def _refuse_turned(
    point: FloatArray,
    parent: NDArray[np.int64],
    inner: FloatArray,
    length: FloatArray,
    notes: Notes,
) -> None:
    """Cylinders end at the node below; where most do not, the axes point the other way."""
    rows = np.flatnonzero(parent[:-1] >= 0)
    gap = np.linalg.norm(inner[rows] - point[parent[rows]], axis=1)
    off = gap > np.maximum(_TOUCH * length[rows], 1e-6 + 1e-9 * np.abs(point[:-1][rows]).max(1))
    if off.sum() > len(rows) / 2:
        row = int(rows[np.argmax(off)])
        notes.refuse(
            f"does not lead to the node below: sx, sy, sz + length (ax, ay, az) is {gap.max():.3g} "
            f"m from it at most ({off.sum()} such row(s))",
            row,
        )
