"""How a tree file is read: the same options on every command that reads one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..species.species import Species
    from ..trees.tree import Tree

ARGUMENTS = (
    "format", "model", "roots", "bad_rows", "missing_parents", "radius", "length", "units",
    "columns",
)  # fmt: skip


def add_reading(parser: argparse.ArgumentParser, *, leaves: bool = True) -> None:
    """The options of `read_tree` that its errors and remarks speak of."""
    group = parser.add_argument_group("reading a tree file")
    group.add_argument("--format", help="where the format is not found by itself")
    group.add_argument(
        "--model", type=int, metavar="N", help="which of several trees or models of the file"
    )
    group.add_argument(
        "--roots",
        choices=("largest", "all"),
        help="of several components, keep one or all (default: largest)",
    )
    group.add_argument(
        "--bad-rows",
        choices=("refuse", "drop"),
        help="rows with numbers that no cylinder has (default: refuse)",
    )
    group.add_argument(
        "--missing-parents",
        choices=("refuse", "roots"),
        help="rows whose parent is not there: refuse, or trees of their own (default: refuse)",
    )
    group.add_argument(
        "--radius",
        type=radius,
        metavar="M|pipe[,M]",
        help="of cylinders without one: one for all, or the pipe model from tips of that radius, m",
    )
    group.add_argument(
        "--length", type=float, metavar="M", help="of a vertex of a graph that has topology only, m"
    )
    group.add_argument(
        "--units",
        metavar="UNIT[,UNIT]",
        help="of the file's lengths: m, dm, cm, mm or 0.1mm; cm,mm: of lengths and diameters",
    )
    group.add_argument(
        "--columns",
        action="append",
        metavar="NAME=HEADER",
        help="what the file calls a column, e.g. id=Nr.; several times for several; or, for a "
        "table without a header, the name of its order",
    )
    if leaves:
        group.add_argument(
            "--no-leaves", action="store_true", help="bare: no leaves are added to a tree file"
        )


def radius(text: str) -> Any:
    """``0.002``, ``pipe`` or ``pipe,0.002``."""
    word, comma, tip = text.partition(",")
    try:
        if word == "pipe":
            return ("pipe", float(tip)) if comma else "pipe"
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a number of m, pipe or pipe,M, got {text!r}"
        ) from None


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """What was given, as arguments of `read_tree`."""
    given = {name: getattr(options, name) for name in ARGUMENTS}
    given = {name: value for name, value in given.items() if value is not None}
    if "columns" in given:
        given["columns"] = _columns(given["columns"])
    return given


def _columns(words: list[str]) -> str | dict[str, str]:
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    lone = [word for word in words if "=" not in word]
    if lone:
        raise ValueError(f"--columns: expected NAME=HEADER, e.g. id=Nr., got {lone[0]!r}")
    return {name: header for name, _, header in (word.partition("=") for word in words)}


def read_file(path: str, species: Species, options: argparse.Namespace) -> Tree:
    """A tree file, with the species' leaves unless ``--no-leaves``."""
    from .. import read_tree

    if not Path(path).exists():
        raise ValueError(f"TREE_FILE: there is no file {path!r}")
    if options.no_leaves:
        return read_tree(path, **reading(options))
    leaves = {"leaf_area_index": species.leaf_area_index}
    return read_tree(path, foliage="bundles", foliage_options=leaves, **reading(options))
