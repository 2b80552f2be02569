"""The nested wind: a cascade of grids that follows a focus point through the prevailing wind."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks, kernels
from ..recording.interrupts import patient_interrupts
from .arguments import cell_counts, effector_of, read_only
from .effectors import Blast, Effector, force_tables
from .finite import refuse_what_is_not_finite, slab_is_finite
from .grids import Grid, WindState
from .inflow import Inflow, Turbulence, prevailing_source, turbulence_of
from .marking import Markers, Marks
from .profile import HeightProfile, height_profile
from .protocol import Prevailing, WindView
from .residual import BANDS, residual_of_grids
from .shelter import Shelter, shelter_of, spread
from .solids import Solid, as_solid
from .solvers import Projection, projection_of
from .states import checked_state, parameters_of, refuse_another
from .stepping import Plan, once, take
from .vtkhdf import WindRecorder, recorded_levels

if TYPE_CHECKING:
    import xarray as xr

ADVECTIONS = ("semi_lagrangian", "maccormack")
MAX_LEVELS = 8


class Wind:
    """Air on nested grids, stepped with a fixed dt: Stable Fluids with solids and effectors.

    Each grid has the same cell counts; the cell size doubles from level to level, 0 the finest. The
    grids follow a focus point by whole cells, so that nothing is resampled. A step runs, each stage
    over all grids before the next: prevailing wind into the border, recentring, advection,
    vorticity confinement, effectors, inner borders, coarse from fine, pressure projection.

    Parameters
    ----------
    prevailing : array_like of shape (3,), wind, or callable
        The wind outside [m/s], z up: a vector, a `UniformWind`, `GustWind` or `RecordedWind`, or a
        function ``time -> (x, y, z)``. Any other object with ``sample(points, time)`` is read at
        (0, 0, ground + reference height).
    cells : (int, int, int), default (48, 48, 16)
        Interior cells along x, y, z: even, at least 4.
    levels : int, default 3
        Grids, 1 to 8.
    cell_size : float, default 0.5
        Of the finest grid [m].
    dt : float, default 1/30
        [s]
    turbulence : float or Turbulence, default 0.15
        Perlin noise at the border: turbulence intensity, 0 for none.
    vorticity : float, default 0.2
        Strength epsilon of vorticity confinement; 0 switches it off.
    projection : str or Projection, default "source"
        "source": the published 20 plain iterations from zero. "quality": exact, consistent
        projection (direct, or preconditioned conjugate gradients where there are solids) with the
        pressure of the step before as start. Or the name of a method of `kernels.project`.
    advection : {"semi_lagrangian", "maccormack"}
    solids : iterable of Box, Sphere, Mesh, Terrain or mesh objects
    effectors : iterable of LinearForce, Blast, Vortex, Rotor
    shelter : Shelter, several, or None
        Momentum sink of trees; None (the default) gives the same bits as a wind without one.
    seed : int, default 0
        Of the noise. The same seed gives the same bits, whatever `threads`.
    threads : int, default 1
        1 to 64.
    focus : array_like, shape (3,), optional
        Where the grids start [m]; default puts the finest grid's floor at z = 0.
    floor : float, optional
        Height [m] below which no grid reaches: each grid's lowest face is kept at the multiple of
        its cell next to it. Without it the coarser grids reach below the finest.
    outside : {"prevailing", "mean"}
        What `sample` gives beyond the coarsest grid: the prevailing wind, or (as the source has it)
        the mean wind of the simulated region.
    profile, ground, reference_height, roughness, exponent
        Height profile of the prevailing wind, see `HeightProfile`.
    start_time : float, default 0
        [s]

    Notes
    -----
    Equations and sources: ``docs/numerics/cascade.md`` and ``windgrove/cascade.h``. NaN anywhere in
    the prevailing wind, and more than 1e8 m/s of it or of a force in one step, is refused.

    Examples
    --------
    >>> wind = Wind((6, 0, 0), cells=(16, 16, 8), levels=2, turbulence=0.0)
    >>> for _ in range(3):
    ...     wind.step(focus=(0, 0, 2))
    >>> wind.sample([[0, 0, 2]])
    array([[6., 0., 0.]], dtype=float32)
    """

    def __init__(
        self,
        prevailing: Any,
        *,
        cells: tuple[int, int, int] = (48, 48, 16),
        levels: int = 3,
        cell_size: float = 0.5,
        dt: float = 1 / 30,
        turbulence: float | Turbulence = 0.15,
        vorticity: float = 0.2,
        projection: str | Projection = "source",
        advection: str = "semi_lagrangian",
        solids: Iterable[Any] = (),
        effectors: Iterable[Effector] = (),
        shelter: Shelter | Sequence[Shelter] | None = None,
        seed: int = 0,
        threads: int = 1,
        focus: ArrayLike | None = None,
        floor: float | None = None,
        outside: str = "prevailing",
        profile: str | HeightProfile = "none",
        ground: float | None = None,
        reference_height: float | None = None,
        roughness: float | None = None,
        exponent: float | None = None,
        start_time: float = 0.0,
    ) -> None:
        solids = checks.items(solids, "solids")
        effectors = checks.items(effectors, "effectors")
        given = dict(locals())
        self._given = {name: given[name] for name in given.keys() - {"self", "threads"}}
        self._cells = cell_counts(cells)
        self._vorticity = checks.number(vorticity, "vorticity", low=0.0)
        self._advection = checks.choice(advection, "advection", ADVECTIONS)
        self._outside = checks.choice(outside, "outside", ("prevailing", "mean"))
        self._floor = None if floor is None else checks.number(floor, "floor")
        self._threads = checks.threads(threads)
        self._seed = checks.integer(seed, "seed", low=0, high=2**64 - 1)
        self._start = checks.number(start_time, "start_time")
        self._steps = 0
        self._parameters: dict[str, Any] | None = None
        self._recorders: list[WindRecorder] = []
        count = checks.integer(levels, "levels", low=1, high=MAX_LEVELS)
        size = checks.spacing(cell_size, "cell_size")
        self._dt = checks.time_step(dt, size)
        self._projection = projection_of(projection)
        self._effectors = tuple(effector_of(e) for e in effectors)
        options = {
            "ground": ground,
            "reference_height": reference_height,
            "roughness": roughness,
            "exponent": exponent,
        }
        has_profile = (
            not isinstance(profile, str)
            or profile != "none"
            or any(v is not None for v in options.values())
        )
        source = prevailing_source(
            prevailing, height_profile(profile, **options) if has_profile else None
        )
        coarsest = size * 2.0 ** (count - 1)
        self._inflow = Inflow(source, turbulence_of(turbulence, coarsest), self._seed, self._start)
        self._grids = [Grid(self._cells, size * 2.0**level) for level in range(count)]
        self._scratch = np.empty(0, np.uint8)
        self._scratch_for: tuple | None = None
        self._markers = Markers(tuple(as_solid(s) for s in solids), self._grids)
        if focus is None:
            focus = (0.0, 0.0, 0.5 * self._cells[2] * size + (self._floor or 0.0))
        self._begin(checks.vector(focus, "focus"))
        self.shelter = shelter_of(shelter)

    def _begin(self, focus: NDArray[np.float64]) -> None:
        for grid, low in zip(self._grids, self._place(focus), strict=True):
            grid.low[:] = low
        self._markers.apply(self._markers.plan(self._lows(), self.time, self._dt))
        self._fill()
        self._markers.hold()
        refuse_what_is_not_finite(self._grids, self._steps, self.time)

    # -- reading ---------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time of the state [s]."""
        return self._start + self._steps * self._dt

    @property
    def dt(self) -> float:
        """Step [s]."""
        return self._dt

    @property
    def levels(self) -> int:
        """Number of grids."""
        return len(self._grids)

    @property
    def cells(self) -> tuple[int, int, int]:
        """Interior cells (nx, ny, nz) of every grid."""
        return self._cells

    @property
    def seed(self) -> int:
        """Seed of the noise."""
        return self._seed

    @property
    def threads(self) -> int:
        """Threads of a step; may be changed between steps."""
        return self._threads

    @threads.setter
    def threads(self, value: int) -> None:
        self._threads = checks.threads(value)

    @property
    def effectors(self) -> tuple[Effector, ...]:
        """The effectors; may be replaced between steps."""
        return self._effectors

    @effectors.setter
    def effectors(self, value: Iterable[Effector]) -> None:
        self._effectors = tuple(effector_of(e) for e in checks.items(value, "effectors"))

    @property
    def shelter(self) -> Shelter | None:
        """What slows the air; may be replaced between steps, as trees move."""
        return self._shelter

    @shelter.setter
    def shelter(self, value: Shelter | Sequence[Shelter] | None) -> None:
        self._shelter = shelter_of(value)
        self._spread()

    def _spread(self) -> None:
        for grid in self._grids:
            grid.drag = None if self._shelter is None else spread(self._shelter, grid)

    @property
    def solids(self) -> tuple[Solid, ...]:
        """The solids."""
        return self._markers.solids

    def velocity(self, level: int = 0) -> NDArray[np.float32]:
        """Live, read-only velocity (3, nz+2, ny+2, nx+2) of a grid with its border [m/s]."""
        return read_only(self._grid(level).velocity)

    def pressure(self, level: int = 0) -> NDArray[np.float32]:
        """Live, read-only potential phi (nz+2, ny+2, nx+2) of the last projection [m^2/s]."""
        return read_only(self._grid(level).pressure)

    def solid(self, level: int = 0) -> NDArray[np.bool_]:
        """Live, read-only markers (nz+2, ny+2, nx+2): True where a cell is solid."""
        return read_only(self._grid(level).solid)

    def origin(self, level: int = 0) -> tuple[float, float, float]:
        """Low corner (x, y, z) of cell [0, 0, 0], a border cell [m]."""
        return self._grid(level).origin

    def spacing(self, level: int = 0) -> float:
        """Cell size [m]."""
        return self._grid(level).spacing

    def prevailing(self) -> Prevailing:
        """The wind outside the coarsest grid, as `sample` gives it."""
        if self._outside == "prevailing":
            return self._inflow.outside
        grid = self._grids[-1]
        inside = (slice(1, -1),) * 3
        air = ~grid.solid[inside]
        if not air.any():
            return Prevailing((0.0, 0.0, 0.0))
        x, y, z = (float(np.mean(v[inside][air], dtype=np.float64)) for v in grid.velocity)
        return Prevailing((x, y, z))

    def view(self, time: float | None = None) -> WindView:
        """The wind of this instant for the C kernels; its arrays are live."""
        self._check_time(time)
        return WindView(tuple(grid.view() for grid in self._grids), self.prevailing())

    def sample(self, points: ArrayLike, time: float | None = None) -> NDArray[np.float32]:
        """Velocities (n, 3) at points (n, 3), trilinear [m/s].

        The finest grid around a point, faded over its last cell into the next coarser one, and on
        the coarsest into the wind outside. `time` may only be the wind's own.
        """
        return kernels.sample_wind(self.view(time), points, threads=self._threads)

    def _check_time(self, time: float | None) -> None:
        if time is None:
            return
        # A hundredth of a step forgives what the caller's sum of dt has lost, and no more.
        if not abs(checks.number(time, "time") - self.time) <= 1e-2 * self._dt:
            raise ValueError(f"time: this wind stands at {self.time:g} s, not {time:g} s; step it")

    def _grid(self, level: int) -> Grid:
        return self._grids[checks.integer(level, "level", low=0, high=self.levels - 1)]

    # -- stepping --------------------------------------------------------------------------------

    def step(self, focus: ArrayLike | None = None) -> None:
        """Advance by dt; with `focus` [m] the grids follow it first, by whole cells.

        A step is taken whole or not at all. What a prevailing wind, a solid's motion or an effector
        raises leaves the wind where it was; Ctrl-C is answered when the step is done.

        Raises
        ------
        FloatingPointError
            The air is not finite any more: step, level and cell are named. Looked for in a slab of
            one grid each step, so that it may come some steps late.
        """
        lows = None if focus is None else self._place(checks.vector(focus, "focus"))
        with patient_interrupts():
            missed = take(self._plan(lows), self._go, self._inflow)
            if not slab_is_finite(self._grids, self._steps):
                refuse_what_is_not_finite(self._grids, self._steps, self.time)
            for recorder in self._recorders:
                recorder.stepped(self.time)
        if missed is not None:
            self._projection.warn(missed)

    def _plan(self, lows: NDArray[np.int64] | None, *, unprojected: bool = False) -> Plan:
        """All of a step that can raise; nothing of the wind is changed."""
        end = self._start + (self._steps + 1) * self._dt
        here = self._lows()
        moved = lows is not None and bool((lows != here).any())
        target = here if lows is None else lows
        place = self._inflow.ahead(end, self._dt)
        marks = self._markers.plan(target, end, self._dt)
        self._projection.refuse_solids(self._markers.planned(marks))
        return Plan(
            self._steps + 1,
            target if moved else None,
            place,
            marks,
            *force_tables(self._effectors, self.time, end),
            unprojected,
            [],
            [],
        )

    def _go(self, plan: Plan) -> None:
        """The stages of a step; see `stepping.take`."""
        self._inflow.go(plan.place)
        self._move(plan.lows, plan.marks, plan.moved)
        once(
            plan.done,
            _kernels.cascade_step,
            lambda: (*self._work(plan.unprojected), plan.effectors, plan.blasts, self._threads),
        )
        if len(plan.blasts):
            self._markers.hold()
        self._steps = plan.steps

    def residual(self, bands: Sequence[float] = BANDS) -> xr.Dataset:
        """What the next step's projection leaves of the divergence, by scale; the wind stays.

        A copy takes the step without a move; each of its grids is projected as the wind does it.

        Parameters
        ----------
        bands : sequence of float, default (16, 8, 4)
            Wavelengths [cells] that part the bands, longest first.

        Returns
        -------
        xarray.Dataset
            That of `divergence_by_scale` with a dimension ``level`` before the others. Air sources
            (`Blast`) are left out of the step: their divergence is meant to stay.

        Examples
        --------
        >>> wind = Wind((6, 0, 0), cells=(16, 16, 8), levels=2)
        >>> wind.step()
        >>> wind.residual()["divergence"].dims
        ('level', 'place', 'when', 'band')
        """
        ahead = self.copy()
        ahead.effectors = tuple(e for e in self._effectors if not isinstance(e, Blast))
        take(ahead._plan(None, unprojected=True), ahead._go, ahead._inflow)
        return residual_of_grids(ahead._grids, self._projection, bands, self._threads)

    def _place(self, focus: NDArray[np.float64]) -> NDArray[np.int64]:
        low = np.empty((self.levels, 3), np.int64)
        cells = np.array(self._cells, np.int32)
        _kernels.cascade_place(focus, cells, self._grids[0].spacing, self._floor, low)
        return low

    def _lows(self) -> NDArray[np.int64]:
        return np.array([grid.low for grid in self._grids])

    def _fill(self) -> None:
        for grid in self._grids:
            _kernels.cascade_inject(
                grid.fields, self._inflow.outside, self._inflow.noise, True, self._threads
            )

    def _move(
        self,
        lows: NDArray[np.int64] | None,
        marks: Marks | None = None,
        moved: list[Any] | None = None,
    ) -> None:
        """Stages 1 and 2: the inflow, and the grids to their places."""
        if lows is not None and marks is None:
            marks = self._markers.plan(lows, self.time, self._dt)
        marked = self._markers.apply(marks)
        grids = tuple(grid.fields for grid in self._grids)
        inflow = self._inflow.outside, self._inflow.noise
        once(
            [] if moved is None else moved,
            _kernels.cascade_move,
            lambda: (grids, lows, *inflow, self._threads),
        )
        if marked:
            self._markers.hold()
        if lows is not None and self._shelter is not None:
            self._spread()

    def _work(self, unprojected: bool) -> tuple[Any, Any, Any]:
        """Grids, options and work space of stages 3 to 8, or to 7."""
        grids = tuple(grid.fields for grid in self._grids)
        options = (
            self._dt,
            self._vorticity,
            ADVECTIONS.index(self._advection),
            self._projection.warm_start,
            tuple(self._projection.parameters(grid) for grid in self._grids),
            unprojected,
        )
        needs = (options[4], tuple(grid.has_solid for grid in self._grids))
        if needs != self._scratch_for:
            size = _kernels.cascade_scratch_size(grids, options)
            self._scratch, self._scratch_for = np.zeros(size, np.uint8), needs
        others = tuple(grid.other for grid in self._grids)
        drags = tuple(grid.drag for grid in self._grids)
        return grids, options, (others, drags, self._scratch)

    # -- saving ----------------------------------------------------------------------------------

    def state(self) -> WindState:
        """All that changes in a step, copied: `restore` continues from it to the last bit."""
        return WindState(
            steps=self._steps,
            start_time=self._start,
            drift=self._inflow.drift.copy(),
            low=self._lows(),
            velocity=tuple(grid.velocity.copy() for grid in self._grids),
            pressure=tuple(grid.pressure.copy() for grid in self._grids),
            shelter=self._shelter,
            parameters=self._identity(),
        )

    def _identity(self) -> dict[str, Any]:
        if self._parameters is None:
            self._parameters = parameters_of(self.describe(), self.solids)
        return self._parameters

    def restore(self, state: WindState) -> None:
        """Go back (or on) to a `state` of a wind with the same grids and parameters.

        The state is checked whole before anything of the wind changes.

        Raises
        ------
        TypeError, ValueError
            Naming what does not fit: an array's shape or a value that is not finite, grids that do
            not lie inside each other, or a parameter of the wind that the state is of.
        """
        state = checked_state(state, self._grids)
        refuse_another(state, self._identity())
        time = state.start_time + state.steps * self._dt
        outside, shelter = self._inflow.outside_at(time), shelter_of(state.shelter)
        marks = self._markers.plan(state.low, time, self._dt)
        with patient_interrupts():
            self._steps, self._start = state.steps, state.start_time
            self._inflow.go((outside, state.drift))
            self._markers.apply(marks)
            for level, grid in enumerate(self._grids):
                grid.low[:] = state.low[level]
                np.copyto(grid.velocity, state.velocity[level])
                np.copyto(grid.pressure, state.pressure[level])
            self.shelter = shelter

    def __getstate__(self) -> dict[str, Any]:
        # Work space is made anew where it is needed; a copy does not write to the same files.
        dropped: dict[str, Any] = {
            "_scratch": np.empty(0, np.uint8),
            "_scratch_for": None,
            "_recorders": [],
        }
        return self.__dict__ | dropped

    def copy(self) -> Wind:
        """An independent wind in the same state; `copy.copy` and `copy.deepcopy` make it too."""
        return copy.deepcopy(self)

    def __copy__(self) -> Wind:
        return self.copy()

    def record(
        self,
        path: str | os.PathLike[str],
        *,
        levels: int | Iterable[int] | None = None,
        every: int = 1,
        overwrite: bool = True,
    ) -> WindRecorder:
        """Write the velocity to `.vtkhdf` files while the wind is stepped.

        VTK and ParaView read them; ``xr.open_dataset(path, group="wind", engine="h5netcdf")`` too.
        The present state is the first frame. The file is ``NAME.part`` until it is closed, and
        holds every frame up to the last commit, also where the process is killed:
        `recover_recording` finishes it. The first frame is committed at once, then each that comes
        a second or more after the last commit, with those before it.

        Parameters
        ----------
        path : str or path
            ``NAME.vtkhdf``; with several levels one file for each, ``NAME-level0.vtkhdf`` and so
            on, because a VTKHDF file with time steps holds one regular grid.
        levels : int or iterable of int, optional
            None is all.
        every : int, default 1
            Steps from frame to frame.
        overwrite : bool, default True

        Examples
        --------
        >>> with wind.record("wind.vtkhdf", levels=0, every=3):  # doctest: +SKIP
        ...     for _ in range(90):
        ...         wind.step()
        """
        chosen = recorded_levels(levels, self.levels)
        every = checks.integer(every, "every", low=1)
        overwrite = checks.flag(overwrite, "overwrite")
        text = {"title": "windgrove wind", "wind": json.dumps(self.describe()), "dt": self._dt}
        recorder = WindRecorder(self._grids, path, chosen, every, text, overwrite)
        recorder.append(self.time)
        self._recorders = [old for old in self._recorders if old.open] + [recorder]
        return recorder

    def describe(self) -> dict[str, Any]:
        """What a recording stores to repeat the wind: plain values only."""
        turbulence = self._inflow.turbulence
        return {
            "type": "Wind",
            "prevailing": self._inflow.source.describe(),
            "cells": list(self._cells),
            "levels": self.levels,
            "cell_size": self._grids[0].spacing,
            "dt": self._dt,
            "turbulence": {
                "strength": turbulence.strength,
                "scale": turbulence.scale,
                "speed": turbulence.speed,
            },
            "vorticity": self._vorticity,
            "projection": self._projection.describe(),
            "advection": self._advection,
            "solids": [repr(solid) for solid in self.solids],
            "effectors": [repr(effector) for effector in self._effectors],
            "shelter": None if self._shelter is None else self._shelter.total_drag,
            "seed": self._seed,
            "floor": self._floor,
            "outside": self._outside,
            "start_time": self._start,
        }

    def replace(self, **changes: Any) -> Wind:
        """A new wind at its start, with some of the constructor's arguments changed.

        Refused once this wind has been stepped, as the new one would not be where this one is.
        """
        if self._steps:
            raise ValueError(f"wind: already stepped to {self.time:g} s; give one at its start")
        unknown = sorted(changes.keys() - self._given.keys())
        if unknown:
            raise TypeError(f"replace: a Wind has no argument {unknown[0]!r}")
        return Wind(**{**self._given, "threads": self._threads, **changes})

    @property
    def source(self) -> Any:
        """The prevailing wind, as a function of time with a height profile."""
        return self._inflow.source

    def __repr__(self) -> str:
        return (
            f"Wind({self._inflow.source!r}, cells={self._cells}, levels={self.levels}, "
            f"cell_size={self._grids[0].spacing:g}, time={self.time:g})"
        )
