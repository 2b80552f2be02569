"""Trees out: our own JSON and HDF5 to the last bit, and files that other tools read."""

from __future__ import annotations

import gzip
import importlib
import os
from typing import Any

from .. import checks
from ..files import write_whole
from .tree import Tree

_WRITERS = {
    "json": "own_json",
    "hdf5": "own_hdf5",
    "simpleforest": "simpleforest",
    "raycloud": "raycloud",
    "treeqsm": "treeqsm",
}
_SUFFIXES = {
    ".json": "json",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".csv": "simpleforest",
    ".txt": "raycloud",
    ".mat": "treeqsm",
}


def write_tree(
    tree: Tree, path: str | os.PathLike[str], *, format: str | None = None, world: bool = True
) -> None:
    """Write a tree; the file appears whole or not at all.

    Parameters
    ----------
    tree : Tree
    path : path
        ``.gz`` at the end packs it.
    format : str, optional
        "json" and "hdf5" are windgrove's own and are read back to the last bit, report and all.
        "simpleforest" (36 columns and one of ours), "raycloud" (one tree) and "treeqsm" (.mat)
        hold the cylinders. The default goes by the suffix: .json, .h5, .hdf5, .csv, .txt, .mat.
    world : bool, default True
        The foreign formats get the file's coordinates, `position + offset`, which are rounded to
        doubles of their size; False writes the tree's own coordinates, exactly.

    Raises
    ------
    ValueError
        The suffix says no format, or a format without leaves is asked to hold some.
    """
    checks.tree(tree)
    target, world = checks.path(path, "path"), checks.flag(world, "world")
    name = str(target)
    bare = name[:-3] if name.lower().endswith(".gz") else name
    if format is None:
        suffix = os.path.splitext(bare)[1].lower()
        if suffix not in _SUFFIXES:
            raise ValueError(
                f"path: {suffix or 'no suffix'!r} says no format; format= names one of "
                + ", ".join(_WRITERS)
            )
        format = _SUFFIXES[suffix]
    content = encode_tree(tree, format, world=world)
    if bare != name:
        content = gzip.compress(content, mtime=0)
    write_whole(target, content)


def encode_tree(tree: Tree, format: str, *, world: bool = True) -> bytes:
    """The bytes of a file of a format: what `write_tree` writes."""
    checks.tree(tree)
    checks.choice(format, "format", _WRITERS)
    writer: Any = importlib.import_module(f"{__package__}.writers.{_WRITERS[format]}")
    content: bytes = writer.encode(tree, world=world)
    return content
