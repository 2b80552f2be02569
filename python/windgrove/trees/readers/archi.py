"""aRchi cylinder tables: cyl_ID, parent_ID, radius_cyl and axis_ID, which names the branch."""

from __future__ import annotations

from ..cylinders import Notes, Source
from . import Options, Parsed
from .columns import find_roles, read_trees
from .source import Content

NAME = "archi"
_NEEDED = ("cylid", "parentid", "radiuscyl", "startx", "starty", "startz", "endx", "endy", "endz")


def recognises(content: Content) -> int:
    """aRchi's own names."""
    return 92 if set(content.layout.names) >= set(_NEEDED) else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree."""
    notes = Notes(content.name, strict=options.strict)
    layout = content.layout
    missing = [name for name in _NEEDED if name not in layout.names]
    if missing:
        notes.refuse(f"has no column {', '.join(missing)} of an aRchi table")
    roles = find_roles(layout.header)
    roles.one.update(id="cylid", parent="parentid", radius="radiuscyl")
    if "axisid" in layout.names:
        roles.one["branch"] = "axisid"
    source = Source(content.name, NAME, f"{len(layout.header)} columns", "m, m3", "fitted")
    return read_trees(layout, roles, source, notes, options)
