"""Tables of the SimpleTree plugin of Computree: semicolons, segments with their parents.

The longer form numbers cylinders (`cylinder_ID`, `cylinder_parent_ID`); the shorter one only
segments (`segment_ID`, `parent_segment_ID`), whose cylinders follow each other in the file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes, Source
from ..link import NO_PARENT, resolve_parents
from . import Options, Parsed
from .columns import Roles, find_roles, make_cylinders
from .source import Content
from .table import Table, parse_table

NAME = "computree"
_NEEDED = ("startx", "starty", "startz", "endx", "endy", "endz", "radius")
_SEGMENTS = ("segmentid", "parentsegmentid")


def recognises(content: Content) -> int:
    """Its names of segments beside start, end and radius."""
    names = set(content.layout.names)
    own = names & {"detection", "detectiontype", "improvement", "improvementtype", "branchid"}
    return 88 if names >= {*_NEEDED, *_SEGMENTS} and own and "parentid" not in names else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree; branch ids number whole limbs as SimpleForest's do."""
    notes = Notes(content.name, strict=options.strict)
    layout = content.layout
    missing = [name for name in (*_NEEDED, *_SEGMENTS) if name not in layout.names]
    if missing:
        notes.refuse(f"has no column {', '.join(missing)} of a Computree table")
    # Behind the cylinder's own come " volume (m^3)" and " length (m)", which are the whole tree's.
    header = [f"tree {cell}" if "(" in cell else cell for cell in layout.header]
    roles = find_roles(header)
    cylinders = {"cylinderid", "cylinderparentid"} <= set(layout.names)
    roles.one.pop("volume", None)
    if cylinders:
        roles.one.update(id="cylinderid", parent="cylinderparentid")
    wanted = [*roles.used, *_SEGMENTS]
    table = parse_table(layout, notes, names=header, wanted=wanted)
    source = Source(content.name, NAME, "cylinders" if cylinders else "segments", "m", "fitted")

    def build() -> Cylinders:
        if cylinders:
            return make_cylinders(table, roles, notes, options, runs=False)
        return _from_segments(table, roles, notes, options)

    return [Parsed(source, notes, build, len(table))]


def _from_segments(table: Table, roles: Roles, notes: Notes, options: Options) -> Cylinders:
    """Within a segment each cylinder hangs on the one before; its first on the parent's last."""
    segment = table.integers("segmentid")
    above = table.integers("parentsegmentid", blank=NO_PARENT)
    count = len(segment)
    order = np.argsort(segment, kind="stable")
    _refuse_scattered(segment, notes)
    starts = np.ones(count, dtype=bool)
    starts[1:] = segment[order][1:] != segment[order][:-1]
    parent = np.full(count, -1, dtype=np.int64)
    parent[order[~starts]] = order[np.flatnonzero(~starts) - 1]
    heads = order[starts]
    lasts = order[np.append(np.flatnonzero(starts)[1:] - 1, count - 1)]
    found = resolve_parents(
        segment[heads], above[heads], notes, missing=options.missing_parents, rows=heads
    )
    parent[heads] = np.where(found >= 0, lasts[found], -1)
    return _placed(table, roles, parent, notes, options)


def _refuse_scattered(segment: NDArray[np.int64], notes: Notes) -> None:
    """Cylinders of a segment follow each other: their order is all that links them."""
    first = np.append(True, segment[1:] != segment[:-1])
    heads = np.flatnonzero(first)
    _, begin = np.unique(segment[heads], return_index=True)
    again = np.setdiff1d(heads, heads[begin])
    if len(again):
        notes.refuse(
            f"segment {segment[again[0]]} goes on after rows of others: the rows are sorted anew "
            "or hold several trees, and only their order links the cylinders of a segment",
            int(again[0]),
        )


def _placed(
    table: Table, roles: Roles, parent: NDArray[np.int64], notes: Notes, options: Options
) -> Cylinders:
    start, end = table.points(roles.three["start"]), table.points(roles.three["end"])
    distance = np.linalg.norm(end - start, axis=1)
    return Cylinders(
        start=start,
        end=end,
        length=table.numbers("length") if table.find("length") else distance,
        radius=table.numbers("radius"),
        parent=parent,
        id=np.arange(len(table)),
        row=np.arange(len(table)),
        order=table.integers(roles.one["order"], blank=-1) if "order" in roles.one else None,
    )
