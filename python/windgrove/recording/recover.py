"""Saving what can be read of a recording that was cut short or damaged."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import h5py
import numpy as np

from .. import checks
from .commit_file import in_use, replay
from .layout import attach
from .storage import STATUS, part_path


def recover_recording(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Copies every frame that can be read into a new, finished recording.

    Needed for a recording made with ``live=True`` whose writer was killed (other programs refuse
    it until then) and for a damaged file; an ordinary ``.part`` opens as it is. A wind's
    ``.vtkhdf.part`` is finished as of its last commit.

    Parameters
    ----------
    path : str or path
        The file left over, usually ``NAME.part``. It is not changed, apart from a commit that a
        killed writer left half done.
    output : str or path, optional
        By default the name without ``.part``, or with ``-recovered`` where there is none.
    overwrite : bool, default False
        Replace `output` where it exists.

    Returns
    -------
    pathlib.Path
        The new file. Its attribute `status` is "recovered".

    Raises
    ------
    FileNotFoundError, FileExistsError, BlockingIOError
        Nothing to recover; something in the way; the writer is still running.
    ValueError
        Not a recording, or nothing in it can be read.
    """
    source, overwrite = checks.path(path, "path"), checks.flag(overwrite, "overwrite")
    if not source.exists() and part_path(source).exists():
        source = part_path(source)
    if not source.exists():
        raise FileNotFoundError(errno.ENOENT, "no such recording", str(source))
    if in_use(source):
        raise BlockingIOError(errno.EAGAIN, "the recorder is still writing this file", str(source))
    replay(source)
    target = Path(output) if output is not None else _default_output(source)
    if target.exists() and not overwrite:
        raise FileExistsError(errno.EEXIST, "exists and overwrite=False", str(target))
    part = target.with_name(target.name + ".recovering")
    with _open_any(source) as old:
        wind = "VTKHDF" in old and "wind" in old
        if not wind and not isinstance(old.get("time"), h5py.Dataset):
            raise ValueError(f"{source}: not a recording: it has no time")
        if not wind:
            with h5py.File(part, "w") as new:
                _copy(old, new)
    if wind:
        # Its last commit is a complete file.
        shutil.copyfile(source, part)
    with part.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(part, target)
    return target


def _default_output(source: Path) -> Path:
    if source.suffix == ".part":
        return source.with_suffix("")
    return source.with_name(f"{source.stem}-recovered{source.suffix}")


def _open_any(source: Path) -> h5py.File:
    try:
        return h5py.File(source, "r", locking=False)
    except OSError as first:
        try:
            return h5py.File(source, "r", swmr=True, libver="latest")
        except OSError:
            raise ValueError(f"{source}: nothing in it can be read ({first})") from first


def _copy(old: h5py.File, new: h5py.File) -> None:
    for name, value in old.attrs.items():
        new.attrs[name] = value
    new.attrs[STATUS] = "recovered"
    growing, fixed = [], []
    for name, item in old.items():
        if isinstance(item, h5py.Dataset) and item.maxshape and item.maxshape[0] is None:
            growing.append(name)
        elif isinstance(item, h5py.Dataset):
            fixed.append(name)
        else:
            old.copy(item, new, name=name)
    for name in fixed:
        new.create_dataset(name, data=old[name][()], dtype=old[name].dtype)
    frames = _readable_frames(old, growing)
    for name in growing:
        _copy_frames(old[name], new, name, frames)
    _copy_attributes(old, new, fixed + growing)


def _readable_frames(old: h5py.File, growing: list[str]) -> int:
    """Frames before the first that cannot be read in any variable."""
    frames = min(len(old[name]) for name in growing)
    time = old["time"]
    while frames and not _reads(time, 0, frames):
        frames -= 1
    good = np.isfinite(time[:frames]) & (np.diff(time[:frames], prepend=-np.inf) > 0)
    frames = frames if good.all() else int(np.argmin(good))
    for name in growing:
        step = old[name].chunks[0]
        start = 0
        while start < frames:
            end = min(start + step, frames)
            if not _reads(old[name], start, end):
                frames = start
            start = end
    return frames


def _reads(dataset: h5py.Dataset, start: int, end: int) -> bool:
    try:
        dataset[start:end]
    except (OSError, RuntimeError):
        return False
    return True


def _copy_frames(source: h5py.Dataset, new: h5py.File, name: str, frames: int) -> None:
    target = new.create_dataset(
        name,
        (frames, *source.shape[1:]),
        dtype=source.dtype,
        maxshape=source.maxshape,
        chunks=source.chunks,
        compression=source.compression,
        compression_opts=source.compression_opts,
        shuffle=source.shuffle,
        fletcher32=source.fletcher32,
        fillvalue=source.fillvalue,
    )
    for start in range(0, frames, source.chunks[0]):
        end = min(start + source.chunks[0], frames)
        target[start:end] = source[start:end]


def _copy_attributes(old: h5py.File, new: h5py.File, names: list[str]) -> None:
    internal = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_Netcdf4Dimid"}
    scales = [name for name in names if old[name].is_scale]
    for name in scales:
        new[name].make_scale(name)
    for name in names:
        for key, value in old[name].attrs.items():
            if key not in internal:
                new[name].attrs[key] = value
        if name not in scales:
            dims = [old[name].dims[axis][0].name.lstrip("/") for axis in range(old[name].ndim)]
            attach(new, new[name], dims)
