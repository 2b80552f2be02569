"""Any table of cylinders with a header: id, parent, radius, and start with end or axis and length.

Also one row a point (id, parent, x, y, z, radius): a cylinder runs from the parent's point.
"""

from __future__ import annotations

from ..cylinders import Notes, Source
from . import Options, Parsed
from .columns import Roles, find_roles, read_trees
from .source import Content

NAME = "minimal"


def recognises(content: Content) -> int:
    """Columns that place cylinders and link them."""
    if not content.layout.header:
        return 0
    roles = find_roles(content.layout.header)
    return 30 if "parent" in roles.one and (roles.places or "point" in roles.three) else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree."""
    notes = Notes(content.name, strict=options.strict)
    layout = content.layout
    if not layout.header:
        notes.refuse("has no header line that names the columns")
    roles = find_roles(layout.header)
    _refuse_incomplete(roles, notes)
    how = "points" if not roles.places else "end points" if "end" in roles.three else "axis, length"
    source = Source(content.name, NAME, how, _units(roles), "unknown")
    return read_trees(layout, roles, source, notes, options)


def _refuse_incomplete(roles: Roles, notes: Notes) -> None:
    if "parent" not in roles.one:
        notes.refuse("has no column of parents (parent, parent_id, parentID ...)")
    if not roles.places and "point" not in roles.three:
        notes.refuse(
            "has no columns that place a cylinder: start_x, start_y, start_z with end_x, end_y, "
            "end_z, or with axis_x, axis_y, axis_z and length"
        )


def _units(roles: Roles) -> str:
    named = {role: scale for role, scale in roles.scale.items() if scale != 1.0}
    if not named:
        return "m assumed"
    return "m; named by the file: " + ", ".join(
        f"{role} {scale:g} m" for role, scale in named.items()
    )
