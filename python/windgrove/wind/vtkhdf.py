"""Records a wind's velocity to `.vtkhdf` files: VTK and ParaView read them, xarray opens them.

One file holds one grid as an ImageData with time steps (VTKHDF 2): the points are the cell
centres of the grid's interior. The same velocities are reachable, without a copy, under the group
``wind`` with named dimensions: ``xr.open_dataset(path, group="wind", engine="h5netcdf")``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time as clock
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..recording.commit_file import CommitFile
from ..recording.storage import absolute, claim_part, explain, part_path
from .grids import Grid

if TYPE_CHECKING:
    import h5py

FLUSH_SECONDS = 1.0
FORMAT_VERSION = (2, 0)  # the first with steps in time


class LevelFile:
    """The file of one grid.

    An ImageData has one place for all its steps: that of the first frame. Where the grid has moved
    by whole cells, what it still covers is written at its place in the world and the rest is NaN;
    ``wind/origin`` keeps the grid's place for each frame.

    Until it is closed the file moves from one commit to the next as recordings do: whenever the
    process is killed, the ``.part`` holds every frame up to the last commit.
    """

    def __init__(self, path: Path, grid: Grid, attributes: dict[str, Any], overwrite: bool) -> None:
        claim_part(path, overwrite=overwrite, append=False)
        self.path = path
        self.frames = 0
        self._kept = 0, -np.inf
        self._low = grid.low.copy()
        try:
            self._create(grid, attributes)
        except OSError as error:
            raise self.explained(error) from error

    def _create(self, grid: Grid, attributes: dict[str, Any]) -> None:
        import h5py

        nz, ny, nx = (n - 2 for n in grid.solid.shape)
        self._shape = (nz, ny, nx)
        self._commit = CommitFile(part_path(self.path))
        self._file = h5py.File(self._commit, "w", track_order=True)
        self._flushed = -np.inf
        image = self._file.create_group("VTKHDF", track_order=True)
        centre = [float((n + 0.5) * grid.spacing) for n in grid.low]
        image.attrs["Version"] = np.array(FORMAT_VERSION, np.int64)
        image.attrs.create("Type", b"ImageData", dtype=h5py.string_dtype("ascii", 9))
        image.attrs["WholeExtent"] = np.array([0, nx - 1, 0, ny - 1, 0, nz - 1], np.int64)
        image.attrs["Origin"] = np.array(centre)
        image.attrs["Spacing"] = np.full(3, grid.spacing)
        image.attrs["Direction"] = np.eye(3).ravel()
        self._make_named(h5py, grid, centre, attributes)
        self._link(h5py, image)
        self._flush()

    def _make_named(
        self, h5py: Any, grid: Grid, centre: list[float], attributes: dict[str, Any]
    ) -> None:
        nz, ny, nx = self._shape
        wind = self._file.create_group("wind", track_order=True)
        for name, value in attributes.items():
            wind.attrs[name] = value
        wind.attrs["Conventions"] = "CF-1.11"
        wind.attrs["spacing"] = grid.spacing
        time = wind.create_dataset("time", (0,), "f8", maxshape=(None,), chunks=(1024,))
        time.attrs["units"] = "s"
        time.attrs["axis"] = "T"
        time.make_scale("time")
        for name, count, first in zip("zyx", (nz, ny, nx), reversed(centre), strict=True):
            axis = wind.create_dataset(name, data=first + grid.spacing * np.arange(count))
            axis.attrs["units"] = "m"
            axis.attrs["axis"] = name.upper()
            axis.make_scale(name)
        wind.create_dataset("component", data=np.array([b"x", b"y", b"z"])).make_scale("component")
        velocity = wind.create_dataset(
            "velocity",
            (0, nz, ny, nx, 3),
            "f4",
            maxshape=(None, nz, ny, nx, 3),
            chunks=(1, nz, ny, nx, 3),
            compression="gzip",
            compression_opts=1,
            shuffle=True,
            fletcher32=True,
            fillvalue=np.float32(np.nan),
        )
        velocity.attrs["units"] = "m s-1"
        velocity.attrs["long_name"] = "velocity of the air"
        origin = wind.create_dataset("origin", (0, 3), "f8", maxshape=(None, 3), chunks=(1024, 3))
        origin.attrs["units"] = "m"
        origin.attrs["long_name"] = "low corner of the grid's first interior cell"
        for dataset, dims in ((velocity, ("time", *"zyx", "component")), (origin, ("time",))):
            for axis_number, name in enumerate(dims):
                dataset.dims[axis_number].attach_scale(wind[name])
        origin.dims[1].attach_scale(wind["component"])

    def _link(self, h5py: Any, image: h5py.Group) -> None:
        wind = self._file["wind"]
        image.create_group("PointData").attrs.create(
            "Vectors", b"velocity", dtype=h5py.string_dtype("ascii", 8)
        )
        image["PointData"]["velocity"] = wind["velocity"]
        steps = image.create_group("Steps")
        steps.attrs["NSteps"] = np.int64(0)
        # A copy, not a link: a dimension scale with two names confuses readers of netCDF.
        steps.create_dataset("Values", (0,), "f8", maxshape=(None,), chunks=(1024,))
        offsets = steps.create_group("PointDataOffsets")
        offsets.create_dataset("velocity", (0,), "i8", maxshape=(None,), chunks=(1024,))

    def append(self, grid: Grid, time: float) -> None:
        """Writes a frame; on disk within a second of the one before it."""
        wind, steps = self._file["wind"], self._file["VTKHDF/Steps"]
        count = self.frames + 1
        for dataset in (
            wind["time"],
            wind["velocity"],
            wind["origin"],
            steps["PointDataOffsets/velocity"],
            steps["Values"],
        ):
            dataset.resize(count, axis=0)
        wind["velocity"][self.frames] = self._in_place(grid)
        wind["origin"][self.frames] = grid.low * grid.spacing
        steps["PointDataOffsets/velocity"][self.frames] = self.frames
        wind["time"][self.frames] = steps["Values"][self.frames] = time
        steps.attrs["NSteps"] = np.int64(count)
        self.frames = count
        # At each doubling too: where the disk is full soon, half of what fits is kept.
        if count >= 2 * self._kept[0] or clock.monotonic() - self._flushed >= FLUSH_SECONDS:
            self._flush(time)

    def _flush(self, time: float = -np.inf) -> None:
        self._file.flush()
        self._commit.commit()
        self._kept = self.frames, time
        self._flushed = clock.monotonic()

    def _in_place(self, grid: Grid) -> NDArray[np.float32]:
        inside = np.moveaxis(grid.velocity[:, 1:-1, 1:-1, 1:-1], 0, -1)
        shift = [int(n) for n in (grid.low - self._low)[::-1]]
        if not any(shift):
            return inside
        frame = np.full((*self._shape, 3), np.nan, np.float32)
        if all(abs(move) < size for move, size in zip(shift, self._shape, strict=True)):
            to = tuple(
                slice(max(m, 0), n + min(m, 0)) for m, n in zip(shift, self._shape, strict=True)
            )
            source = tuple(
                slice(max(-m, 0), n + min(-m, 0)) for m, n in zip(shift, self._shape, strict=True)
            )
            frame[to] = inside[source]
        return frame

    def close(self) -> None:
        """Puts the finished file in its place."""
        if not self._file:
            return
        try:
            self._file.close()
            self._commit.commit()
            self._commit.sync()
        finally:
            self._commit.close()
        os.replace(part_path(self.path), self.path)

    def drop(self) -> None:
        """Closes the file where it is, as of its last commit."""
        if self._commit.error is None:
            self._commit.error = OSError(errno.EIO, "dropped")
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            self._file.close()
        self._commit.close()

    def explained(self, error: OSError) -> OSError:
        """The same error with the file, the frames kept in it and what helps."""
        return explain(error, part_path(self.path), *self._kept)


class WindRecorder:
    """Writes the velocity of some grids of a `Wind`, a frame every few steps; see `Wind.record`.

    A context manager; after an error inside it the frames written so far are kept and the files
    are finished.

    Attributes
    ----------
    paths : tuple of Path
        One file for each recorded level.
    """

    def __init__(
        self,
        grids: Sequence[Grid],
        path: str | os.PathLike[str],
        levels: Sequence[int],
        every: int,
        attributes: dict[str, Any],
        overwrite: bool,
    ) -> None:
        self._grids = grids
        self._levels = tuple(levels)
        self._every = every
        self._steps = 0
        self._frames = 0
        base = absolute(checks.path(path, "path"))
        if base.suffix != ".vtkhdf":
            raise ValueError(f"path: expected a name that ends in .vtkhdf, got {base.name!r}")
        self.paths = tuple(
            base if len(levels) == 1 else base.with_name(f"{base.stem}-level{level}{base.suffix}")
            for level in levels
        )
        self._files: list[LevelFile] = []
        try:
            for level, name in zip(levels, self.paths, strict=True):
                text = attributes | {"level": level}
                self._files.append(LevelFile(name, grids[level], text, overwrite))
        except BaseException:
            self._drop()
            raise

    @property
    def frames(self) -> int:
        """Written so far."""
        return self._frames

    @property
    def open(self) -> bool:
        """Whether the wind still adds frames."""
        return bool(self._files)

    def append(self, time: float) -> None:
        """Writes a frame of the present state."""
        for level, file in zip(self._levels, self._files, strict=True):
            try:
                file.append(self._grids[level], time)
            except OSError as error:
                self._drop()
                raise file.explained(error) from error
        self._frames += 1

    def stepped(self, time: float) -> None:
        """Called by the wind after each step."""
        self._steps += 1
        if self._files and self._steps % self._every == 0:
            self.append(time)

    def close(self) -> None:
        """Finish the files; the wind adds no more frames."""
        while self._files:
            file = self._files.pop(0)
            try:
                file.close()
            except OSError as error:
                self._drop()
                raise file.explained(error) from error

    def _drop(self) -> None:
        for file in self._files:
            file.drop()
        self._files = []

    def __enter__(self) -> WindRecorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"WindRecorder({[str(path) for path in self.paths]}, frames={self.frames})"


def recorded_levels(levels: Any, count: int) -> tuple[int, ...]:
    """`levels` of `Wind.record`: one number, several, or None for all."""
    if levels is None:
        return tuple(range(count))
    chosen = [levels] if np.ndim(levels) == 0 else list(levels)
    numbers = tuple(checks.integer(n, "levels", low=0, high=count - 1) for n in chosen)
    if not numbers or len(set(numbers)) != len(numbers):
        raise ValueError(f"levels: expected different levels from 0 to {count - 1}, got {levels!r}")
    return numbers
