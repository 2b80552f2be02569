"""How a recorded tree moved: over time, over frequency, against the wind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import integer, number
from .data import (
    branch_position,
    chosen_branches,
    degrees,
    kinds,
    needs,
    one_instance,
    rate,
    recorded_rotation,
)
from .legends import from_zero, legend
from .styles import COLOURS, FAINT, INK, QUIET, Drawing, many, one, plain_log, quiet_grid, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from ..species.species import Species
    from ..trees.tree import Tree

MOST = 100  # branches of a level whose spectra are taken


@styled
def spectrum(
    ds: xr.Dataset,
    *,
    branch: int | None = None,
    instance: int = 0,
    segment: float | None = None,
    skip: float = 0.0,
    ax: Axes | None = None,
) -> Drawing:
    """Power spectrum of the sway, with the natural frequencies that were set marked.

    Welch's method on the three components of the rotation vector, means removed, powers added:
    no heading is preferred. One line a level is the median over its branches (over 100 of
    them where there are more). A dashed line marks
    the f_n that was set, a band the middle 80 % of a level's.

    Parameters
    ----------
    ds : xarray.Dataset
        A recording, ``rotation (time, instance, branch, component)`` in rad.
    branch : int, optional
        Only this branch; by default one line for trunk, branches and foliage.
    instance : int, default 0
    segment : float, optional
        Length of Welch's segments, s; by default a third of the recording, at least 10 s where
        there is so much. It limits the resolution to 1/segment Hz.
    skip : float, default 0
        Seconds left out at the start, such as the first swing from rest.
    ax : matplotlib Axes, optional

    Returns
    -------
    Drawing
        Artists named after the levels, "f_n <level>" (a line, or a band from the lowest to the
        highest frequency of a level), "legend".
    """
    rotation = _after(recorded_rotation(ds, instance=instance), number(skip, "skip", low=0))
    frames_per_second = rate(ds)
    axes = one(ax)
    artists: dict[str, Any] = {}
    seen = []
    frequency = ds["frequency"].to_numpy() if "frequency" in ds else None
    for name, members in _groups(ds, branch).items():
        some = members[np.linspace(0, len(members) - 1, min(len(members), MOST)).astype(int)]
        turned = chosen_branches(rotation, some)
        hertz, power = spectral_power(turned, frames_per_second, segment)
        seen.append(power)
        label = name if len(members) == 1 else f"{name} ({len(members)})"
        colour = COLOURS.get(name.split()[0], INK)
        line = np.median(power, axis=1)
        (artists[name],) = axes.plot(hertz[1:], line[1:], color=colour, label=label)
        if frequency is not None:
            artists |= _mark(axes, name, frequency[members], artists[name])
    axes.set(xscale="log", yscale="log", xlabel="frequency (Hz)")
    axes.set_ylabel("power of the sway (degrees²/Hz)")
    axes.set_xlim(hertz[1], hertz[-1])
    _floor(axes, np.concatenate([p[1:].ravel() for p in seen]))
    plain_log(axes.xaxis)
    lines = [artist for name, artist in artists.items() if not name.startswith("f_n")]
    artists["legend"] = legend(axes, lines, ("lower left", "upper right"))
    axes.set_title("Sway spectrum, f_n as set")
    quiet_grid(axes)
    return Drawing((axes,), artists)


def _after(rotation: xr.DataArray, skip: float) -> xr.DataArray:
    if not skip:
        return rotation
    time = rotation["time"].to_numpy()
    kept = rotation.isel(time=slice(int(np.searchsorted(time, time[0] + skip)), None))
    if kept.sizes["time"] < 16:
        raise ValueError(f"skip: {skip:g} s leave {kept.sizes['time']} frames; 16 are needed")
    return kept


def spectral_power(
    rotation: NDArray[Any], frames_per_second: float, segment: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Frequencies (Hz) and power (degrees^2/Hz) of rotations (time, ..., 3), components added."""
    from scipy.signal import welch

    count = len(rotation)
    if count < 16:
        raise ValueError(f"ds: {count} frames are too few for a spectrum; 16 are needed")
    if not np.isfinite(rotation).all():
        raise ValueError("ds: rotation is not finite everywhere")
    if segment is None:
        size = min(count, max(count // 3, round(10 * frames_per_second)))
    else:
        size = round(number(segment, "segment", above=0) * frames_per_second)
        if not 16 <= size <= count:
            raise ValueError(
                f"segment: expected {16 / frames_per_second:.3g} to "
                f"{count / frames_per_second:.3g} s, got {segment:g} s"
            )
    hertz, power = welch(
        degrees(rotation.astype(np.float64)), frames_per_second, nperseg=size, axis=0
    )
    return hertz, power.sum(axis=-1)


def _groups(ds: xr.Dataset, branch: int | None) -> dict[str, NDArray[np.intp]]:
    names = kinds(ds)
    if branch is not None:
        at = branch_position(ds, branch)
        return {f"{names[at]} {branch}": np.array([at])}
    found = {name: np.flatnonzero(names == name) for name in ("trunk", "branch", "foliage")}
    return {name: members for name, members in found.items() if members.size}


def _mark(axes: Axes, name: str, frequency: NDArray[Any], line: Any) -> dict[str, Any]:
    """A line at one frequency; a band over the middle 80 % of many. The legend has the numbers."""
    frequency = frequency[np.isfinite(frequency)]
    if not frequency.size:
        return {}
    colour = line.get_color()
    if np.ptp(frequency) < 0.02 * frequency.mean():
        f = float(frequency.mean())
        line.set_label(f"{line.get_label()}, f_n {f:.3g} Hz")
        mark = axes.axvline(f, color=colour, linewidth=1.0, linestyle="--", zorder=1)
        return {f"f_n {name}": mark}
    low, high = np.quantile(frequency, [0.1, 0.9])
    line.set_label(f"{line.get_label()}, f_n {low:.2g} to {high:.2g} Hz")
    band = axes.axvspan(low, high, color=colour, alpha=0.12, linewidth=0, zorder=0)
    return {f"f_n {name}": band}


def _floor(axes: Axes, power: NDArray[np.float64]) -> None:
    positive = power[power > 0]
    if positive.size:
        top = float(positive.max())
        axes.set_ylim(max(float(np.quantile(positive, 0.005)) / 3, top * 1e-10), top * 3)


@styled
def sway(
    ds: xr.Dataset,
    *,
    branch: int = 0,
    instance: int = 0,
    tree: Tree | None = None,
    species: Species | None = None,
    bins: int = 10,
    skip: float = 0.0,
    ax: Axes | None = None,
) -> Drawing:
    """Sway of one branch against the wind at it.

    Points are frames; the line is the median over bins of wind speed, the band the middle 80 %.
    With `tree` and `species` the static angle k theta = d v cos(theta) of a steady wind across the
    branch is drawn too: gusts throw a lightly damped tree beyond it, and shelter from the noise's
    slow side keeps it below.

    Parameters
    ----------
    ds : xarray.Dataset
        A recording with ``rotation`` (rad) and ``wind`` (m/s), both
        (time, instance, branch, component).
    branch, instance : int, default 0
        Branch 0 is the trunk.
    tree, species : optional
        Both, for the static angle.
    bins : int, default 10
    skip : float, default 0
        Seconds left out at the start.
    ax : matplotlib Axes, optional

    Returns
    -------
    Drawing
        Artists "frames", "median", "band", "static" (with `tree` and `species`), "legend".
    """
    speed, angle, name = _speed_and_angle(ds, branch, instance, number(skip, "skip", low=0))
    bins = integer(bins, "bins", low=2, high=1000)
    axes = one(ax)
    colour = COLOURS.get(name, INK)
    artists: dict[str, Any] = {}
    artists["frames"] = axes.scatter(
        speed, angle, s=5, color=colour, alpha=0.22, linewidth=0, rasterized=True, label="frames"
    )
    centre, low, middle, high = _binned(speed, angle, bins)
    artists["band"] = axes.fill_between(
        centre, low, high, color=QUIET, alpha=0.22, linewidth=0, label="middle 80 %"
    )
    (artists["median"],) = axes.plot(centre, middle, color=INK, marker="o", label="median")
    if tree is not None and species is not None:
        v = np.linspace(0.0, float(speed.max()) * 1.05, 100)
        (artists["static"],) = axes.plot(
            v,
            degrees(static_angle(tree, species, branch, v)),
            color="#E69F00",
            linestyle="--",
            label="steady wind: kθ = d v cos θ",
        )
    axes.set(xlabel=f"wind speed at the {name} (m/s)", ylabel=f"sway of the {name} (degrees)")
    axes.set_xlim(0, 1.05 * float(speed.max()) if speed.max() > 0 else None)
    from_zero(axes, float(angle.max()))
    axes.set_title(f"Sway against wind: {name}" + ("" if name == "trunk" else f" {branch}"))
    shown = [artists[name] for name in ("frames", "median", "static") if name in artists]
    corners = ("upper left", "lower right")
    artists["legend"] = legend(axes, shown, corners, markerscale=2.0)
    for handle in artists["legend"].legend_handles[:1]:
        handle.set_alpha(1.0)
    quiet_grid(axes)
    return Drawing((axes,), artists)


def static_angle(
    tree: Tree, species: Species, branch: int, speed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solution theta (rad) of k theta = d v cos(theta)."""
    from ..analysis.statics import steady_angle
    from ..trees.parameters import branch_parameters

    values = branch_parameters(tree, species)
    return steady_angle(float(values.drag[branch]) / float(values.stiffness[branch]) * speed)


def _speed_and_angle(
    ds: xr.Dataset, branch: int, instance: int, skip: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    wind = needs(ds, "wind", 'record it with channels=("rotation", "wind")')
    at = branch_position(ds, branch)
    rotation = recorded_rotation(ds, instance=instance).isel(branch=at)
    wind = one_instance(wind, instance).transpose("time", "branch", "component").isel(branch=at)
    time = ds["time"].to_numpy()
    keep = time >= time[0] + skip
    speed = np.linalg.norm(wind.to_numpy()[keep].astype(np.float64), axis=1)
    angle = degrees(np.linalg.norm(rotation.to_numpy()[keep].astype(np.float64), axis=1))
    finite = np.isfinite(speed) & np.isfinite(angle)
    if finite.sum() < 2:
        raise ValueError(f"ds: {int(finite.sum())} frames with wind and rotation; 2 are needed")
    return speed[finite], angle[finite], str(kinds(ds)[at])


def _binned(
    speed: NDArray[np.float64], angle: NDArray[np.float64], bins: int
) -> tuple[NDArray[np.float64], ...]:
    """Centres and quantiles over bins of equal counts, so that each says equally much."""
    edges = np.unique(np.quantile(speed, np.linspace(0, 1, bins + 1)))
    if len(edges) < 2:
        middle = np.full(1, float(np.median(angle)))
        return speed[:1], middle, middle, middle
    place = np.clip(np.searchsorted(edges, speed, side="right") - 1, 0, len(edges) - 2)
    groups = [np.flatnonzero(place == i) for i in range(len(edges) - 1)]
    groups = [g for g in groups if g.size]
    centre = np.array([np.median(speed[g]) for g in groups])
    spread = np.array([np.quantile(angle[g], [0.1, 0.5, 0.9]) for g in groups])
    return centre, spread[:, 0], spread[:, 1], spread[:, 2]


@styled
def history(
    ds: xr.Dataset,
    *,
    branch: int = 0,
    instance: int = 0,
    start: float | None = None,
    stop: float | None = None,
    ax: Any = None,
) -> Drawing:
    """Sway over time, with the wind at the branch above it where it was recorded.

    Parameters
    ----------
    ds : xarray.Dataset
        A recording with ``rotation`` (rad) and perhaps ``wind`` (m/s).
    branch, instance : int, default 0
    start, stop : float, optional
        Part of the recording, s.
    ax : one axes, or two (wind, sway), optional

    Returns
    -------
    Drawing
        Artists "angle", "x", "y" (components of the rotation vector) and, with two axes, "wind".
    """
    rotation = recorded_rotation(ds, instance=instance)
    at = branch_position(ds, branch)
    start = None if start is None else number(start, "start")
    stop = None if stop is None else number(stop, "stop")
    rotation = rotation.isel(branch=at).sel(time=slice(start, stop))
    if not rotation.sizes["time"]:
        raise ValueError("start, stop: no frame between them")
    single = ax is not None and np.size(np.asarray(ax, dtype=object)) == 1
    windy = "wind" in ds and not single
    grid = many(ax, 2, 1) if windy else np.array([[one(ax)]], dtype=object)
    artists: dict[str, Any] = {}
    time, name = rotation["time"].to_numpy(), str(kinds(ds)[at])
    if windy:
        wind = one_instance(ds["wind"], instance).isel(branch=at).sel(time=slice(start, stop))
        speed = np.linalg.norm(wind.transpose("time", "component").to_numpy(), axis=1)
        (artists["wind"],) = grid[0, 0].plot(time, speed, color=QUIET, linewidth=1.0)
        grid[0, 0].set_ylabel("wind (m/s)")
        from_zero(grid[0, 0], float(np.nanmax(speed, initial=0.0)))
        grid[0, 0].set_title(f"Wind at the {name}, and its sway")
    below = grid[-1, 0]
    turned = degrees(rotation.to_numpy().astype(np.float64))
    for i, axis, colour in ((0, "x", "#56B4E9"), (1, "y", "#E69F00")):
        (artists[axis],) = below.plot(
            time, turned[:, i], color=colour, linewidth=0.9, label=f"about {axis}"
        )
    (artists["angle"],) = below.plot(
        time,
        np.linalg.norm(turned, axis=1),
        color=COLOURS.get(name, INK),
        linewidth=1.2,
        label="whole",
    )
    below.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    of = "" if windy else f" of the {name}"  # the title above says it
    below.set(xlabel="time (s)", ylabel=f"sway{of} (degrees)")
    moving = [artists[name] for name in ("x", "y", "angle")]
    artists["legend"] = legend(
        below, moving, ("upper right", "lower right"), ncols=3, columnspacing=1.0, handlelength=1.2
    )
    return Drawing(tuple(grid.ravel()), artists)
