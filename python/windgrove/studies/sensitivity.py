"""Which parameters a result depends on: Sobol indices."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from inspect import signature

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import stats

from .. import checks
from ..analysis.frequencies import discrete_response
from ..analysis.statics import steady_angle
from ..species.load import load_species
from ..species.species import LEVELS, Species
from ..trees.parameters import branch_parameters
from ..trees.tree import Tree
from . import parameters

OUTPUTS = {
    "frequency": "Hz",
    "damping_ratio": "1",
    "realised_frequency": "Hz",
    "realised_damping_ratio": "1",
    "steady_angle": "rad",
    "clamped_share": "1",
}

# The name that the version of SciPy has for a generator.
_RANDOM = "rng" if "rng" in signature(stats.sobol_indices).parameters else "random_state"


def sensitivity(
    tree: Tree,
    species: Species | str | os.PathLike[str],
    vary: Mapping[str, tuple[float, float]] | Sequence[str],
    *,
    output: str | Callable[[Species], float] = "frequency",
    level: str = "trunk",
    wind_speed: float = 8.0,
    dt: float = 1 / 30,
    samples: int = 256,
    seed: int = 0,
    resamples: int = 200,
) -> xr.Dataset:
    """First-order and total Sobol indices of a result over species parameters.

    Parameters
    ----------
    tree : Tree
    species : Species, name or path
        Values of all that does not vary.
    vary : {"level.parameter": (low, high)} or a sequence of names
        Each is drawn log-uniformly between its limits; a bare name between half and twice the
        species' value (propagation at most 1).
    output : str or callable
        "frequency", "damping_ratio" (set; Hz, 1), "realised_frequency", "realised_damping_ratio"
        (after clamp and step), "steady_angle" (rad, in a steady wind across the branch),
        "clamped_share"; medians over the level's branches. Or a function from a species to a
        number, for example one that simulates; give it the same seeds at every call.
    level : {"trunk", "branch", "foliage"}
    wind_speed : float, m/s
        Of "steady_angle".
    dt : float, s
        Of the realised outputs.
    samples : int, a power of 2
        Base samples; the model runs ``samples * (parameters + 2)`` times.
    seed : int
    resamples : int
        Bootstrap resamples for the 95 % intervals.

    Returns
    -------
    xarray.Dataset
        Over ``parameter``: ``first_order``, ``total_order`` and their limits
        (``..._low``, ``..._high``).

    Raises
    ------
    ValueError
        A name, a limit or an option is out of range, or the result does not vary at all.

    References
    ----------
    Saltelli et al., Computer Physics Communications 181 (2010), as `scipy.stats.sobol_indices`
    has it.
    """
    checks.tree(tree)
    species = load_species(species)
    samples = checks.integer(samples, "samples", low=2, high=2**20)
    if samples & (samples - 1):
        raise ValueError(f"samples: expected a power of 2, got {samples}")
    limits = _limits(species, vary)
    evaluate = _evaluator(tree, species, output, level, wind_speed, dt)
    groups = tuple(
        parameters.Group((name,), (parameters.get(species, name),), *pair)
        for name, pair in limits.items()
    )

    def function(points: NDArray[np.float64]) -> NDArray[np.float64]:
        values = [evaluate(parameters.apply(species, groups, np.exp(x))) for x in points.T]
        return np.array([values], dtype=np.float64)

    logs = [(np.log(low), np.log(high)) for low, high in limits.values()]
    indices = stats.sobol_indices(
        func=function,
        n=samples,
        dists=[stats.uniform(low, high - low) for low, high in logs],
        **{_RANDOM: np.random.default_rng(checks.integer(seed, "seed", low=0))},
    )
    if not np.isfinite(indices.first_order).all():
        raise ValueError("output: the result does not vary over these limits, or is not finite")
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        # A parameter without any effect has a degenerate bootstrap: its limits are its value.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        bootstrap = indices.bootstrap(
            n_resamples=checks.integer(resamples, "resamples", low=2), confidence_level=0.95
        )
    unit = OUTPUTS.get(output, "") if isinstance(output, str) else ""
    return _dataset(indices, bootstrap, list(limits), output, unit, samples, seed)


def _limits(
    species: Species, vary: Mapping[str, tuple[float, float]] | Sequence[str]
) -> dict[str, tuple[float, float]]:
    if isinstance(vary, Mapping):
        given = dict(vary)
    else:
        given = {name: _around(species, name) for name in vary}
    if len(given) < 2:
        raise ValueError("vary: give two parameters or more; the index of one alone is 1")
    for name, pair in given.items():
        _, key = parameters.split(name, "vary")
        low = checks.number(pair[0], f"vary: {name}", above=0)
        high = checks.number(pair[1], f"vary: {name}", above=low)
        if key == "propagation" and high > 1:
            raise ValueError(f"vary: {name}: propagation is at most 1, got {high:g}")
        given[name] = (low, high)
    return given


def _around(species: Species, name: str) -> tuple[float, float]:
    _, key = parameters.split(name, "vary")
    value = parameters.get(species, name)
    return 0.5 * value, min(2.0 * value, 1.0) if key == "propagation" else 2.0 * value


def _evaluator(
    tree: Tree,
    species: Species,
    output: str | Callable[[Species], float],
    level: str,
    wind_speed: float,
    dt: float,
) -> Callable[[Species], float]:
    if callable(output):
        return output
    checks.choice(output, "output", OUTPUTS)
    checks.choice(level, "level", LEVELS)
    wind_speed = checks.number(wind_speed, "wind_speed", low=0)
    dt = checks.number(dt, "dt", above=0)
    which = tree.kind == LEVELS.index(level)
    if not which.any():
        raise ValueError(f"level: the tree has no branch of level {level!r}")

    def evaluate(one: Species) -> float:
        p = branch_parameters(tree, one)
        if output == "frequency":
            return float(np.median(p.frequency[which]))
        if output == "damping_ratio":
            return float(np.median(p.damping_ratio[which]))
        if output == "steady_angle":
            push = (p.drag / p.stiffness)[which] * wind_speed
            return float(np.median(steady_angle(push)))
        response = discrete_response(p.mass[which], p.stiffness[which], p.damping[which], dt)
        if output == "clamped_share":
            return float(response.clamped.mean())
        name = output.removeprefix("realised_")
        return float(np.median(getattr(response, name)))

    return evaluate


def _dataset(
    indices: object,
    bootstrap: object,
    names: list[str],
    output: str | Callable[[Species], float],
    unit: str,
    samples: int,
    seed: int,
) -> xr.Dataset:
    variables = {}
    for order in ("first_order", "total_order"):
        interval = getattr(bootstrap, order).confidence_interval
        value = np.ravel(getattr(indices, order))
        low, high = (np.ravel(limit) for limit in (interval.low, interval.high))
        for suffix, values in (
            ("", value),
            ("_low", np.where(np.isnan(low), value, low)),
            ("_high", np.where(np.isnan(high), value, high)),
        ):
            text = f"Sobol index, {order.replace('_', ' ')}{suffix.replace('_', ', 95 % ')}"
            variables[order + suffix] = ("parameter", values, {"units": "1", "long_name": text})
    title = output if isinstance(output, str) else getattr(output, "__name__", "function")
    return xr.Dataset(
        variables,
        coords={"parameter": names},
        attrs={"output": title, "output_units": unit, "samples": samples, "seed": int(seed)},
    )
