"""Values that run but are most likely slips of a unit: said once, before a run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import UnusualValue
from ..species.species import LEVELS
from ..wind.cascade import Wind
from ..wind.recorded import RecordedWind
from ..wind.sources import UniformWind
from .sway import Sway

LONGEST_STEP = 0.2  # s: a trunk of 0.5 Hz has ten such steps a swing
STRONGEST_WIND = 100.0  # m/s; the strongest gust measured outside tornadoes is 113 (WMO)
STRONGEST_DAMPING = 2.0
SLOWEST_INFLOW = 20.0  # s on the way from the border to the tree
BETA = (1e4, 1e7)  # kg m^-1 s^-2; the trunks of the presets have 1e5 to 2e6


def warn_of_slips(sway: Sway, wind: Any, duration: float, dt: float) -> None:
    """One `UnusualValue` for each value far from what trees and winds have, at simulate's call."""
    found = (*_of_time(sway, dt), *_of_wind(wind), *_of_inflow(wind, duration), *_of_species(sway))
    for message in found:
        warnings.warn(UnusualValue(message), stacklevel=3)


def _of_time(sway: Sway, dt: float) -> Iterator[str]:
    step = dt / sway.substeps
    if step > LONGEST_STEP:
        yield (
            f"dt: a step of {step:g} s is longer than {LONGEST_STEP:g} s: springs faster than "
            f"{1 / (2 * np.pi * step):.2g} Hz are limited by it; is the unit s? 1/30 is usual"
        )


def _of_wind(wind: Any) -> Iterator[str]:
    source = wind.source if isinstance(wind, Wind) else wind
    if isinstance(source, RecordedWind):
        speed = float(np.linalg.norm(source.samples, axis=1).max())
    elif isinstance(source, UniformWind):
        speed = float(np.linalg.norm(source.sample([[0.0, 0.0, 10.0]], time=0.0)))
    else:
        return
    if speed > STRONGEST_WIND:
        yield f"wind: {speed:.4g} m/s is above any storm; is the unit m/s?"


def _of_inflow(wind: Any, duration: float) -> Iterator[str]:
    """Gusts enter at the border of the coarsest grid and go with the wind from there."""
    if not (isinstance(wind, Wind) and isinstance(wind.source, RecordedWind)):
        return
    half = 0.5 * wind.spacing(wind.levels - 1) * np.array(wind.cells[:2])
    mean = np.abs(wind.source.samples[:, :2].mean(axis=0))
    travel = float(np.min(half / np.maximum(mean, 1e-9)))
    if travel > max(SLOWEST_INFLOW, 0.5 * duration):
        yield (
            f"wind: gusts of the record take about {travel:.3g} s from the border of the grids to "
            f"their middle at {float(np.hypot(*mean)):.2g} m/s, and the run is {duration:g} s: "
            "give the RecordedWind itself to simulate, make the grids smaller, or step the wind "
            "that long before"
        )


def _of_species(sway: Sway) -> Iterator[str]:
    for species in {id(s): s for s in sway.species}.values():
        low, high = BETA
        beta = species.trunk.beta
        if not low <= beta <= high:
            yield (
                f"{species.name}: trunk.beta {beta:g} kg m^-1 s^-2 is far from the 1e5 to 2e6 that "
                "realistic trunks need; is the unit SI?"
            )
        for level in LEVELS:
            zeta = species.level(level).zeta
            if zeta > STRONGEST_DAMPING:
                yield (
                    f"{species.name}: {level}.zeta {zeta:g} is a ratio, not a percentage: 0.05 to "
                    "0.15 is usual, from 1 on nothing swings"
                )
