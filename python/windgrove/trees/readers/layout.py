"""Where the table starts in a text, and how its lines are cut into cells."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import TreeFormatError
from ..cylinders import Notes
from .source import Content

BLANKS = [
    *("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "None", "none", "-", "?"),
    *("#N/A", "#DIV/0!", "#NUM!", "#VALUE!"),  # spreadsheets
    *("-nan", "-NaN", "nan(ind)", "-nan(ind)", "1.#QNAN", "1.#IND", "-1.#IND"),  # C's printf
]
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eEdD][+-]?\d+)?$|[+-]?(nan|inf)$", re.I)
_COMMENT = re.compile(r"\s*(#|//|%)")
_HOLLOW = ' \t;,|"\r'  # a line of these only is one of empty cells, as spreadsheets write them
_PASSED_OVER = re.compile(rb'(?m)^(?:(?:#|//|%)[^\n]*|[ \t;,|"\r]+)(?:\n|\Z)|^\n')
_CHUNK = 2**24
_LONGEST_NAME = 200  # no header cell is longer, and the search is quadratic in it
_ROWS_LOOKED_AT = 200


def plain_name(name: str) -> str:
    """A header cell without case, spaces, quotes, punctuation and a unit in brackets."""
    name = re.sub(r"[\[(].*?[\])]", "", name[:_LONGEST_NAME])
    return re.sub(r"[^a-z0-9]", "", name.lower())


def unique_names(header: Sequence[str]) -> list[str]:
    """Plain names of a header; one that occurs again gets its number behind a #."""
    seen: Counter[str] = Counter()
    names = []
    for cell in header:
        name = plain_name(cell)
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def split_line(line: str, delimiter: str) -> list[str]:
    """The cells of one line, spaces and quotes taken off; quotes may hold delimiters."""
    if '"' in line:
        try:
            cells = next(
                csv.reader([line.strip(" \r\n")], delimiter=delimiter, skipinitialspace=True)
            )
        except (csv.Error, StopIteration):
            cells = line.split(delimiter)
        cells = [cell for cell in cells if cell] if delimiter == " " else cells
    else:
        cells = line.split() if delimiter == " " else line.split(delimiter)
    return [cell.strip().strip('"').strip() for cell in cells]


def find_delimiter(line: str) -> str:
    """Tab, semicolon, bar, comma or blanks, judged by a line of data."""
    bare = re.sub(r'"[^"]*"', '""', line)
    for delimiter in ("\t", ";"):
        if delimiter in bare.strip(" \r"):
            return delimiter
    if bare.count("|") > bare.count(","):
        return "|"
    cells = split_line(bare, ",")
    if len(cells) > 1 and not any(re.search(r"[\d.]\s+[-+.\d]", cell) for cell in cells):
        return ","
    return " "


def is_number(cell: str) -> bool:
    """A number, or a blank cell, which may stand for one."""
    return cell in BLANKS or bool(NUMBER.match(cell))


def _filled(cells: Sequence[str]) -> int:
    """How many cells there are up to the last that is not empty."""
    return max((i for i, cell in enumerate(cells, start=1) if cell), default=0)


def _distinct(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells)


class Layout:
    """Where the table starts in a text, and how its lines are cut.

    Comments, lines of empty cells only, a spreadsheet's `sep=` line and a title above the header
    are passed over. `rows` holds the cells of the first rows; `width` counts the cells of a row,
    `filled` those up to the last that is not empty in all of them.
    """

    def __init__(self, content: Content) -> None:
        self.content = content
        self.comments: list[str] = []
        lines = self._lines()
        given = re.fullmatch(r"\W*sep=(\W)\W*", lines[0][0], re.I) if lines else None
        if given:
            lines = lines[1:]
        self.delimiter = given[1] if given else find_delimiter(lines[-1][0]) if lines else ","
        cut = [split_line(line, self.delimiter) for line, _, _ in lines[: _ROWS_LOOKED_AT + 20]]
        titles = _titles(cut)
        self.comments += [line for line, _, _ in lines[:titles]]
        lines, cut = lines[titles:], cut[titles:]
        self.body = lines[0][1] if lines else len(content.data)  # byte at which the rows start
        self.header = [] if not cut or all(map(is_number, cut[0])) else cut[0]
        if self.header:
            self.body = lines[0][2]
        self.rows = cut[bool(self.header) :][:_ROWS_LOOKED_AT]
        if cut and not self.header:
            self.header = self._header_in_comment(len(cut[0]))
        self.width = self._width()
        self.filled = max(map(_filled, self.rows), default=self.width)
        decimals = any(re.search(r"\d,\d", cell) for row in self.rows for cell in row)
        self.decimal = "," if self.delimiter != "," and decimals else "."

    def _lines(self) -> list[tuple[str, int, int]]:
        """The first lines that hold cells, with the bytes at which each begins and ends."""
        head = self.content.head()
        lines: list[tuple[str, int, int]] = []
        end = 0
        for line in re.findall(r"[^\n]*\n|[^\n]+", head):
            begin, end = end, end + len(line.encode(self.content.encoding))
            bare = line.strip("\r\n")
            if _COMMENT.match(bare):
                self.comments.append(bare)
            elif bare.strip().strip(_HOLLOW):
                lines.append((bare, begin, end))
        if len(lines) > 2 and len(self.content.data) > end:
            lines.pop()
        return lines

    def _header_in_comment(self, width: int) -> list[str]:
        """The names that numpy's savetxt writes above the rows, behind a #."""
        for comment in self.comments[-1:]:
            cells = split_line(re.sub(r"^\s*(#|//|%)+", "", comment), self.delimiter)
            if width > 3 and len(cells) == width and not any(map(is_number, cells)):
                return cells
        return []

    def rename(self, columns: Mapping[str, str]) -> None:
        """Give columns other names: `columns` has the file's name of each name to use."""
        for name, given in columns.items():
            places = [
                i for i, cell in enumerate(self.header) if plain_name(cell) == plain_name(given)
            ]
            if len(places) != 1:
                raise TreeFormatError(
                    self.content.name,
                    f"has {len(places)} columns named {given!r}, which columns= calls {name!r}; "
                    f"its header is {', '.join(map(repr, self.header[:40])) or 'missing'}",
                )
            self.header[places[0]] = name

    def name_columns(self, names: Sequence[str]) -> None:
        """Give a table without a header one."""
        if self.header:
            raise TreeFormatError(
                self.content.name, "has a header: columns= maps names to use to the file's own"
            )
        if len(names) != self.filled:
            raise TreeFormatError(
                self.content.name,
                f"has {self.filled} columns, columns= names {len(names)}: {', '.join(names)}",
            )
        self.header = [*names, *[""] * (self.width - self.filled)]

    def _width(self) -> int:
        """Cells of a row. Rows of one more than the header hold an empty last cell, or the names
        of the rows, which R writes without a name for their column and which are all distinct."""
        if not self.rows:
            return len(self.header)
        longest = max(map(len, self.rows))
        if not self.header:
            return longest
        self.header = self.header[: max(_filled(self.header), longest)]
        if all(len(row) == len(self.header) + 1 for row in self.rows):
            if any(row[-1] for row in self.rows) and _distinct([row[0] for row in self.rows]):
                self.header = ["", *self.header]
                return len(self.header)
            return len(self.header) + 1
        return len(self.header)

    @cached_property
    def body_data(self) -> tuple[bytes, int]:
        """Bytes that hold the rows, and where in them the rows begin: the file's own, or a copy
        without the comments and lines of empty cells between the rows."""
        data, body = self.content.data, self.body
        empty = b"" if self.delimiter == " " else b"\n" + self.delimiter.encode()
        marks = [b"\n#", b"\n//", b"\n%", b'\n"",'] + [empty] * bool(empty)
        first = data[body : body + 1]
        if first not in (b"#", b"/", b"%") and not any(
            data.find(mark, max(body - 1, 0)) >= 0 for mark in marks
        ):
            return data, body
        return _PASSED_OVER.sub(b"", data[body:]), 0

    def refuse_ragged(self, notes: Notes, width: int) -> None:
        """Every row has `width` cells: one cut short or with more is refused.

        Cells in quotes may hold delimiters, so that such files are left to the parser.
        """
        data, begin = self.body_data
        row = 0
        while begin < len(data):
            end = data.rfind(b"\n", begin, begin + _CHUNK) + 1
            end = end if end > begin else len(data)
            chunk = np.frombuffer(data, dtype=np.uint8, count=end - begin, offset=begin)
            row += self._check_chunk(chunk, data, begin, row, width, notes)
            begin = end

    def _check_chunk(
        self,
        chunk: NDArray[np.uint8],
        data: bytes,
        begin: int,
        row: int,
        width: int,
        notes: Notes,
    ) -> int:
        ends = np.flatnonzero(chunk == ord("\n"))
        if not len(ends) or ends[-1] != len(chunk) - 1:
            ends = np.append(ends, len(chunk))
        cuts = np.searchsorted(np.flatnonzero(chunk == ord(self.delimiter)), ends)
        cells = np.diff(cuts, prepend=0) + 1
        starts = np.append(0, ends[:-1] + 1)
        passed_over = 0
        for i in np.flatnonzero(cells != width):
            line = data[begin + starts[i] : begin + ends[i]]
            if not line.strip():
                passed_over += 1
                continue
            found = len(split_line(line.decode(self.content.encoding), self.delimiter))
            trimmed = line.rstrip(b" \r" + self.delimiter.encode())
            if found > width > trimmed.count(self.delimiter.encode()):
                continue
            notes.refuse(
                f"is not a table of {width} columns: this row has {found}",
                row + int(i) - passed_over,
            )
        return len(ends) - passed_over

    @property
    def names(self) -> list[str]:
        """Plain names of the header."""
        return [plain_name(cell) for cell in self.header]


def _titles(cut: Sequence[Sequence[str]]) -> int:
    """How many lines above the header are titles: far shorter than it, and not the header."""
    number = 0
    while len(cut) > number + 2:
        here, below = _filled(cut[number]), cut[number + 1]
        named = not any(map(is_number, below)) and here <= _filled(below) // 2
        lone = here == 1 and _filled(below) > 2
        if not (named or lone) or all(map(is_number, cut[number])):
            break
        number += 1
    return number
