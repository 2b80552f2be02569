"""Which column plays which part: one vocabulary for every table of cylinders with a header."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes, Source
from ..link import NO_PARENT, resolve_parents
from . import Options, Parsed
from .layout import Layout, plain_name, unique_names
from .table import Table, parse_table

FloatArray = NDArray[np.float64]

# Plain names (no case, no punctuation), the most particular first.
ONE = {
    "id": ("cylid", "cylinderid", "cylinderids", "nodeid", "segmentid", "id", "cyl", "node",
           "index", "cylinder", "cylno", "cylnr", "cylindernumber", "segmentnr", "segmentno",
           "segment", "nr", "no"),
    "parent": ("cylinderparentid", "cylparentid", "parentcylid", "parentcylinderid",
               "parentcylinder", "parentnodeid", "parentid", "parentindex", "parentnode",
               "parentcyl", "parent", "father", "mother", "parentsegmentid", "parentsegment",
               "parentnr",
               "parentno", "parentnumber", "motherid", "fatherid"),
    "radius": ("radiuscyl", "cylinderradius", "radius", "rad", "r"),
    "diameter": ("diametercyl", "cylinderdiameter", "diameter", "diam", "dia", "d"),
    "length": ("cylinderlength", "length", "len", "l"),
    "branch": ("branchid", "branch", "axisid"),
    "order": ("branchorder", "branchingorder", "order"),
    "growth": ("growthlength",),
    "volume": ("cylindervolume", "volume", "vol"),
}  # fmt: skip
_XYZ = (("x", "y", "z"), ("1", "2", "3"))
_POINT_STEMS = {
    "start": (
        "start",
        "startpoint",
        "begin",
        "coord",
        "coordinate",
        "base",
        "bottom",
        "from",
        "s",
        "p1",
        "point1",
        "0",
        "1",
    ),
    "end": ("end", "endpoint", "tip", "top", "to", "e", "p2", "point2", "2", "1"),
    "axis": ("axis", "axisdirection", "direction", "dir", "axe", "a", "vector", "vec"),
    "point": ("point", "pos", "position", "node", "", "coord", "coordinate"),
}
_TREE = ("treeid", "treename", "treenumber", "treeno", "treenr", "tree")
_UNITS = {"m": 1.0, "metre": 1.0, "meter": 1.0, "cm": 1e-2, "mm": 1e-3, "dm": 0.1}
_LENGTHS = {"radius", "diameter", "length", "growth", "start", "end", "point"}


@dataclass(frozen=True)
class Roles:
    """Plain column names by part, the scale of those that name a unit, and the column that tells
    trees apart."""

    one: dict[str, str]
    three: dict[str, tuple[str, str, str]]
    scale: dict[str, float] = field(default_factory=dict)
    tree: str | None = None

    @property
    def places(self) -> bool:
        """Whether the columns place a cylinder."""
        return "start" in self.three and (
            "end" in self.three or ("axis" in self.three and "length" in self.one)
        )

    @property
    def used(self) -> list[str]:
        """All columns with a part."""
        three = [name for names in self.three.values() for name in names]
        return [*self.one.values(), *three, *([self.tree] if self.tree else [])]


def unit_of(name: str) -> tuple[str, float]:
    """A raw header cell without its unit, and the unit in metres ("radius (mm)", "length_cm")."""
    name = name[:200]
    bracket = re.search(r"[\[(]\s*(\w+)\s*[\])]", name)
    if bracket and bracket[1].lower() in _UNITS:
        return name[: bracket.start()], _UNITS[bracket[1].lower()]
    tail = re.search(r"[ _.](mm|cm|dm|m)\s*$", name.strip().lower())
    if tail:
        return name.strip()[: -len(tail[0])], _UNITS[tail[1]]
    return name, 1.0


def find_roles(header: Sequence[str]) -> Roles:
    """The parts that the columns of a header play."""
    plain = unique_names(header)
    scales = [unit_of(name)[1] for name in header]
    places: dict[str, list[int]] = {}
    for i, name in enumerate(header):
        for known in dict.fromkeys((plain_name(name), plain_name(unit_of(name)[0]))):
            places.setdefault(known, []).append(i)
    one: dict[str, str] = {}
    three: dict[str, tuple[str, str, str]] = {}
    scale: dict[str, float] = {}
    for role, names in ONE.items():
        column = next((places[name][0] for name in names if name in places), None)
        if column is not None:
            one[role] = plain[column]
            scale[role] = scales[column]
    for role, stems in _POINT_STEMS.items():
        columns = _three(places, stems)
        if columns:
            three[role] = (plain[columns[0]], plain[columns[1]], plain[columns[2]])
            scale[role] = scales[columns[0]]
    tree = next((plain[places[name][0]] for name in _TREE if name in places), None)
    return Roles(one, three, scale, tree)


def _three(places: dict[str, list[int]], stems: Sequence[str]) -> list[int] | None:
    """Three columns that hold a point; where names occur again, those nearest to each other."""
    for stem in stems:
        for letters in _XYZ:
            for names in ([stem + k for k in letters], [k + stem for k in letters]):
                if all(name in places for name in names) and (
                    letters[0] == "x" or not (stem == "" or stem.isdecimal())
                ):
                    choices = itertools.product(*(places[name][:4] for name in names))
                    return list(min(choices, key=lambda columns: max(columns) - min(columns)))
    return None


def read_columns(layout: Layout, roles: Roles, notes: Notes, header: Sequence[str]) -> Table:
    """The table, only the columns with a part kept."""
    return parse_table(layout, notes, names=header, wanted=roles.used)


def read_trees(
    layout: Layout,
    roles: Roles,
    source: Source,
    notes: Notes,
    options: Options,
    *,
    runs: bool = True,
) -> list[Parsed]:
    """The trees of a table: one, or as many as a column of tree names or numbers tells apart."""
    table = read_columns(layout, roles, notes, layout.header)
    groups = table.groups(roles.tree) if roles.tree else []
    if len(groups) < 2:
        return [_parsed(table, roles, source, notes, options, runs)]
    trees = []
    for name, rows in groups:
        own = notes.copy()
        own.path = f"{source.path} (tree {name})"
        trees.append(_parsed(table.take(rows, own), roles, source, own, options, runs))
    return trees


def _parsed(
    table: Table, roles: Roles, source: Source, notes: Notes, options: Options, runs: bool
) -> Parsed:
    return Parsed(
        source, notes, lambda: make_cylinders(table, roles, notes, options, runs=runs), len(table)
    )


def make_cylinders(
    table: Table, roles: Roles, notes: Notes, options: Options, *, runs: bool = True
) -> Cylinders:
    """Cylinders of a table; `runs` says whether its branch column may name unbranched runs."""
    if not roles.places and "point" in roles.three:
        return _from_points(table, roles, notes, options)
    start = _points(table, roles, "start")
    if "end" in roles.three:
        end = _points(table, roles, "end")
        length = _lengths(table, roles, start, end, notes)
    else:
        length = _scaled(table, roles, "length")
        end = ends(start, table.points(roles.three["axis"]), length, notes, table.rows)
    ids = _ids(table, roles, notes, (start, end))
    parent = _parents(table, roles, ids, notes, options)
    if _from_tips(start, end, parent):
        notes.repaired("turned-round", "its cylinders lead from tip to base: swapped")
        start, end = end, start
    return Cylinders(
        start=start,
        end=end,
        length=length,
        radius=_radius(table, roles, notes, options),
        parent=parent,
        id=ids,
        row=table.rows,
        branch=_optional(table, roles, "branch") if runs else None,
        growth=_scaled(table, roles, "growth") if "growth" in roles.one else None,
        order=_optional(table, roles, "order"),
        volume=table.numbers(roles.one["volume"]) if "volume" in roles.one else None,
    )


def _from_tips(start: FloatArray, end: FloatArray, parent: NDArray[np.int64]) -> bool:
    """Whether cylinders end where their parents start instead of starting where those end.

    rTwig's tables of treegraph's models are so. Children that sit on a parent's side, as
    TreeQSM has them, are few beside those that go on, so that medians tell.
    """
    linked = np.flatnonzero(parent >= 0)
    if not len(linked):
        return False
    above = parent[linked]
    with np.errstate(all="ignore"):
        size = np.linalg.norm(end[linked] - start[linked], axis=1)
        apart = np.linalg.norm(start[linked] - end[above], axis=1)
        swapped = np.linalg.norm(end[linked] - start[above], axis=1)
        return bool(
            np.median(swapped) < 0.01 * np.median(size) and np.median(apart) > np.median(size)
        )


def _from_points(table: Table, roles: Roles, notes: Notes, options: Options) -> Cylinders:
    """One row a point: a cylinder runs from its parent's point to its own; a root has none."""
    point = _points(table, roles, "point")
    ids = _ids(table, roles, notes)
    parent = _parents(table, roles, ids, notes, options)
    start = np.where((parent >= 0)[:, None], point[parent], point)
    return Cylinders(
        start=start,
        end=point,
        length=np.linalg.norm(point - start, axis=1),
        radius=_radius(table, roles, notes, options),
        parent=parent,
        id=ids,
        row=table.rows,
        branch=None,
    )


def _scaled(table: Table, roles: Roles, role: str) -> FloatArray:
    return table.numbers(roles.one[role]) * roles.scale.get(role, 1.0)


def _points(table: Table, roles: Roles, role: str) -> FloatArray:
    return table.points(roles.three[role]) * roles.scale.get(role, 1.0)


def _optional(table: Table, roles: Roles, role: str) -> NDArray[np.int64] | None:
    """An id or order column; a column that is no column of whole numbers is passed over."""
    if role not in roles.one:
        return None
    values = table.numbers(roles.one[role])
    fine = np.isfinite(values) & (np.abs(values) < 2.0**53)
    if (values[fine] != np.floor(values[fine])).any():
        return None
    return np.where(fine, values, -1).astype(np.int64)


def _radius(table: Table, roles: Roles, notes: Notes, options: Options) -> FloatArray:
    if "radius" in roles.one:
        return _scaled(table, roles, "radius")
    if "diameter" in roles.one:
        return _scaled(table, roles, "diameter") / 2
    if options.radius is None:
        notes.refuse("has no column of radii or diameters; radius= gives them")
    return np.full(len(table), np.nan)


def _lengths(
    table: Table, roles: Roles, start: FloatArray, end: FloatArray, notes: Notes
) -> FloatArray:
    """The length column; where it is missing or blank, the distance of the end points."""
    distance = np.linalg.norm(end - start, axis=1)
    if "length" not in roles.one:
        return distance
    given = _scaled(table, roles, "length")
    blank = np.isnan(given) & np.isfinite(distance)
    if blank.any():
        notes.repaired(
            "blank-length",
            f"{blank.sum()} blank length(s) taken from the end points",
            table.rows[blank],
        )
    return np.where(blank, distance, given)


def _ids(
    table: Table,
    roles: Roles,
    notes: Notes,
    placed: tuple[FloatArray, FloatArray] | None = None,
) -> NDArray[np.int64]:
    """The id column; without one, rows counted from where the parent column seems to count."""
    if "id" in roles.one:
        return table.integers(roles.one["id"])
    parents = table.integers(roles.one["parent"], blank=NO_PARENT)
    first = _counted_from(parents, placed)
    notes.noticed("no-ids", f"there is no column of ids: rows count from {first}")
    return np.arange(len(table)) + first


def _counted_from(parents: NDArray[np.int64], placed: tuple[FloatArray, FloatArray] | None) -> int:
    """0 or 1: with which children start much nearer to where their parents end, else with which
    fewer parents are the row itself or no row, else by how roots are marked."""
    rows = np.arange(len(parents))
    named = parents > NO_PARENT
    wrong, apart = [], []
    for first in (0, 1):
        above = parents - first
        linked = named & (parents >= first)
        inside = linked & (above < len(parents))
        wrong.append(int((linked & ~inside).sum() + (inside & (above == rows)).sum()))
        child = np.flatnonzero(inside)
        if placed is not None and len(child):
            gap = placed[0][child] - placed[1][above[child]]
            apart.append(float(np.median(np.linalg.norm(gap, axis=1))))
    if len(apart) == 2 and min(apart) < 0.1 * max(apart):
        return int(apart[1] < apart[0])
    if wrong[0] != wrong[1]:
        return int(wrong[1] < wrong[0])
    return int(bool((parents == 0).any()) and not (parents[named] < 0).any())


def _parents(
    table: Table, roles: Roles, ids: NDArray[np.int64], notes: Notes, options: Options
) -> NDArray[np.int64]:
    parents = table.integers(roles.one["parent"], blank=NO_PARENT)
    if "id" not in roles.one and options.missing_parents == "refuse":
        strangers = (parents > 0) & ~np.isin(parents, ids)
        if strangers.sum() > len(parents) / 10:
            notes.refuse(
                "no column of ids was found, and the parents do not count rows: name that column "
                'id, or say columns={"id": "its name"}'
            )
    return resolve_parents(ids, parents, notes, missing=options.missing_parents, rows=table.rows)


def ends(
    start: FloatArray,
    axis: FloatArray,
    length: FloatArray,
    notes: Notes,
    rows: NDArray[np.int64] | None = None,
) -> FloatArray:
    """Far ends from axis and length; an axis that is no unit vector is scaled to one."""
    rows = np.arange(len(start)) if rows is None else rows
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.linalg.norm(axis, axis=1)
        off = (np.abs(size - 1) > 1e-3) & (size > 0)
        if off.any():
            notes.repaired(
                "axis-not-unit",
                f"{off.sum()} axis vector(s) scaled to unit length",
                rows[off],
            )
        flat = size == 0
        if flat.any():
            notes.repaired(
                "axis-zero",
                f"{flat.sum()} axis vector(s) of length 0: taken as pointing up",
                rows[flat],
            )
        up = np.where(flat[:, None], [0.0, 0.0, 1.0], axis)
        return start + up / np.where(flat, 1, size)[:, None] * length[:, None]
