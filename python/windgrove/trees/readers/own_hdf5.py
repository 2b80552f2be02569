"""Trees of our own in HDF5: read back to the last bit, if the digest in front fits."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from ..cylinders import Notes, Source
from ..serial import BRANCH_FIELDS, FORMAT, SEGMENT_FIELDS, VERSION, is_sealed, make_tree
from ..tree import Tree
from . import Options, Parsed
from .source import Content

NAME = "hdf5"
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_VALUES = 2**28


def recognises(content: Content) -> int:
    """Our words before the HDF5 part; or HDF5 that MATLAB did not write, to say what it is not."""
    if content.raw.startswith(FORMAT.encode() + b" sha256"):
        return 99
    return 70 if content.raw.startswith(_SIGNATURE) else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The one tree of the file; its report is the one it was written with."""
    import h5py

    notes = Notes(content.name, strict=options.strict)
    if not content.raw.startswith(FORMAT.encode()):
        notes.refuse("is no tree file of windgrove's in HDF5; open_recording reads recordings")
    if not is_sealed(content.raw):
        notes.refuse("was damaged or changed since it was written: its digest does not fit")
    try:
        with h5py.File(io.BytesIO(content.raw), "r") as file:
            if int(file.attrs["version"]) != VERSION:
                notes.refuse(f"is of version {file.attrs['version']}; this reads {VERSION}")
            arrays = _datasets(file, (*BRANCH_FIELDS, "offset"))
            segments = _datasets(file["segments"], SEGMENT_FIELDS) if "segments" in file else {}
            report = json.loads(str(file.attrs["report"]))
            name = str(file.attrs["name"])
    except ValueError as error:
        if type(error).__name__ == "TreeFormatError":
            raise
        notes.refuse(f"is a broken tree file: {error}")
    except Exception as error:  # h5py raises whatever HDF5 stumbles over
        notes.refuse(f"is a broken HDF5 file: {type(error).__name__}: {error}")
    source = Source(content.name, NAME, str(VERSION))
    return [Parsed(source, notes, lambda: _tree(arrays, segments, report, name, notes))]


def _datasets(group: Any, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    found = {}
    for name in names:
        if name in group:
            if group[name].size > _MAX_VALUES:
                raise ValueError(f"{name} claims {group[name].size} values")
            found[name] = group[name][()]
    return found


def _tree(
    arrays: dict[str, Any],
    segments: dict[str, Any],
    report: dict[str, Any],
    name: str,
    notes: Notes,
) -> Tree:
    try:
        return make_tree(arrays, segments, report, name)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        notes.refuse(f"does not hold a tree: {error}")
        raise
