"""What a projection leaves of the divergence, by scale, at corrected faces and at cells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks, kernels
from .grids import Grid

if TYPE_CHECKING:
    import xarray as xr

    from .solvers import Projection

BANDS = (16.0, 8.0, 4.0)
INNER = (slice(1, -1),) * 3


def rms_by_scale(field: ArrayLike, bands: Sequence[float] = BANDS) -> NDArray[np.float64]:
    """Root mean square of a field in bands of wavelength, longest first.

    The field is 0 at the border, so that its sine transform (type I, orthonormal) keeps the sum of
    squares: the squares of the bands add up to the mean square over the interior.

    Parameters
    ----------
    field : array_like, shape (nz+2, ny+2, nx+2)
        With its border, which is not read.
    bands : sequence of float
        Wavelengths [cells] that part the bands, longest first. The wavelength of a mode is that of
        the length of its wave vector.

    Returns
    -------
    ndarray, shape (len(bands) + 1,)
        In the unit of the field.
    """
    from scipy.fft import dstn

    parts = _bands(bands)
    values = checks.array(field, "field", dtype=np.float64, shape=(None, None, None))[INNER]
    if values.size == 0:
        raise ValueError("field: expected at least one cell inside the border")
    modes = [np.arange(1, n + 1) / (2 * (n + 1)) for n in values.shape]
    k = np.sqrt(sum(f**2 for f in np.meshgrid(*modes, indexing="ij")))
    power = dstn(values, type=1, norm="ortho") ** 2
    edges = [0.0, *(1 / length for length in parts), np.inf]
    sums = [power[(k > low) & (k <= high)].sum() for low, high in itertools.pairwise(edges)]
    return np.sqrt(np.array(sums) / values.size)


def divergence_by_scale(
    velocity: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    bands: Sequence[float] = BANDS,
    **options: Any,
) -> xr.Dataset:
    """Projects a velocity and reports the divergence before and after it, by scale.

    Parameters
    ----------
    velocity, spacing, solid
        See `kernels.project`.
    bands : sequence of float, keyword-only
        Wavelengths [cells] that part the bands, longest first.
    **options
        Those of `kernels.project_report`: method, discretisation, iterations, ...

    Returns
    -------
    xarray.Dataset
        ``divergence (place, when, band)``: root mean square over the interior [1/s], at
        ``place`` "cells" (central differences) and "faces" (what the solver works on: the faces
        that it corrects for the compact discretisation, NaN for the consistent one, which has
        none), ``when`` "before" and "after". ``total (place, when)``: over all scales.
        Coordinates ``longest (band)`` and ``shortest (band)`` [cells].
    """
    import xarray as xr

    wavelengths = _bands(bands)
    report = kernels.project_report(velocity, spacing, solid, **options)
    compact = options.get("discretisation", "compact") == "compact"
    pairs = [
        (
            kernels.divergence(velocity, spacing, solid),
            kernels.divergence(report.velocity, spacing, solid),
        )
    ]
    if compact:
        still = np.zeros_like(report.pressure)
        pairs.append(
            (
                kernels.divergence(velocity, spacing, solid, pressure=still),
                kernels.divergence(velocity, spacing, solid, pressure=report.pressure),
            )
        )
    count = len(wavelengths) + 1
    values = np.full((2, 2, count), np.nan)
    for place, pair in enumerate(pairs):
        for when, field in enumerate(pair):
            values[place, when] = rms_by_scale(field, wavelengths)
    rate = {"units": "s-1"}
    return xr.Dataset(
        {
            "divergence": (("place", "when", "band"), values, rate),
            "total": (("place", "when"), np.sqrt((values**2).sum(axis=-1)), rate),
        },
        coords={
            "place": ["cells", "faces"],
            "when": ["before", "after"],
            "longest": ("band", [np.inf, *wavelengths], {"units": "cells"}),
            "shortest": ("band", [*wavelengths, 0.0], {"units": "cells"}),
        },
    )


def residual_of_grids(
    grids: Sequence[Grid], projection: Projection, bands: Sequence[float], threads: int
) -> xr.Dataset:
    """`divergence_by_scale` of each grid as a `Wind` projects it, along ``level``."""
    import xarray as xr

    reports = [
        divergence_by_scale(
            grid.velocity,
            grid.spacing,
            grid.marked,
            bands=bands,
            pressure=grid.pressure.copy() if projection.warm_start else None,
            threads=threads,
            **projection.options(grid),
        )
        for grid in grids
    ]
    levels = xr.concat(reports, "level", join="exact")
    return levels.assign_coords(
        level=np.arange(len(reports)),
        spacing=("level", [grid.spacing for grid in grids], {"units": "m"}),
    )


def _bands(bands: Sequence[float]) -> tuple[float, ...]:
    lengths = tuple(checks.number(length, "bands", above=0.0) for length in bands)
    if any(a <= b for a, b in itertools.pairwise(lengths)):
        raise ValueError(f"bands: expected wavelengths that fall, got {lengths}")
    return lengths
