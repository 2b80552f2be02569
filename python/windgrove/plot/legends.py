"""Legends that lie on no data: in a corner that is free, or above or below the data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .styles import root_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.03  # of the axes, kept free around a legend
ALONG = 400  # points at which a line is looked at


def legend(axes: Any, data: Iterable[Any], corners: Iterable[str], **options: Any) -> Any:
    """A legend in the first of `corners` without `data`; where there is none, room is made.

    `data` are lines, scatters and texts; guides may pass behind a legend, which is white. Room is
    made by moving the upper limit of the vertical axis, the lower one if no corner is an upper one.
    """
    data, corners = list(data), list(corners)
    look = dict(frameon=True, facecolor="white", framealpha=0.9, edgecolor="none")
    made = axes.legend(loc=corners[0], **look, **options)
    figure = root_figure(axes)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    left, _, right, _ = _box(axes, made)
    if right - left > 1 and options.get("ncols", 1) > 1:
        made = axes.legend(loc=corners[0], **look, **{**options, "ncols": 1})
    made.set_zorder(8)
    points = _points(axes, data)
    for corner in corners:
        made.set_loc(corner)
        if not _inside(points, _box(axes, made)).any():
            return made
    corner = next((name for name in corners if name.startswith("upper")), corners[0])
    made.set_loc(corner)
    _make_room(axes, points, _box(axes, made), above=corner.startswith("upper"))
    return made


def from_zero(axes: Axes, greatest: float) -> None:
    """A vertical axis from 0 with room above the data, whose own range may be narrow."""
    if np.isfinite(greatest) and greatest > 0:
        axes.set_ylim(0, 1.08 * greatest)
    else:
        axes.set_ylim(0, None)


def _box(axes: Axes, made: Any) -> tuple[float, float, float, float]:
    """Left, lower, right, upper edge in parts of the axes, with the margin."""
    corners = axes.transAxes.inverted().transform(made.get_window_extent().get_points())
    (left, low), (right, high) = corners
    return left - MARGIN, low - MARGIN, right + MARGIN, high + MARGIN


def _points(axes: Axes, data: list[Any]) -> NDArray[np.float64]:
    """Where the data are, in parts of the axes; (n, 2), within the width shown."""
    found = [np.empty((0, 2))]
    for artist in data:
        if hasattr(artist, "get_xydata"):
            shown = _fraction(axes, np.asarray(artist.get_xydata(), dtype=np.float64))
            found.append(_along(shown) if artist.get_linestyle() != "None" else shown)
        elif hasattr(artist, "get_offsets"):
            found.append(_fraction(axes, np.asarray(artist.get_offsets(), dtype=np.float64)))
        else:
            (left, low), (right, high) = artist.get_window_extent().get_points()
            corners = np.array([(x, y) for x in (left, right) for y in (low, high)])
            found.append(axes.transAxes.inverted().transform(corners))
    points = np.concatenate(found)
    points = points[np.isfinite(points).all(axis=1)]
    return points[(points[:, 0] >= 0) & (points[:, 0] <= 1)]


def _fraction(axes: Axes, values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return axes.transAxes.inverted().transform(axes.transData.transform(values))


def _along(shown: NDArray[np.float64]) -> NDArray[np.float64]:
    """A line with points between its own, so that a long piece cannot pass unseen."""
    if len(shown) < 2 or len(shown) >= ALONG:
        return shown
    at = np.linspace(0, len(shown) - 1, ALONG)
    own = np.arange(len(shown))
    return np.column_stack([np.interp(at, own, shown[:, i]) for i in (0, 1)])


def _inside(
    points: NDArray[np.float64], box: tuple[float, float, float, float]
) -> NDArray[np.bool_]:
    left, low, right, high = box
    x, y = points.T
    return (x >= left) & (x <= right) & (y >= low) & (y <= high)


def _make_room(
    axes: Any,
    points: NDArray[np.float64],
    box: tuple[float, float, float, float],
    *,
    above: bool,
) -> None:
    left, low, right, high = box
    beside = points[(points[:, 0] >= left) & (points[:, 0] <= right), 1]
    beside = beside[(beside >= 0) & (beside <= 1)]
    scale = axes.yaxis.get_transform()
    bottom, top = scale.transform(np.array(axes.get_ylim()))
    if above:
        stretch = max(float(beside.max()) / max(low, 0.1), 1.0)
        top = bottom + (top - bottom) * stretch
    else:
        stretch = max((1 - float(beside.min())) / max(1 - high, 0.1), 1.0)
        bottom = top - (top - bottom) * stretch
    axes.set_ylim(scale.inverted().transform(np.array([bottom, top])))
