"""Tree files of raycloudtools and treetools: one line a tree, segments of x, y, z, radius, parent.

A segment is the cylinder from its parent's point to its own with its own radius; the root has no
volume. Newer files name the fields in a header line, with values of the whole tree first; the
first files only say them in a comment; between the two, the first segment had fields of its own.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes, Source
from ..link import resolve_parents, skip_rows
from . import Options, Parsed
from .source import Content

NAME = "raycloud"
_OWN_IDS = {"parent_id", "section_id", "branch_id", "source_id", "tree_id"}
_MUST = ["x", "y", "z", "radius"]
_MENTION = re.compile(r"x\s*,\s*y\s*,\s*z\s*,\s*radius", re.I)


@dataclass(frozen=True)
class Fields:
    """Names of the values of a line: of the whole tree, of the first and of later segments."""

    tree: tuple[str, ...]
    first: tuple[str, ...]
    later: tuple[str, ...]
    dialect: str


def recognises(content: Content) -> int:
    """The words x, y, z, radius in a comment or in the first line; or segments that repeat."""
    head = content.head(20000).lstrip("\ufeff \r\n\t")
    lines = [line[:4000] for line in head.splitlines()[:50] if line.strip()]
    for number, line in enumerate(lines):
        if _MENTION.search(line) and not re.search(r"\b(start|end|axis)", line, re.I):
            below = [other for other in lines[number + 1 :] if not re.match("#|.*radius", other)]
            return 0 if _one_row_a_point(line, below[0] if below else "") else 85
    return 50 if _bare_width(head) else 0


def _one_row_a_point(header: str, following: str) -> bool:
    """A table with a row for each point instead of a line for each tree."""
    names = {name.strip().lower() for name in header.lstrip("# ").split(",")}
    if any(re.fullmatch(r"(.*_)?id", name) for name in names - _OWN_IDS):
        return True
    return "parent_id" in names and following.count(",") == header.count(",")


def read(content: Content, options: Options) -> list[Parsed]:
    """One tree a line."""
    notes = Notes(content.name, strict=options.strict)
    comments, lines = _lines(content)
    fields, lines = _fields(comments, lines, notes)
    parsed = []
    for number, (row, line) in enumerate(lines):
        own = notes.copy()
        if len(lines) > 1:
            own.path = f"{content.name} (tree {number}, line {row + 1})"
        values = _with_parent(_numbers(line, own), fields)
        count = _segments(len(values), fields, own)
        attributes = dict(zip(fields.tree, map(float, values), strict=False))
        source = Source(
            content.name, NAME, fields.dialect, "m", "taper priors, hardly measured",
            attributes=attributes,
        )  # fmt: skip
        build = partial(_cylinders, values, fields, own, options)
        parsed.append(Parsed(source, own, build, count))
    return parsed


def _lines(content: Content) -> tuple[list[str], list[tuple[int, str]]]:
    comments: list[str] = []
    lines: list[tuple[int, str]] = []
    for row, line in enumerate(content.text().splitlines()):
        bare = line.strip().rstrip(",").strip()
        if bare.startswith("#"):
            comments.append(bare)
        elif bare:
            lines.append((row, bare))
    return comments, lines


def _fields(
    comments: list[str], lines: list[tuple[int, str]], notes: Notes
) -> tuple[Fields, list[tuple[int, str]]]:
    """The fields, and the lines without the header."""
    if not lines:
        notes.refuse("has no line with a tree")
    if re.search(r"[A-Za-z]", re.sub(r"\d[eE]|nan|inf", "", lines[0][1], flags=re.I)):
        fields = _parse_header(lines[0][1], "header", notes)
        if len(lines) == 1:
            notes.refuse("has a header line and no tree")
        return fields, lines[1:]
    for comment in comments:
        mention = _MENTION.search(comment)
        named = comment[mention.start() :] if mention else ""
        if mention and "parent_id" in named:
            words = re.match(r"[\w\s,]*", named)
            return _parse_header(words[0] if words else named, "no header line", notes), lines
    width = _bare_width(lines[0][1])
    if not width:
        notes.refuse("no line names its fields (x,y,z,radius,parent_id,...)")
    names = tuple([*_MUST, "parent_id"] + [f"field {i}" for i in range(5, width)])
    return Fields((), names, names, "no header, no comment"), lines


def _parse_header(line: str, dialect: str, notes: Notes) -> Fields:
    names = [word.lower() for word in re.split(r"[,\s]+", line.strip()) if word]
    starts = [i for i in range(len(names) - 3) if names[i : i + 4] == _MUST]
    if not starts or len(starts) > 2:
        notes.refuse("its header does not name the fields x,y,z,radius")
    tree = tuple(names[: starts[0]])
    first = tuple(names[starts[0] : starts[1] if len(starts) == 2 else None])
    later = tuple(names[starts[-1] :])
    if "parent_id" not in later:
        notes.refuse(
            "has no field parent_id: it holds positions of trunks, not trees with branches"
        )
    return Fields(tree, first, later, dialect if len(starts) == 1 else "header, two field lists")


def _bare_width(text: str) -> int:
    """Numbers a segment has in a line without names: equal pieces between ", ", parent -1 first."""
    lines = text.splitlines()
    line = lines[0][:4000] if lines else ""
    pieces = line.split(", ")[:8]
    if len(pieces) < 3:
        return 0
    widths = {len(piece.split(",")) for piece in pieces[:-1]}
    first = pieces[0].split(",")
    if len(widths) != 1 or len(first) < 5 or first[4].strip() != "-1":
        return 0
    return len(first)


def _numbers(line: str, notes: Notes) -> NDArray[np.float64]:
    """All numbers of a line; the first piece that is none is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(line, sep=",")
        except (DeprecationWarning, ValueError):
            pass
    pieces = line.split(",")
    values = np.empty(len(pieces))
    for i, piece in enumerate(pieces):
        try:
            values[i] = float(piece)
        except ValueError:
            notes.refuse(f"value {i} of the line, {piece.strip()[:40]!r}, is not a number")
    return values


def _with_parent(values: NDArray[np.float64], fields: Fields) -> NDArray[np.float64]:
    """A tree of one segment only, which is written without its field parent_id."""
    alone = len(fields.tree) + len(fields.first) - 1
    if len(values) == alone and "parent_id" in fields.first:
        return np.insert(values, len(fields.tree) + fields.first.index("parent_id"), -1.0)
    return values


def _segments(count: int, fields: Fields, notes: Notes) -> int:
    rest = count - len(fields.tree) - len(fields.first)
    if rest < 0 or rest % len(fields.later):
        notes.refuse(
            f"a tree has {count} values, which are not {len(fields.tree)} of the tree and whole "
            f"segments of {len(fields.later)}",
            max(rest, 0) // len(fields.later) + 1,
        )
    return 1 + rest // len(fields.later)


def _cylinders(
    values: NDArray[np.float64], fields: Fields, notes: Notes, options: Options
) -> Cylinders:
    begin = len(fields.tree)
    split = begin + len(fields.first)
    later = values[split:].reshape(-1, len(fields.later))
    first = values[begin:split]
    point = np.vstack([first[:3], later[:, :3]])
    radius = np.append(first[3], later[:, 3])
    root = first[fields.first.index("parent_id")] if "parent_id" in fields.first else -1.0
    parents = np.append(root, later[:, fields.later.index("parent_id")])
    whole = np.isfinite(parents) & (parents == np.floor(parents)) & (np.abs(parents) < 2.0**53)
    if not whole.all():
        row = int(np.argmin(whole))
        notes.refuse(f"parent_id {parents[row]:g} is not a whole number", row)
    ids = np.arange(len(radius))
    parent = resolve_parents(
        ids, parents.astype(np.int64), notes, missing=options.missing_parents, root_marks=(-1,)
    )
    table = from_points(point, radius, parent, ids)
    if len(radius) == 1:
        notes.refuse("is a tree of one segment: the position of a trunk, without any cylinder")
    own: dict[str, NDArray[np.float64]] = {
        name: np.append(
            first[fields.first.index(name)] if name in fields.first else np.nan,
            later[:, fields.later.index(name)],
        )
        for name in ("branch_id", "cylinder_length", "joint", "source_id")
        if name in fields.later
    }
    return _without_points(_with_own(table, own), own.get("joint"))


def from_points(
    point: NDArray[np.float64],
    radius: NDArray[np.float64],
    parent: NDArray[np.int64],
    ids: NDArray[np.int64],
) -> Cylinders:
    """Cylinders that run from the parent's point to the own one; a root's has no length."""
    start = np.where((parent >= 0)[:, None], point[parent], point)
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.linalg.norm(point - start, axis=1)
    return Cylinders(
        start=start, end=point, length=length, radius=radius, parent=parent, id=ids,
        row=np.arange(len(radius)),
    )  # fmt: skip


def _with_own(table: Cylinders, own: dict[str, NDArray[np.float64]]) -> Cylinders:
    """The fields that `write_tree` adds (branch_id is raycloudtools' too)."""
    changes: dict[str, NDArray] = {}
    for ours, theirs in (("branch", "branch_id"), ("id", "source_id")):
        if theirs in own:
            values = own[theirs]
            fine = np.isfinite(values) & (np.abs(values) < 2.0**53)
            changes[ours] = np.where(fine, values, -1).astype(np.int64)
    if "cylinder_length" in own:
        given = np.isfinite(own["cylinder_length"])
        changes["length"] = np.where(given, own["cylinder_length"], table.length)
    return table.replace(**changes)


def _without_points(table: Cylinders, joint: NDArray[np.float64] | None) -> Cylinders:
    """Without what is no cylinder: a root that carries one segment only, and written joints.

    A root from which several stems rise stays, of no length, since it holds them together.
    """
    child = np.bincount(table.parent[table.parent >= 0], minlength=len(table))
    point = (table.parent < 0) & (child == 1)
    if joint is not None:
        point |= joint == 1
    if point.all():
        return table
    parent = skip_rows(table.parent, point)
    if parent is None:  # a circle, which is refused with its row later on
        return table
    return table.replace(parent=parent).take(np.flatnonzero(~point))
