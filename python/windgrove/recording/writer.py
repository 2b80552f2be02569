"""Recorder: frames go in, a netCDF-4 readable HDF5 file comes out, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import os
import threading
import time as clock
from collections import deque
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .. import checks
from .interrupts import patient_interrupts
from .layout import ChannelSpec, Coordinate, chunk_shape, coordinate
from .storage import absolute, claim_part, explain, open_storage, part_path

__all__ = ["ChannelSpec", "RecordingWriter", "part_path"]

FLUSH_INTERVAL = 0.5  # s, half of what is promised: a block may be on its way already
# Bytes after which the file is flushed first, then at each doubling: where the disk is full before
# the first interval is over, half of what fits is kept.
FIRST_FLUSH = 256 * 1024
BLOCK_BYTES = 8 * 1024 * 1024
WAITING_BLOCKS = 3  # beside the one that is filled and the one that is packed


class _Part(NamedTuple):
    time: NDArray[np.float64]
    data: dict[str, NDArray[Any]]


class _Block:
    """Frames in memory, on their way to the file."""

    def __init__(
        self, frames: int, shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, DTypeLike]
    ) -> None:
        self.time = np.empty(frames)
        self.data = {name: np.empty((frames, *shapes[name]), types[name]) for name in shapes}
        self.written = 0
        self.count = 0
        self.room = frames

    def part(self) -> _Part:
        """What is not in the file yet; later frames may be added meanwhile."""
        part = slice(self.written, self.count)
        self.written = self.count
        return _Part(self.time[part], {name: values[part] for name, values in self.data.items()})

    def put(self, times: NDArray[Any], data: Mapping[str, NDArray[Any]], start: int) -> int:
        """Copies frames from `start` on, as many as there is room for."""
        at, count = self.count, min(self.room - self.count, len(times) - start)
        self.time[at : at + count] = times[start : start + count]
        for name, values in data.items():
            self.data[name][at : at + count] = values[start : start + count]
        self.count = at + count
        return count


class RecordingWriter:
    """Writes frames to ``NAME.part`` and renames it to ``NAME`` at the end.

    Frames are copied into a block in memory; a thread of the writer's own packs full blocks, and
    twice a second whatever is there, into the file. Memory is constant: at most five blocks of
    about 8 MiB each, or of one frame where that is larger; where the file does not keep up,
    `append` waits. The file can be read after a kill at any moment: it always holds the frames up
    to the last flush (`recording.commit_file` says how).

    Parameters
    ----------
    path : str or path
        The file to make; its folder must exist.
    channels : mapping of str to ChannelSpec
        What every frame holds, beside its time.
    coords : mapping
        Every dimension of the channels, and variables that do not change: values, ``(dims,
        values)`` or ``(dims, values, attrs)``.
    attrs : mapping, optional
        Attributes of the file: texts, numbers, or anything JSON can hold, of any length.
    groups : mapping of str to mapping, optional
        Arrays over other dimensions, such as a tree: ``{"tree": {"length": ("node", values)}}``.
    overwrite : bool, default True
        False refuses, before anything is touched, where `path` exists.
    live : bool, default False
        Single-writer-multiple-readers mode: ``open_recording(path, live=True)`` of another
        process follows the run. Local file systems only; needs HDF5 1.10 to read.
    append : bool, default False
        Continue the recording that `path` holds: its channels and dimensions must be the same,
        times must go on. The file stays as it is until `close`.
    compression : {"gzip", None}, default "gzip"
        gzip level 1 with shuffle; checksums are always on.

    Raises
    ------
    FileExistsError, FileNotFoundError, PermissionError, OSError
        Naming the path and what to do. After a failure of the disk the frames written before it
        stay in ``NAME.part``, and the error says how many they are.
    ValueError, TypeError
        Naming the channel or coordinate that does not fit.

    Notes
    -----
    Used as a context manager it closes at the end. After an exception the file keeps every frame
    appended before it: after ``KeyboardInterrupt`` under its own name, with the attribute `status`
    "interrupted"; after any other as ``NAME.part``, so that an older recording is not replaced by
    half of a new one.

    Examples
    --------
    >>> import tempfile
    >>> spec = ChannelSpec("rad", dims=("branch",))
    >>> path = tempfile.mkdtemp() + "/two.h5"
    >>> with RecordingWriter(path, channels={"angle": spec}, coords={"branch": [0, 1]}) as writer:
    ...     writer.append([0.0, 0.1], {"angle": np.zeros((2, 2))})
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        channels: Mapping[str, ChannelSpec],
        coords: Mapping[str, Any],
        attrs: Mapping[str, Any] | None = None,
        groups: Mapping[str, Mapping[str, Any]] | None = None,
        overwrite: bool = True,
        live: bool = False,
        append: bool = False,
        compression: str | None = "gzip",
    ) -> None:
        if compression is not None:
            checks.choice(compression, "compression", ["gzip"])
        overwrite, live = checks.flag(overwrite, "overwrite"), checks.flag(live, "live")
        append = checks.flag(append, "append")
        if live and append:
            raise ValueError("live: a recording that is appended to cannot be followed live")
        self.path = absolute(path)
        self.part = part_path(self.path)
        read = {name: coordinate(name, value) for name, value in coords.items()}
        self._shapes = _channel_shapes(channels, read)
        self._types = {name: np.dtype(spec.dtype) for name, spec in channels.items()}
        claim_part(self.path, overwrite=overwrite, append=append)
        self._storage = open_storage(
            self.path,
            channels=channels,
            coords=read,
            attrs=attrs or {},
            groups=groups or {},
            live=live,
            append=append,
            compression=compression,
        )
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._last_time = self._storage.last_time
        self._appended = self._storage.frames
        self._frames = _block_frames(self._shapes, self._types)
        self._changed = threading.Condition()
        self._spare: list[_Block] = []
        self._block = self._new_block(self._appended)
        self._ready: deque[_Block] = deque()
        self._flushed = self._appended
        self._flush_wanted = False
        sizes = (int(np.prod(s)) * self._types[name].itemsize for name, s in self._shapes.items())
        self._few = max(FIRST_FLUSH // max(sum(sizes), 1), 1)
        if self._storage.live:
            # Each of its writes takes room for the metadata of a whole block.
            self._few = self._frames
        self._flush_at = self._appended + self._few
        self._early = False
        self._finish: tuple[str, bool] | None = None
        self._error: BaseException | None = None
        self._due = clock.monotonic() + FLUSH_INTERVAL
        # All calls of HDF5 are made there: a signal handler runs in the main thread only, so that
        # Ctrl-C cannot break off a write in the middle.
        self._worker = threading.Thread(target=self._work, name="windgrove-recorder", daemon=True)
        self._worker.start()

    @property
    def frames(self) -> int:
        """Frames appended so far, those of a continued recording included."""
        return self._appended

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._finish is not None

    def append(self, time: ArrayLike, data: Mapping[str, ArrayLike]) -> None:
        """Adds frames.

        Parameters
        ----------
        time : float or array_like, shape (t,)
            s, increasing, above the last time.
        data : mapping of str to array_like
            One entry for every channel, (t, ...) or without the first axis where `time` is one
            number. Copied. NaN stands for "no value".
        """
        if self.closed:
            raise ValueError(f"{self.path}: the recording is closed")
        times = self._check_time(time)
        arrays = self._check_data(len(times), data)
        done = 0
        while done < len(times):
            with self._undivided():
                self._make_room()
                count = self._block.put(times, arrays, done)
                self._added(count, float(times[done + count - 1]))
                done += count

    def reserve(self, frames: int) -> dict[str, NDArray[Any]]:
        """Memory of the recorder for the next frames, which saves copying them.

        Parameters
        ----------
        frames : int
            As many as will be there, at least one.

        Returns
        -------
        dict of str to array
            For every channel (t, ...), with t from 1 to `frames`. Fill all of it, then `commit`;
            frames that are not committed are not recorded.
        """
        if self.closed:
            raise ValueError(f"{self.path}: the recording is closed")
        with self._undivided():
            self._make_room()
            block = self._block
            part = slice(block.count, min(block.room, block.count + max(frames, 1)))
            return {name: values[part] for name, values in block.data.items()}

    def commit(self, time: ArrayLike) -> None:
        """Records the frames that the memory of the last `reserve` holds, `time` as in `append`."""
        times = self._check_time(time)
        with self._undivided():
            block = self._block
            if len(times) > block.room - block.count:
                raise ValueError(f"time: {len(times)} frames, more than were reserved")
            block.time[block.count : block.count + len(times)] = times
            block.count += len(times)
            if len(times):
                self._added(len(times), float(times[-1]))

    def flush(self) -> None:
        """Waits until every frame appended so far can be read from the file."""
        with self._undivided():
            wanted = self._appended
            while self._flushed < wanted and not self.closed:
                self._raise_if_broken()
                self._flush_wanted = True
                self._changed.notify_all()
                self._changed.wait(0.2)

    def close(self, *, status: str = "complete", rename: bool = True) -> None:
        """Writes what is left, waits for the disk and gives the file its name.

        Parameters
        ----------
        status : str, default "complete"
            Kept as the attribute `status`.
        rename : bool, default True
            False leaves the file as ``NAME.part``.
        """
        if os.getpid() != self._pid:
            return
        with self._undivided():
            if self._finish is None:
                self._finish = (status, rename)
                self._changed.notify_all()
        while self._worker.is_alive():
            self._worker.join(0.5)
        error, self._error = self._error, None
        if error is not None:
            raise error

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        elif issubclass(kind, KeyboardInterrupt):
            self.close(status="interrupted")
        else:
            try:
                self.close(status="failed", rename=False)
            except OSError:
                if error is None or not isinstance(error, OSError):
                    raise

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<RecordingWriter {str(self.path)!r}: {self._appended} frames, {state}>"

    def _check_time(self, time: ArrayLike) -> NDArray[np.float64]:
        times = np.atleast_1d(np.asarray(time, dtype=np.float64))
        if times.ndim != 1 or not np.isfinite(times).all():
            raise ValueError("time: expected finite numbers, one or (t,)")
        if (np.diff(times) <= 0).any() or (times.size and not times[0] > self._last_time):
            raise ValueError(
                f"time: frames must follow each other: got {times[0]:g} s after "
                f"{self._last_time:g} s"
            )
        return times

    def _check_data(self, count: int, data: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        if data.keys() != self._shapes.keys():
            missing = sorted(self._shapes.keys() - data.keys())
            unknown = sorted(data.keys() - self._shapes.keys())
            what = "misses" if missing else "has an unknown"
            raise ValueError(f"data: {what} channel {(missing or unknown)[0]!r}")
        arrays = {}
        for name, shape in self._shapes.items():
            given = np.asarray(data[name])
            if count == 1 and given.shape == shape:
                given = given[None]
            if given.shape != (count, *shape):
                raise ValueError(
                    f"data[{name!r}]: expected shape {(count, *shape)}, got {given.shape}"
                )
            arrays[name] = given
        return arrays

    @contextlib.contextmanager
    def _undivided(self) -> Iterator[None]:
        """The condition, held without Ctrl-C in between: raised inside of `Condition` it would
        leave the lock taken for ever, and between two lines of ours a block handed over twice."""
        with patient_interrupts(), self._changed:
            yield

    # Called with the condition held.

    def _make_room(self) -> None:
        while self._block.count >= self._block.room:
            while len(self._ready) >= WAITING_BLOCKS:
                self._raise_if_broken()
                self._changed.wait(0.2)
            self._hand_over()
        self._raise_if_broken()

    def _added(self, count: int, last_time: float) -> None:
        self._appended += count
        self._last_time = last_time
        if self._appended >= self._flush_at:
            self._flush_at = 2 * self._appended
            self._early = True
            self._changed.notify_all()
        if self._block.count >= self._block.room and len(self._ready) < WAITING_BLOCKS:
            self._hand_over()

    def _hand_over(self) -> None:
        self._ready.append(self._block)
        self._block = self._new_block(self._appended)
        self._changed.notify_all()

    def _new_block(self, first: int) -> _Block:
        block = (
            self._spare.pop() if self._spare else _Block(self._frames, self._shapes, self._types)
        )
        # Blocks end where chunks end, so that a chunk is packed once.
        block.count, block.written, block.room = 0, 0, self._frames - first % self._frames
        return block

    def _raise_if_broken(self) -> None:
        if self._error is not None:
            raise self._error

    # The thread of the writer's own.

    def _work(self) -> None:
        try:
            while self._round():
                pass
        except BaseException as error:
            self._fail(error)

    def _round(self) -> bool:
        with self._changed:
            parts, full = self._next_parts()
            finish, wanted = self._finish, self._flush_wanted or self._early
            self._flush_wanted = self._early = False
        for part in parts:
            self._write(part)
        if finish is not None:
            self._storage.finish(finish[0], rename=finish[1])
        elif wanted or clock.monotonic() >= self._due:
            self._storage.flush()
            self._due = clock.monotonic() + FLUSH_INTERVAL
        with self._changed:
            self._spare += full
            if self._storage.flushed:
                self._flushed = self._storage.frames
            self._changed.notify_all()
        return finish is None

    def _write(self, part: _Part) -> None:
        """Writes a part, and flushes in between as often as doubles what is in the file."""
        done, count = 0, len(part.time)
        while done < count:
            end = min(done + max(self._few, self._storage.frames), count)
            piece = {name: values[done:end] for name, values in part.data.items()}
            self._storage.write(part.time[done:end], piece)
            done = end
            if done < count:
                self._storage.flush()
                self._flushed = self._storage.frames

    def _next_parts(self) -> tuple[list[_Part], list[_Block]]:
        """What to write next, and the blocks that are free after it."""
        while not (self._ready or self._finish or self._flush_wanted or self._early):
            now = clock.monotonic()
            if now >= self._due:
                if self._block.count > self._block.written or not self._storage.flushed:
                    break
                self._due = now + FLUSH_INTERVAL
            self._changed.wait(self._due - now)
        everything = bool(self._finish) or self._flush_wanted or clock.monotonic() >= self._due
        everything = everything or not self._ready
        full = [self._ready.popleft()] if self._ready else []
        if everything:
            full += self._ready
            self._ready.clear()
        parts = [block.part() for block in full]
        if everything:
            # Its later frames may be filled in while these are written.
            parts.append(self._block.part())
        return parts, full

    def _fail(self, error: BaseException) -> None:
        # Frames of the last flush are those on disk.
        kept, last = self._flushed, self._storage.last_flushed_time
        self._storage.abandon()
        if isinstance(error, OSError):
            error = explain(error, self.part, kept, last)
        with self._changed:
            self._error = error
            self._changed.notify_all()


def _channel_shapes(
    channels: Mapping[str, ChannelSpec], coords: Mapping[str, Coordinate]
) -> dict[str, tuple[int, ...]]:
    if not channels:
        raise ValueError("channels: nothing to record")
    shapes = {}
    for name, spec in channels.items():
        if name == "time" or name in coords:
            raise ValueError(f"channels: {name!r} is the name of a coordinate")
        if np.dtype(spec.dtype).kind not in "iuf":
            raise TypeError(f"channels[{name!r}]: expected a numeric dtype, got {spec.dtype}")
        for dim in spec.dims:
            if dim not in coords or coords[dim].dims != (dim,):
                raise ValueError(f"coords: misses the dimension {dim!r} of the channel {name!r}")
        shapes[name] = tuple(len(coords[dim].values) for dim in spec.dims)
    return shapes


def _block_frames(shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, np.dtype[Any]]) -> int:
    """Frames in a block: a chunk of the widest channel, or several while that is small."""
    sizes = {name: int(np.prod(shapes[name])) * types[name].itemsize for name in shapes}
    widest = max(sizes, key=lambda name: sizes[name])
    frames = chunk_shape(shapes[widest], types[widest].itemsize)[0]
    total = max(sum(sizes.values()), 1)
    return max(frames, frames * (BLOCK_BYTES // (frames * total)))
