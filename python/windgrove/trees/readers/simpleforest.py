"""SimpleForest cylinder tables: CSV with 17 or 36 columns (or others) and padded names."""

from __future__ import annotations

from ..cylinders import Notes, Source
from . import Options, Parsed
from .columns import find_roles, read_trees
from .layout import Layout
from .source import Content

NAME = "simpleforest"
OWN_RUNS = "windgroverun"
_NEEDED = ("id", "parentid", "startx", "starty", "startz", "endx", "endy", "endz", "radius")
_OWN = {"growthlength", "segmentid", "reversebranchorder", "growthvolume", "fittingtype"}


def recognises(content: Content) -> int:
    """A header with SimpleForest's own names, whatever their number and padding."""
    names = set(content.layout.names)
    return 90 if names >= set(_NEEDED) and names & _OWN else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The table as one tree; branchID numbers whole limbs, so that runs follow growthLength."""
    notes = Notes(content.name, strict=options.strict)
    layout = content.layout
    missing = [name for name in _NEEDED if name not in layout.names]
    if missing:
        notes.refuse(f"has no column {', '.join(missing)} of a SimpleForest table")
    _name_segment_length(layout)
    roles = find_roles(layout.header)
    roles.one.update(id="id", parent="parentid", radius="radius")
    runs = OWN_RUNS in layout.names  # written by write_tree: each names one unbranched run
    if runs:
        roles.one["branch"] = OWN_RUNS
    source = Source(content.name, NAME, f"{len(layout.header)} columns", "m, m3", "fitted")
    return read_trees(layout, roles, source, notes, options, runs=runs)


def _name_segment_length(layout: Layout) -> None:
    """Versions of 2019 write the length of the segment without naming it in the header."""
    names = layout.names
    unnamed = "segmentgrowthlength" in names and "segmentlength" not in names
    if unnamed and layout.width == len(names) + 1:
        layout.header.insert(names.index("segmentgrowthlength"), "segmentLength")
