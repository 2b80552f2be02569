"""A sweep as small multiples: a column a parameter, a row a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .legends import from_zero
from .styles import COLOURS, FAINT, INK, Drawing, many, quiet_grid, styled

if TYPE_CHECKING:
    import xarray as xr

RESULTS = ("realised_frequency", "realised_damping_ratio", "sway_rms")
MOST_TICKS = 6  # more numbers run into each other below a panel
_LABELS = {
    "realised_frequency": "realised f_n (Hz)",
    "realised_damping_ratio": "realised ζ",
    "sway_rms": "sway, rms (degrees)",
    "sway_peak": "sway, peak (degrees)",
}
_NAMES = {"beta": "β", "zeta": "ζ", "gamma": "γ", "rho": "ρ"}


@styled
def sweep(
    table: xr.Dataset,
    *,
    level: str = "trunk",
    results: Sequence[str] = RESULTS,
    ax: Any = None,
) -> Drawing:
    """What each swept parameter does, everything else held: small multiples.

    A column for each swept parameter, a row for each result. The strong line holds the other
    parameters at their middle values; the faint lines are all their other combinations, so that a
    fan of them shows an interaction and a bundle its absence. A list of points (a design without
    a grid) is drawn as dots.

    Parameters
    ----------
    table : xarray.Dataset
        What `sweep` returned.
    level : {"trunk", "branch", "foliage"}
    results : sequence of str
        Data variables, one row each; angles are shown in degrees.
    ax : array of axes, optional
        As many as results times swept parameters, in reading order.

    Returns
    -------
    Drawing
        Artists "<result> <parameter>": the strong line (or the dots).
    """
    if not hasattr(table, "data_vars"):
        raise TypeError(f"table: expected an xarray.Dataset, got {type(table).__name__}")
    results = list(results)
    for name in results:
        if name not in table:
            raise ValueError(f"results: the table has no {name!r}; it has {list(table.data_vars)}")
    at_level = _level(table, level, results)
    swept = _swept(at_level)
    grid = many(ax, len(results), len(swept))
    artists: dict[str, Any] = {}
    for row, result in enumerate(results):
        values = at_level[result]
        angles = values.attrs.get("units") == "rad" or "sway" in result
        shown = values * (180.0 / np.pi) if angles else values
        for column, parameter in enumerate(swept):
            axes = grid[row, column]
            artists[f"{result} {parameter}"] = _panel(axes, shown, parameter, swept, level)
            if row == len(results) - 1:
                axes.set_xlabel(_parameter_label(table, parameter))
            if column == 0:
                axes.set_ylabel(_LABELS.get(result, result.replace("_", " ")))
            quiet_grid(axes)
    grid[0, 0].set_title(f"What the sweep did to the {level}")
    return Drawing(tuple(grid.ravel()), artists)


def _level(table: xr.Dataset, level: str, results: list[str]) -> xr.Dataset:
    if "level" not in table.dims:
        return table
    names = [str(name) for name in table["level"].to_numpy()]
    if level not in names:
        raise ValueError(f"level: expected one of {', '.join(names)}; got {level!r}")
    return table[results].isel(level=names.index(level))


def _swept(table: xr.Dataset) -> list[str]:
    """Names of the swept parameters: dimensions of a grid, coordinates of a list of points."""
    if "point" in table.dims:
        names = [
            str(name)
            for name, coord in table.coords.items()
            if coord.dims == ("point",) and name != "point" and coord.dtype.kind in "fiu"
        ]
    else:
        names = [str(name) for name in table.dims if table.sizes[name] > 1]
        names = names or [str(name) for name in table.dims]
    if not names:
        raise ValueError("table: holds no swept parameter")
    return names


def _panel(axes: Any, values: xr.DataArray, parameter: str, swept: list[str], level: str) -> Any:
    from matplotlib.ticker import NullLocator

    colour = COLOURS.get(level, INK)
    if "point" in values.dims:
        return axes.scatter(values[parameter], values, s=10, color=colour, alpha=0.7, linewidth=0)
    others = [name for name in values.dims if name != parameter]
    x = values[parameter].to_numpy()
    if x.dtype.kind not in "fiu":
        x = np.arange(len(x))
    lines = values.transpose(*others, parameter).to_numpy().reshape(-1, len(x))
    for line in lines:
        axes.plot(x, line, color=FAINT, linewidth=0.7, zorder=1)
    middle = values.isel({name: (values.sizes[name] - 1) // 2 for name in others})
    (strong,) = axes.plot(x, middle.to_numpy(), color=colour, marker="o", zorder=3)
    if len(x) > 2 and x.min() > 0 and x.max() / x.min() > 8:
        axes.set_xscale("log")
        shown = x[:: -(-len(x) // MOST_TICKS)]
        axes.set_xticks(shown, [f"{value:.3g}" for value in shown])
        axes.xaxis.set_minor_locator(NullLocator())
    if np.nanmin(lines) >= 0:
        from_zero(axes, max(float(np.nanmax(lines)), axes.get_ylim()[1] / 1.08))
    return strong


def _parameter_label(table: xr.Dataset, parameter: str) -> str:
    stem, _, rest = parameter.partition("_")
    attrs = table[parameter].attrs if parameter in table.coords else {}
    unit = attrs.get("units", "")
    name = f"{_NAMES.get(stem, stem)} {rest}".strip().replace("_", " ")
    if not unit or unit == "1":
        unit = "times the preset" if _factors(table, parameter) else ""
    return f"{name} ({unit})" if unit else name


def _factors(table: xr.Dataset, parameter: str) -> bool:
    """A bare list in `sweep` holds factors; the result says so in its attributes."""
    text = str(table[parameter].attrs) + str(table.attrs.get("values", ""))
    return "factor" in text
