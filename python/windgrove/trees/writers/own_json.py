"""Trees of our own as JSON."""

from __future__ import annotations

import json

from ..serial import FORMAT, VERSION, report_values, segment_arrays, tree_arrays
from ..tree import Tree


def encode(tree: Tree, *, world: bool) -> bytes:
    """The document; Python's shortest decimals bring every double back to the bit."""
    branches = {name: array.tolist() for name, array in tree_arrays(tree).items()}
    offset = branches.pop("offset")
    segments = {name: array.tolist() for name, array in segment_arrays(tree).items()}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": tree.name,
        "units": "m, m2, m3; z up",
        "offset": offset,
        "branches": branches,
        "segments": segments or None,
        "report": report_values(tree.report),
    }
    return (json.dumps(document, allow_nan=False) + "\n").encode()
