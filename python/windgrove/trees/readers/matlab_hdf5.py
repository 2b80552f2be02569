"""MATLAB 7.3 files: HDF5 with a user block; structs are groups, arrays are stored transposed.

Gives what `windgrove.trees.readers.matlab` gives for the older files, so that one reader serves
both: arrays, lists of dicts for struct arrays, tuples for cell arrays.

A damaged file can send the HDF5 library into an endless loop, which nothing in the same process
can stop. So it is read in a process of its own, with a limit on its time and memory; what comes
back are plain arrays.
"""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import numpy as np

from ..cylinders import Notes
from .source import Content

_DEEPEST = 8
_MOST_VALUES = 2**28
_MOST_NODES = 200_000
_LONGEST_CELL = 100  # cell arrays of more hold lists of neighbours and the like
_SECONDS = 60.0
_MEMORY = 4 * 2**30


def load_hdf5(content: Content, notes: Notes) -> dict[str, Any]:
    """Variables of the file; whatever HDF5 stumbles over is a TreeFormatError."""
    serve_call = "from windgrove.trees.readers import matlab_hdf5 as m; m.serve()"
    try:
        child = subprocess.run(
            [sys.executable, "-c", serve_call],
            input=content.raw,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        notes.refuse(f"is a broken MATLAB 7.3 file: HDF5 was not done with it after {_SECONDS:g} s")
        raise
    if child.returncode:
        said = child.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1][:200] if said else f"HDF5 crashed ({child.returncode})"
        notes.refuse(f"is a broken MATLAB 7.3 file: {reason}")
    with np.load(io.BytesIO(child.stdout), allow_pickle=False) as arrays:
        return _nested({name: arrays[name] for name in arrays.files})


def serve() -> None:
    """The process that reads: the file from the standard input, its arrays to the output."""
    import resource

    import h5py

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    flat: dict[str, np.ndarray] = {}
    try:
        with h5py.File(io.BytesIO(sys.stdin.buffer.read()), "r") as file:
            walk = _Walk(file)
            for name in file:
                if not name.startswith("#"):
                    _flatten(walk.value(file[name], 0), f"d{name}", flat)
    except Exception as error:  # h5py raises whatever HDF5 stumbles over
        sys.exit(f"{type(error).__name__}: {error}")
    target = io.BytesIO()
    np.savez(target, **flat)  # type: ignore[arg-type]
    sys.stdout.buffer.write(target.getvalue())


def _flatten(value: Any, path: str, flat: dict[str, np.ndarray]) -> None:
    """Arrays by path: d before a field, l before a row of a struct array, t of a cell array."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        flat[path] = value
    elif isinstance(value, list):
        for i, record in enumerate(value):
            for name, item in record.items():
                _flatten(item, f"{path}|l{i}|d{name}", flat)
    elif isinstance(value, tuple) and len(value) <= _LONGEST_CELL:
        for i, item in enumerate(value):
            _flatten(item, f"{path}|t{i}", flat)


def _nested(flat: dict[str, np.ndarray]) -> dict[str, Any]:
    """The opposite of `_flatten`; what was left out of a list or tuple closes up."""
    tree: dict[str, Any] = {}
    for path, array in flat.items():
        at = tree
        *inner, last = path.split("|")
        for part in inner:
            at = at.setdefault(part, {})
        at[last] = array
    return {name[1:]: _closed(value) for name, value in tree.items()}


def _closed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kind = next(iter(value))[0]
    if kind == "d":
        return {name[1:]: _closed(item) for name, item in value.items()}
    items = [_closed(item) for item in value.values()]
    return items if kind == "l" else tuple(items)


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
