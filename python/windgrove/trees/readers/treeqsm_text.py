"""TreeQSM text exports: tab-separated cylinders of 14, 15 or 17 columns, two orders in use.

All begin radius, length, start, axis, parent, extension. TreeQSM's own `save_model_text` goes on
branch, order, position and then added and UnmodRadius (1.0), or mad, SurfCov, added, UnmodRadius
under a header line (1.1). The order of the struct's fields, which other tools write, goes on
added, UnmodRadius, branch. The count does not tell them apart; what the columns hold does.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes, Source
from . import Options, Parsed
from .columns import find_roles, unit_of
from .layout import Layout, plain_name
from .source import Content
from .table import Table, parse_table
from .treeqsm_columns import cylinders_from

NAME = "treeqsm-text"
_BEGIN = (
    *("radius", "length", "startx", "starty", "startz", "axisx", "axisy", "axisz"),
    *("parent", "extension"),
)
_BRANCH = ("branch", "branchorder", "positioninbranch")
ORDERS = {
    "fields-15": (*_BEGIN, "added", "unmodradius", *_BRANCH),
    "fields-17": (*_BEGIN, "added", "unmodradius", "branch", "surfcov", "mad", *_BRANCH[1:]),
    "saved-14": (*_BEGIN, *_BRANCH, "added"),
    "saved-15": (*_BEGIN, *_BRANCH, "added", "unmodradius"),
    "saved-17": (*_BEGIN, *_BRANCH, "mad", "surfcov", "added", "unmodradius"),
}
_SECTION = re.compile(rb"^[#%]\s*cylinder data[^\n]*\n", re.I | re.M)
_NEXT_SECTION = re.compile(rb"^[#%]\s*(branch|tree) data", re.I | re.M)
_HEADER = {"radius", "length", "startpoint", "axisdirection", "parent", "extension"}


def recognises(content: Content) -> int:
    """14, 15 or 17 numbers a line and nothing else, or the header of `save_model_text`; or the
    heading of a file of all tables."""
    if _SECTION.search(content.data, 0, 4000):
        return 96
    layout = content.layout
    if layout.header:
        if set(layout.names) >= _HEADER:
            return 95
        return 91 if _as_in_the_struct(layout) else 0
    return 60 if layout.filled in {len(order) for order in ORDERS.values()} else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree."""
    notes = Notes(content.name, strict=options.strict)
    content = _cylinder_table(content)
    layout = content.layout
    if layout.header:
        names = _expand(layout.header)
        if not set(names) >= set(_BEGIN):
            notes.refuse("its header does not name radius, length, start, axis, parent, extension")
        if not _metres(layout.header):
            notes.refuse("its header names a unit that is not m")
        table, version = parse_table(layout, notes, names=names), "saved with header"
    else:
        table, version = _without_header(content, notes, options.columns)
    source = Source(content.name, NAME, version, "m", "fitted")
    return [Parsed(source, notes, lambda: _cylinders(table, notes, options), len(table))]


def _cylinder_table(content: Content) -> Content:
    """The table of cylinders of a file that holds those of branches and of the tree behind it."""
    begin = _SECTION.search(content.data, 0, 4000)
    if begin is None:
        return content
    end = _NEXT_SECTION.search(content.data, begin.end())
    rows = content.data[begin.end() : end.start() if end else len(content.data)]
    return Content(content.name, rows, content.encoding)


def _as_in_the_struct(layout: Layout) -> bool:
    """TreeQSM's columns under names of one column each: in m, with no ids beside the row numbers,
    and parents that count rows from 1."""
    names = _expand(layout.header)
    roles = find_roles(layout.header)
    if not set(names) >= set(_BEGIN) or not _metres(layout.header) or "id" in roles.one:
        return False
    parents = [row[names.index("parent")] for row in layout.rows if len(row) == len(names)]
    return roles.tree is None and all(re.fullmatch(r"\d+(\.0*)?", cell) for cell in parents)


def _metres(header: list[str]) -> bool:
    return all(unit_of(cell)[1] == 1.0 for cell in header)


def _expand(header: list[str]) -> list[str]:
    """Plain names of the columns: the header of TreeQSM names start and axis once for three columns
    each; other tools write start_1, start.x, radius_m and such."""
    wide: list[str] = []
    for cell in header:
        name = plain_name(unit_of(cell)[0])
        stem = {"startpoint": "start", "axisdirection": "axis"}.get(name)
        numbered = re.fullmatch(r"(start|axis)([123])", name)
        if stem:
            wide += [stem + k for k in "xyz"]
        else:
            wide.append(numbered[1] + "xyz"[int(numbered[2]) - 1] if numbered else name)
    return wide


def _without_header(content: Content, notes: Notes, columns: Any) -> tuple[Table, str]:
    width = content.layout.filled
    fitting = [name for name, order in ORDERS.items() if len(order) == width]
    if columns is not None:
        if columns not in ORDERS:
            raise ValueError(f"columns: expected one of {', '.join(ORDERS)}; got {columns!r}")
        if columns not in fitting:
            notes.refuse(f"has {width} columns, columns={columns!r} has {len(ORDERS[columns])}")
        return parse_table(content.layout, notes, names=ORDERS[columns]), f"{columns}, asked for"
    if not fitting:
        notes.refuse(f"has {width} columns; TreeQSM writes 14, 15 or 17")
    parsed = parse_table(content.layout, notes, names=ORDERS[fitting[0]])
    tables = {name: parsed.renamed(ORDERS[name]) for name in fitting}
    faults = {name: _faults(table) for name, table in tables.items()}
    best = min(faults.values())
    good = [name for name in fitting if faults[name] == best]
    if best > 0 or len(good) > 1:
        told = ", ".join(f"{name}: {faults[name]} rows do not fit" for name in fitting)
        notes.refuse(f"the order of its {width} columns is not clear ({told}); columns= names it")
    return tables[good[0]], f"{good[0]}, no header"


def _faults(table: Table) -> int:
    """Rows that cannot be so: numbers that are not whole, or an impossible flag or order."""
    bad = np.zeros(len(table), dtype=bool)
    whole: dict[str, NDArray[np.float64]] = {}
    for name in ("parent", "extension", *_BRANCH, "added"):
        if name in table.names:
            values = whole[name] = table.numbers(name)
            bad |= ~((values == np.floor(values)) & (values >= 0))
    bad |= ~(whole["branch"] >= 1)
    bad |= whole["added"] > 1
    bad |= (whole["parent"] > len(table)) | (whole["extension"] > len(table))
    if "unmodradius" in table.names:
        bad |= ~(table.numbers("unmodradius") >= 0)
    first = (whole["parent"] == 0) & (whole["branchorder"] > 0)
    bad |= first & (whole["branch"] == 1)
    with np.errstate(invalid="ignore"):
        bad |= _branch_breaks(whole)
    return int(bad.sum())


def _branch_breaks(whole: dict[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Rows whose extension is on another branch: an extension never is."""
    count = len(whole["branch"])
    following = whole["extension"]
    bad = np.zeros(count, dtype=bool)
    rows = np.flatnonzero((following >= 1) & (following <= count))
    onto = following[rows].astype(np.int64) - 1
    bad[rows] = whole["branch"][onto] != whole["branch"][rows]
    return bad


def _cylinders(table: Table, notes: Notes, options: Options) -> Cylinders:
    roles = find_roles(table.names)
    fields = {
        "radius": table.numbers("radius"),
        "length": table.numbers("length"),
        "start": table.points(roles.three["start"]),
        "axis": table.points(roles.three["axis"]),
        "parent": table.numbers("parent"),
    }
    for ours, theirs in (
        ("extension", "extension"),
        ("branch", "branch"),
        ("BranchOrder", "branchorder"),
        ("PositionInBranch", "positioninbranch"),
    ):
        if theirs in table.names:
            fields[ours] = table.numbers(theirs)
    return cylinders_from(fields, notes, options)
