"""One module a format. Each has NAME, `recognises(content) -> int` and `read(content, options)`.

`recognises` returns how sure the module is, 0 to 100, from the content alone; `read` returns a
list of `Parsed`: trees of the file or alternative models of one tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..cylinders import Cylinders, Notes, Source
from ..tree import Tree


@dataclass(frozen=True)
class Parsed:
    """One tree of a file, not yet built: a table of cylinders, or a finished tree."""

    source: Source
    notes: Notes
    build: Callable[[], Cylinders | Tree]  # checks and converts the rows, raising on bad ones
    size: int = 0  # rows, to find the largest of several trees
    scaled: bool = False  # units= is already in
    alternative: bool = False  # another model of the same tree, not another tree


@dataclass(frozen=True)
class Options:
    """What a reader may be told; the arguments of `read_tree` of the same names."""

    strict: bool = False
    missing_parents: str = "refuse"
    columns: str | Mapping[str, str] | None = None
    radius: Any = None
    units: tuple[float, float] | None = None  # metres in a unit: of lengths, of diameters
    length: float | None = None


MODULES = (
    "treeqsm_mat",
    "treeqsm_text",
    "simpleforest",
    "archi",
    "computree",
    "raycloud",
    "rtwig",
    "treegraph",
    "minimal",
    "mtg",
    "rings",
    "treecm",
    "eztree",
    "own_json",
    "own_hdf5",
)
