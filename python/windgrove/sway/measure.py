"""Long runs that keep sums in place of frames: what a sweep asks of thousands of variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from .channels import chosen_branches
from .feed import Feed
from .simulate import default_focus, step_wind
from .sway import Sway


class Measured(NamedTuple):
    """Sums over the steps of a run, the state at its start included."""

    sum_square: NDArray[np.float64]  # (m, n) rad^2, of |theta|^2; NaN where a state diverged
    peak: NDArray[np.float32]  # (m, n) rad, greatest |theta|
    states: int  # summed: steps + 1
    series: NDArray[np.float32]  # (frames + 1, m, k, 3) rad, NaN after a divergence


def measure(
    sway: Sway,
    wind: Any = None,
    *,
    duration: float,
    dt: float = 1 / 30,
    branches: ArrayLike | None = (),
    focus: ArrayLike | None = None,
    check: Callable[[], None] | None = None,
) -> Measured:
    """Run instances of one specimen and keep running sums, not frames.

    Parameters
    ----------
    sway : Sway
        Instances of one `Tree`; advanced in place.
    wind, duration, dt, focus
        As in `windgrove.simulate`; a `Wind` is stepped.
    branches : array_like of int or None
        Branches whose rotation is kept frame by frame: none by default, None for all.
    check : callable, optional
        Called before every block of steps (at least ten times a second); raise in it to stop.

    Returns
    -------
    Measured
        A variant that diverges does not stop the others; its sums are NaN at the branches that
        are not finite.
    """
    if len(sway.groups) != 1:
        raise ValueError(f"sway: expected instances of one tree, got {len(sway.groups)} trees")
    dt = checks.number(dt, "dt", above=0.0)
    frames = round(checks.number(duration, "duration", low=0.0) / dt)
    group, n = sway.groups[0], len(sway.tree)
    chosen = np.zeros(0, np.int32)
    if branches is None or np.size(branches):
        chosen = chosen_branches(branches, n)
    square = _square(group.rotation)
    peak = np.sqrt(square).astype(np.float32)
    series = np.full((frames + 1, len(group), len(chosen), 3), np.nan, np.float32)
    start_rows = group.rotation
    series[0] = start_rows[:, :, chosen].transpose(0, 2, 1)
    feed = Feed(wind)
    focus = default_focus(sway) if focus is None else checks.vector(focus, "focus")
    start = float(wind.time) if feed.stepped else 0.0
    per, done = sway.substeps, 0

    def record(number: int, at: int, step: int, steps: int) -> tuple[Any, ...]:
        first = done + at + step // per
        whole = series[first + 1 : first + 1 + steps // per] if steps >= per else None
        every = per if whole is not None else steps + 1
        return (every, chosen, whole, None, None, None, None, square, peak)

    most = feed.frames_at_once(sway.branch_count * per) if not feed.stepped else 1
    while done < frames:
        if check is not None:
            check()
        count = min(most, frames - done)
        if feed.stepped:
            step_wind(wind, start + (done + 1) * dt, dt, focus)
        sway._advance(feed, dt, count, record, raise_diverged=False)
        done += count
    order = sway._where[:, 1]
    return Measured(square[order, :n], peak[order, :n], frames * per + 1, series[:, order])


def _square(rotation: NDArray[np.float32]) -> NDArray[np.float64]:
    """(m, padded) of (m, 3, padded), double precision, in the order the C core sums in."""
    x, y, z = (rotation[:, axis].astype(np.float64) for axis in range(3))
    return x * x + y * y + z * z
