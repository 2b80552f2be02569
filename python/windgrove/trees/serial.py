"""A tree as plain arrays and values, for files of our own: nothing is rounded, nothing guessed."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tree import Repair, Segments, Tree, TreeReport

FORMAT = "windgrove-tree"
VERSION = 1
BRANCH_FIELDS = (
    "position", "direction", "length", "volume", "area", "kind", "parent", "source_id",
)  # fmt: skip
SEGMENT_FIELDS = ("start", "end", "radius", "branch", "source_id", "length", "parent")


BLOCK = 512  # bytes before the HDF5 part of a file


def sealed(content: bytes) -> bytes:
    """HDF5 behind a user block, with the digest of the HDF5 part written into the block.

    The HDF5 library can loop for ever on a damaged file; the reader gives it none.
    """
    digest = hashlib.sha256(content[BLOCK:]).hexdigest()
    return f"{FORMAT} sha256 {digest}\n".encode().ljust(BLOCK, b"\0") + content[BLOCK:]


def is_sealed(content: bytes) -> bool:
    """Whether the digest fits."""
    return content[:BLOCK] == sealed(content)[:BLOCK]


def tree_arrays(tree: Tree) -> dict[str, NDArray[Any]]:
    """The branches' arrays by name, and the offset."""
    arrays = {name: getattr(tree, name) for name in BRANCH_FIELDS}
    return {**arrays, "offset": tree.offset}


def segment_arrays(tree: Tree) -> dict[str, NDArray[Any]]:
    """The cylinders' arrays by name; empty where the tree has none."""
    if tree.segments is None:
        return {}
    arrays = {name: getattr(tree.segments, name) for name in SEGMENT_FIELDS}
    return {name: array for name, array in arrays.items() if array is not None}


def report_values(report: TreeReport) -> dict[str, Any]:
    """The report as JSON values; numbers that JSON has not are words."""
    values = {name: getattr(report, name) for name in TreeReport.__dataclass_fields__}
    values["attributes"] = {name: _word(value) for name, value in report.attributes.items()}
    for name in ("volume", "cylinder_length", "drag_area"):
        values[name] = _word(values[name])
    values["repairs"] = [
        {"kind": r.kind, "message": r.message, "rows": list(r.rows), "count": r.count}
        for r in report.repairs
    ]
    return values


def _word(value: float) -> float | str:
    return float(value) if math.isfinite(value) else str(float(value))


def make_tree(
    branches: dict[str, Any], segments: dict[str, Any], report: dict[str, Any], name: str
) -> Tree:
    """The tree of what the functions above gave; ValueError or TypeError where it is none."""
    missing = [field for field in BRANCH_FIELDS if field not in branches]
    if missing:
        raise ValueError(f"has no {missing[0]}")
    fields = {field: branches[field] for field in (*BRANCH_FIELDS, "offset") if field in branches}
    _check_numbers(fields)
    return Tree(**fields, name=name, report=_report(report), segments=_segments(segments, branches))


def _check_numbers(fields: dict[str, Any]) -> None:
    for field, value in fields.items():
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise ValueError(f"{field}: expected numbers, got {array.dtype}")
        if field in ("kind", "parent", "source_id") and array.dtype.kind == "f":
            raise ValueError(f"{field}: expected whole numbers")
    kind, parent = np.asarray(fields["kind"]), np.asarray(fields["parent"])
    if kind.size and (kind.min() < 0 or kind.max() > 2):
        raise ValueError("kind: expected 0 trunk, 1 branch or 2 foliage")
    if parent.size and (parent.min() < -1 or parent.max() >= parent.size):
        raise ValueError("parent: expected -1 or the index of a branch")


def _segments(arrays: dict[str, Any], branches: dict[str, Any]) -> Segments | None:
    if not arrays:
        return None
    missing = [field for field in SEGMENT_FIELDS[:5] if field not in arrays]
    if missing:
        raise ValueError(f"segments: has no {missing[0]}")
    whole = {"branch": np.int32, "source_id": np.int64, "parent": np.int64}
    read: dict[str, Any] = {}
    for field in SEGMENT_FIELDS:
        if field in arrays:
            read[field] = np.array(arrays[field], dtype=whole.get(field, np.float64))
    count = len(read["radius"])
    for field, array in read.items():
        shape = (count, 3) if field in ("start", "end") else (count,)
        if array.shape != shape:
            raise ValueError(f"segments: {field} has shape {array.shape}, expected {shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"segments: {field} is not finite")
    if count and not 0 <= read["branch"].min() <= read["branch"].max() < len(branches["length"]):
        raise ValueError("segments: branch: expected the index of a branch")
    if (
        "parent" in read
        and count
        and not -1 <= read["parent"].min() <= read["parent"].max() < count
    ):
        raise ValueError("segments: parent: expected -1 or the row of a segment")
    return Segments(**read)


def _report(values: dict[str, Any]) -> TreeReport:
    known = {name: values[name] for name in TreeReport.__dataclass_fields__ if name in values}
    for name in ("volume", "cylinder_length", "drag_area"):
        if name in known:
            known[name] = float(known[name])
    for name in ("cylinders", "roots", "branches"):
        if name in known:
            known[name] = int(known[name])
    for name in ("path", "format", "version", "units", "radius_provenance"):
        if name in known:
            known[name] = str(known[name])
    attributes = dict(known.get("attributes", {}))
    known["attributes"] = {str(name): float(value) for name, value in attributes.items()}
    known["repairs"] = tuple(
        Repair(str(r["kind"]), str(r["message"]), tuple(int(i) for i in r["rows"]), int(r["count"]))
        for r in known.get("repairs", ())
    )
    return TreeReport(**known)
