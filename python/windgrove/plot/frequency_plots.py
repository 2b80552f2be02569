"""What was set beside what the step realises, branch by branch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import choice, number
from ..trees.tree import KIND_NAMES, Tree
from .legends import legend
from .styles import (
    CLAMPED,
    COLOURS,
    INK,
    MARKERS,
    QUIET,
    Drawing,
    one,
    plain_log,
    quiet_grid,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..species.species import Species

QUANTITIES = ("frequency", "damping_ratio")


@styled
def frequencies(
    tree: Tree,
    species: Species | str | os.PathLike[str],
    *,
    dt: float = 1 / 30,
    clamp: str = "source",
    quantity: str = "frequency",
    ax: Axes | None = None,
) -> Drawing:
    """Set against realised natural frequency (or damping ratio) of every branch, by level.

    On the diagonal the simulation does what the species says. Ringed branches are clamped: the
    step cannot carry their stiffness, and what they show is not what was set.

    Parameters
    ----------
    tree : Tree
    species : Species, name or path
    dt : float, default 1/30
        Time step of the simulation, s.
    clamp : {"source", "compensated", "exponential", "none"}
        As for `Sway`.
    quantity : {"frequency", "damping_ratio"}
        Undamped natural frequency in Hz, or damping ratio, both of the discrete map.
    ax : matplotlib Axes, optional
        By default the axes of a new figure.

    Returns
    -------
    Drawing
        Artists "trunk", "branch", "foliage" (PathCollections of set, realised), "clamped",
        "dead_beat" (branches without a realised frequency, on the lower edge), "diagonal",
        "limit", "legend"; what does not occur is left out.
    """
    from ..analysis.frequencies import realised
    from ..species.load import load_species

    species = load_species(species)
    choice(quantity, "quantity", QUANTITIES)
    dt = number(dt, "dt", above=0)
    table = realised(tree, species, dt=dt, clamp=clamp)
    wanted = table[quantity].to_numpy()
    got = table[f"realised_{quantity}"].to_numpy()
    clamped = table["clamped"].to_numpy().astype(bool)
    axes = one(ax)
    artists = _scatter(axes, tree, wanted, got, clamped)
    _limits(axes, wanted, got, quantity)
    artists |= _guides(axes, dt, quantity, bool(clamped.any()))
    names = {"frequency": "natural frequency", "damping_ratio": "damping ratio"}
    unit = " (Hz)" if quantity == "frequency" else ""
    axes.set_xlabel(f"set {names[quantity]}{unit}")
    axes.set_ylabel(f"realised {names[quantity]}{unit}")
    artists |= _without_frequency(axes, wanted, got)
    count = f"{int(clamped.sum())} of {len(tree)}"
    axes.set_title(f"{species.name}: {count} clamped (dt {1000 * dt:.3g} ms)")
    points = [artists[name] for name in (*KIND_NAMES, "clamped", "limit_text") if name in artists]
    artists["legend"] = legend(axes, points, ("upper left", "lower right"))
    quiet_grid(axes)
    return Drawing((axes,), artists)


def _scatter(
    axes: Axes,
    tree: Tree,
    wanted: NDArray[np.float64],
    got: NDArray[np.float64],
    clamped: NDArray[np.bool_],
) -> dict[str, Any]:
    artists: dict[str, Any] = {}
    for kind, name in enumerate(KIND_NAMES):
        here = tree.kind == kind
        if not here.any():
            continue
        count = int(here.sum())
        bound = int((here & clamped).sum())
        label = f"{name} ({count}" + (f", {bound} clamped)" if bound else ")")
        artists[name] = axes.scatter(
            wanted[here],
            got[here],
            s=60 if kind == 0 else 16,
            marker=MARKERS[name],
            color=COLOURS[name],
            edgecolor="white",
            linewidth=0.3,
            alpha=1.0 if kind == 0 else 0.75,
            zorder=6 if kind == 0 else 4,
            label=label,
        )
    if clamped.any():
        artists["clamped"] = axes.scatter(
            wanted[clamped],
            got[clamped],
            s=34,
            facecolor="none",
            edgecolor=CLAMPED,
            linewidth=0.7,
            zorder=5,
            label="clamped",
        )
    return artists


def _limits(
    axes: Axes, wanted: NDArray[np.float64], got: NDArray[np.float64], quantity: str
) -> None:
    values = np.concatenate([wanted, got])
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        return
    low, high = float(values.min()), float(values.max())
    if quantity == "frequency" or high > 20 * low:
        axes.set(xscale="log", yscale="log")
        axes.set_xlim(low / 1.4, max(float(wanted.max()) * 1.4, low * 4))
        axes.set_ylim(low / 1.4, max(float(np.nanmax(got)) * 1.4, low * 4))
        plain_log(axes.xaxis)
        plain_log(axes.yaxis)
    else:
        axes.set_xlim(0, float(wanted.max()) * 1.3)
        axes.set_ylim(0, float(np.nanmax(got)) * 1.15)


def _without_frequency(
    axes: Axes, wanted: NDArray[np.float64], got: NDArray[np.float64]
) -> dict[str, Any]:
    """Branches whose step leaves no frequency (dead-beat) stand on the lower edge."""
    lost = ~np.isfinite(got)
    if not lost.any():
        return {}
    points = axes.scatter(
        wanted[lost],
        np.full(lost.sum(), 0.02),
        transform=axes.get_xaxis_transform(),
        marker="x",
        s=20,
        color=INK,
        linewidth=0.8,
        label=f"dead-beat, none realised ({int(lost.sum())})",
    )
    return {"dead_beat": points}


def _guides(axes: Axes, dt: float, quantity: str, any_clamped: bool) -> dict[str, Any]:
    low = max(min(axes.get_xlim()[0], axes.get_ylim()[0]), 1e-12)
    high = max(axes.get_xlim()[1], axes.get_ylim()[1])
    x, y = axes.get_xlim(), axes.get_ylim()
    (diagonal,) = axes.plot(
        [low, high], [low, high], color=QUIET, linewidth=0.9, zorder=2, label="as set"
    )
    artists: dict[str, Any] = {"diagonal": diagonal}
    limit = 1 / (2 * np.pi * dt)
    if quantity == "frequency" and any_clamped and x[0] < limit < x[1]:
        artists["limit"] = axes.axvline(limit, color=CLAMPED, linewidth=0.9, linestyle="--")
        artists["limit_text"] = axes.annotate(
            f"clamp: {limit:.3g} Hz",
            (limit, 0.03),
            xycoords=("data", "axes fraction"),
            xytext=(4, 0),
            textcoords="offset points",
            color=INK,
            fontsize="small",
        )
    axes.set_xlim(x)
    axes.set_ylim(y)
    return artists
