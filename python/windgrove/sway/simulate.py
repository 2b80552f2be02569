"""simulate: trees in a wind for a while, recorded."""

from __future__ import annotations

import contextlib
import os
import sys
import time as clock
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..errors import Diverged
from ..recording.interrupts import patient_interrupts
from .channels import (
    CHANNELS,
    Frames,
    attributes,
    chosen_branches,
    chosen_channels,
    coordinates,
    tree_groups,
)
from .feed import Feed
from .sheltering import TreeShelter
from .slips import warn_of_slips
from .sway import Sway

if TYPE_CHECKING:
    import xarray as xr

MOST_FRAMES = 10**12  # a thousand years at 30 Hz
MEMORY_LIMIT = 4 * 2**30  # bytes kept in memory without `record`


def simulate(
    sway: Sway,
    wind: Any = None,
    *,
    duration: float,
    dt: float = 1 / 30,
    record: str | os.PathLike[str] | None = None,
    channels: str | Sequence[str] = ("rotation",),
    branches: ArrayLike | None = None,
    every: int = 1,
    focus: ArrayLike | None = None,
    progress: bool | None = None,
    overwrite: bool = True,
    live: bool = False,
    shelter: bool = False,
) -> xr.Dataset:
    """Run trees in a wind and record what they do.

    Parameters
    ----------
    sway : Sway
        Advanced in place; a run goes on from where it is.
    wind : Wind, UniformWind, GustWind, RecordedWind, or anything with ``sample(points, time)``
        A `Wind` is stepped at its own dt before the trees, while its time + dt is not beyond the
        frame's time, both counted from the start of the run. None is still air.
    duration : float
        [s], rounded to whole frames.
    dt : float
        Of a frame [s]; `Sway(substeps=...)` makes the springs' own steps smaller.
    record : path, optional
        An HDF5 file, written as ``NAME.part`` and renamed at the end. Without it everything is
        kept in memory.
    channels : sequence of str
        Of "rotation", "angular_velocity", "tip", "wind", "torque".
    branches : array_like of int, optional
        Branches to record; all by default.
    every : int
        Record every so many frames.
    focus : array_like, shape (3,), optional
        What the grids of a `Wind` follow [m]; by default the middle of the first tree's height.
    progress : bool, optional
        A progress bar on the error stream; by default where that is a terminal.
    overwrite : bool
        False refuses, before the first step, where `record` exists.
    live : bool
        Let another process follow the file.
    shelter : bool
        Let the trees slow the air of a `Wind` by their branches' drag, where they are in each
        frame, for the time of the run; see `windgrove.Shelter`. Off, no bit changes.

    Returns
    -------
    xarray.Dataset
        Variables over (time, instance, branch, component); the first frame is the state at the
        start, the rest pose of a fresh `Sway`. Wind and torque are those of the step that led to
        a frame, NaN in the first. Read lazily from the file where `record` is given.

    Raises
    ------
    windgrove.Diverged
        A state is not finite; what was recorded before stays in ``NAME.part``.
    UnusualValue
        A warning: a step above 0.2 s, a wind above 100 m/s, a damping ratio above 2 or a beta of
        the trunk outside 1e4 to 1e7 is most likely a slip of a unit; and the gusts of a record in a
        `Wind` may need most of the run to come in.
    KeyboardInterrupt
        After Ctrl-C: with `record` the file is closed under its name first. Without, the frames
        so far are returned with a warning instead.
    """
    if not isinstance(sway, Sway):
        raise TypeError(f"sway: expected a Sway, got {type(sway).__name__}")
    if not len(sway):
        raise ValueError("sway: there is no tree in it")
    overwrite, live = checks.flag(overwrite, "overwrite"), checks.flag(live, "live")
    shelter, progress = checks.flag(shelter, "shelter"), checks.optional_flag(progress, "progress")
    run = _Run(sway, Feed(wind), duration, dt, every, chosen_channels(channels), branches, focus)
    warn_of_slips(sway, wind, run.duration, run.dt)
    with run.sheltered(shelter), run.bar(progress) as bar, patient_interrupts() as check:
        run.check = check
        if record is not None:
            return _to_file(run, checks.path(record, "record"), bar, overwrite=overwrite, live=live)
        return _in_memory(run, bar)


class _Run:
    """One call of `simulate`: its plan, and the blocks of frames it yields."""

    def __init__(
        self,
        sway: Sway,
        feed: Feed,
        duration: float,
        dt: float,
        every: int,
        channels: tuple[str, ...],
        branches: ArrayLike | None,
        focus: ArrayLike | None,
    ) -> None:
        self.sway, self.feed = sway, feed
        self.duration = checks.number(duration, "duration", low=0.0)
        self.dt = checks.number(dt, "dt", above=0.0)
        self.every = checks.integer(every, "every", low=1)
        frames = self.duration / self.dt
        if not frames < MOST_FRAMES:
            raise ValueError(
                f"duration: {self.duration:g} s are {frames:.3g} frames of dt {self.dt:g} s, "
                f"more than {MOST_FRAMES:.0e}"
            )
        count = round(frames)
        self.frame_count = count - count % self.every
        self.branches = chosen_branches(branches, sway.widest)
        self.frames = Frames(sway, channels, self.branches)
        self.frames.every = self.every
        self.channels = channels
        self.attrs = attributes(sway, feed.wind, self.dt, self.duration, self.every)
        self.focus = default_focus(sway) if focus is None else checks.vector(focus, "focus")
        self.start = sway.time
        self.wind_start = float(feed.wind.time) if feed.stepped else 0.0
        self.done = 0
        self.check: Callable[[], None] = lambda: None
        # Memory of a recorder that frames are written to, without a copy.
        self.reserve: Callable[[int], dict[str, NDArray[np.float32]]] | None = None
        self.interrupted = False
        self.shelter: TreeShelter | None = None

    @contextlib.contextmanager
    def sheltered(self, wanted: bool) -> Iterator[None]:
        """The time in which the trees slow the wind, if that is wanted."""
        if not wanted:
            yield
            return
        self.shelter = TreeShelter(self.sway, self.feed.wind)
        self.attrs["shelter"] = "trees"
        try:
            yield
        finally:
            self.shelter.end()

    @contextlib.contextmanager
    def bar(self, progress: bool | None) -> Iterator[Any]:
        from tqdm.auto import tqdm

        shown = sys.stderr.isatty() if progress is None else progress
        with tqdm(
            total=self.frame_count, unit="frame", disable=not shown, leave=False, desc="simulate"
        ) as bar:
            yield bar

    def times(self, first: int, count: int) -> NDArray[np.float64]:
        """Times of recorded frames; 0 is the state at the start."""
        frame = np.arange(first, first + count, dtype=np.float64)
        return self.start + self.dt * self.every * frame

    def blocks(self) -> Iterator[tuple[NDArray[np.float64], dict[str, NDArray[np.float32]]]]:
        """Recorded frames: their times and channels, the state at the start first."""
        yield self.times(0, 1), self.frames.now()
        recorded = 1
        while self.done < self.frame_count:
            before, error = self.sway.steps, None
            try:
                count = self._next_block()
            except Diverged as diverged:
                error, count = diverged, (self.sway.steps - before) // self.every
            if count:
                yield self.times(recorded, count), self.frames.joined(count)
            if error is not None:
                raise error
            recorded += count

    def _next_block(self) -> int:
        """Advances by whole recorded frames; how many."""
        self.check()
        if self.interrupted:
            raise KeyboardInterrupt
        left = self.frame_count - self.done
        one_by_one = self.feed.kind not in ("series", "still")
        if one_by_one:
            frames = self._few_frames(left)
        else:
            work = self.sway.branch_count * self.sway.substeps
            frames = max(self.every, self.feed.frames_at_once(work) // self.every * self.every)
        frames = min(frames, left)
        count, out = frames // self.every, None
        if self.reserve is not None:
            out = self.reserve(count)
            count = len(next(iter(out.values())))
            frames = count * self.every
        self.frames.begin(count, out)
        if one_by_one:
            for frame in range(frames):
                if self._stops(frame):
                    frames, count = frame, frame // self.every
                    break
                if self.feed.stepped:
                    if self.shelter is not None:
                        self.shelter.apply()
                    until = self.wind_start + (self.done + frame + 1) * self.dt
                    step_wind(self.feed.wind, until, self.dt, self.focus)
                self._advance(1, frame)
        else:
            self._advance(frames, 0)
        self.done += frames
        return count

    def _advance(self, frames: int, at: int) -> None:
        def record(number: int, done: int, step: int, steps: int) -> tuple[Any, ...]:
            return self.frames.tuple_for(number, at + done, step, steps)

        self.sway._advance(self.feed, self.dt, frames, record)

    def _stops(self, frame: int) -> bool:
        """Whether Ctrl-C ends a block before this frame of it; at its start it is raised."""
        try:
            self.check()
        except KeyboardInterrupt:
            if frame == 0:
                raise
            self.interrupted = True
        return self.interrupted

    def _few_frames(self, left: int) -> int:
        """A wind that is asked every step may be slow: a few frames at a time."""
        return self.every * max(1, min(left, 8) // self.every)


def default_focus(sway: Sway) -> NDArray[np.float64]:
    """The middle of the first tree's height [m]."""
    tree = sway.tree
    middle = np.array([0.0, 0.0, tree.base + 0.5 * tree.height])
    return sway.at[0] + middle * float(sway.scale[0])


def step_wind(wind: Any, until: float, dt: float, focus: NDArray[np.float64]) -> None:
    """Steps a wind while its time + dt is not beyond `until` [s]."""
    # A thousandth of a step, so that rounding of sums of dt cannot lose one.
    limit = until + 1e-3 * min(dt, float(wind.dt))
    while float(wind.time) + float(wind.dt) <= limit:
        wind.step(focus=focus)


def _in_memory(run: _Run, bar: Any) -> xr.Dataset:
    frames = run.frame_count // run.every + 1
    shape = (frames, len(run.sway), len(run.branches), 3)
    size = len(run.channels) * int(np.prod(shape)) * 4
    if size > MEMORY_LIMIT:
        raise ValueError(
            f"record: {size / 2**30:.1f} GiB would be kept in memory; name a file with record=, "
            "or choose branches= or every="
        )
    data = {name: np.empty(shape, np.float32) for name in run.channels}
    count, interrupted = 0, False
    try:
        for times, block in run.blocks():
            for name, values in block.items():
                data[name][count : count + len(times)] = values
            count += len(times)
            bar.update(run.done - bar.n)
    except KeyboardInterrupt:
        if count == 0:
            raise
        interrupted = True
    if interrupted:
        warnings.warn(
            f"interrupted: the dataset ends at {run.times(count - 1, 1)[0]:g} s", stacklevel=3
        )
        run.attrs["status"] = "interrupted"
    return _dataset(run, count, data)


def _dataset(run: _Run, count: int, data: dict[str, NDArray[np.float32]]) -> xr.Dataset:
    import xarray as xr

    from ..recording.layout import coordinate

    coords: dict[str, Any] = {"time": ("time", run.times(0, count), {"units": "s", "axis": "T"})}
    for name, given in coordinates(run.sway, run.branches).items():
        read = coordinate(name, given)
        coords[name] = (read.dims, read.values, dict(read.attrs))
    variables = {}
    for name, values in data.items():
        spec = CHANNELS[name]
        attrs = {"units": spec.units, "long_name": spec.long_name, **spec.attrs}
        variables[name] = (("time", *spec.dims), values[:count], attrs)
    return xr.Dataset(variables, coords=coords, attrs=run.attrs)


def _to_file(run: _Run, path: Path, bar: Any, *, overwrite: bool, live: bool) -> xr.Dataset:
    from ..recording.reader import open_recording
    from ..recording.writer import RecordingWriter

    writer = RecordingWriter(
        path,
        channels={name: CHANNELS[name] for name in run.channels},
        coords=coordinates(run.sway, run.branches),
        attrs=run.attrs,
        groups=tree_groups(run.sway),
        overwrite=overwrite,
        live=live,
    )
    with writer:
        shown = clock.monotonic()
        for times, block in run.blocks():
            if run.reserve is None:
                writer.append(times, block)
            else:
                writer.commit(times)
            if run.frames.direct:
                run.reserve = writer.reserve
            if clock.monotonic() - shown > 0.1:
                bar.update(run.done - bar.n)
                shown = clock.monotonic()
        bar.update(run.done - bar.n)
    return open_recording(path)
