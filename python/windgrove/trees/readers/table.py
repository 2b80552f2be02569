"""Columns of a delimited text: numbers checked as they are asked for."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Notes
from .layout import BLANKS, NUMBER, Layout, unique_names

_EXACT_INTEGER = 2.0**53


class Table:
    """Columns of a text table by plain name or position; numbers are checked as they are asked
    for, and what is not one is refused with its row."""

    def __init__(
        self,
        frame: Any,
        names: Sequence[str],
        raw: Sequence[str],
        notes: Notes,
        rows: NDArray[np.int64] | None = None,
    ):
        self._frame = frame
        self.names = list(names)
        self.raw_names = list(raw)
        self.notes = notes
        self.rows = np.arange(len(frame)) if rows is None else rows  # 0-based, of the file

    def __len__(self) -> int:
        return len(self._frame)

    def renamed(self, names: Sequence[str]) -> Table:
        """The same columns under other names."""
        return Table(self._frame, names, names, self.notes, self.rows)

    def take(self, rows: NDArray[np.intp], notes: Notes) -> Table:
        """Some of the rows, in that order."""
        return Table(self._frame.iloc[rows], self.names, self.raw_names, notes, self.rows[rows])

    def groups(self, name: str) -> list[tuple[str, NDArray[np.intp]]]:
        """Values of a column in the order in which they come, and the rows that have each."""
        import pandas

        column = self._frame[self.names.index(name)]
        if column.dtype.kind not in "fiu" and any(NUMBER.match(str(cell)) for cell in column):
            return []  # words among numbers: a broken row rather than a tree
        codes, values = pandas.factorize(column, use_na_sentinel=False)
        order = np.argsort(codes, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
        return [(f"{value:g}" if isinstance(value, float) else str(value).strip(), part)
                for value, part in zip(values, parts, strict=True)]  # fmt: skip

    def find(self, *candidates: str) -> str | None:
        """The first of the names that is a column."""
        return next((name for name in candidates if name in self.names), None)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64; blanks and NA are NaN."""
        column = self._column(name)
        if column.dtype.kind in "fiu":
            return column.to_numpy(dtype=np.float64)
        values = np.empty(len(column))
        for row, cell in enumerate(column):
            values[row] = self._cell(cell, name, row)
        return values

    def _column(self, name: str) -> Any:
        if name not in self.names:
            self.notes.refuse(f"has no column {name}: the columns are {', '.join(self.names[:8])}")
        return self._frame[self.names.index(name)]

    def _cell(self, cell: object, name: str, row: int) -> float:
        if isinstance(cell, str):
            text = cell.strip().strip('"').strip()
            if text in BLANKS:
                return np.nan
            if NUMBER.match(text):
                return float(re.sub("[dD]", "e", text.replace(",", ".")))
        elif isinstance(cell, (int, float)) and not isinstance(cell, bool):
            try:
                return float(cell)
            except OverflowError:
                pass
        self._refuse(f"column {self._shown(name)}: {str(cell)[:40]!r} is not a number", row)
        raise AssertionError

    def _refuse(self, reason: str, row: int) -> None:
        self.notes.refuse(reason, int(self.rows[row]))

    def _shown(self, name: str) -> str:
        return self.raw_names[self.names.index(name)].strip() or name

    def integers(self, name: str, *, blank: int | None = None) -> NDArray[np.int64]:
        """A column as int64; `blank` stands for blanks, which are refused without it."""
        values = self.numbers(name)
        gaps = np.isnan(values)
        if gaps.any() and blank is None:
            row = int(np.argmax(gaps))
            self._refuse(f"column {self._shown(name)} is blank ({gaps.sum()} such row(s))", row)
        with np.errstate(invalid="ignore"):
            broken = ~gaps & ~((values == np.floor(values)) & (np.abs(values) <= 2.0**64))
        if broken.any():
            row = int(np.argmax(broken))
            self._refuse(f"column {self._shown(name)}: {values[row]:g} is not a whole number", row)
        filled = np.where(gaps, 0.0, values)
        result = np.clip(filled, -(2.0**62), 2.0**62).astype(np.int64)
        result[filled >= _EXACT_INTEGER * 2**10] = 2**63 - 1
        result[gaps] = 0 if blank is None else blank
        return result

    def words(self, name: str) -> list[str]:
        """A column as text, blanks as empty words."""
        column = self._column(name)
        return ["" if cell != cell else str(cell).strip() for cell in column]

    def points(self, names: Sequence[str]) -> NDArray[np.float64]:
        """(m, 3) from three columns."""
        return np.column_stack([self.numbers(name) for name in names])


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
    data, begin = layout.body_data
    quoted = layout.delimiter == " " or data.find(b'"', begin) >= 0
    if not quoted:
        layout.refuse_ragged(notes, len(raw))
    plain = unique_names(raw)
    # An empty choice is none at all: pandas 3 fails at it if a row has more cells than the header.
    use = [i for i, name in enumerate(plain) if not quoted and name in (wanted or ())] or None
    stream = io.BytesIO(data)
    stream.seek(begin)
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
                na_values=BLANKS,
                skipinitialspace=True,
                engine="c",
                encoding=layout.content.encoding,
                low_memory=True,
                **_exact_decimals(pandas.__version__),
            )
    except (ValueError, pandas.errors.ParserWarning) as error:
        reason = (
            re.sub(r"\s+", " ", str(error)).strip().removeprefix("Error tokenizing data. C error: ")
        )
        line = re.search(r"line (\d+)", reason)
        notes.refuse(
            f"is not a table of {len(raw)} columns: {reason}",
            int(line[1]) - 1 if line else None,
        )
    if not len(frame):
        notes.refuse("holds no cylinders: there is no row below the header")
    return Table(frame, plain, raw, notes)
