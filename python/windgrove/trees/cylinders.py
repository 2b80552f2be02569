"""One tree as its file gives it: a table of cylinders, and what was noticed on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import TreeFormatError
from .tree import Repair

ROWS_SHOWN = 100


@dataclass(frozen=True, eq=False)
class Cylinders:
    """Cylinders of one file section, one row each, parents as row indices.

    `length` and `radius` count (V = pi r^2 l); `start` and `end` only place and turn them.
    `branch` is an id column that may name unbranched runs, `growth` SimpleForest's growthLength,
    `order` given branch orders, `volume` a given volume column (compared, never used).
    """

    start: NDArray[np.float64]  # (m, 3) m
    end: NDArray[np.float64]  # (m, 3) m
    length: NDArray[np.float64]  # (m,) m
    radius: NDArray[np.float64]  # (m,) m
    parent: NDArray[np.int64]  # (m,) row, -1 for a root
    id: NDArray[np.int64]  # (m,) id in the file
    row: NDArray[np.int64]  # (m,) 0-based row in the file
    branch: NDArray[np.int64] | None = None
    growth: NDArray[np.float64] | None = None
    order: NDArray[np.int64] | None = None
    volume: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.radius)

    def take(self, rows: NDArray[np.intp]) -> Cylinders:
        """The rows given, in that order; parents outside them become -1."""
        new_row = np.full(len(self) + 1, -1, dtype=np.int64)
        new_row[rows] = np.arange(len(rows))
        picked = {
            name: None if (column := getattr(self, name)) is None else column[rows]
            for name in self.__dataclass_fields__
        }
        picked["parent"] = new_row[picked["parent"]]
        return Cylinders(**picked)  # type: ignore[arg-type]

    def scaled(self, factor: float) -> Cylinders:
        """All lengths times a factor."""
        return self.replace(
            start=self.start * factor,
            end=self.end * factor,
            length=self.length * factor,
            radius=self.radius * factor,
        )

    def replace(self, **changes: NDArray) -> Cylinders:
        """A copy with some columns changed."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Source:
    """What a reader says about where the cylinders came from."""

    path: str
    format: str
    version: str = ""
    units: str = "m"
    radius_provenance: str = "unknown"
    name: str = "tree"
    attributes: dict[str, float] = field(default_factory=dict)


class Notes:
    """Collects what was repaired or noticed; strict mode turns a repair into a refusal."""

    def __init__(self, path: object, *, strict: bool = False) -> None:
        self.path = str(path)
        self.strict = strict
        self.repairs: list[Repair] = []

    def copy(self) -> Notes:
        """The same notes, to be continued for one of several trees."""
        other = Notes(self.path, strict=self.strict)
        other.repairs = list(self.repairs)
        return other

    def noticed(self, kind: str, message: str, rows: Iterable[int] = ()) -> None:
        """Something worth knowing that changed nothing."""
        listed = [int(row) for row in rows]
        self.repairs.append(Repair(kind, message, tuple(listed[:ROWS_SHOWN]), len(listed)))

    def repaired(self, kind: str, message: str, rows: Iterable[int] = ()) -> None:
        """Something that was changed or dropped; refused in strict mode."""
        listed = [int(row) for row in rows]
        if self.strict:
            self.refuse(f"{message} (strict: refused)", listed[0] if listed else None)
        self.noticed(kind, message, listed)

    def refuse(self, reason: str, row: int | None = None) -> None:
        """Raise TreeFormatError naming the file and the 0-based row."""
        raise TreeFormatError(self.path, reason, row=None if row is None else int(row))
