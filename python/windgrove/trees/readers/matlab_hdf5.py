"""MATLAB 7.3 files: HDF5 with a user block; structs are groups, arrays are stored transposed.

Gives what `scipy.io.loadmat` gives for the older files: dicts become record arrays, references
object arrays, so that one reader serves both.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..cylinders import Notes
from .source import Content

_DEPTH = 6


def load(content: Content, notes: Notes) -> dict[str, Any]:
    """Variables of the file; anything h5py stumbles over is a TreeFormatError."""
    import h5py

    try:
        with h5py.File(io.BytesIO(content.raw), "r") as file:
            return {
                name: _value(file, file[name], _DEPTH) for name in file if not name.startswith("#")
            }
    except Exception as error:
        notes.refuse(f"is a broken MATLAB 7.3 file: {type(error).__name__}: {error}")
        raise


def _value(file: Any, node: Any, depth: int) -> Any:
    import h5py

    if isinstance(node, h5py.Group):
        return _struct(file, node, depth)
    if node.attrs.get("MATLAB_empty", 0):
        return np.empty((0, 0))
    value = node[()]
    if not isinstance(value, np.ndarray):
        return np.asarray(value)
    if value.dtype == object and depth > 0:
        items = np.empty(value.T.shape, dtype=object)
        for index, reference in np.ndenumerate(value.T):
            items[index] = _value(file, file[reference], depth - 1) if reference else None
        return items
    if node.attrs.get("MATLAB_class") == b"char" and value.dtype.kind == "u":
        return np.array(["".join(chr(code) for code in value.T.ravel())])
    return value.T


def _struct(file: Any, group: Any, depth: int) -> Any:
    """A struct as a (1, 1) record array; a struct array, whose fields are references, as (n, 1)."""
    import h5py

    if depth <= 0:
        return np.empty((0, 0))
    fields = {name: group[name] for name in group}
    listed = fields and all(
        isinstance(field, h5py.Dataset)
        and field.dtype == h5py.ref_dtype
        and "MATLAB_class" not in field.attrs
        for field in fields.values()
    )
    values = {name: _value(file, field, depth - 1) for name, field in fields.items()}
    count = min((value.size for value in values.values()), default=0) if listed else 1
    records = np.empty((count, 1), dtype=[(name, object) for name in values])
    for name, value in values.items():
        for i in range(count):
            records[name][i, 0] = value.ravel()[i] if listed else value
    return records
