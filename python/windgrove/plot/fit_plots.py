"""What was measured beside what was fitted to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import array, choice, flag
from .legends import legend
from .styles import COLOURS, FAINT, INK, QUIET, Drawing, many, one, plain_log, quiet_grid, styled

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from ..analysis.decay import DecayFit
    from ..studies.calibration import Calibration


@styled
def decay(
    time: ArrayLike,
    angle: ArrayLike,
    fit: DecayFit | None = None,
    *,
    unit: str = "rad",
    ax: Axes | None = None,
) -> Drawing:
    """A free decay and the damped sine fitted to it.

    Parameters
    ----------
    time : array_like, shape (n,)
        s.
    angle : array_like, shape (n,)
        In `unit`.
    fit : DecayFit, optional
        By default `fit_decay` is called, and refuses what it cannot fit.
    unit : str, default "rad"
        For the label.
    ax : matplotlib Axes, optional

    Returns
    -------
    Drawing
        Artists "record", "fit", "envelope" (two lines), "legend".
    """
    from ..analysis.decay import fit_decay

    t = array(time, "time", dtype=np.float64, finite=True)
    y = array(angle, "angle", dtype=np.float64, shape=(len(t),))
    fit = fit_decay(t, y) if fit is None else fit
    axes = one(ax)
    fine = np.linspace(t[0], t[-1], max(1000, 4 * len(t)))
    rate = 2 * np.pi * fit.frequency * fit.damping_ratio
    rest = fit.offset + fit.drift * (fine - fit.start)
    shell = fit.amplitude * np.exp(-rate * (fine - fit.start))
    artists: dict[str, Any] = {}
    (artists["record"],) = axes.plot(
        t, y, ".", color=QUIET, markersize=3, alpha=0.7, label="record"
    )
    (artists["fit"],) = axes.plot(
        fine, fit.evaluate(fine), color=COLOURS["trunk"], label=_fit_label(fit)
    )
    artists["envelope"] = axes.plot(
        np.column_stack([fine, fine]),
        np.column_stack([rest + shell, rest - shell]),
        color=COLOURS["branch"],
        linestyle="--",
        linewidth=0.9,
    )
    artists["envelope"][0].set_label(f"envelope, falls by e in {1 / rate:.3g} s")
    axes.set(xlabel="time (s)", ylabel=f"angle ({unit})")
    low, high = min(y.min(), (rest - shell).min()), max(y.max(), (rest + shell).max())
    axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    lines = [artists["record"], artists["fit"], *artists["envelope"]]
    artists["legend"] = legend(
        axes, lines, ("upper right", "lower right"), fontsize="small", ncols=2, columnspacing=1.0
    )
    axes.set_title("Free decay")
    quiet_grid(axes)
    return Drawing((axes,), artists)


def _fit_label(fit: DecayFit) -> str:
    """Two short lines: one would run past a narrow axis."""
    values = (
        ("f", fit.frequency, fit.frequency_interval, " Hz"),
        ("ζ", fit.damping_ratio, fit.damping_ratio_interval, ""),
    )
    return "\n".join(
        f"{name} = {value:.4g}{unit} ({low:.4g} to {high:.4g})"
        for name, value, (low, high), unit in values
    )


@styled
def calibration(result: Calibration, *, ax: Any = None) -> Drawing:
    """What a calibration reached, how well its parameters are known, and how they hang together.

    Parameters
    ----------
    result : Calibration
        What `calibrate` returned.
    ax : array of two axes, optional
        Targets, parameters.

    Returns
    -------
    Drawing
        Artists "target" (bars of one standard deviation about 1), "predicted", "realised",
        "simulated" (each over its target), "estimates" (fitted over the preset's value, with 95 %
        intervals), "legend".
    """
    if not hasattr(result, "targets") or not hasattr(result, "estimates"):
        raise TypeError(f"result: expected a Calibration, got {type(result).__name__}")
    grid = many(ax, 1, 2, share=False, figsize=(9.0, 1.6 + 0.75 * len(result.targets)))
    artists = _targets(grid[0, 0], result)
    artists |= _estimates(grid[0, 1], result)
    return Drawing(tuple(grid.ravel()), artists)


def _targets(axes: Axes, result: Calibration) -> dict[str, Any]:
    labels = [_target_label(t.label) for t in result.targets]
    place = np.arange(len(labels), dtype=float)
    spread = np.array([t.deviation / abs(t.target) if t.target else np.nan for t in result.targets])
    artists: dict[str, Any] = {}
    artists["target"] = axes.barh(
        place, 2 * spread, left=1 - spread, height=0.6, color="#e0e0e0", label="target ± 1 sd"
    )
    marks = {"predicted": ("o", INK), "realised": ("s", COLOURS["branch"])}
    marks["simulated"] = ("D", COLOURS["trunk"])
    for i, (name, (marker, colour)) in enumerate(marks.items()):
        value = np.array(
            [getattr(t, name) / t.target if t.target else np.nan for t in result.targets]
        )
        if np.isfinite(value).any():
            (artists[name],) = axes.plot(
                value, place + 0.16 * (i - 1), marker, color=colour, markersize=5, label=name
            )
    axes.axvline(1.0, color=FAINT, linewidth=0.8, zorder=0)
    for row, t in zip(place, result.targets, strict=True):
        unit = "" if t.unit == "1" else f" {t.unit}"
        _note(axes, row, f"{t.target:.4g}{unit}")
    axes.set_yticks(place, labels)
    axes.set_ylim(len(labels) - 0.4, -1.1)
    axes.margins(x=0.12)
    axes.set_xlabel("reached / target (1)")
    axes.set_title(f"{result.species.name}: targets")
    artists["legend"] = axes.legend(loc="upper center", fontsize="small", ncols=2)
    return artists


def _ratio(value: float, target: float) -> float:
    return value / target if target else float("nan")


def _target_label(label: str) -> str:
    """``frequency_hz[trunk] (tree 0)`` in two short lines."""
    name, _, rest = label.removesuffix(" (tree 0)").partition("[")
    level, _, more = rest.partition("]")
    return "\n".join(part for part in (name, f"{level}{more}".strip()) if part)


def _note(axes: Axes, row: float, text: str) -> None:
    axes.annotate(
        text,
        (1.0, row),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 13),
        textcoords="offset points",
        ha="right",
        fontsize="small",
        color=QUIET,
    )


def _estimates(axes: Axes, result: Calibration) -> dict[str, Any]:
    shown = result.estimates
    place = np.arange(len(shown), dtype=float)
    value = np.array([e.value / e.start for e in shown])
    low = np.array([e.interval[0] / e.start for e in shown])
    high = np.array([e.interval[1] / e.start for e in shown])
    known = np.isfinite(low) & np.isfinite(high)
    span = np.where(known, [value - low, high - value], 0.0)
    bars = axes.errorbar(
        value, place, xerr=np.maximum(span, 0.0), fmt="o", color=INK, capsize=3, markersize=5
    )
    axes.axvline(1.0, color=FAINT, linewidth=0.8, zorder=0)
    for row, e, sure in zip(place, shown, known, strict=True):
        unit = "" if e.unit == "1" else f" {e.unit}"
        _note(axes, row, f"{e.value:.4g}{unit}" + ("" if sure else ", not determined"))
    axes.set_yticks(place, [e.name.replace(".", "\n") for e in shown])
    axes.set_ylim(len(shown) - 0.4, -0.9)
    axes.set_xscale("log")
    axes.margins(x=0.25)
    plain_log(axes.xaxis)
    axes.set_xlabel("fitted / preset (1), 95 % interval")
    axes.set_title("parameters")
    return {"estimates": bars}


@styled
def regression(
    sizes: xr.Dataset,
    predictor: str = "dbh_h2",
    *,
    laws: bool = True,
    ax: Axes | None = None,
) -> Drawing:
    """Frequency against the size of trees, the line through it, and published lines beside it.

    Parameters
    ----------
    sizes : xarray.Dataset
        ``height`` (m), ``frequency`` (Hz) and, for "dbh_h2", ``dbh`` (m), over ``tree``: from
        `analysis.tree_sizes` or a field table.
    predictor : {"dbh_h2", "inverse_h", "inverse_sqrt_h"}
        DBH/H^2, 1/H or 1/sqrt(H).
    laws : bool, default True
        Whether published laws of that predictor are drawn, dashed; dotted where their
        coefficients were never seen in print.
    ax : matplotlib Axes, optional

    Returns
    -------
    Drawing
        Artists "trees", "line", "band" (95 % for the line), "new" (95 % for one more tree), "law
        <name>", "legend".
    """
    from ..analysis.laws import PREDICTORS, published_laws
    from ..analysis.regression import frequency_regression

    choice(predictor, "predictor", PREDICTORS)
    laws = flag(laws, "laws")
    fit = frequency_regression(sizes, [predictor])[predictor]
    axes = one(ax)
    artists: dict[str, Any] = {}
    label, unit = PREDICTORS[predictor]
    x = np.linspace(0.0, 1.08 * float(fit.x.max()), 200)
    artists["trees"] = axes.scatter(
        fit.x, fit.y, s=22, color=COLOURS["branch"], edgecolor="white", linewidth=0.4, zorder=4,
        label=f"trees ({fit.count})",
    )  # fmt: skip
    text = f"{fit.intercept:.3g} + {fit.slope:.3g} x, R² {fit.r2:.2f}"
    (artists["line"],) = axes.plot(x, fit.predict(x), color=COLOURS["branch"], label=text)
    artists["band"] = axes.fill_between(
        x, *fit.band(x), color=COLOURS["branch"], alpha=0.2, linewidth=0, label="95 % of the line"
    )
    artists["new"] = axes.fill_between(
        x, *fit.band(x, new=True), color=COLOURS["branch"], alpha=0.07, linewidth=0,
        label="95 % of one more tree",
    )  # fmt: skip
    for i, law in enumerate(published_laws(predictor) if laws else ()):
        (artists[f"law {law.name}"],) = axes.plot(
            x,
            law.intercept + law.slope * x,
            color=("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")[i % 5],
            linestyle="--" if law.verified else ":",
            linewidth=1.0,
            label=law.name,
        )
    axes.set(xlabel=f"{label} ({unit})", ylabel="natural frequency of the trunk (Hz)")
    axes.set_xlim(0, x[-1])
    axes.set_ylim(0, 1.1 * max(float(fit.y.max()), float(fit.predict(x).max())))
    axes.set_title(f"Frequency against {label}")
    artists["legend"] = legend(
        axes, [artists["trees"], artists["line"]], ("upper left",), fontsize="small", ncols=2
    )
    quiet_grid(axes)
    return Drawing((axes,), artists)
