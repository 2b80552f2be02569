"""Reads wind records: Campbell TOA5 files and delimited text with a header, plain or gzipped."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Header words, lower case without anything but letters and digits, that name a component. Forms
# seen in public sonic files: Campbell, Gill, Metek, EddyPro and diive tables.
MOST_BYTES = 2**30  # 24 days at 20 Hz; more is refused, not swallowed
_COMPONENTS = {
    "u": ("u", "ux", "x", "vx", "windu", "windx", "uwind", "velocityx", "ucomponent", "velocityu"),
    "v": ("v", "uy", "y", "vy", "windv", "windy", "vwind", "velocityy", "vcomponent", "velocityv"),
    "w": ("w", "uz", "z", "vz", "windw", "windz", "wwind", "velocityz", "wcomponent", "velocityw"),
}
_CLOCK = re.compile(
    r"^(t|times?|timestamps?|datetime|date|seconds?|secs?|datelgr|datepc)$|stamp|time"
)
_MISSING = {
    "",
    "nan",
    "na",
    "n/a",
    "null",
    "none",
    "-",
    "-9999",
    "-9999.0",
    "-99999",
    "inf",
    "-inf",
}
_DATES = (
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S",
    "%m/%d/%Y %H:%M:%S.%f",
    "%m/%d/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S.%f",
    "%d.%m.%Y %H:%M:%S",
    "%Y/%m/%d %H:%M:%S.%f",
    "%Y/%m/%d %H:%M:%S",
)


@dataclass(frozen=True)
class RecordTable:
    """The columns of a wind record as they stand in the file.

    Attributes
    ----------
    time : (n,) float64 or None
        Seconds since the first stamp; None where the file has no clock.
    velocity : (n, 3) float64
        [m/s]; NaN where a value is missing.
    start : datetime or None
        The first stamp, where stamps are dates.
    columns : tuple of str
        Header words of the clock (or "") and of u, v, w.
    layout : str
        "TOA5" or "table".
    """

    time: NDArray[np.float64] | None
    velocity: NDArray[np.float64]
    start: datetime | None
    columns: tuple[str, str, str, str]
    layout: str


def read_table(
    path: Path, *, columns: Iterable[str] | None = None, clock: str | None = None
) -> RecordTable:
    """The clock and the three components of a file; ValueError names file, row and reason."""
    lines = _lines(path)
    layout, header, names, rows = _split(path, lines)
    chosen = _components(path, names, columns)
    data = [row for row in rows if any(cell.strip() for cell in row)]
    if not data:
        raise ValueError(f"{path}: a header but no rows of numbers")
    _check_widths(path, data, len(names), header)
    comma = _decimal_comma(lines[header])
    velocity = np.stack(
        [_numbers(path, data, names.index(name), name, header, comma) for name in chosen], axis=1
    )
    time, start, clock_name = _clock(path, names, data, header, clock, set(chosen), comma)
    return RecordTable(time, velocity, start, (clock_name, *chosen), layout)


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if raw[:2] == b"\x1f\x8b" and len(raw) <= MOST_BYTES:
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as packed:
                raw = packed.read(MOST_BYTES + 1)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{path}: a damaged gzip file ({error})") from None
    if len(raw) > MOST_BYTES:
        raise ValueError(f"{path}: larger than {MOST_BYTES} bytes; cut it into several records")
    if not raw.strip():
        raise ValueError(f"{path}: the file is empty")
    if b"\x00" in raw[:4096]:
        raise ValueError(f"{path}: not a text file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.splitlines()


def _delimiter(line: str) -> str | None:
    """The delimiter of a line; None is white space."""
    for mark in (";", "\t", ","):
        if mark in line:
            return mark
    return None


def _cells(lines: list[str], delimiter: str | None) -> list[list[str]]:
    if delimiter is None:
        return [line.split() for line in lines]
    return list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))


def _decimal_comma(header: str) -> bool:
    return _delimiter(header) == ";"


def _plain(name: str) -> str:
    """A header word without units in brackets, blanks and marks, in lower case."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"[\[(].*?[\])]", "", name.lower()))


def _split(path: Path, lines: list[str]) -> tuple[str, int, list[str], list[list[str]]]:
    """Layout, line number of the header, its words, and the rows below."""
    if lines[0].lstrip('"').startswith("TOA5"):
        if len(lines) < 4:
            raise ValueError(f"{path}: a TOA5 file has four header lines, this has {len(lines)}")
        names = [name.strip() for name in _cells(lines[1:2], ",")[0]]
        return "TOA5", 1, names, _cells(lines[4:], ",")
    for number, line in enumerate(lines[:50]):
        delimiter = _delimiter(line)
        words = [word.strip() for word in _cells([line], delimiter)[0]] if line.strip() else []
        words = [word.lstrip("#").strip() for word in words]
        if words and words[0] == "":
            words = words[1:] if delimiter is None else words
        plain = [_plain(word) for word in words]
        if all(any(name in plain for name in names) for names in _COMPONENTS.values()):
            return "table", number, words, _cells(lines[number + 1 :], delimiter)
    for number, line in enumerate(lines[:50]):
        if re.search(r"[A-Za-z]", line) and not line.lstrip().startswith("#"):
            words = [word.strip() for word in _cells([line], _delimiter(line))[0]]
            return "table", number, words, _cells(lines[number + 1 :], _delimiter(line))
    raise ValueError(f"{path}: no header line with column names in the first 50 lines")


def _components(
    path: Path, names: list[str], columns: Iterable[str] | None
) -> tuple[str, str, str]:
    if columns is not None:
        chosen = list(columns)
        if len(chosen) != 3:
            raise ValueError(f"columns: expected three names, got {chosen}")
        for name in chosen:
            if name not in names:
                raise ValueError(f"columns: {path} has no column {name!r}; it has {_listed(names)}")
        return chosen[0], chosen[1], chosen[2]
    plain = [_plain(name) for name in names]
    found = []
    for component, words in _COMPONENTS.items():
        at = next((plain.index(word) for word in words if word in plain), None)
        if at is None:
            raise ValueError(
                f"{path}: no column for the wind component {component} among {_listed(names)}; "
                "name three with columns="
            )
        found.append(names[at])
    return found[0], found[1], found[2]


def _listed(names: list[str]) -> str:
    """Header words for a message, not all of a broken file's."""
    shown = [repr(name if len(name) <= 40 else name[:37] + "...") for name in names[:20]]
    return ", ".join(shown) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _check_widths(path: Path, rows: list[list[str]], width: int, header: int) -> None:
    for number, row in enumerate(rows):
        if len(row) < width:
            raise ValueError(
                f"{path}: row {number}: {len(row)} values where the header (line {header + 1}) "
                f"names {width}; the file may be cut off"
            )


def _numbers(
    path: Path, rows: list[list[str]], column: int, name: str, header: int, comma: bool
) -> NDArray[np.float64]:
    values = np.empty(len(rows))
    for number, row in enumerate(rows):
        text = row[column].strip().strip('"')
        if text.lower() in _MISSING:
            values[number] = np.nan
            continue
        try:
            values[number] = float(text.replace(",", ".") if comma else text)
        except ValueError:
            raise ValueError(
                f"{path}: row {number}: column {name!r} holds {text!r}, not a number"
            ) from None
    return values


def _clock(
    path: Path,
    names: list[str],
    rows: list[list[str]],
    header: int,
    clock: str | None,
    taken: set[str],
    comma: bool,
) -> tuple[NDArray[np.float64] | None, datetime | None, str]:
    """The clock with the finest stamps among the columns that look like one."""
    if clock is not None and clock not in names:
        raise ValueError(f"clock: {path} has no column {clock!r}; it has {names}")
    candidates = [clock] if clock is not None else [
        name for name in names if name not in taken and _CLOCK.search(_plain(name))
    ]  # fmt: skip
    best: tuple[NDArray[np.float64] | None, datetime | None, str] = (None, None, "")
    most = 1
    for name in candidates:
        texts = [row[names.index(name)].strip().strip('"') for row in rows]
        try:
            time, start = _seconds(texts, comma)
        except ValueError as error:
            if clock is not None:
                raise ValueError(f"{path}: column {name!r}: {error}") from None
            continue
        distinct = len(np.unique(time))
        if distinct > most:
            most, best = distinct, (time, start, name)
    return best


def _seconds(texts: list[str], comma: bool) -> tuple[NDArray[np.float64], datetime | None]:
    try:
        times = np.array([float(t.replace(",", ".") if comma else t) for t in texts])
    except ValueError:
        pass
    else:
        if not np.isfinite(times).all():
            raise ValueError(f"row {int(np.argmin(np.isfinite(times)))}: not a time")
        return times - times[0], None
    parse = _date_parser(texts[0])
    stamps = []
    for number, text in enumerate(texts):
        try:
            stamps.append(parse(text))
        except ValueError:
            raise ValueError(f"row {number}: {text!r} is not a time") from None
    return np.array([(stamp - stamps[0]).total_seconds() for stamp in stamps]), stamps[0]


def _date_parser(example: str) -> Any:
    try:
        datetime.fromisoformat(example)
        return datetime.fromisoformat
    except ValueError:
        pass
    for form in _DATES:
        try:
            datetime.strptime(example, form)
        except ValueError:
            continue
        # A stamp on the full second may lack the fraction that its neighbours have.
        short = form.removesuffix(".%f")

        def parse(text: str, form: str = form, short: str = short) -> datetime:
            full = f"{short}.%f" if "." in text[-7:] else short
            return datetime.strptime(text, full)

        return parse
    raise ValueError(f"row 0: {example!r} is not a time")


def rate_from_name(path: Path) -> float | None:
    """The rate that a file's name states, such as "20HZ"; None where it does not."""
    found = re.search(r"(\d+(?:\.\d+)?)\s*hz", path.name.lower())
    return float(found.group(1)) if found else None


COMPONENT_WORDS: Mapping[str, tuple[str, ...]] = _COMPONENTS
