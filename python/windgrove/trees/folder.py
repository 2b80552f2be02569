"""A folder of tree files: as many trees as can be read, and one report about all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TreeFormatError
from .tree import Tree


@dataclass(frozen=True)
class FolderReading:
    """What a folder gave.

    Attributes
    ----------
    trees : tuple of Tree
        Those that could be read, in the order of the file names.
    failures : dict of str to str
        File and reason of those that could not.
    """

    path: str
    trees: tuple[Tree, ...]
    failures: dict[str, str]

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __str__(self) -> str:
        repaired = sum(bool(tree.report.repairs) for tree in self.trees)
        lines = [
            f"{self.path}: {len(self.trees)} tree(s) read, {repaired} with remarks, "
            f"{len(self.failures)} file(s) not read"
        ]
        for tree in self.trees:
            report = tree.report
            lines.append(
                f"  {os.path.relpath(report.path, self.path)}: {report.format} {report.version}, "
                f"{len(tree)} branches, {report.volume:.6g} m3, {len(report.repairs)} remark(s)"
            )
        lines += [f"  not read: {reason}" for reason in self.failures.values()]
        return "\n".join(lines)


def read_each(
    path: Any, pattern: str, recursive: bool, read: Callable[[Path], list[Tree]]
) -> FolderReading:
    """Read the files of a folder one by one; what one raises is its entry in the report."""
    folder = Path(os.fsdecode(path))
    if not folder.is_dir():
        raise TreeFormatError(folder, "is not a folder")
    found = folder.rglob(pattern) if recursive else folder.glob(pattern)
    trees: list[Tree] = []
    failures: dict[str, str] = {}
    for file in sorted(name for name in found if name.is_file()):
        try:
            trees += read(file)
        except TreeFormatError as error:
            failures[str(file)] = str(error)
        except (ValueError, MemoryError, OSError) as error:
            failures[str(file)] = f"{file}: {error or type(error).__name__}"
    return FolderReading(str(folder), tuple(trees), failures)
