"""rTwig's standard table (start_x ... twig_distance), and its tables of other tools' models.

rTwig adds columns to a TreeQSM table and then keeps the cylinder's own number in `extension`.
"""

from __future__ import annotations

from ..cylinders import Notes, Source
from . import Options, Parsed
from .columns import find_roles, read_trees
from .source import Content

NAME = "rtwig"
_START = {"startx", "starty", "startz"}
_STANDARD = {"id", "parent", "radius", *_START, "branchorder", "branch"}
_TREEQSM = {"extension", "parent", "radius", *_START, "branchorder", "unmodradius"}


def recognises(content: Content) -> int:
    """The standard names, or TreeQSM's beside those that rTwig adds."""
    names = set(content.layout.names)
    if names >= _STANDARD and names & {"rawradius", "reverseorder", "growthlength"}:
        return 94
    return 93 if names >= _TREEQSM and "totalchildren" in names else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree."""
    notes = Notes(content.name, strict=options.strict)
    layout = content.layout
    names = set(layout.names)
    roles = find_roles(layout.header)
    own_id = "id" if "id" in names else "extension"
    if not names >= {own_id, "parent", "radius", *_START} or not roles.places:
        notes.refuse("has not the columns id, parent, radius, start and end of an rTwig table")
    roles.one.update(id=own_id, parent="parent", radius="radius")
    version = "standard" if own_id == "id" else "TreeQSM columns"
    source = Source(content.name, NAME, version, "m", "fitted, corrected by rTwig")
    return read_trees(layout, roles, source, notes, options)
