"""Opening recordings: finished, running, or cut short."""

from __future__ import annotations

import errno
import os
import time as clock
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr

from .. import checks
from .commit_file import in_use, journal_path, replay
from .layout import LONG_TEXTS
from .recover import recover_recording
from .storage import part_path

__all__ = ["open_recording", "recover_recording"]

_MAGIC = b"\x89HDF\r\n\x1a\n"
_PATIENCE = 1.0  # s; a commit takes milliseconds


def open_recording(path: str | os.PathLike[str], *, live: bool = False) -> xr.Dataset:
    """Opens a recording; arrays are read when they are used.

    Parameters
    ----------
    path : str or path
        A recording, finished or not. Where it does not exist but ``NAME.part`` does, that is
        opened with a warning: the run is still going on or was cut short.
    live : bool, default False
        Follow a recording made with ``live=True`` that another process is writing. Open again to
        see later frames.

    Returns
    -------
    xarray.Dataset
        With units; `time` in s, texts of any length in `attrs`.

    Raises
    ------
    FileNotFoundError, PermissionError, OSError
        The file is not there, or another program holds its lock.
    ValueError
        It is not a recording.
    """
    live = checks.flag(live, "live")
    found = _find(checks.path(path, "path"))
    replay(found)
    keywords: dict[str, Any] = {"swmr": True} if live else {}
    dataset = _open_patiently(found, keywords)
    if "time" not in dataset.dims:
        dataset.close()
        raise ValueError(f"{found}: not a recording: {_instead(found)}")
    _restore_texts(dataset, found, keywords)
    return dataset


def _find(path: Path) -> Path:
    part = part_path(path)
    if not path.exists() and part.exists():
        state = "is still being written" if in_use(part) else "was cut short"
        warnings.warn(f"{path}: the recording {state}; opening {part.name}", stacklevel=3)
        path = part
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "no such recording", str(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a recording", str(path))
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
    if head != _MAGIC:
        raise ValueError(f"{path}: not a recording: not an HDF5 file")
    return path


def _open_patiently(path: Path, keywords: dict[str, Any]) -> xr.Dataset:
    """A writer may be in the middle of a commit: an error is final when it lasts."""
    end = clock.monotonic() + _PATIENCE
    while True:
        try:
            return _open(path, keywords)
        except (OSError, RuntimeError, KeyError) as error:
            if isinstance(error, PermissionError):
                raise
            if clock.monotonic() > end or not (journal_path(path).exists() or in_use(path)):
                raise _explain(error, path) from error
            clock.sleep(0.02)
        except ValueError as error:  # older h5netcdf: data without dimensions
            raise ValueError(f"{path}: not a recording: {error}") from error


def _instead(path: Path) -> str:
    """What a file without a time is."""
    try:
        with h5py.File(path, "r") as file:
            grids = "VTKHDF" in file
    except OSError:
        grids = False
    return "it holds the grids of a wind (VTKHDF)" if grids else "it has no time"


def _open(path: Path, keywords: dict[str, Any]) -> xr.Dataset:
    try:
        return _open_whole(path, keywords)
    except OSError as error:
        if _is_lock(error):
            return _open_whole(path, {**keywords, "locking": False})
        if _is_marked(error):
            # A live recording whose writer was killed.
            return _open_whole(path, {"swmr": True})
        raise


def _open_whole(path: Path, keywords: dict[str, Any]) -> xr.Dataset:
    """The frames that every variable has, and whose time is there.

    Of a live recording the variables grow one after the other, and shorter ones would be filled up;
    so the lengths are read first, as nothing ever shrinks.
    """
    with h5py.File(path, "r", **keywords) as file:
        lengths = [len(item) for item in file.values() if _grows(item)]
    dataset = xr.open_dataset(path, engine="h5netcdf", driver_kwds=dict(keywords))
    if "time" not in dataset.dims or "time" not in dataset.variables:
        return dataset
    time = dataset["time"].values
    frames = min([*lengths, len(time)])
    if time.dtype.kind == "f":
        good = np.isfinite(time[:frames]) & (np.diff(time[:frames], prepend=-np.inf) > 0)
        frames = frames if good.all() else int(np.argmin(good))
    if frames == len(time):
        return dataset
    whole = dataset.isel(time=slice(0, frames))
    whole.encoding = dataset.encoding
    whole.set_close(dataset.close)
    return whole


def _grows(item: Any) -> bool:
    return isinstance(item, h5py.Dataset) and bool(item.maxshape) and item.maxshape[0] is None


def _is_lock(error: BaseException) -> bool:
    text = str(error)
    return "unable to lock file" in text or getattr(error, "errno", None) in (
        errno.EAGAIN,
        errno.ENOLCK,
    )


def _is_marked(error: BaseException) -> bool:
    text = str(error)
    return "already open for" in text or "consistency flag" in text


def _explain(error: BaseException, path: Path) -> OSError:
    if _is_lock(error):
        return OSError(
            errno.EAGAIN,
            "another program holds the lock of this file; close it, or set the environment "
            "variable HDF5_USE_FILE_LOCKING=FALSE if that program only reads",
            str(path),
        )
    return OSError(
        errno.EIO,
        f"cannot be read ({error}); windgrove.recover_recording saves the frames that can",
        str(path),
    )


def _restore_texts(dataset: xr.Dataset, path: Path, keywords: dict[str, Any]) -> None:
    long = [k for k, v in dataset.attrs.items() if v == f"see the variable {LONG_TEXTS}/{k}"]
    if long:
        with _open_beside(path, keywords) as file:
            for name in long:
                dataset.attrs[name] = file[LONG_TEXTS][name].asstr()[()]


def _open_beside(path: Path, keywords: dict[str, Any]) -> h5py.File:
    """A second handle of a file that xarray has open: HDF5 wants the same locking for both."""
    for more in ({}, {"locking": False}, {"swmr": True}):
        try:
            return h5py.File(path, "r", **{**keywords, **more})
        except OSError as error:
            last = error
    raise last
