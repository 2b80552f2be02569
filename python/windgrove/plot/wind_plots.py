"""Slices through the nested wind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import choice, integer, number
from .styles import INK, Drawing, one, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..wind.cascade import Wind

_AXES = {"x": (0, 2, 1), "y": (1, 0, 2), "z": (2, 0, 1)}  # normal, right, up


@styled
def wind(
    wind: Wind,
    *,
    level: int = 0,
    axis: str = "z",
    at: float | None = None,
    arrows: int = 20,
    vmax: float | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Speed and direction in one plane of one grid of the wind, as it is now.

    Parameters
    ----------
    wind : Wind
    level : int, default 0
        Grid; 0 is the finest.
    axis : {"x", "y", "z"}
        Normal of the plane; "z" is a map, "y" a section along x.
    at : float, optional
        Where on that axis, m; the layer of cells nearest to it is drawn. By default the middle.
    arrows : int, default 20
        At most so many along the longer side; 0 for none.
    vmax : float, optional
        Upper end of the colours, m/s; by default the greatest speed shown.
    ax : matplotlib Axes, optional

    Returns
    -------
    Drawing
        Artists "speed" (QuadMesh, m/s; solids left out), "arrows", "solids", "finer" (outline of
        the next finer grid), "colorbar".
    """
    if not hasattr(wind, "velocity") or not hasattr(wind, "spacing"):
        raise TypeError(f"wind: expected a Wind with grids, got {type(wind).__name__}")
    level = integer(level, "level", low=0, high=wind.levels - 1)
    normal, right, up = _AXES[choice(axis, "axis", _AXES)]
    velocity = np.asarray(wind.velocity(level=level), dtype=np.float64)
    arrows = integer(arrows, "arrows", low=0)
    vmax = None if vmax is None else number(vmax, "vmax", above=0)
    solid = np.asarray(wind.solid(level=level))
    spacing, origin = wind.spacing(level), np.asarray(wind.origin(level))
    layer, where = _layer(velocity.shape, normal, origin, spacing, at)
    plane = np.take(velocity, layer, axis=3 - normal)  # (3, up, right) for z and y
    mask = np.take(solid, layer, axis=2 - normal)
    if axis == "x":  # rows are z, columns y
        right, up = 1, 2
    axes = one(ax)
    edges = [
        origin[i] + spacing * np.arange(n + 1)
        for i, n in ((right, mask.shape[1]), (up, mask.shape[0]))
    ]
    artists = _speed(axes, plane, mask, edges, vmax)
    if arrows:
        artists["arrows"] = _arrows(axes, plane, mask, edges, (right, up), arrows)
    artists |= _finer(axes, wind, level, (right, up))
    names = "xyz"
    axes.set(xlabel=f"{names[right]} (m)", ylabel=f"{names[up]} (m)", aspect="equal")
    place = f"{names[normal]} = {where:.3g} m"
    if at is not None and abs(where - float(at)) > 1e-9:
        place += f" (cells nearest to {float(at):.3g} m)"
    axes.set_title(f"Wind at {place}, {wind.time:.1f} s, grid {level}")
    return Drawing((axes,), artists)


def _layer(
    shape: tuple[int, ...], normal: int, origin: NDArray[Any], spacing: float, at: float | None
) -> tuple[int, float]:
    count = shape[3 - normal]
    if at is None:
        layer = count // 2
    else:
        place = (number(at, "at") - origin[normal]) / spacing - 0.5
        layer = round(place)
        if not 0 <= layer < count:
            low, high = origin[normal], origin[normal] + spacing * count
            raise ValueError(f"at: expected {low:g} to {high:g} m on this grid, got {at:g}")
    return layer, float(origin[normal] + spacing * (layer + 0.5))


def _speed(
    axes: Axes, plane: NDArray[Any], mask: NDArray[Any], edges: list[Any], vmax: float | None
) -> dict[str, Any]:
    from matplotlib.colors import ListedColormap

    speed = np.ma.masked_array(np.linalg.norm(plane, axis=0), mask)
    mesh = axes.pcolormesh(*edges, speed, cmap="viridis", vmin=0, vmax=vmax, rasterized=True)
    artists: dict[str, Any] = {"speed": mesh}
    if mask.any():
        shown = np.ma.masked_array(np.ones(mask.shape), ~mask)
        artists["solids"] = axes.pcolormesh(
            *edges, shown, cmap=ListedColormap(["#8a8a8a"]), rasterized=True
        )
    # Within the axes' own box, which equal scales make lower than its place in the figure.
    beside = axes.inset_axes((1.02, 0.0, 0.03, 1.0))
    artists["colorbar"] = axes.figure.colorbar(mesh, cax=beside, label="speed (m/s)")
    return artists


def _arrows(
    axes: Axes,
    plane: NDArray[Any],
    mask: NDArray[Any],
    edges: list[Any],
    components: tuple[int, int],
    count: int,
) -> Any:
    stride = max(1, int(np.ceil(max(mask.shape) / max(count, 1))))
    rows = np.arange(stride // 2, mask.shape[0], stride)
    columns = np.arange(stride // 2, mask.shape[1], stride)
    x = (edges[0][:-1] + edges[0][1:])[columns] / 2
    y = (edges[1][:-1] + edges[1][1:])[rows] / 2
    u, v = (plane[c][np.ix_(rows, columns)] for c in components)
    free = ~mask[np.ix_(rows, columns)]
    grid_x, grid_y = np.meshgrid(x, y)
    longest = max(float(np.hypot(u, v)[free].max(initial=0.0)), 1e-12)
    size = 0.95 * stride * (edges[0][1] - edges[0][0]) / longest
    return axes.quiver(
        grid_x[free],
        grid_y[free],
        u[free] * size,
        v[free] * size,
        angles="xy",
        scale_units="xy",
        scale=1,
        color="white",
        width=0.0025,
    )


def _finer(axes: Axes, wind: Wind, level: int, components: tuple[int, int]) -> dict[str, Any]:
    """Outline of the next finer grid, where there is one."""
    if level == 0:
        return {}
    from matplotlib.patches import Rectangle

    origin, size = np.asarray(wind.origin(level - 1)), wind.spacing(level - 1)
    extent = size * (np.asarray(wind.cells) + 2)
    right, up = components
    box = Rectangle(
        (float(origin[right]), float(origin[up])),
        float(extent[right]),
        float(extent[up]),
        fill=False,
        edgecolor=INK,
        linewidth=0.8,
        linestyle="--",
    )
    axes.add_patch(box)
    return {"finer": box}
