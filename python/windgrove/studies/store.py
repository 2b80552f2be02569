"""The folder a sweep keeps its finished chunks in: one file each, found again by variant."""

from __future__ import annotations

import contextlib
import hashlib
import os
import uuid
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from .chunk import ChunkResult

SUFFIX = ".chunk.h5"


def open_store(folder: str | os.PathLike[str]) -> Path:
    """The folder, made if it is missing.

    Raises NotADirectoryError or PermissionError naming it.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(20, "the store of a sweep is a folder, this is a file", str(path))
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(13, "the store is not writable", str(path))
    return path


def save(folder: str | os.PathLike[str], name: str, result: ChunkResult) -> Path:
    """Writes a chunk beside its name and renames it: it is whole, or it is not there."""
    target = Path(folder) / (name + SUFFIX)
    part = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    try:
        with h5py.File(part, "w") as file:
            file.attrs["keys"] = "\n".join(result.keys)
            file.attrs["digest"] = _digest(result.keys, result.values)
            for key, values in result.values.items():
                file.create_dataset(key, data=values)
        with part.open("rb") as raw:
            os.fsync(raw.fileno())
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        raise
    return target


def load(path: Path) -> ChunkResult:
    """Reads a chunk. ValueError where the file is not what was written."""
    try:
        with h5py.File(path, "r") as file:
            keys = tuple(str(file.attrs["keys"]).split("\n"))
            values = {name: np.asarray(item[()]) for name, item in file.items()}
            digest = str(file.attrs["digest"])
    except (OSError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from None
    if digest != _digest(keys, values):
        raise ValueError(f"{path}: its content is not what was written")
    return ChunkResult(keys, values)


def collect(folder: Path, wanted: Iterable[str]) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Results of the wanted variants that the store holds, however they were chunked.

    A damaged file is renamed to ``.damaged`` with a warning, and its variants run again.
    """
    missing = set(wanted)
    found: dict[str, dict[str, NDArray[np.float64]]] = {}
    for path in sorted(folder.glob("*" + SUFFIX)):
        if not missing:
            break
        try:
            chunk = load(path)
        except ValueError as error:
            with contextlib.suppress(FileNotFoundError):
                os.replace(path, path.with_suffix(".damaged"))
            warnings.warn(f"{error}; kept as .damaged and run again", stacklevel=4)
            continue
        for row in rows(chunk):
            if row[0] in missing:
                missing.discard(row[0])
                found[row[0]] = row[1]
    return found


def rows(chunk: ChunkResult) -> Iterable[tuple[str, dict[str, NDArray[np.float64]]]]:
    """(key, arrays of the variant) for every variant of a chunk."""
    for i, key in enumerate(chunk.keys):
        yield key, {name: values[i] for name, values in chunk.values.items()}


def _digest(keys: Iterable[str], values: Mapping[str, NDArray[np.float64]]) -> str:
    digest = hashlib.blake2b("\n".join(keys).encode(), digest_size=16)
    for name in sorted(values):
        array = np.ascontiguousarray(values[name], dtype="<f8")
        digest.update(f"{name}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()
