"""Delimited text with or without a header line: delimiter, decimal mark, tolerant names."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import TreeFormatError
from ..cylinders import Notes
from .source import Content

_BLANKS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "none", "-", "#N/A", "?"]
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eEdD][+-]?\d+)?$|[+-]?(nan|inf)$", re.I)
_COMMENTS = ("#", "//", "%")
_CHUNK = 2**24
_LONGEST_NAME = 200  # no header cell is longer, and the search is quadratic in it
_EXACT_INTEGER = 2.0**53


def plain_name(name: str) -> str:
    """A header cell without case, spaces, quotes, punctuation and a unit in brackets."""
    name = re.sub(r"[\[(].*?[\])]", "", name[:_LONGEST_NAME])
    return re.sub(r"[^a-z0-9]", "", name.lower())


class Table:
    """Columns of a text table by plain name or position; numbers are checked as they are asked
    for, and what is not one is refused with its row."""

    def __init__(self, frame: object, names: Sequence[str], raw: Sequence[str], notes: Notes):
        self._frame = frame
        self.names = list(names)
        self.raw_names = list(raw)
        self.notes = notes

    def __len__(self) -> int:
        return len(self._frame)  # type: ignore[arg-type]

    def renamed(self, names: Sequence[str]) -> Table:
        """The same columns under other names."""
        return Table(self._frame, names, names, self.notes)

    def find(self, *candidates: str) -> str | None:
        """The first of the names that is a column."""
        return next((name for name in candidates if name in self.names), None)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64; blanks and NA are NaN."""
        column = self._frame[self.names.index(name)]  # type: ignore[index]
        if column.dtype.kind in "fiu":
            return column.to_numpy(dtype=np.float64)
        values = np.empty(len(column))
        for row, cell in enumerate(column):
            values[row] = self._cell(cell, name, row)
        return values

    def _cell(self, cell: object, name: str, row: int) -> float:
        if isinstance(cell, str):
            text = cell.strip().strip('"').strip()
            if text in _BLANKS:
                return np.nan
            if _NUMBER.match(text):
                return float(re.sub("[dD]", "e", text.replace(",", ".")))
        elif isinstance(cell, (int, float)) and not isinstance(cell, bool):
            try:
                return float(cell)
            except OverflowError:
                pass
        self.notes.refuse(f"column {self._shown(name)}: {str(cell)[:40]!r} is not a number", row)
        raise AssertionError

    def _shown(self, name: str) -> str:
        return self.raw_names[self.names.index(name)].strip() or name

    def integers(self, name: str, *, blank: int | None = None) -> NDArray[np.int64]:
        """A column as int64; `blank` stands for blanks, which are refused without it."""
        values = self.numbers(name)
        gaps = np.isnan(values)
        if gaps.any() and blank is None:
            row = int(np.argmax(gaps))
            self.notes.refuse(
                f"column {self._shown(name)} is blank ({gaps.sum()} such row(s))", row
            )
        with np.errstate(invalid="ignore"):
            broken = ~gaps & ~((values == np.floor(values)) & (np.abs(values) <= 2.0**64))
        if broken.any():
            row = int(np.argmax(broken))
            self.notes.refuse(
                f"column {self._shown(name)}: {values[row]:g} is not a whole number", row
            )
        filled = np.where(gaps, 0.0, values)
        result = np.clip(filled, -(2.0**62), 2.0**62).astype(np.int64)
        result[filled >= _EXACT_INTEGER * 2**10] = 2**63 - 1
        result[gaps] = 0 if blank is None else blank
        return result

    def words(self, name: str) -> list[str]:
        """A column as text, blanks as empty words."""
        column = self._frame[self.names.index(name)]  # type: ignore[index]
        return ["" if cell != cell else str(cell).strip() for cell in column]

    def points(self, names: Sequence[str]) -> NDArray[np.float64]:
        """(m, 3) from three columns."""
        return np.column_stack([self.numbers(name) for name in names])


def split_line(line: str, delimiter: str) -> list[str]:
    """The cells of one line, spaces and quotes taken off."""
    cells = line.split() if delimiter == " " else line.split(delimiter)
    return [cell.strip().strip('"').strip() for cell in cells]


def find_delimiter(line: str) -> str:
    """Tab, semicolon, comma or blanks, judged by a line of data."""
    for delimiter in ("\t", ";"):
        if len(split_line(line, delimiter)) > 1:
            return delimiter
    cells = split_line(line, ",")
    if len(cells) > 1 and not any(re.search(r"[\d.]\s+[-+.\d]", cell) for cell in cells):
        return ","
    return " "


def is_number(cell: str) -> bool:
    """A number, or a blank cell, which may stand for one."""
    return cell in _BLANKS or bool(_NUMBER.match(cell))


class Layout:
    """Where the table starts in a text, and how its lines are cut."""

    def __init__(self, content: Content) -> None:
        self.content = content
        head = content.head()
        self.comments: list[str] = []
        self.body = 0  # byte at which the rows start
        lines: list[str] = []
        position = 0
        for line in head.splitlines(keepends=True):
            position += len(line.encode(content.encoding))
            bare = line.strip("\r\n")
            if not lines and (not bare.strip() or bare.lstrip().startswith(_COMMENTS)):
                self.comments += [bare] if bare.strip() else []
                self.body = position
            elif bare.strip():
                lines.append(bare)
                if len(lines) == 1:
                    after_first = position
        if len(lines) > 2 and len(content.data) > len(head):
            lines.pop()
        self.delimiter = find_delimiter(lines[-1]) if lines else ","
        cells = split_line(lines[0], self.delimiter) if lines else []
        self.header = [] if all(is_number(cell) for cell in cells) else cells
        if self.header:
            self.body = after_first
        rows = [split_line(line, self.delimiter) for line in lines[bool(self.header) :]]
        self.rows = rows[:200]
        self.width = self._width()
        decimals = any(re.search(r"\d,\d", cell) for row in self.rows for cell in row)
        self.decimal = "," if self.delimiter != "," and decimals else "."

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

    def _width(self) -> int:
        """Cells of a row. Rows of one more than the header hold an empty last cell, or the names
        of the rows, which R writes without a name for their column."""
        if not self.rows:
            return len(self.header)
        if not self.header:
            last_empty = all(not row[-1] for row in self.rows)
            return len(self.rows[0]) - (last_empty and len(self.rows[0]) > 1)
        if all(len(row) == len(self.header) + 1 for row in self.rows):
            if any(row[-1] for row in self.rows):
                self.header = ["", *self.header]
                return len(self.header)
            return len(self.header) + 1
        return len(self.header)

    def refuse_ragged(self, notes: Notes, width: int) -> None:
        """Every row has `width` cells: one cut short or with more is refused.

        Cells in quotes may hold delimiters, so that such files are left to the parser.
        """
        data = self.content.data
        row, begin = 0, self.body
        while begin < len(data):
            end = data.rfind(b"\n", begin, begin + _CHUNK) + 1
            end = end if end > begin else len(data)
            chunk = np.frombuffer(data, dtype=np.uint8, count=end - begin, offset=begin)
            row += self._check_chunk(chunk, begin, row, width, notes)
            begin = end

    def _check_chunk(
        self, chunk: NDArray[np.uint8], begin: int, row: int, width: int, notes: Notes
    ) -> int:
        ends = np.flatnonzero(chunk == ord("\n"))
        if not len(ends) or ends[-1] != len(chunk) - 1:
            ends = np.append(ends, len(chunk))
        cuts = np.searchsorted(np.flatnonzero(chunk == ord(self.delimiter)), ends)
        cells = np.diff(cuts, prepend=0) + 1
        starts = np.append(0, ends[:-1] + 1)
        passed_over = 0
        for i in np.flatnonzero(cells != width):
            line = self.content.data[begin + starts[i] : begin + ends[i]]
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


def _exact_decimals(version: str) -> dict[str, Any]:
    """Options under which pandas reads decimals to the nearest double: its default since 3.1."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def parse_table(
    layout: Layout,
    notes: Notes,
    *,
    names: Sequence[str] | None = None,
    wanted: Sequence[str] | None = None,
) -> Table:
    """The rows of a text; `wanted` limits what is kept in memory to some plain names."""
    import pandas

    raw = list(names) if names is not None else list(layout.header)
    raw += [f"column {i + 1}" for i in range(len(raw), layout.width)]
    quoted = layout.delimiter == " " or b'"' in layout.content.data
    if not quoted:
        layout.refuse_ragged(notes, len(raw))
    plain = [plain_name(name) for name in raw]
    use = (
        None if wanted is None or quoted else [i for i, name in enumerate(plain) if name in wanted]
    )
    stream = io.BytesIO(layout.content.data)
    stream.seek(layout.body)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(
                stream,
                sep=r"\s+" if layout.delimiter == " " else layout.delimiter,
                header=None,
                names=range(len(raw)),
                usecols=use,
                index_col=False,
                decimal=layout.decimal,
                na_values=_BLANKS,
                skipinitialspace=True,
                engine="c",
                encoding=layout.content.encoding,
                low_memory=True,
                **_exact_decimals(pandas.__version__),
            )
    except (ValueError, pandas.errors.ParserWarning) as error:
        reason = re.sub(r"\s+", " ", str(error)).removeprefix("Error tokenizing data. C error: ")
        line = re.search(r"line (\d+)", reason)
        notes.refuse(
            f"is not a table of {len(raw)} columns: {reason}",
            int(line[1]) - 1 if line else None,
        )
    if not len(frame):
        notes.refuse("holds no cylinders: there is no row below the header")
    return Table(frame, plain, raw, notes)
