"""How a recording lies in HDF5: what netCDF-4 readers expect, written by hand with h5py.

Dimensions are dimension scales at the root, every variable has them attached, texts are UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES = 256 * 1024
LEAST_CHUNK_BYTES = 64 * 1024
SHARED_BYTES = 2 * 1024 * 1024
# HDF5 keeps an attribute below 64 KiB in the old format; longer texts become variables.
LONGEST_ATTRIBUTE = 60_000
LONG_TEXTS = "long_attributes"
SCHEMA_VERSION = 1

_COORDINATE_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "instance": {"long_name": "tree"},
    "branch": {"long_name": "index of the branch in the tree"},
    "component": {"long_name": "axis"},
    "length": {"units": "m", "long_name": "length of the branch"},
    "frequency": {"units": "Hz", "long_name": "undamped natural frequency that was set"},
    "damping_ratio": {"units": "1", "long_name": "damping ratio that was set"},
    "level": {"long_name": "depth in the tree, 0 for a root"},
    "parent": {"long_name": "index of the parent, -1 for a root"},
    "kind": {
        "long_name": "kind of branch",
        "flag_values": np.array([0, 1, 2], dtype=np.uint8),
        "flag_meanings": "trunk branch foliage",
    },
}


@dataclass(frozen=True)
class ChannelSpec:
    """One recorded quantity.

    Attributes
    ----------
    units : str
        As CF writes them: "rad", "m", "m s-1", "1".
    dims : tuple of str
        The dimensions after time.
    long_name : str
        For plots and people.
    dtype : str
        Any real or integer NumPy type; float32 by default.
    attrs : mapping
        More attributes of the variable.
    """

    units: str = "1"
    dims: tuple[str, ...] = ("instance", "branch", "component")
    long_name: str = ""
    dtype: str = "float32"
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Coordinate:
    """A variable that does not change with time."""

    dims: tuple[str, ...]
    values: NDArray[Any]
    attrs: Mapping[str, Any]


def coordinate(name: str, given: Any) -> Coordinate:
    """Reads one entry of `coords`: values, or (dims, values), or (dims, values, attrs)."""
    dims: tuple[str, ...] = (name,)
    attrs: Mapping[str, Any] = {}
    if isinstance(given, tuple) and len(given) in (2, 3) and _is_dims(given[0]):
        dims = (given[0],) if isinstance(given[0], str) else tuple(given[0])
        values = np.asarray(given[1])
        attrs = given[2] if len(given) == 3 else {}
    else:
        values = np.asarray(given)
    if values.ndim != len(dims):
        raise ValueError(f"coords[{name!r}]: expected {len(dims)} dimension(s), got {values.ndim}")
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    if values.dtype.kind not in "iufUSO":
        raise TypeError(f"coords[{name!r}]: expected numbers or texts, got dtype {values.dtype}")
    return Coordinate(dims, values, {**_COORDINATE_ATTRIBUTES.get(name, {}), **attrs})


def _is_dims(value: Any) -> bool:
    if isinstance(value, str):
        return True
    return isinstance(value, (tuple, list)) and all(isinstance(item, str) for item in value)


def chunk_shape(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Chunk of a variable (time, *shape): about 256 KiB, at least 64 KiB, whole frames if small.

    Frames above 256 KiB are cut along their first dimensions; as many as make 2 MiB then share a
    chunk, so that the series of one branch needs few reads and a flush in the middle of a chunk
    writes little again.
    """
    frame = max(int(np.prod(shape, dtype=np.int64)), 1) * itemsize
    if frame <= CHUNK_BYTES:
        return (max(1, CHUNK_BYTES // frame), *map(int, shape))
    frames = int(max(SHARED_BYTES // frame, 1))
    cut = list(map(int, shape))
    for axis in range(len(cut)):
        rest = int(np.prod(cut[axis + 1 :], dtype=np.int64)) * itemsize * frames
        whole = int(np.prod(cut, dtype=np.int64)) * itemsize * frames
        if whole <= CHUNK_BYTES:
            break
        cut[axis] = int(np.clip(CHUNK_BYTES // rest, 1, cut[axis]))
    return (frames, *cut)


def plain(value: Any) -> Any:
    """Dataclasses, arrays, paths and tuples as what JSON can hold; floats keep every digit."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def set_attribute(target: h5py.File | h5py.Dataset | h5py.Group, name: str, value: Any) -> None:
    """Writes one attribute: numbers as numbers, texts as text, anything else as JSON."""
    if value is None:
        return
    if isinstance(value, (bool, np.bool_)):
        value = np.int32(value)
    elif isinstance(value, (int, np.integer)) and not isinstance(value, np.generic):
        value = np.int64(value) if -(2**63) <= value < 2**63 else str(value)
    elif isinstance(value, float):
        value = np.float64(value)
    elif not isinstance(value, (str, np.generic)) and not _numeric_array(value):
        value = json.dumps(plain(value), sort_keys=True)
    if isinstance(value, str) and len(value.encode()) > LONGEST_ATTRIBUTE:
        group = target.file.require_group(LONG_TEXTS)
        group.create_dataset(name, data=value, dtype=h5py.string_dtype())
        value = f"see the variable {LONG_TEXTS}/{name}"
    target.attrs[name] = value


def _numeric_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.size > 0


def write_coordinates(file: h5py.File, coords: Mapping[str, Coordinate]) -> None:
    """Writes dimension coordinates as scales first, then what depends on them."""
    scales = [name for name, c in coords.items() if c.dims == (name,)]
    rest = [name for name in coords if name not in scales]
    for name in scales + rest:
        dataset = write_static(file, name, coords[name])
        if name in scales:
            dataset.make_scale(name)
    for name in rest:
        attach(file, file[name], coords[name].dims)


def write_static(group: h5py.Group, name: str, given: Coordinate) -> h5py.Dataset:
    """Creates a variable that is written once."""
    values = given.values
    if values.dtype.kind in "USO":
        texts = [item.decode() if isinstance(item, bytes) else str(item) for item in values.flat]
        values = np.array(texts, dtype=object).reshape(values.shape)
        dataset = group.create_dataset(name, data=values, dtype=h5py.string_dtype())
    else:
        big = values.size * values.itemsize >= LEAST_CHUNK_BYTES
        packing: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
        dataset = group.create_dataset(name, data=values, **(packing if big else {}))
    for key, value in given.attrs.items():
        set_attribute(dataset, key, value)
    return dataset


def write_group(file: h5py.File, path: str, variables: Mapping[str, Any]) -> None:
    """Writes arrays that are not over the recording's dimensions, such as a tree, into a group.

    Dimensions get their own scales in the group, without values.
    """
    group = file.require_group(path)
    read = {name: coordinate(name, value) for name, value in variables.items()}
    for name, given in read.items():
        dataset = write_static(group, name, given)
        if given.dims == (name,):
            dataset.make_scale(name)
    for name, given in read.items():
        for dim, size in zip(given.dims, given.values.shape, strict=True):
            if dim not in group:
                empty_scale(group, dim, size)
        if given.dims != (name,):
            attach(group, group[name], given.dims)


def empty_scale(group: h5py.Group, name: str, size: int) -> None:
    """A dimension without coordinate values, as netCDF-4 writes it."""
    scale = group.create_dataset(name, shape=(size,), dtype=">f4")
    scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{size:10d}")


def attach(group: h5py.Group, dataset: h5py.Dataset, dims: Sequence[str]) -> None:
    """Attaches the scales of its dimensions to a variable."""
    for axis, dim in enumerate(dims):
        dataset.dims[axis].attach_scale(group[dim])


def write_channels(
    file: h5py.File,
    channels: Mapping[str, ChannelSpec],
    coords: Mapping[str, Coordinate],
    compression: str | None,
) -> None:
    """Creates time and the recorded variables, empty and growing along time."""
    packing: dict[str, Any] = {"fletcher32": True}
    if compression == "gzip":
        packing |= {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    time = file.create_dataset(
        "time", (0,), dtype="f8", maxshape=(None,), chunks=(LEAST_CHUNK_BYTES // 8,), **packing
    )
    time.make_scale("time")
    for key, value in {"units": "s", "axis": "T", "long_name": "time"}.items():
        time.attrs[key] = value
    secondary = [name for name, c in coords.items() if c.dims != (name,)]
    for name, spec in channels.items():
        shape = tuple(len(coords[dim].values) for dim in spec.dims)
        dtype = np.dtype(spec.dtype)
        dataset = file.create_dataset(
            name,
            (0, *shape),
            dtype=dtype,
            maxshape=(None, *shape),
            chunks=chunk_shape(shape, dtype.itemsize),
            fillvalue=np.nan if dtype.kind == "f" else None,
            **packing,
        )
        attach(file, dataset, ("time", *spec.dims))
        along = [c for c in secondary if set(coords[c].dims) <= set(spec.dims)]
        attributes = {"units": spec.units, "long_name": spec.long_name or name, **spec.attrs}
        if along:
            attributes["coordinates"] = " ".join(along)
        for key, value in attributes.items():
            set_attribute(dataset, key, value)
        if dtype.kind == "f":
            dataset.attrs["_FillValue"] = np.array([np.nan], dtype=dtype)
