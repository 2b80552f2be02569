"""Field tables of treecm: logs and branches of a standing tree, measured for its centre of mass.

Columns code, azimuth (degrees), dBase, dTip (cm), length (m), tipD (m from the stem), height (m of
the insertion), tilt (degrees above the horizontal, blank 0), toBePruned, pathToTip. Logs have both
diameters and a length, so that their mass is Smalian's: the mean of the end areas times length and
density. Branches have a base diameter and a reach only; their mass needs an allometry, which is
not the file's and not guessed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ..cylinders import Cylinders, Notes, Source
from . import Options, Parsed
from .source import Content, read_bytes
from .table import Table, parse_table

NAME = "treecm"
_NEEDED = ("code", "azimuth", "dbase", "dtip", "length", "tipd", "height", "tilt")


@dataclass(frozen=True)
class FieldTable:
    """Rows of a field table: `base` and `tip` are diameters in m, `length`, `reach` and `height`
    in m (NaN where blank), `azimuth` and `tilt` in rad; `log` marks rows with a length and both
    diameters; `on_stem` those on the path to the tip."""

    code: tuple[str, ...]
    base: NDArray[np.float64]
    tip: NDArray[np.float64]
    length: NDArray[np.float64]
    reach: NDArray[np.float64]
    height: NDArray[np.float64]
    azimuth: NDArray[np.float64]
    tilt: NDArray[np.float64]
    on_stem: NDArray[np.bool_]

    @property
    def log(self) -> NDArray[np.bool_]:
        """Rows that are logs."""
        return np.isfinite(self.length) & (self.base > 0) & (self.tip > 0)

    def log_mass(self, density: float = 650.0) -> dict[str, float]:
        """Mass of each log in kg at a fresh density in kg/m3, by Smalian's formula."""
        density = checks.number(density, "density", above=0)
        mass = np.pi / 8 * (self.base**2 + self.tip**2) * self.length * density
        return {self.code[i]: float(mass[i]) for i in np.flatnonzero(self.log)}


def recognises(content: Content) -> int:
    """Its column names."""
    return 90 if set(content.layout.names) >= set(_NEEDED) else 0


def read_field_table(path: Any, *, encoding: str | None = None) -> FieldTable:
    """Read a field table. TreeFormatError names file, row and reason."""
    name, raw = read_bytes(path)
    content = Content(name, raw, encoding)
    return _table(content, Notes(name))


def _table(content: Content, notes: Notes) -> FieldTable:
    layout = content.layout
    missing = [name for name in _NEEDED if name not in layout.names]
    if missing:
        notes.refuse(f"has no column {', '.join(missing)} of a treecm field table")
    table = parse_table(layout, notes, names=layout.header)
    tilt = table.numbers("tilt")
    field = FieldTable(
        code=tuple(table.words("code")),
        base=table.numbers("dbase") / 100,
        tip=table.numbers("dtip") / 100,
        length=table.numbers("length"),
        reach=table.numbers("tipd"),
        height=table.numbers("height"),
        azimuth=np.radians(table.numbers("azimuth")),
        tilt=np.radians(np.where(np.isnan(tilt), 0.0, tilt)),
        on_stem=_flags(table),
    )
    for name in ("base", "height", "azimuth"):
        values = getattr(field, name)
        if not np.isfinite(values).all():
            notes.refuse(f"{name} is blank", int(np.argmin(np.isfinite(values))))
    return field


def _flags(table: Table) -> NDArray[np.bool_]:
    if not table.find("pathtotip"):
        return np.array([code.upper().startswith("L") for code in table.words("code")])
    return np.array([word.upper() in ("TRUE", "T", "1") for word in table.words("pathtotip")])


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree: logs and branches as cylinders of the mean of their end areas."""
    notes = Notes(content.name, strict=options.strict)
    field = _table(content, notes)
    mass = sum(field.log_mass().values())
    source = Source(
        content.name,
        NAME,
        f"{len(field.code)} rows",
        "diameters cm, lengths m, angles degrees",
        "measured",
        attributes={"log_mass_650": mass},
    )
    return [Parsed(source, notes, lambda: _cylinders(field, notes), len(field.code))]


def _cylinders(field: FieldTable, notes: Notes) -> Cylinders:
    count = len(field.code)
    stem = np.flatnonzero(field.on_stem)
    if not len(stem):
        notes.refuse("no row is on the path to the tip: the table has no stem")
    stem = stem[np.argsort(field.height[stem], kind="stable")]
    length = np.where(np.isfinite(field.length), field.length, field.reach)
    flat = np.cos(field.tilt)
    axis = np.column_stack(
        [flat * np.sin(field.azimuth), flat * np.cos(field.azimuth), np.sin(field.tilt)]
    )
    start = np.zeros((count, 3))
    parent = np.full(count, -1, dtype=np.int64)
    for below, row in zip(stem[:-1].tolist(), stem[1:].tolist(), strict=True):
        parent[row] = below
        start[row] = start[below] + axis[below] * length[below]
    for row in np.flatnonzero(~field.on_stem).tolist():
        on = stem[max(int(np.searchsorted(field.height[stem], field.height[row], "right")) - 1, 0)]
        parent[row] = on
        along = min(max(field.height[row] - field.height[on], 0.0), float(length[on]))
        start[row] = start[on] + axis[on] * along
    notes.noticed(
        "branches-as-cylinders",
        f"{int((~field.log).sum())} row(s) without a length are as long as their tip is far from "
        "the stem",
        np.flatnonzero(~field.log),
    )
    return Cylinders(
        start=start,
        end=start + axis * length[:, None],
        length=length,
        radius=np.sqrt((field.base**2 + np.nan_to_num(field.tip) ** 2) / 8),
        parent=parent,
        id=np.arange(count),
        row=np.arange(count),
        branch=np.where(field.on_stem, 0, np.arange(count) + 1),
    )
