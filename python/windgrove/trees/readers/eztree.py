"""Presets of the ez-tree generator (JSON): parsed here, grown by `windgrove.trees.grow`.

Lengths and radii are in scene units. `levels` says how many of the entries "0" to "3" count
beside the trunk; older presets lack some tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..cylinders import Notes, Source
from ..tree import Tree
from . import Options, Parsed
from .own_json import parse_json
from .source import Content

NAME = "ez-tree"
MOST_LEVELS = 3
_TABLES = (
    "angle", "children", "gnarliness", "length", "radius", "sections", "segments", "start",
    "taper", "twist",
)  # fmt: skip
_MOST = {"children": 100, "sections": 100, "segments": 64}


@dataclass(frozen=True)
class EzTreePreset:
    """A preset: per-level tuples of `levels + 1` values, the trunk's first.

    `angle` and `twist` are in degrees and rad as the generator has them, `length` and `radius` in
    scene units; `force` is a direction and a strength; `leaves` the table of leaves as it stands.
    """

    seed: int
    type: str
    levels: int
    angle: tuple[float, ...]
    children: tuple[int, ...]
    gnarliness: tuple[float, ...]
    length: tuple[float, ...]
    radius: tuple[float, ...]
    sections: tuple[int, ...]
    segments: tuple[int, ...]
    start: tuple[float, ...]
    taper: tuple[float, ...]
    twist: tuple[float, ...]
    force: tuple[float, float, float, float]
    leaves: dict[str, Any]


def recognises(content: Content) -> int:
    """The words of a preset, before which a saved one may hold pictures of bark."""
    marks = (b'"branch"', b'"levels"', b'"gnarliness"')
    if not content.head(100).lstrip().startswith("{"):
        return 0
    return 90 if all(mark in content.data for mark in marks) else 0


def read_preset(content: Content, notes: Notes) -> EzTreePreset:
    """The preset of a file; what is missing or out of range is refused by its path."""
    document = parse_json(content, notes)
    branch = document.get("branch") if isinstance(document, dict) else None
    if not isinstance(branch, dict):
        notes.refuse("branch: a preset has a table of this name")
        raise AssertionError
    if "lengthMultiplier" in branch:
        notes.refuse(
            "branch: is a preset of the first versions of ez-tree, with one value for all levels "
            "and a table for the trunk; newer ones have a table of levels for each parameter"
        )
    levels = _number(branch.get("levels"), "branch.levels", notes, 0, MOST_LEVELS, whole=True)
    tables = {name: _levels(branch, name, int(levels), notes) for name in _TABLES}
    trellis = document.get("trellis")
    if isinstance(trellis, dict) and trellis.get("enabled"):
        notes.noticed("trellis", "the preset's trellis, which pulls branches to it, is left out")
    leaves = document.get("leaves")
    return EzTreePreset(
        seed=int(_number(document.get("seed", 0), "seed", notes, 0, 2**53, whole=True)),
        type=str(document.get("type", "deciduous")),
        levels=int(levels),
        force=_force(branch.get("force"), notes),
        leaves=dict(leaves) if isinstance(leaves, dict) else {},
        **tables,  # type: ignore[arg-type]
    )


def _levels(
    branch: dict[str, Any], name: str, levels: int, notes: Notes
) -> tuple[float, ...] | tuple[int, ...]:
    table = branch.get(name, {})
    if isinstance(table, list):
        table = {str(level): value for level, value in enumerate(table)}
    if not isinstance(table, dict):
        notes.refuse(f"branch.{name}: expected a table by level")
    whole = name in _MOST
    values = []
    for level in range(levels + 1):
        default = {"angle": 0, "start": 0, "children": 0, "twist": 0, "gnarliness": 0}.get(name)
        value = table.get(str(level), default)
        low = 0.0 if name not in ("twist", "gnarliness", "angle", "start") else -1e6
        path = f"branch.{name}.{level}"
        values.append(_number(value, path, notes, low, _MOST.get(name, 1e6), whole=whole))
    return tuple(int(v) for v in values) if whole else tuple(values)


def _number(
    value: Any, path: str, notes: Notes, low: float, high: float, *, whole: bool = False
) -> float:
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or (whole and value != int(value)):
        notes.refuse(
            f"{path}: expected a {'whole ' if whole else ''}number, got {str(value)[:30]!r}"
        )
    if not low <= value <= high:
        notes.refuse(f"{path}: expected {low:g} to {high:g}, got {value:g}")
    return float(value)


def _force(force: Any, notes: Notes) -> tuple[float, float, float, float]:
    if not isinstance(force, dict):
        return 0.0, 1.0, 0.0, 0.0
    direction = force.get("direction")
    direction = direction if isinstance(direction, dict) else {}
    x, y, z = (
        _number(direction.get(k, d), f"branch.force.direction.{k}", notes, -1e6, 1e6)
        for k, d in (("x", 0), ("y", 1), ("z", 0))
    )
    return x, y, z, _number(force.get("strength", 0), "branch.force.strength", notes, -1e6, 1e6)


def read(content: Content, options: Options) -> list[Parsed]:
    """One grown tree."""
    notes = Notes(content.name, strict=options.strict)
    preset = read_preset(content, notes)
    source = Source(content.name, NAME, f"{preset.type}, {preset.levels} levels", "scene units")

    def build() -> Tree:
        from ..grow_preset import grow_preset

        return grow_preset(preset, source, notes, options)

    return [Parsed(source, notes, build)]
