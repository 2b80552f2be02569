"""SimpleForest and Computree cylinder tables: CSV with 17 or 36 columns and padded names."""

from __future__ import annotations

import numpy as np

from ..cylinders import Cylinders, Notes, Source
from ..link import NO_PARENT, resolve_parents
from . import Options, Parsed
from .source import Content
from .table import Layout, Table, parse_table

NAME = "simpleforest"
_START, _END = ("startx", "starty", "startz"), ("endx", "endy", "endz")
_NEEDED = {"id", "parentid", *_START, *_END, "radius"}
_WANTED = {*_NEEDED, "length", "volume", "growthlength", "branchorder", "branchid", "treeid"}


def recognises(content: Content) -> int:
    """A header with SimpleForest's own names, whatever their number and padding."""
    names = set(Layout(content).names)
    if not names >= _NEEDED:
        return 0
    return 90 if names & {"growthlength", "segmentid", "reversebranchorder"} else 40


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree; branchID numbers whole limbs, so that runs follow growthLength."""
    notes = Notes(content.name, strict=options.strict)
    layout = Layout(content)
    missing = _NEEDED - set(layout.names)
    if missing:
        notes.refuse(f"has no column {', '.join(sorted(missing))} of a SimpleForest table")
    table = parse_table(layout, notes, wanted=sorted(_WANTED))
    version = f"{len(layout.header)} columns"
    source = Source(content.name, NAME, version, "m, m3", "fitted")
    return [Parsed(source, notes, lambda: _cylinders(table, notes, options), len(table))]


def _cylinders(table: Table, notes: Notes, options: Options) -> Cylinders:
    ids = table.integers("id")
    start, end = table.points(_START), table.points(_END)
    return Cylinders(
        start=start,
        end=end,
        length=lengths(table, start, end, notes),
        radius=table.numbers("radius"),
        parent=resolve_parents(
            ids,
            table.integers("parentid", blank=NO_PARENT),
            notes,
            missing=options.missing_parents,
        ),
        id=ids,
        row=np.arange(len(table)),
        growth=table.numbers("growthlength") if table.find("growthlength") else None,
        order=table.integers("branchorder", blank=-1) if table.find("branchorder") else None,
        volume=table.numbers("volume") if table.find("volume") else None,
    )


def lengths(table: Table, start: np.ndarray, end: np.ndarray, notes: Notes) -> np.ndarray:
    """The length column; where it is missing or blank, the distance of the end points."""
    distance = np.linalg.norm(end - start, axis=1)
    if not table.find("length"):
        return distance
    given = table.numbers("length")
    blank = np.isnan(given) & np.isfinite(distance)
    if blank.any():
        notes.repaired(
            "blank-length",
            f"{blank.sum()} blank length(s) taken from the end points",
            np.flatnonzero(blank),
        )
    return np.where(blank, distance, given)
