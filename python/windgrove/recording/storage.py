"""The file under a recorder: opening, writing, flushing and finishing it, and what can go wrong."""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import platform
import shutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from ..files import refuse_special
from . import layout
from .commit_file import CommitFile, in_use, journal_path, replay
from .layout import ChannelSpec, Coordinate
from .packing import PackedChannel, PlainChannel, channel_writer

# Readers down to HDF5 1.10 understand these; "latest" of HDF5 2.0 they do not.
_LIVE_FORMAT = ("v110", "v110")
_LIVE_MARGIN = 1 << 20  # bytes for the metadata of one block
_LOCK_ERRORS = (errno.EAGAIN, errno.EACCES, errno.ENOLCK, errno.ENOSYS)
STATUS = "status"
_FULL = {
    errno.ENOSPC: " (make room, or record fewer channels, branches or frames)",
    errno.EDQUOT: " (make room, or record fewer channels, branches or frames)",
    errno.EFBIG: " (a limit of the file system, or of `ulimit -f`)",
}


def part_path(path: str | os.PathLike[str]) -> Path:
    """The name a recording has until it is complete."""
    return Path(os.fspath(path) + ".part")


def absolute(path: str | os.PathLike[str]) -> Path:
    """The same file, wherever the working folder goes while it is written."""
    try:
        return Path(os.path.abspath(path))
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT, "the working folder does not exist any more", os.fspath(path)
        ) from None


def claim_part(path: Path, *, overwrite: bool, append: bool) -> None:
    """Refuses what cannot be written and moves a leftover ``.part`` out of the way."""
    refuse_special(path)
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "the folder to record into does not exist; make it first", str(folder)
        )
    if path.exists() and not overwrite and not append:
        raise FileExistsError(
            errno.EEXIST, "exists and overwrite=False; choose another name", str(path)
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "the folder is not writable", str(folder))
    part = part_path(path)
    if not part.exists():
        journal_path(part).unlink(missing_ok=True)
        return
    if in_use(part):
        raise BlockingIOError(errno.EAGAIN, "another recorder is writing this file", str(part))
    replay(part)
    moved = _free_name(part)
    os.rename(part, moved)
    warnings.warn(
        f"{part}: left over from a run that was cut short; kept as {moved.name}", stacklevel=4
    )


def _free_name(part: Path) -> Path:
    number = 1
    while True:
        name = part.with_name(f"{part.name}.{number}")
        if not name.exists():
            return name
        number += 1


class Storage:
    """An open recording file. Used by one thread at a time.

    Attributes
    ----------
    frames : int
        Frames in the file.
    last_time : float
        s, of the last of them; -inf where there is none.
    last_flushed_time : float
        s, of the last frame that a reader finds.
    """

    def __init__(self, path: Path, *, live: bool) -> None:
        self.path = path
        self.part = part_path(path)
        self.live = live
        self.frames = 0
        self.last_time = -np.inf
        self.last_flushed_time = -np.inf
        self._commit: CommitFile | None = None
        self._file: h5py.File | None = None
        self._channels: dict[str, PackedChannel | PlainChannel] = {}

    def create(
        self,
        channels: Mapping[str, ChannelSpec],
        coords: Mapping[str, Coordinate],
        attrs: Mapping[str, Any],
        groups: Mapping[str, Mapping[str, Any]],
        compression: str | None,
    ) -> None:
        """Lays the file out; it can be read, without frames, when this returns."""
        if self.live:
            os.close(os.open(self.part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            self._file = h5py.File(self.part, "w", libver=_LIVE_FORMAT)
        else:
            self._commit = CommitFile(self.part)
            self._file = h5py.File(self._commit, "w")
        for name, value in {**_standard_attributes(), **attrs}.items():
            layout.set_attribute(self._file, name, value)
        self._set_status("recording")
        layout.write_coordinates(self._file, coords)
        layout.write_channels(self._file, channels, coords, compression)
        for name, variables in groups.items():
            layout.write_group(self._file, name, variables)
        self._bind(channels)
        if self.live:
            self._file.swmr_mode = True
        self.flush()

    def resume(self, channels: Mapping[str, ChannelSpec], coords: Mapping[str, Coordinate]) -> None:
        """Continues a copy of the recording at `path`; the file itself is not touched."""
        with self.part.open("xb"):
            pass
        shutil.copyfile(self.path, self.part)
        self._commit = CommitFile(self.part, existing=True)
        try:
            self._file = h5py.File(self._commit, "r+")
            _check_same(self.path, self._file, channels, coords)
        except BaseException as error:
            self.abandon()
            self.part.unlink()
            if isinstance(error, OSError):
                raise ValueError(f"{self.path}: append: not a recording ({error})") from None
            raise
        self._bind(channels)
        self.frames = len(self._file["time"])
        if self.frames:
            self.last_time = float(self._file["time"][-1])
        self._set_status("recording")
        self.flush()

    @property
    def flushed(self) -> bool:
        """Whether a reader finds every frame that was written."""
        return self.last_flushed_time == self.last_time

    def _bind(self, channels: Mapping[str, ChannelSpec]) -> None:
        assert self._file is not None
        self._channels = {
            name: channel_writer(self._file[name], live=self.live) for name in channels
        }
        self._time = self._file["time"]

    def write(self, times: NDArray[np.float64], data: Mapping[str, NDArray[Any]]) -> None:
        """Adds frames; they are in the file after the next `flush`."""
        start, end = self.frames, self.frames + len(times)
        if self.live:
            self._reserve(times.nbytes + sum(values.nbytes for values in data.values()))
        for name, channel in self._channels.items():
            channel.append(data[name])
        if self.live:
            # A reader that sees a time must find the frame.
            for channel in self._channels.values():
                channel.dataset.flush()
        self._time.resize(end, axis=0)
        self._time[start:end] = times
        if self.live:
            self._time.flush()
        self.frames, self.last_time = end, float(times[-1])

    def _reserve(self, size: int) -> None:
        """Takes room on the disk first: HDF5 does not survive a write that fails."""
        fd = os.open(self.part, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.posix_fallocate(fd, 0, os.fstat(fd).st_size + size + _LIVE_MARGIN)
        finally:
            os.close(fd)

    def flush(self, *, final: bool = False) -> None:
        """Makes the frames written so far readable, kill or no kill."""
        assert self._file is not None
        for channel in self._channels.values():
            channel.flush(final=final)
        self._file.flush()
        if self._commit is not None:
            self._commit.commit()
        self.last_flushed_time = self.last_time

    def finish(self, status: str, *, rename: bool) -> None:
        """Closes the file for good and gives it its name."""
        assert self._file is not None
        self.flush(final=True)
        if self.live:
            # Attributes cannot be changed in this mode.
            self._file.close()
            self._file = h5py.File(self.part, "r+", libver=_LIVE_FORMAT)
        self._set_status(status)
        self._channels, self._time = {}, None
        self._file.close()
        self._file = None
        if self._commit is not None:
            self._commit.commit()
            self._commit.sync()
            self._commit.close()
        else:
            _sync(self.part)
        if rename:
            os.replace(self.part, self.path)
            _sync(self.path.parent)

    def abandon(self) -> None:
        """Lets go of the file after a failure; the last flushed state stays on disk."""
        file, self._file = self._file, None
        self._channels, self._time = {}, None
        if self._commit is not None and self._commit.error is None:
            self._commit.error = OSError(errno.EIO, "abandoned")
        if file is not None:
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                file.close()
        if self._commit is not None:
            self._commit.close()

    def _set_status(self, status: str) -> None:
        assert self._file is not None
        self._file.attrs[STATUS] = status


def open_storage(
    path: Path,
    *,
    channels: Mapping[str, ChannelSpec],
    coords: Mapping[str, Coordinate],
    attrs: Mapping[str, Any],
    groups: Mapping[str, Mapping[str, Any]],
    live: bool,
    append: bool,
    compression: str | None,
) -> Storage:
    """Creates the ``.part`` file, or continues a copy of `path`."""
    storage = Storage(path, live=live)
    try:
        if append and path.exists():
            storage.resume(channels, coords)
        else:
            storage.create(channels, coords, attrs, groups, compression)
    except OSError as error:
        storage.abandon()
        raise explain(error, storage.part, storage.frames, storage.last_time) from error
    except BaseException:
        storage.abandon()
        storage.part.unlink(missing_ok=True)
        raise
    return storage


def explain(error: OSError, part: Path, frames: int, last_time: float) -> OSError:
    """The same kind of error, saying which file, what was kept and what helps."""
    number = error.errno or _errno_in(str(error)) or errno.EIO
    if number in _LOCK_ERRORS and "lock" in str(error).lower():
        text = (
            "the file system refuses the lock (network file systems often do); set the "
            "environment variable HDF5_USE_FILE_LOCKING=FALSE if nobody else writes this file"
        )
    else:
        text = os.strerror(number) if error.errno else str(error)
    advice = _FULL.get(number, "")
    kept = "; no frame was written" if advice else ""
    if frames:
        what = f"the {frames} frames up to {last_time:g} s are" if frames > 1 else "one frame is"
        kept = f"; {what} kept in it"
    return type(error)(number, f"recording stopped: {text}{advice}{kept}", str(part))


def _errno_in(text: str) -> int | None:
    """HDF5 reports the system's error number in its text only."""
    _, found, rest = text.partition("errno = ")
    digits = rest.split(",")[0].strip()
    return int(digits) if found and digits.isdecimal() else None


def _check_same(
    path: Path,
    file: h5py.File,
    channels: Mapping[str, ChannelSpec],
    coords: Mapping[str, Coordinate],
) -> None:
    if "time" not in file:
        raise ValueError(f"{path}: append: not a recording: it has no time")
    recorded = {
        name for name, item in file.items() if isinstance(item, h5py.Dataset) and _grows(item)
    }
    if recorded - {"time"} != set(channels):
        raise ValueError(
            f"{path}: append: it holds the channels {sorted(recorded - {'time'})}, "
            f"the run records {sorted(channels)}"
        )
    for name, spec in channels.items():
        shape = tuple(len(coords[dim].values) for dim in spec.dims)
        if file[name].shape[1:] != shape or file[name].dtype != np.dtype(spec.dtype):
            raise ValueError(
                f"{path}: append: {name} has the frame shape {file[name].shape[1:]} "
                f"{file[name].dtype}, the run has {shape} {spec.dtype}"
            )
    for name, given in coords.items():
        if name in file and given.values.dtype.kind in "iuf":
            there = file[name][()]
            if not np.array_equal(there, given.values, equal_nan=given.values.dtype.kind == "f"):
                raise ValueError(f"{path}: append: {name} differs from that of the run")


def _grows(dataset: h5py.Dataset) -> bool:
    return bool(dataset.maxshape) and dataset.maxshape[0] is None


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _standard_attributes() -> dict[str, Any]:
    import windgrove

    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    attributes = {
        "Conventions": "CF-1.11",
        "title": "windgrove recording",
        "history": f"{now} recorded by windgrove {windgrove.__version__}",
        "schema_version": layout.SCHEMA_VERSION,
        "windgrove_version": windgrove.__version__,
        "windgrove_commit": _kernels.commit,
        "software": (
            f"Python {platform.python_version()}, NumPy {np.__version__}, h5py {h5py.__version__}, "
            f"HDF5 {h5py.version.hdf5_version}, {sys.platform}"
        ),
    }
    return attributes
