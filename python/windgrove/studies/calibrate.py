"""Calibrate a species to what was measured on a tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from .. import checks
from ..analysis.frequencies import CLAMPS, discrete_response
from ..species.load import load_species
from ..species.species import LEVELS, Species
from ..trees.tree import FOLIAGE, Tree
from . import parameters
from .calibration import Calibration, CalibrationError, Clamping, Estimate, TargetFit
from .freedom import choose_groups, freed_by
from .names import calibrated_name, provenance
from .parameters import UNITS, Group
from .targets import Model, Target, collect
from .turning import turning
from .verify import simulate_targets

LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
Bounds = Mapping[str, tuple[float, float]]


def calibrate(
    tree: Tree | Sequence[Tree],
    species: Species | str | os.PathLike[str],
    *,
    frequency_hz: Any = None,
    damping_ratio: Any = None,
    sway_deg: Any = None,
    leaf_ratio: Any = None,
    leaf_load_ratio: Any = None,
    pull_and_release: tuple[ArrayLike, ArrayLike] | None = None,
    spectrum: tuple[ArrayLike, ArrayLike] | None = None,
    residuals: Callable[[Species], ArrayLike] | None = None,
    free: Iterable[str] | None = None,
    fixed: Iterable[str] = (),
    tied: Mapping[str, str] | None = None,
    bounds: Bounds | None = None,
    uncertainty: Mapping[str, float] | None = None,
    tolerance: float = 0.1,
    loss: str = "linear",
    match: str = "set",
    dt: float = 1 / 30,
    clamp: str = "source",
    diff_step: float | None = None,
    name: str | None = None,
    verify: bool = True,
) -> Calibration:
    """Find the species parameters that give what was measured.

    Parameters
    ----------
    tree : Tree, or a sequence of them
        Several trees share one species; each target may then be a sequence, one value a tree (None
        where that tree was not measured).
    species : Species, name or path
        Where to start, and the values of all that is not fitted.
    frequency_hz : float or {level: float}
        Undamped natural frequency [Hz]; a scalar means the trunk, a level of many branches its
        median.
    damping_ratio : float or {level: float}
    sway_deg : (angle, speed) or {level: (angle, speed)}, or lists of such pairs
        Angle [deg] in a steady wind of that speed [m/s] across the branch:
        ``k theta = d v cos(theta)``.
    leaf_ratio : float
        Trunk frequency bare over in leaf (1.18 to 1.19 for broadleaves, Jackson et al. 2019).
    leaf_load_ratio : float
        Drag of the trunk in leaf over bare (2 to 3 for an oak, Angelou et al. 2019).
    pull_and_release : (time, angle)
        A recorded free decay [s, any unit]: `fit_decay` turns it into a frequency and a damping
        ratio of the trunk, with the deviations of its intervals.
    spectrum : (frequency, density)
        Power spectrum of the trunk's sway [Hz, any unit]: the resonance is fitted for a frequency
        and a damping ratio.
    residuals : callable
        Anything else: takes a species, returns residuals in standard deviations. If it runs a
        simulation, use the same seeds at every call and set ``diff_step=1e-3`` or more, because a
        float32 trajectory does not feel smaller steps.
    free, fixed : iterable of "level.parameter"
        What is fitted. By default each target frees what it determines: a frequency its level's
        beta, a damping ratio its zeta, a sway angle gamma (all levels in proportion), the leaf
        ratio the foliage's rho, the load ratio the foliage's gamma. `fixed` takes some back.
    tied : {follower: leader}
        The follower keeps the preset's ratio to the leader.
    bounds : {name: (low, high)}
    uncertainty : {target: relative standard deviation}
        Defaults: frequency_hz 0.03, damping_ratio 0.2, sway_deg 0.1, leaf_ratio 0.03,
        leaf_load_ratio 0.15.
    tolerance : float, default 0.1
        Refuse the result where a target is missed by more than this share and by more than two
        standard deviations.
    loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}
        Robust losses forgive outliers among many targets.
    match : {"set", "realised"}
        Whether frequencies and damping are those of the continuous spring (a preset that does not
        depend on dt) or those of the clamped step at `dt`.
    dt, clamp
        Time step [s] and clamp of "realised", of the clamp shares and of the simulated check.
    diff_step : float, optional
        Relative step of the finite differences; the default suits the double-precision equations.
    name : str, optional
        Of the new species; by default that of the old one and "-calibrated".
    verify : bool, default True
        Run the calibrated tree once more and put what it shows into the result; with a sway
        target also how far all levels turn in that wind, before and after.

    Returns
    -------
    Calibration
        ``species``, ``report()``, estimates with 95 % intervals, correlations, clamp shares.

    Raises
    ------
    ValueError
        A target or option is out of range, names a level the tree does not have, or nothing is
        left to fit.
    CalibrationError
        The model cannot reach the targets; the message says which and why.

    Notes
    -----
    Parameters are fitted in logarithms by `scipy.optimize.least_squares`, from a start that the
    model's own equations give. The covariance is inv(J^T J), times 2 cost / dof where that is above
    1; intervals are Student's or, without degrees of freedom, normal. Deterministic.

    Examples
    --------
    >>> import windgrove as wg
    >>> tree = wg.grow_tree("oak", seed=7)
    >>> cal = wg.calibrate(tree, "oak", frequency_hz=0.242, verify=False)
    >>> round(float(wg.natural_frequencies(tree, cal.species)[0]), 4)
    0.242
    """
    trees = _trees(tree)
    start = load_species(species)
    verify = checks.flag(verify, "verify")
    options = _Options(
        tolerance=checks.number(tolerance, "tolerance", above=0),
        loss=checks.choice(loss, "loss", LOSSES),
        diff_step=None if diff_step is None else checks.number(diff_step, "diff_step", above=0),
    )
    checks.choice(match, "match", ("set", "realised"))
    checks.choice(clamp, "clamp", CLAMPS)
    dt = checks.number(dt, "dt", above=0)
    given = {
        "frequency_hz": frequency_hz,
        "damping_ratio": damping_ratio,
        "sway_deg": sway_deg,
        "leaf_ratio": leaf_ratio,
        "leaf_load_ratio": leaf_load_ratio,
    }
    targets = collect(trees, given, checks.mapping(uncertainty, "uncertainty"))
    targets += _measured_targets(trees, pull_and_release, spectrum)
    if not targets and residuals is None:
        raise ValueError("calibrate: give at least one target, such as frequency_hz=0.2")
    model = Model(trees, dt=dt, match=match, clamp=clamp)
    groups = choose_groups(start, targets, free, fixed, tied, bounds, trees)
    problem = _Problem(model, start, groups, tuple(targets), residuals, options)
    return _solve(problem, calibrated_name(start, name), verify)


@dataclass(frozen=True)
class _Options:
    tolerance: float
    loss: str
    diff_step: float | None


@dataclass(frozen=True)
class _Problem:
    """Everything the optimiser needs; `x` is the logarithm of each group's first parameter."""

    model: Model
    start: Species
    groups: tuple[Group, ...]
    targets: tuple[Target, ...]
    extra: Callable[[Species], ArrayLike] | None
    options: _Options

    def species(self, x: NDArray[np.float64]) -> Species:
        return parameters.apply(self.start, self.groups, np.exp(x))

    def residual(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        species = self.species(x)
        values = [
            np.log(max(self.model.predict(t, species), 1e-300) / t.value) * t.value / t.deviation
            for t in self.targets
        ]
        if self.extra is not None:
            values += list(checks.array(self.extra(species), "residuals", dtype=float).ravel())
        result = np.asarray(values, dtype=float)
        if np.isnan(result).any():
            raise CalibrationError(self._why_nan(result, species))
        return result

    def _why_nan(self, result: NDArray[np.float64], species: Species) -> str:
        i = int(np.argmax(np.isnan(result)))
        if i >= len(self.targets):
            return "residuals: the function returned NaN"
        return (
            f"{self.targets[i].label}: a time step of {self.model.dt:.4g} s makes this level "
            "dead-beat (no frequency is left after the clamp); use match='set' or a shorter dt"
        )

    @property
    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        low = np.log([g.low for g in self.groups])
        high = np.log([g.high for g in self.groups])
        return low, high


def _trees(tree: Tree | Sequence[Tree]) -> tuple[Tree, ...]:
    trees = (tree,) if isinstance(tree, Tree) else tuple(tree) if np.iterable(tree) else ()
    if not trees or not all(isinstance(one, Tree) for one in trees):
        raise TypeError(f"tree: expected a Tree or a sequence of them, got {tree!r}")
    return trees


def _measured_targets(
    trees: Sequence[Tree],
    decay: tuple[ArrayLike, ArrayLike] | None,
    spectrum: tuple[ArrayLike, ArrayLike] | None,
) -> list[Target]:
    if (decay is not None or spectrum is not None) and len(trees) > 1:
        raise ValueError("pull_and_release, spectrum: a record belongs to one tree")
    targets = []
    for label, record in (("pull_and_release", decay), ("spectrum", spectrum)):
        if record is None:
            continue
        if len(record) != 2:
            raise ValueError(f"{label}: expected two arrays, got {len(record)}")
        try:
            fit = _fit_record(label, record)
        except ValueError as error:
            raise ValueError(f"{label}: {error}") from None
        for kind, unit, value, deviation in (
            ("frequency_hz", "Hz", fit.frequency, _deviation(fit.frequency_interval)),
            ("damping_ratio", "1", fit.damping_ratio, _deviation(fit.damping_ratio_interval)),
        ):
            # A noise-free record must not outweigh all else by infinity.
            targets.append(Target(kind, "trunk", 0, value, max(deviation, 1e-4 * value), unit))
    return targets


def _fit_record(label: str, record: tuple[ArrayLike, ArrayLike]) -> Any:
    if label == "spectrum":
        from ..analysis.resonance import fit_resonance

        return fit_resonance(*record)
    from ..analysis.decay import fit_decay

    return fit_decay(*record)


def _deviation(interval: tuple[float, float]) -> float:
    return (interval[1] - interval[0]) / (2 * 1.96)


def _analytic_start(problem: _Problem) -> NDArray[np.float64]:
    """Each group moved by what its target needs, twice: mass first, then stiffness, then drag."""
    x = np.log([group.start[0] for group in problem.groups])
    names = [group.name for group in problem.groups]
    order = ("leaf_ratio", "frequency_hz", "damping_ratio", "leaf_load_ratio", "sway_deg")
    powers = {"frequency_hz": 2.0, "damping_ratio": 1.0, "leaf_load_ratio": 1.0, "sway_deg": 1.0}
    low, high = problem.limits
    for kind in order * 2:
        moves: dict[int, list[float]] = {}
        for target in problem.targets:
            if target.kind != kind or kind not in powers:
                continue
            for name in freed_by(target):
                if name in names:
                    seen = problem.model.predict(target, problem.species(x))
                    if np.isfinite(seen) and seen > 0:
                        move = powers[kind] * np.log(target.value / seen)
                        moves.setdefault(names.index(name), []).append(move)
        for i, steps in moves.items():
            x[i] = np.clip(x[i] + np.mean(steps), low[i] + 1e-9, high[i] - 1e-9)
    return np.clip(x, low + 1e-9, high - 1e-9)


def _fit(problem: _Problem, x: NDArray[np.float64]) -> Any:
    low, high = problem.limits
    return optimize.least_squares(
        problem.residual,
        x,
        bounds=(low, high),
        loss=problem.options.loss,
        diff_step=problem.options.diff_step,
        x_scale=1.0,
        xtol=1e-12,
        ftol=1e-12,
        gtol=1e-12,
    )


def _solve(problem: _Problem, name: str, verify: bool) -> Calibration:
    fit = _fit(problem, _analytic_start(problem))
    origin = provenance(problem.start, problem.model.trees, problem.targets)
    species = replace(problem.species(fit.x), name=name, provenance=origin, aliases=())
    predicted = [problem.model.predict(t, species) for t in problem.targets]
    _refuse_clamped(problem, species)
    _refuse_unreached(problem, fit, predicted)
    dof = max(len(fit.fun) - len(fit.x), 0)
    covariance, undetermined = _covariance(fit, dof)
    simulated = simulate_targets(problem.model, problem.targets, species) if verify else None
    return Calibration(
        species=species,
        estimates=_estimates(problem, fit.x, covariance, undetermined, dof),
        targets=_target_fits(problem, species, predicted, simulated),
        correlation=_correlation(problem, covariance, undetermined),
        clamping=_clamping(problem, species),
        identifiability=_identifiability(problem, fit, covariance, undetermined),
        notes=_notes(problem, fit),
        cost=float(fit.cost),
        degrees_of_freedom=dof,
        dt=problem.model.dt,
        turning=turning(problem.model, problem.targets, problem.start, species) if verify else (),
        _profile=lambda parameter, points: _profile(problem, fit, parameter, points),
    )


def _refuse_clamped(problem: _Problem, species: Species) -> None:
    """Past the clamp beta no longer stiffens: all that still moves is the damping."""
    model = problem.model
    if model.match != "realised" or model.clamp == "exponential":
        return
    for target in problem.targets:
        if target.kind != "frequency_hz":
            continue
        p = model.parameters(species, target.tree)
        which = model.members(target.tree, target.level)
        if np.median(p.stiffness[which] * model.dt**2 / p.mass[which]) > 1:
            raise CalibrationError(
                f"{target.label}: {_with_unit(target)} is only met by clamped springs: "
                f"a step of {model.dt:.4g} s clamps everything above "
                f"{1 / (2 * np.pi * model.dt):.3g} Hz; use a shorter dt, substeps, or match='set'"
            )


def _with_unit(target: Target) -> str:
    return f"{target.value:.4g}" + ("" if target.unit == "1" else f" {target.unit}")


def _refuse_unreached(problem: _Problem, fit: Any, predicted: Sequence[float]) -> None:
    tolerance = problem.options.tolerance
    missed = [
        (target, value)
        for target, value in zip(problem.targets, predicted, strict=True)
        if abs(value / target.value - 1) > tolerance
        and abs(value - target.value) > 2 * target.deviation
    ]
    if not missed or problem.options.loss != "linear":
        return
    target, value = max(missed, key=lambda pair: abs(np.log(pair[1] / pair[0].value)))
    raise CalibrationError(
        f"{target.label}: asked {_with_unit(target)}, the nearest the model comes is "
        f"{value:.4g}: {_reason(problem, fit, target)}"
    )


def _reason(problem: _Problem, fit: Any, target: Target) -> str:
    names = [group.name for group in problem.groups]
    needed = freed_by(target)
    at_bound = [
        g.name
        for g, x in zip(problem.groups, fit.x, strict=True)
        if min(x - np.log(g.low), np.log(g.high) - x) < 1e-6
    ]
    if at_bound:
        return f"{', '.join(at_bound)} ran into its bounds; widen bounds= or check the target"
    if not set(needed) & set(names):
        return f"it depends on {needed[0]}, which is not fitted; free it"
    if problem.model.match == "realised" and target.kind in ("frequency_hz", "damping_ratio"):
        limit = 1 / (2 * np.pi * problem.model.dt)
        return (
            f"a step of {problem.model.dt:.4g} s clamps everything above {limit:.3g} Hz; use a "
            "shorter dt, substeps, or match='set'"
        )
    same = [t for t in problem.targets if t.kind == target.kind and t.level == target.level]
    if target.kind == "frequency_hz" and len({t.tree for t in same}) > 1:
        return _why_one_beta_fails(problem, same)
    if target.kind == "leaf_ratio" and target.value <= 1:
        return "leaves only add mass in this model, so that the bare tree is always the faster one"
    return "the targets contradict each other in this model; drop one or free another parameter"


def _why_one_beta_fails(problem: _Problem, targets: Sequence[Target]) -> str:
    beta = parameters.get(problem.start, f"{targets[0].level}.beta")
    needed = []
    for t in targets:
        seen = problem.model.predict(t, problem.start)
        needed.append((beta * (t.value / seen) ** 2, problem.model.trees[t.tree].wood_height))
    listed = ", ".join(f"{b:.3g} at {height:.3g} m" for b, height in needed)
    spread = max(b for b, _ in needed) / min(b for b, _ in needed)
    return (
        f"one beta cannot serve these sizes: alone the trees need {listed} (a factor "
        f"{spread:.3g}). In this model a bare trunk's frequency falls as 1/length and does "
        "not know the diameter, and leaves only slow it; calibrate a preset for each range of sizes"
    )


def _covariance(fit: Any, dof: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Covariance of x, and which parameters the targets do not determine."""
    _, singular, rows = np.linalg.svd(fit.jac, full_matrices=True)
    values = np.zeros(rows.shape[0])
    values[: len(singular)] = singular
    null = values <= 1e-6 * max(values.max(initial=0), 1e-30)
    undetermined = (np.abs(rows[null]) > 1e-3).any(axis=0)
    inverse = np.where(null, 0.0, 1.0 / np.where(null, 1.0, values)) ** 2
    covariance = (rows.T * inverse) @ rows
    if dof > 0:
        covariance *= max(2 * fit.cost / dof, 1.0)
    return covariance, undetermined


def _estimates(
    problem: _Problem,
    x: NDArray[np.float64],
    covariance: NDArray[np.float64],
    undetermined: NDArray[np.bool_],
    dof: int,
) -> tuple[Estimate, ...]:
    quantile = stats.t.ppf(0.975, dof) if dof else stats.norm.ppf(0.975)
    result = []
    for i, group in enumerate(problem.groups):
        half = np.inf if undetermined[i] else quantile * np.sqrt(covariance[i, i])
        interval = (float(np.exp(x[i] - half)), float(np.exp(min(x[i] + half, 700.0))))
        if undetermined[i]:
            interval = (0.0, float("inf"))
        unit = UNITS[parameters.split(group.name, "name")[1]]
        value = float(np.exp(x[i]))
        result.append(Estimate(group.name, value, interval, group.start[0], unit, group.names[1:]))
    return tuple(result)


def _target_fits(
    problem: _Problem,
    species: Species,
    predicted: Sequence[float],
    simulated: Sequence[float] | None,
) -> tuple[TargetFit, ...]:
    model = problem.model
    stepped = Model(model.trees, dt=model.dt, match="realised", clamp=model.clamp)
    fits = []
    for i, target in enumerate(problem.targets):
        dynamic = target.kind in ("frequency_hz", "damping_ratio", "sway_deg")
        fits.append(
            TargetFit(
                label=target.label,
                unit=target.unit,
                target=target.value,
                deviation=target.deviation,
                predicted=predicted[i],
                realised=stepped.predict(target, species) if dynamic else float("nan"),
                simulated=float("nan") if simulated is None else simulated[i],
            )
        )
    return tuple(fits)


def _correlation(
    problem: _Problem, covariance: NDArray[np.float64], undetermined: NDArray[np.bool_]
) -> xr.DataArray:
    deviation = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        matrix = covariance / np.outer(deviation, deviation)
    matrix[undetermined] = np.nan
    matrix[:, undetermined] = np.nan
    names = [group.name for group in problem.groups]
    return xr.DataArray(
        matrix,
        dims=("parameter", "parameter_2"),
        coords={"parameter": names, "parameter_2": names},
        name="correlation",
        attrs={"units": "1", "long_name": "correlation of the logarithms"},
    )


def _clamping(problem: _Problem, species: Species) -> tuple[Clamping, ...]:
    result = []
    for index, level in enumerate(LEVELS):
        clamped = []
        for number, tree in enumerate(problem.model.trees):
            p = problem.model.parameters(species, number)
            response = discrete_response(
                p.mass, p.stiffness, p.damping, problem.model.dt, problem.model.clamp
            )
            clamped.append(response.clamped[tree.kind == index])
        share = np.concatenate(clamped)
        if share.size:
            result.append(Clamping(level, int(share.size), float(share.mean())))
    return tuple(result)


def _identifiability(
    problem: _Problem,
    fit: Any,
    covariance: NDArray[np.float64],
    undetermined: NDArray[np.bool_],
) -> tuple[str, ...]:
    names = np.array([group.name for group in problem.groups])
    lines = []
    blind = ~np.abs(fit.jac).any(axis=0)
    for name in names[blind]:
        lines.append(f"no target depends on {name}: it keeps the preset's value")
    mixed = names[undetermined & ~blind]
    if len(mixed) > 1:
        lines.append(f"{_listed(mixed)} cannot be told apart from these targets")
    deviation = np.sqrt(np.diag(covariance))
    for i in range(len(names)):
        for j in range(i):
            if undetermined[i] or undetermined[j] or deviation[i] * deviation[j] == 0:
                continue
            r = covariance[i, j] / (deviation[i] * deviation[j])
            if abs(r) > 0.95:
                lines.append(
                    f"{_listed(names[[j, i]])} can hardly be told apart from these targets "
                    f"(correlation {r:.3f})"
                )
    return tuple(lines)


def _listed(names: Iterable[str]) -> str:
    """ "gamma and rho of foliage" for names of one level, else the dotted names."""
    pairs = [parameters.split(name, "name") for name in names]
    if len({level for level, _ in pairs}) == 1:
        return " and ".join(key for _, key in pairs) + f" of {pairs[0][0]}"
    return " and ".join(f"{level}.{key}" for level, key in pairs)


def _notes(problem: _Problem, fit: Any) -> tuple[str, ...]:
    notes = []
    for group, x in zip(problem.groups, fit.x, strict=True):
        if min(x - np.log(group.low), np.log(group.high) - x) < 1e-6:
            notes.append(f"{group.name} stands on a bound: its interval says nothing")
    if not fit.success:
        notes.append(f"the fit stopped early: {fit.message}")
    no_leaves = not any((tree.kind == FOLIAGE).any() for tree in problem.model.trees)
    if no_leaves:
        notes.append("the trees carry no foliage: this is a preset of the bare tree")
    return tuple(notes)


def _profile(problem: _Problem, fit: Any, name: str, points: int) -> xr.DataArray:
    index = [group.name for group in problem.groups].index(name)
    covariance, undetermined = _covariance(fit, 0)
    width = 1.0 if undetermined[index] else 3.0 * max(np.sqrt(covariance[index, index]), 1e-6)
    low, high = problem.limits
    grid = np.linspace(fit.x[index] - width, fit.x[index] + width, points)
    grid = grid[(grid > low[index]) & (grid < high[index])]
    others = [i for i in range(len(fit.x)) if i != index]
    costs = []
    for value in grid:
        full = fit.x.copy()
        full[index] = value
        costs.append(_cost_with_fixed(problem, full, others))
    return xr.DataArray(
        costs,
        dims=name,
        coords={name: np.exp(grid)},
        name="cost",
        attrs={"units": "1", "long_name": "half the sum of squared residuals, others refitted"},
    )


def _cost_with_fixed(problem: _Problem, full: NDArray[np.float64], others: list[int]) -> float:
    if not others:
        return 0.5 * float(np.sum(problem.residual(full) ** 2))
    low, high = problem.limits

    def residual(part: NDArray[np.float64]) -> NDArray[np.float64]:
        x = full.copy()
        x[others] = part
        return problem.residual(x)

    start = np.clip(full[others], low[others] + 1e-9, high[others] - 1e-9)
    refit = optimize.least_squares(
        residual,
        start,
        bounds=(low[others], high[others]),
        loss=problem.options.loss,
        diff_step=problem.options.diff_step,
    )
    return float(refit.cost)
