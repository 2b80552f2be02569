"""Handing a wind to the C core: as a series, as grids, or sampled at the centres of mass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels, checks
from ..wind.protocol import Prevailing, WindView
from ..wind.sources import UniformSource

if TYPE_CHECKING:
    from .group import Clock, Group

# A call of the C core lasts about this long, so that Ctrl-C and flushes are answered at once.
CALL_SECONDS = 0.05
BRANCH_SECONDS = 40e-9  # s of one branch step on a slow machine

# From so many samples a cell on, a copy of the grids with components side by side pays.
SAMPLES_A_CELL = 0.5


class Feed:
    """One wind, in the form that each block of steps wants it.

    - None: still air, any number of steps at once;
    - winds that are one vector at any instant (``velocity(time)`` and ``prevailing(time)``): a
      series, any number of steps at once;
    - a wind that is stepped (``step`` and ``view``): its grids as they stand, sampled in C;
    - other winds with ``view(time)``: the same, one step at a time;
    - anything with ``sample(points, time)``: sampled here, one step at a time.
    """

    def __init__(self, wind: Any) -> None:
        self.wind = wind
        self.profile: Prevailing | None = None  # of a source whose profile stays
        self._ready: tuple[Clock, WindView] | None = None  # what `prepare` made
        self._cells: list[NDArray[np.float32]] = []  # kept, to be filled again
        self.stepped = hasattr(wind, "step") and hasattr(wind, "time")
        if isinstance(wind, np.ndarray):  # it has a view() of its own
            raise TypeError(f"wind: expected a wind, got an array of shape {wind.shape}")
        if wind is None:
            self.kind = "still"
        elif self.stepped and hasattr(wind, "view"):
            self.kind = "grids"
        elif hasattr(wind, "velocity") and hasattr(wind, "prevailing") and not self.stepped:
            self.kind = "series"
            if isinstance(wind, UniformSource):
                self.profile = wind.profile.prevailing((0.0, 0.0, 0.0))
        elif hasattr(wind, "view") and not self.stepped:
            self.kind = "view"
        elif callable(getattr(wind, "sample", None)):
            self.kind = "samples"
        else:
            raise TypeError(
                f"wind: expected None or something with sample(points, time), got {wind!r}"
            )

    @property
    def in_grids(self) -> bool:
        """Whether the C core samples the wind in grids."""
        return self.kind in ("grids", "view")

    def frames_at_once(self, branch_steps: int) -> int:
        """Frames of a block, so that a call of the core stays short."""
        most = CALL_SECONDS / (BRANCH_SECONDS * max(1, branch_steps))
        return int(min(4096, max(1, most)))

    def parts(self, steps: int) -> Iterator[tuple[int, int]]:
        """(first step, number of steps) of the calls that a block needs."""
        if self.kind in ("still", "series", "grids"):
            yield 0, steps
            return
        for step in range(steps):
            yield step, 1

    def prepare(self, clock: Clock, samples: int, threads: int) -> None:
        """Where the wind is `in_grids`, called before the groups take so many samples in all.

        Changes no bit of them.
        """
        view = self._view(clock)
        cells = sum(level.velocity[0].size for level in view.levels)
        if cells and samples >= SAMPLES_A_CELL * cells:
            view = self._side_by_side(view, threads)
        self._ready = clock, view

    def _side_by_side(self, view: WindView, threads: int) -> WindView:
        shapes = [(*level.velocity.shape[1:], 4) for level in view.levels]
        if [cells.shape for cells in self._cells] != shapes:
            self._cells = [np.empty(shape, np.float32) for shape in shapes]
        pairs = list(zip(view.levels, self._cells, strict=True))
        for level, cells in pairs:
            _kernels.wind_cells(level.velocity, cells, threads)
        return replace(view, levels=tuple(replace(level, cells=cells) for level, cells in pairs))

    def _view(self, clock: Clock) -> WindView:
        view: WindView = self.wind.view() if self.stepped else self.wind.view(clock.after(1))
        return view

    def for_group(self, group: Group, clock: Clock, steps: int) -> tuple[Any, Any]:
        """The wind of `steps` steps, as `_kernels.forest_run` takes it.

        A step from t to t + dt feels the wind of t + dt at the places of t.
        """
        if self.kind == "still":
            return None, None
        if self.kind == "series":
            times = [clock.after(step + 1) for step in range(steps)]
            if self.profile is not None:
                return self.wind.velocities(times), self.profile
            series = np.array([self.wind.velocity(t) for t in times], dtype=np.float64)
            series = series.reshape(-1, 3)
            outside = self.wind.prevailing(clock.after(steps))
            if np.isfinite(series).all():
                return series, outside
            return series, Prevailing((0.0, 0.0, 0.0), *_profile(outside))
        if self.in_grids:
            if self._ready is not None and self._ready[0] is clock:
                return None, self._ready[1]
            return None, self._view(clock)
        return self._samples(group, clock.after(1)), None

    def _samples(self, group: Group, time: float) -> NDArray[np.float32]:
        points = group.centres_of_mass()
        m, n = points.shape[:2]
        flat = points.reshape(-1, 3)
        given = self.wind.sample(flat) if self.stepped else self.wind.sample(flat, time)
        values = checks.array(given, "wind: sample")
        if values.shape != (m * n, 3):
            raise ValueError(f"wind: sample gave shape {values.shape}, expected {(m * n, 3)}")
        out = np.zeros((m, 3, group.padded), np.float32)
        out[:, :, :n] = values.reshape(m, n, 3).transpose(0, 2, 1)
        return out

    def is_finite(self, group: Group, slot: int, branch: int, time: float) -> bool:
        """Whether the wind at a branch's rest place is finite."""
        if self.wind is None:
            return True
        m, n = len(group), len(group.tree)
        rest = group.to_world(np.broadcast_to(group.tree.centre_of_mass, (m, n, 3)))
        flat = rest.reshape(-1, 3)
        given = self.wind.sample(flat) if self.stepped else self.wind.sample(flat, time)
        # As the core reads it: float32.
        values = checks.array(given, "wind: sample")
        return bool(np.isfinite(values[slot * n + branch]).all())


def _profile(outside: Prevailing) -> tuple[Any, ...]:
    return outside.profile, outside.ground, outside.reference_height, outside.parameter
