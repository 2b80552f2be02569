"""MATLAB 7.3 files: HDF5 with a user block; structs are groups, arrays are stored transposed.

Gives what `windgrove.trees.readers.matlab` gives for the older files, so that one reader serves
both: arrays, lists of dicts for struct arrays, tuples for cell arrays.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..cylinders import Notes
from .source import Content

_DEEPEST = 8
_MOST_VALUES = 2**28
_MOST_NODES = 200_000


def load_hdf5(content: Content, notes: Notes) -> dict[str, Any]:
    """Variables of the file; anything h5py stumbles over is a TreeFormatError."""
    import h5py

    try:
        with h5py.File(io.BytesIO(content.raw), "r") as file:
            walk = _Walk(file)
            return {name: walk.value(file[name], 0) for name in file if not name.startswith("#")}
    except Exception as error:  # h5py raises whatever HDF5 stumbles over
        notes.refuse(f"is a broken MATLAB 7.3 file: {type(error).__name__}: {error}")
        raise


class _Walk:
    def __init__(self, file: Any) -> None:
        self.file = file
        self.nodes = 0

    def value(self, node: Any, depth: int) -> Any:
        """A dataset or group as arrays, lists of dicts or tuples."""
        import h5py

        self.nodes += 1
        if depth > _DEEPEST or self.nodes > _MOST_NODES:
            raise ValueError("is nested too deeply")
        if isinstance(node, h5py.Group):
            return self._structs(node, depth)
        if node.attrs.get("MATLAB_empty", 0) or node.size is None:
            return np.empty((0, 0))
        if node.size > _MOST_VALUES:
            raise ValueError(f"{node.name} claims {node.size} values")
        value = node[()]
        if not isinstance(value, np.ndarray):
            return np.asarray(value)
        if value.dtype == object:
            return tuple(self._follow(item, depth) for item in value.ravel())
        if node.attrs.get("MATLAB_class") == b"char" and value.dtype.kind == "u":
            return np.array(["".join(chr(min(int(code), 0xD7FF)) for code in value.ravel())])
        return value.T

    def _follow(self, reference: Any, depth: int) -> Any:
        return self.value(self.file[reference], depth + 1) if reference else None

    def _structs(self, group: Any, depth: int) -> list[dict[str, Any]]:
        """One struct; or an array of them, whose fields hold references."""
        import h5py

        fields = {name: group[name] for name in group}
        listed = bool(fields) and all(
            isinstance(field, h5py.Dataset)
            and field.dtype == h5py.ref_dtype
            and "MATLAB_class" not in field.attrs
            for field in fields.values()
        )
        values = {name: self.value(field, depth + 1) for name, field in fields.items()}
        if not listed:
            return [values]
        count = min(len(value) for value in values.values())
        return [{name: value[i] for name, value in values.items()} for i in range(count)]
