"""Columns of a TreeQSM model, from whichever file, to cylinders."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes
from ..link import resolve_parents
from . import Options
from .columns import ends

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def cylinders_from(fields: dict[str, Any], notes: Notes, options: Options) -> Cylinders:
    """Cylinders of `radius, length, start, axis, parent` and what else there is.

    Rows are numbered from 1 and parent 0 is a root. Models that rTwig wrote hold the cylinder's
    own number in `extension`, and SimpleForest's count from 0 with -1 for a root there.
    """
    radius = column(fields, "radius", notes, None)
    count = len(radius)
    length = column(fields, "length", notes, count)
    start, axis = _triples(fields, "start", notes, count), _triples(fields, "axis", notes, count)
    parents = whole(column(fields, "parent", notes, count), "parent", notes)
    extension = _optional_ids(fields, "extension", notes, count)
    ids = _own_numbers(extension, parents)
    if ids is None and _counts_from_zero(parents, extension):
        notes.noticed("from-zero", "its parents and extensions count rows from 0, with -1 a root")
        ids = np.arange(count)
    elif ids is None:
        ids = np.arange(1, count + 1)
        _refuse_torn(parents, extension, notes)
    return Cylinders(
        start=start,
        end=ends(start, axis, length, notes),
        length=length,
        radius=radius,
        parent=resolve_parents(ids, parents, notes, missing=options.missing_parents),
        id=ids,
        row=np.arange(count),
        branch=_optional_ids(fields, "branch", notes, count),
        order=_optional_ids(fields, "BranchOrder", notes, count),
    )


def _own_numbers(extension: IntArray | None, parents: IntArray) -> IntArray | None:
    """The extension column where it holds every cylinder's own number instead of the next one.

    A real extension is 0 at every tip, so that it cannot be without repetition in a tree; a lone
    unbranched run has one 0, at its last cylinder, and names no row as its own.
    """
    if extension is None or (extension < 0).any() or len(np.unique(extension)) < len(extension):
        return None
    rows = np.arange(len(extension))
    if (extension == 0).any() and not (parents < 0).any():
        return None
    counted = np.array_equal(extension, rows) or np.array_equal(extension, rows + 1)
    return extension if counted or (parents < 0).any() else None


def _counts_from_zero(parents: IntArray, extension: IntArray | None) -> bool:
    """Whether parents and extensions are row numbers from 0, as ports of TreeQSM to languages that
    count so may write them: each extension names a row whose parent is this one, from 0 and not
    from 1."""
    if extension is None or not (parents < 0).any():
        return False
    rows = np.flatnonzero((extension > 0) & (extension < len(parents)))
    if not len(rows):
        return False
    from_zero = parents[extension[rows]] == rows
    from_one = parents[extension[rows] - 1] == rows + 1
    return bool(from_zero.all() and not from_one.all())


def _refuse_torn(parents: IntArray, extension: IntArray | None, notes: Notes) -> None:
    """Parents are row numbers: a row taken out or moved makes them lie, which extension shows."""
    if extension is None:
        return
    count = len(parents)
    rows = np.flatnonzero(extension > 0)
    after = extension[rows] - 1
    inside = after < count
    torn = np.ones(len(rows), dtype=bool)
    torn[inside] = parents[after[inside]] != rows[inside] + 1
    if torn.any():
        row = int(rows[torn][0])
        notes.refuse(
            f"its extension is row {extension[row] - 1}, which does not name it as its parent "
            f"({torn.sum()} such row(s)): rows are missing or out of order, and parents are row "
            "numbers in this format",
            row,
        )


def matrix(value: Any) -> FloatArray:
    """Numbers of any type as float64; anything else as an empty array."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        return np.empty(0)
    return value.astype(np.float64)


def column(fields: dict[str, Any], name: str, notes: Notes, count: int | None) -> FloatArray:
    """One column, refused where it has not `count` values."""
    value = matrix(fields[name]).ravel()
    if not len(value) or (count is not None and len(value) != count):
        notes.refuse(
            f"cylinder.{name} has {len(value)} values"
            + ("" if count is None else f" for {count} radii")
        )
    return value


def _triples(fields: dict[str, Any], name: str, notes: Notes, count: int) -> FloatArray:
    value = matrix(fields[name])
    if value.shape == (3, count) and count != 3:
        value = value.T
    if value.shape != (count, 3):
        notes.refuse(f"cylinder.{name} has shape {value.shape} for {count} radii")
    return value


def _optional_ids(fields: dict[str, Any], name: str, notes: Notes, count: int) -> IntArray | None:
    """An id column; one of another length (rTwig writes a lone NA) is passed over."""
    values = matrix(fields.get(name)).ravel()
    if len(values) != count:
        return None
    return np.where(np.isfinite(values), values, -1).clip(-1, 2.0**53).astype(np.int64)


def whole(values: FloatArray, name: str, notes: Notes) -> IntArray:
    """Numbers that have to be whole, as int64."""
    with np.errstate(invalid="ignore"):
        broken = ~(values == np.floor(values)) | (np.abs(values) > 2.0**53)
    if broken.any():
        row = int(np.argmax(broken))
        notes.refuse(f"{name}: {values[row]:g} is not a whole number", row)
    return values.astype(np.int64)
