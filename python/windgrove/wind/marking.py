"""Keeps the solid markers of the grids true while grids and solids move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .grids import Grid
from .solids import Cells, Solid

Region = tuple[slice, slice, slice]


class Markers:
    """Marks cells that solids fill and holds the solids' velocity in them.

    Solids at rest are marked once per cell: when a grid moves, what it keeps is shifted and only
    the newly exposed blocks are marked. Moving solids are marked anew every step.
    """

    def __init__(self, solids: tuple[Solid, ...], grids: list[Grid]) -> None:
        self.solids = solids
        self._resting = tuple(solid for solid in solids if not solid.moves)
        self._moving = tuple(solid for solid in solids if solid.moves)
        self._grids = grids
        self._fixed = [np.zeros_like(grid.solid) for grid in grids] if solids else []
        self._low: list[NDArray[np.int64] | None] = [None] * len(grids)
        self._speeds: list[tuple[NDArray[np.bool_], NDArray[np.float64]]] = []
        self._levels_of_speed: list[int] = []

    def mark(self, lows: NDArray[np.int64], time: float, dt: float) -> bool:
        """Marks the grids for their places `lows`; whether any marker may have changed."""
        if not self.solids:
            return False
        changed = bool(self._moving)
        self._speeds, self._levels_of_speed = [], []
        for level, grid in enumerate(self._grids):
            if self._shift(level, lows[level], time) or self._moving:
                changed = True
                np.copyto(grid.solid, self._fixed[level])
                self._mark_moving(level, lows[level], time, dt)
                grid.has_solid = bool(grid.solid.any())
        return changed

    def hold(self) -> None:
        """Writes the solids' velocity into their cells: 0 where they rest."""
        for grid in self._grids:
            if grid.has_solid:
                np.copyto(grid.velocity, np.float32(0), where=grid.solid)
        for level, (cells, velocity) in zip(self._levels_of_speed, self._speeds, strict=True):
            for component in range(3):
                self._grids[level].velocity[component][cells] = velocity[component]

    def _shift(self, level: int, low: NDArray[np.int64], time: float) -> bool:
        """Brings the markers of resting solids to a new place; False where it is the old one."""
        before = self._low[level]
        if before is not None and np.array_equal(before, low):
            return False
        fixed = self._fixed[level]
        old = fixed.copy()
        kept = None if before is None else _overlap(low - before, fixed.shape)
        self._low[level] = low.copy()
        if kept is None:
            self._mark_resting(level, (slice(None),) * 3, time)
            return True
        to, source = kept
        fixed[to] = old[source]
        for region in _around(to, fixed.shape):
            self._mark_resting(level, region, time)
        return True

    def _mark_resting(self, level: int, region: Region, time: float) -> None:
        low = self._low[level]
        assert low is not None
        target = self._fixed[level][region]
        target[...] = False
        cells = _cells(low, region, self._fixed[level].shape)
        for solid in self._resting:
            target |= solid.mark(cells, self._grids[level].spacing, time)

    def _mark_moving(self, level: int, low: NDArray[np.int64], time: float, dt: float) -> None:
        grid = self._grids[level]
        cells = _cells(low, (slice(None),) * 3, grid.solid.shape)
        for solid in self._moving:
            marked = solid.mark(cells, grid.spacing, time)
            grid.solid |= marked
            self._speeds.append((marked, solid.velocity_at(time, dt)))
            self._levels_of_speed.append(level)


def _cells(low: NDArray[np.int64], region: Region, shape: tuple[int, ...]) -> Cells:
    """The world's cells of a region of an array whose interior begins at `low`."""
    spans = [part.indices(size) for part, size in zip(region, shape, strict=True)]
    first = [int(low[2 - axis]) - 1 + span[0] for axis, span in enumerate(spans)]
    count = [span[1] - span[0] for span in spans]
    return Cells((first[2], first[1], first[0]), (count[2], count[1], count[0]))


def _overlap(shift: NDArray[np.int64], shape: tuple[int, ...]) -> tuple[Region, Region] | None:
    """The part of the new array that the old one covers, and where it lay; None for none."""
    to, source = [], []
    for axis, size in enumerate(shape):
        move = int(shift[2 - axis])
        if abs(move) >= size:
            return None
        to.append(slice(max(-move, 0), size - max(move, 0)))
        source.append(slice(max(move, 0), size - max(-move, 0)))
    return (to[0], to[1], to[2]), (source[0], source[1], source[2])


def _around(kept: Region, shape: tuple[int, ...]) -> list[Region]:
    """Disjoint blocks that fill an array around a kept block."""
    blocks: list[Region] = []
    inside: list[slice] = [slice(0, size) for size in shape]
    for axis in range(3):
        for begin, end in ((0, kept[axis].start), (kept[axis].stop, shape[axis])):
            if end > begin:
                block = list(inside)
                block[axis] = slice(begin, end)
                blocks.append((block[0], block[1], block[2]))
        inside[axis] = kept[axis]
    return blocks
