"""Keeps the solid markers of the grids true while grids and solids move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .grids import Grid
from .solids import Cells, Solid

Region = tuple[slice, slice, slice]


class Marks(NamedTuple):
    """Markers worked out for a place of the grids.

    Attributes
    ----------
    lows : (levels, 3) array
    fixed : dict
        Those of resting solids, for the levels that came to a new place.
    moving : list
        Level, cells and velocity of each moving solid.
    """

    lows: NDArray[np.int64]
    fixed: dict[int, NDArray[np.bool_]]
    moving: list[tuple[int, NDArray[np.bool_], NDArray[np.float64]]]


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
        self._held: list[tuple[int, NDArray[np.bool_], NDArray[np.float64]]] = []

    def plan(self, lows: NDArray[np.int64], time: float, dt: float) -> Marks | None:
        """The markers for the grids at `lows`. Nothing is changed, whatever a solid raises."""
        if not self.solids:
            return None
        fixed, moving = {}, []
        for level, low in enumerate(lows):
            shifted = self._shifted(level, low, time)
            if shifted is not None:
                fixed[level] = shifted
            moving += self._moved(level, low, time, dt)
        return Marks(lows.copy(), fixed, moving)

    def planned(self, marks: Marks | None) -> Iterator[NDArray[np.bool_]]:
        """The markers of each grid as `apply` would leave them."""
        for level in range(len(self._grids) if marks is not None else 0):
            assert marks is not None
            solid = marks.fixed.get(level, self._fixed[level]).copy()
            for of, cells, _ in marks.moving:
                if of == level:
                    solid |= cells
            yield solid

    def apply(self, marks: Marks | None) -> bool:
        """Takes a plan over; whether any marker may have changed. Doing so twice is harmless."""
        if marks is None:
            return False
        self._held = [(level, cells, velocity) for level, cells, velocity in marks.moving]
        for level, grid in enumerate(self._grids):
            if level in marks.fixed:
                self._fixed[level], self._low[level] = marks.fixed[level], marks.lows[level].copy()
            elif not self._moving:
                continue
            np.copyto(grid.solid, self._fixed[level])
            for of, cells, _ in marks.moving:
                if of == level:
                    grid.solid |= cells
            grid.has_solid = bool(grid.solid.any())
        return bool(marks.fixed) or bool(self._moving)

    def hold(self) -> None:
        """Writes the solids' velocity into their cells: 0 where they rest."""
        for grid in self._grids:
            if grid.has_solid:
                np.copyto(grid.velocity, np.float32(0), where=grid.solid)
        for level, cells, velocity in self._held:
            for component in range(3):
                self._grids[level].velocity[component][cells] = velocity[component]

    def _shifted(self, level: int, low: NDArray[np.int64], time: float) -> NDArray[np.bool_] | None:
        """The markers of resting solids at a new place; None where it is the old one."""
        before = self._low[level]
        if before is not None and np.array_equal(before, low):
            return None
        old = self._fixed[level]
        kept = None if before is None else _overlap(low - before, old.shape)
        fixed = np.empty_like(old)
        if kept is None:
            self._mark_resting(fixed, level, low, (slice(None),) * 3, time)
            return fixed
        to, source = kept
        fixed[to] = old[source]
        for region in _around(to, fixed.shape):
            self._mark_resting(fixed, level, low, region, time)
        return fixed

    def _mark_resting(
        self,
        fixed: NDArray[np.bool_],
        level: int,
        low: NDArray[np.int64],
        region: Region,
        time: float,
    ) -> None:
        target = fixed[region]
        target[...] = False
        cells = _cells(low, region, fixed.shape)
        for solid in self._resting:
            target |= solid.mark(cells, self._grids[level].spacing, time)

    def _moved(
        self, level: int, low: NDArray[np.int64], time: float, dt: float
    ) -> list[tuple[int, NDArray[np.bool_], NDArray[np.float64]]]:
        grid = self._grids[level]
        cells = _cells(low, (slice(None),) * 3, grid.solid.shape)
        return [
            (level, solid.mark(cells, grid.spacing, time), solid.velocity_at(time, dt))
            for solid in self._moving
        ]


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
