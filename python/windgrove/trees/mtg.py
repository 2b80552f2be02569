"""Multiscale tree graphs (OpenAlea, AMAPmod): the MTG text file as a graph of plant parts.

The file names symbols with their scales, then features, then one line an entity: tabs give the
depth, ``/`` goes down a scale, ``<`` follows, ``+`` branches, ``^`` continues the line above in the
same column, ``*`` observes an entity again, and ``E1<<E5`` stands for E1<E2<E3<E4<E5. Entities
whose complex changes between two lines hang on the finest entity before them (Godin & Caraglio
1998, J. theor. Biol. 191, 1-46).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .cylinders import Notes
from .readers.layout import split_line
from .readers.source import Content, read_bytes

_TOKEN = re.compile(r"\s*(<<|\+\+|[/<+])?\s*([^\W\d]+)(\d*)", re.A)
_SUFFIX = re.compile(r"(?:([^\W\d]+)\d*)*", re.A)
_NUMBER = re.compile(r"[-+]?\d+([.,]\d*)?$")
_SECTIONS = ("CODE", "CLASSES", "DESCRIPTION", "FEATURES", "MTG")
_LONGEST_RUN = 10_000
_MOST = 2_000_000


@dataclass
class Mtg:
    """Vertices of a graph in the order of the file, one entry each.

    `parent` follows and branches at one scale (-1 none), `complex` is the coarser vertex it is a
    part of (-1 none), `edge` is "/", "<" or "+", `line` counts from 1. `features` holds the cells
    as text, empty where there is none; `classes` the scale of each symbol.
    """

    classes: dict[str, int]
    types: dict[str, str]
    symbol: list[str] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    scale: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    complex: list[int] = field(default_factory=list)
    edge: list[str] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    features: dict[str, dict[int, str]] = field(default_factory=dict)
    header: str = ""

    def __len__(self) -> int:
        return len(self.symbol)

    def counts(self) -> dict[str, int]:
        """Vertices of each symbol."""
        return dict(Counter(self.symbol))

    def components(self, vertex: int) -> list[int]:
        """All vertices that are parts of one, at every finer scale, itself first."""
        inside = {vertex}
        for v in range(vertex + 1, len(self)):
            if self.complex[v] in inside:
                inside.add(v)
        return sorted(inside)

    def at_scale(self, vertex: int, scale: int) -> int:
        """The complex of a vertex at a coarser scale, itself at its own; -1 where there is none."""
        while vertex >= 0 and self.scale[vertex] > scale:
            vertex = self.complex[vertex]
        return vertex if vertex >= 0 and self.scale[vertex] == scale else -1

    def number(self, name: str, vertex: int) -> float:
        """A feature as a number, NaN where it is empty, NA or a word."""
        try:
            return float(self.features[name][vertex].replace(",", "."))
        except (KeyError, ValueError):
            return float("nan")


def read_mtg(path: Any, *, encoding: str | None = None) -> Mtg:
    """Read a multiscale tree graph; bare topology is fine. TreeFormatError names the line."""
    name, raw = read_bytes(path)
    return parse_mtg(Content(name, raw, encoding), Notes(name))


def parse_mtg(content: Content, notes: Notes) -> Mtg:
    """The graph of a file's text."""
    sections = _sections(content, notes)
    graph = Mtg(_classes(sections["CLASSES"], notes), _types(sections.get("FEATURES", [])))
    body = sections["MTG"]
    columns, body = _header(body, graph, notes)
    _Builder(graph, columns, notes).read(body)
    if not len(graph):
        notes.refuse("its MTG section holds no entity")
    return graph


def _sections(content: Content, notes: Notes) -> dict[str, list[tuple[int, str]]]:
    sections: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] = []
    text = content.text()
    delimiter = _delimiter(text)
    if delimiter != "\t":
        notes.noticed("delimiter", f"its columns are separated by {delimiter!r} instead of tabs")
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.split("#", 1)[0].rstrip()
        if delimiter != "\t" or '"' in bare:
            bare = "\t".join(split_line(bare, delimiter)).rstrip()
        word = re.match(r"\s*([A-Za-z]+)\s*:", bare)
        if word and word[1].upper() in _SECTIONS:
            current = sections.setdefault(word[1].upper(), [])
        elif bare.strip():
            current.append((number, bare))
    for needed in ("CLASSES", "MTG"):
        if needed not in sections:
            notes.refuse(f"has no section {needed}: of a multiscale tree graph")
    return sections


def _delimiter(text: str) -> str:
    """Tabs; in a sheet that was saved as CSV semicolons or commas."""
    if "\t" in text:
        return "\t"
    return ";" if text.count(";") >= text.count(",") else ","


def _classes(lines: list[tuple[int, str]], notes: Notes) -> dict[str, int]:
    classes: dict[str, int] = {}
    for number, line in lines:
        cells = line.split()
        if len(cells) < 2 or cells[0].upper() == "SYMBOL":
            continue
        if not cells[1].isdecimal() or len(cells[1]) > 4:
            notes.refuse(f"line {number}: {cells[1][:20]!r} is no scale of class {cells[0][:20]}")
        classes[cells[0]] = int(cells[1])
    if not classes:
        notes.refuse("its section CLASSES: names no symbol")
    return classes


def _types(lines: list[tuple[int, str]]) -> dict[str, str]:
    pairs = [line.split() for _, line in lines]
    return {p[0]: p[1] for p in pairs if len(p) > 1 and p[0].upper() != "NAME"}


def _header(
    body: list[tuple[int, str]], graph: Mtg, notes: Notes
) -> tuple[dict[int, str], list[tuple[int, str]]]:
    """Feature names by column, and the lines of entities."""
    if not body:
        notes.refuse("its MTG section is empty")
    cells = body[0][1].split("\t")
    first = cells[0].strip()
    if first.upper() in ("ENTITY-CODE", "TOPO"):
        graph.header = first
        columns = {i: cell.strip() for i, cell in enumerate(cells) if i and cell.strip()}
        return columns, body[1:]
    graph.header = "none"
    return {}, body


class _Builder:
    """Adds entities line by line. A cursor is (vertex, attach, edge): the last vertex of a column,
    and, after a step to a coarser scale, the finest vertex that what follows hangs on."""

    def __init__(self, graph: Mtg, columns: dict[int, str], notes: Notes) -> None:
        self.graph = graph
        self.columns = columns
        self.first_feature = min(columns, default=10**9)
        self.notes = notes
        self.cursors: dict[int, tuple[int, int, str]] = {}
        self.unmarked: list[int] = []  # lines that go on in the first column without a ^
        self.unnamed: list[int] = []  # lines with numbers in columns that have no name
        self.last: dict[tuple[int, int], int] = {}  # last part by complex and scale

    def read(self, body: list[tuple[int, str]]) -> None:
        for number, line in body:
            cells = line.split("\t")
            depth = next(i for i, cell in enumerate(cells) if cell.strip())
            if depth >= self.first_feature:
                self.notes.refuse(f"line {number}: has features and no entity before them")
            code = cells[depth].strip()
            if not code.startswith("*"):
                self._line(number, code, depth)
            elif depth not in self.cursors:
                self.notes.refuse(f"line {number}: {code[:30]!r} has no entity to observe again")
            self._features(number, cells, depth)
        if self.unmarked:
            self.notes.noticed(
                "no-caret",
                f"{len(self.unmarked)} line(s) in the first column have no ^ and no new plant: "
                "each goes on where the line above in that column ends",
                [number - 1 for number in self.unmarked],
            )
        if self.unnamed:
            self.notes.repaired(
                "unnamed-columns",
                f"{len(self.unnamed)} line(s) hold numbers in columns that the header does not "
                "name: passed over",
                [number - 1 for number in self.unnamed],
            )

    def _goes_on(self, code: str) -> bool:
        """Without a ^ an entity in the first column begins a plant, unless it cannot: one that
        follows or branches, or a part of what stands there."""
        token = _TOKEN.match(code)
        if token is None or not len(self.graph):
            return False
        if (token[1] or "/") != "/":
            return True
        return self.graph.classes.get(token[2], 0) > self.graph.scale[0]

    def _line(self, number: int, code: str, depth: int) -> None:
        follows = code.startswith("^")
        code = code.lstrip("^").strip()
        from_column = depth if follows else depth - 1
        cursor = self.cursors.get(from_column)
        if depth == 0 and not follows and self._goes_on(code):
            cursor = self.cursors.get(0)
            self.unmarked.append(number)
        if cursor is None and from_column >= 0:
            self.notes.refuse(
                f"line {number}: {code[:30]!r} has no entity to hang on in column {from_column}"
            )
        position = 0
        while position < len(code):
            token = _TOKEN.match(code, position)
            if token is None:
                self.notes.refuse(f"line {number}: {code[position : position + 30]!r} is no entity")
                raise AssertionError
            position = self._after_suffix(code, token.end())
            cursor = self._add(number, token[1] or "/", token[2], token[3], cursor)
        if cursor is not None:
            self.cursors[depth] = cursor
        for deeper in [column for column in self.cursors if column > depth]:
            del self.cursors[deeper]

    def _after_suffix(self, code: str, position: int) -> int:
        """Past letters that only tell labels apart ("A2a"), unless they are an entity ("P1U1")."""
        word = re.match(r"[^\W\d]+", code[position:])
        if word is None or word[0] in self.graph.classes:
            return position
        suffix = _SUFFIX.match(code, position)
        return suffix.end() if suffix else position

    def _add(
        self, number: int, sign: str, symbol: str, digits: str, cursor: tuple[int, int, str] | None
    ) -> tuple[int, int, str]:
        index = int(digits[:9] or -1)
        if sign not in ("<<", "++"):
            return self._one(number, sign, symbol, index, cursor)
        last = self.graph.index[cursor[0]] if cursor is not None else 0
        if not last < index <= last + _LONGEST_RUN:
            self.notes.refuse(
                f"line {number}: {sign}{symbol}{digits} does not count up from {last}"
            )
        for i in range(last + 1, index + 1):
            cursor = self._one(number, sign[0], symbol, i, cursor)
        assert cursor is not None
        return cursor

    def _one(
        self, number: int, sign: str, symbol: str, index: int, cursor: tuple[int, int, str] | None
    ) -> tuple[int, int, str]:
        graph = self.graph
        scale = graph.classes.get(symbol)
        if scale is None:
            if len(graph):
                self.notes.refuse(f"line {number}: symbol {symbol[:20]} is not in CLASSES")
            scale = 0  # a scene around the plants, which some writers leave out of CLASSES
        if len(graph) >= _MOST:
            self.notes.refuse(f"line {number}: more than {_MOST} entities")
        vertex, attach, edge = cursor if cursor is not None else (-1, -1, "/")
        own = graph.scale[vertex] if vertex >= 0 else -1
        if vertex < 0:
            parent, complex_ = -1, -1
        elif scale > own and sign != "/" and attach >= 0 and graph.scale[attach] == scale:
            # Back on the axis that a coarser entity left: what it holds stands in other columns.
            parent, complex_, attach = attach, graph.complex[attach], -1
        elif scale > own:
            if attach < 0:
                attach, edge = self._end_of_previous(vertex, scale), "<"
            parent = graph.at_scale(attach, scale) if attach >= 0 else -1
            complex_ = vertex
            if attach >= 0 and graph.scale[attach] <= scale:
                attach = -1
        else:
            same = graph.at_scale(vertex, scale)
            parent = same if sign != "/" else -1
            complex_ = graph.complex[same] if same >= 0 else -1
            finest = attach if attach >= 0 else vertex
            attach, edge = (finest, sign) if scale < own and sign != "/" else (-1, "/")
        graph.symbol.append(symbol)
        graph.index.append(index)
        graph.scale.append(scale)
        graph.parent.append(parent)
        graph.complex.append(complex_)
        graph.edge.append((edge if sign == "/" else sign) if parent >= 0 else "/")
        self.last[(complex_, scale)] = len(graph) - 1
        graph.line.append(number)
        return len(graph) - 1, attach, edge

    def _end_of_previous(self, vertex: int, scale: int) -> int:
        """The last part of the vertex that a coarser vertex follows, where it has no part yet."""
        if (vertex, scale) in self.last:
            return self.last[(vertex, scale)]
        before = self.graph.parent[vertex]
        return self.last.get((before, scale), -1) if before >= 0 else -1

    def _features(self, number: int, cells: list[str], depth: int) -> None:
        """Cells of the feature columns belong to the last entity of the line, or of the column
        where a star observes it again: the later value counts."""
        vertex = self.cursors[depth][0] if depth in self.cursors else len(self.graph) - 1
        for i, cell in enumerate(cells[depth + 1 :], start=depth + 1):
            if self.columns and i not in self.columns and _NUMBER.match(cell.strip()):
                self.unnamed += [number] if number not in self.unnamed[-1:] else []
            elif cell.strip() and i in self.columns:
                self.graph.features.setdefault(self.columns[i], {})[vertex] = cell.strip()
