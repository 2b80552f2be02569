"""Radii for cylinders whose file has none: one for all, or the pipe model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import checks
from .cylinders import Cylinders, Notes, Source

PIPE_TIP = 0.002  # m: radius of a twig's end where the pipe model is asked for without one


def check_radius(radius: Any) -> Any:
    """The `radius` argument: None, a number in m, "pipe", or ("pipe", tip radius in m)."""
    if radius is None:
        return None
    if isinstance(radius, str):
        checks.choice(radius, "radius", ("pipe",))
        return ("pipe", PIPE_TIP)
    if isinstance(radius, tuple):
        if len(radius) != 2 or radius[0] != "pipe":
            raise ValueError(f"radius: expected a number, 'pipe' or ('pipe', tip), got {radius!r}")
        return ("pipe", checks.number(radius[1], "radius", above=0))
    return checks.number(radius, "radius", above=0)


def fill_radii(
    table: Cylinders, source: Source, radius: Any, notes: Notes
) -> tuple[Cylinders, Source]:
    """Cylinders without a radius, or with radius 0, get the one asked for.

    The pipe model gives a cylinder the cross-section of all it carries (Shinozaki et al. 1964);
    radii that are there count in it. Parents come before children.
    """
    missing = ~(table.radius > 0) & ~(table.radius < 0)
    if radius is None or not missing.any():
        return table, source
    filled = table.radius.copy()
    if isinstance(radius, tuple):
        how = f"by the pipe model from tips of {radius[1]:g} m"
        filled[missing] = _pipe(table, missing, radius[1])[missing]
    else:
        how = f"set to {radius:g} m"
        filled[missing] = radius
    notes.noticed(
        "radii-filled",
        f"{missing.sum()} of {len(table)} radii were missing or 0: {how}",
        table.row[missing],
    )
    known = "" if missing.all() else f"{source.radius_provenance}; "
    return table.replace(radius=filled), replace(source, radius_provenance=f"{known}{how}")


def _pipe(table: Cylinders, missing: np.ndarray, tip: float) -> np.ndarray:
    carried = [0.0] * len(table)
    radius = table.radius.tolist()
    for row in range(len(table) - 1, -1, -1):
        if missing[row]:
            radius[row] = max(carried[row], tip * tip) ** 0.5
        above = table.parent[row]
        if above >= 0:
            carried[above] += radius[row] ** 2
    return np.array(radius)
