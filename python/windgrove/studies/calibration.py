"""What a calibration came to: values, intervals, correlations, and all of it in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from ..species.species import Species


class CalibrationError(ValueError):
    """The model cannot reach the targets; the message says which and why."""


@dataclass(frozen=True)
class Estimate:
    """One fitted parameter.

    Attributes
    ----------
    name : str
        "trunk.beta" and the like.
    value : float
    interval : (float, float)
        95 %; infinite where the targets do not determine the parameter.
    start : float
        Value of the preset.
    unit : str
    tied : tuple of str
        Parameters that keep their ratio to this one.
    """

    name: str
    value: float
    interval: tuple[float, float]
    start: float
    unit: str
    tied: tuple[str, ...] = ()


@dataclass(frozen=True)
class TargetFit:
    """One target beside what the calibrated species gives.

    Attributes
    ----------
    label, unit : str
    target, deviation : float
        The number asked for and its standard deviation.
    predicted : float
        From the model's equations.
    realised : float
        After clamp and time step, where that has a meaning; else NaN.
    simulated : float
        Seen in a run of the calibrated tree; NaN where none was made.
    """

    label: str
    unit: str
    target: float
    deviation: float
    predicted: float
    realised: float = float("nan")
    simulated: float = float("nan")

    @property
    def misfit(self) -> float:
        """(predicted - target) / target."""
        return self.predicted / self.target - 1.0


@dataclass(frozen=True)
class Clamping:
    """Share of a level's branches whose spring the time step limits."""

    level: str
    branches: int
    share: float


@dataclass(frozen=True)
class Turning:
    """How far a level turns in a wind that sets in, with the preset and with the fit.

    Attributes
    ----------
    level : str
    branches : int
    speed : float
        m/s: that of the sway target.
    before, after : float
        Median over the level of the greatest angle of each branch, deg.
    peak_before, peak_after : float
        Greatest of all, deg.
    thrown_before, thrown_after : int
        Branches that pass 60 deg.
    """

    level: str
    branches: int
    speed: float
    before: float
    after: float
    peak_before: float
    peak_after: float
    thrown_before: int
    thrown_after: int


@dataclass(frozen=True, eq=False)
class Calibration:
    """The calibrated species and how well it is known.

    Attributes
    ----------
    species : Species
        Ready to `save`; its provenance names targets and trees.
    estimates : tuple of Estimate
    targets : tuple of TargetFit
    correlation : xarray.DataArray
        (parameter, parameter_2); NaN where an interval is infinite.
    clamping : tuple of Clamping
    turning : tuple of Turning
        All levels of the tree at the wind speed of a sway target, since a fit to the trunk moves
        the others too; empty where no sway was asked for.
    identifiability : tuple of str
        What these targets cannot tell, in words.
    notes : tuple of str
    cost : float
        Half the sum of squared residuals, each in standard deviations.
    degrees_of_freedom : int
    dt : float, s
    """

    species: Species
    estimates: tuple[Estimate, ...]
    targets: tuple[TargetFit, ...]
    correlation: xr.DataArray
    clamping: tuple[Clamping, ...]
    identifiability: tuple[str, ...]
    notes: tuple[str, ...]
    cost: float
    degrees_of_freedom: int
    dt: float
    turning: tuple[Turning, ...] = ()
    _profile: Callable[[str, int], xr.DataArray] | None = None

    def estimate(self, name: str) -> Estimate:
        """The estimate of a parameter by its dotted name."""
        for one in self.estimates:
            if one.name == name:
                return one
        fitted = ", ".join(one.name for one in self.estimates)
        raise KeyError(f"{name!r} was not fitted; fitted were {fitted}")

    def profile(self, name: str, points: int = 15) -> xr.DataArray:
        """Cost over one parameter, all others fitted again at each value.

        A cost that rises by 1.92 from its minimum marks the 95 % limits; a flat one says that the
        targets do not know the parameter.
        """
        self.estimate(name)
        assert self._profile is not None
        return self._profile(name, points)

    def report(self) -> str:
        """Values, intervals, targets, correlations, clamping and identifiability as text."""
        blocks = [
            self._title(),
            self._estimate_lines(),
            self._target_lines(),
            self._correlation_lines(),
            self._turning_lines(),
            self._clamping_lines(),
            [f"- {text}" for text in (*self.identifiability, *self.notes)],
        ]
        return "\n\n".join("\n".join(block) for block in blocks if block)

    __str__ = report

    def _title(self) -> list[str]:
        return [
            f"{self.species.name}: {len(self.estimates)} parameter(s) from {len(self.targets)} "
            f"target(s), cost {self.cost:.3g}, {self.degrees_of_freedom} degree(s) of freedom"
        ]

    def _estimate_lines(self) -> list[str]:
        lines = [f"{'parameter':<22}{'value':>12}{'95 % low':>12}{'95 % high':>12}{'preset':>12}"]
        for e in self.estimates:
            low, high = (_number(value) for value in e.interval)
            lines.append(
                f"{e.name:<22}{_number(e.value):>12}{low:>12}{high:>12}{_number(e.start):>12}  "
                f"{_unit(e.unit)}" + (f"; with it {', '.join(e.tied)}" if e.tied else "")
            )
        return lines

    def _target_lines(self) -> list[str]:
        lines = [f"{'target':<46}{'asked':>10}{'set':>10}{'realised':>10}{'simulated':>11}"]
        for t in self.targets:
            seen = [_number(v) for v in (t.target, t.predicted, t.realised)]
            lines.append(
                f"{t.label:<46}{seen[0]:>10}{seen[1]:>10}{seen[2]:>10}"
                f"{_number(t.simulated):>11}  {_unit(t.unit)}".rstrip()
            )
        return lines

    def _correlation_lines(self) -> list[str]:
        names = [e.name for e in self.estimates]
        if len(names) < 2:
            return []
        lines = ["correlations " + " ".join(f"{name:>14}" for name in names)]
        for name, row in zip(names, self.correlation.values, strict=True):
            lines.append(f"{name:<13}" + " ".join(f"{value:>14.2f}" for value in row))
        return lines

    def _clamping_lines(self) -> list[str]:
        return [f"clamped at dt = {self.dt:.4g} s:"] + [
            f"  {c.level:<8} {100 * c.share:.0f} % of {c.branches}" for c in self.clamping
        ]

    def _turning_lines(self) -> list[str]:
        if not self.turning:
            return []
        lines = [
            f"all levels in a wind of {self.turning[0].speed:g} m/s from calm (deg, 10 s), "
            "preset -> fit:"
        ]
        for t in self.turning:
            lines.append(
                f"  {t.level:<8} median peak {t.before:.3g} -> {t.after:.3g}, greatest "
                f"{t.peak_before:.3g} -> {t.peak_after:.3g}, beyond 60 deg {t.thrown_before} -> "
                f"{t.thrown_after} of {t.branches}"
            )
        if any(t.thrown_after > t.thrown_before for t in self.turning):
            lines.append(
                "  more branches are thrown than before: windgrove.advise(tree, species, "
                f"wind_speed={self.turning[0].speed:g}) names them and what keeps them"
            )
        return lines


def _number(value: float) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:.4g}"


def _unit(unit: str) -> str:
    """A number without a unit has none; "1" beside it would read as another number."""
    return "" if unit == "1" else unit
