"""A tree in at most ten lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from .read import read_tree
from .tree import Tree

LINES = 10
_USUAL = {"gaps", "thicker-than-parent", "tiny-length"}  # nearly every scan has them


def describe(path_or_tree: Any, **options: Any) -> str:
    """At most ten lines about a tree or a tree file: what it is, its sizes, what was repaired.

    `options` are those of `read_tree`. TreeFormatError where the file cannot be read.
    """
    tree = path_or_tree
    if not isinstance(tree, Tree):
        tree = read_tree(path_or_tree, **options)
    report = tree.report
    counts = np.bincount(tree.kind, minlength=3)
    trunk = int(tree.roots[0])
    leaves = f", {counts[2]} foliage ({tree.area.sum():.4g} m2)" if counts[2] else ""
    lines = [
        f"{report.path or tree.name}: {report.format} {report.version}".rstrip(),
        f"{report.cylinders} cylinders, {report.roots} root(s); {len(tree)} branches: "
        f"{counts[0]} trunk, {counts[1]} branch{leaves}; depth {int(_level(tree).max())}",
        f"height {tree.height:.4g} m; trunk {tree.length[trunk]:.4g} m long, mean diameter "
        f"{200 * tree.radius[trunk]:.3g} cm, {tree.volume[trunk]:.6g} m3",
        f"volume {report.volume or tree.volume.sum():.6g} m3 "
        f"({500 * tree.volume.sum():.6g} kg at 500 kg/m3), "
        f"length {report.cylinder_length or tree.length.sum():.6g} m",
        f"units: {report.units or 'm'}; radii: {report.radius_provenance or 'unknown'}; offset "
        + ", ".join(f"{value:.6g}" for value in _offset(tree)),
    ]
    room = LINES - len(lines)
    ordered = sorted(report.repairs, key=lambda repair: repair.kind in _USUAL)
    remarks = [repair.message for repair in ordered]
    if len(remarks) > room:
        more = len(remarks) - room + 1
        remarks = [*remarks[: room - 1], f"{more} more remarks: see tree.report"]
    return "\n".join(lines + remarks)


def _level(tree: Tree) -> np.ndarray:
    assert tree.level is not None
    return tree.level


def _offset(tree: Tree) -> np.ndarray:
    assert tree.offset is not None
    return tree.offset
