"""Which points of the parameter space a sweep visits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from .. import checks
from ..species.species import LEVELS

MOST_POINTS = 2**21  # a day of runs of a small tree
DESIGNS = ("grid", "points", "latin_hypercube", "sobol")
SPECIES_PARAMETERS = ("beta", "zeta", "gamma", "rho", "propagation")
UNITS = {
    "beta": "kg m-1 s-2",
    "zeta": "1",
    "gamma": "kg m-3 s-1",
    "rho": "kg m-2",
    "propagation": "1",
    "wind_speed": "m s-1",
    "heading": "rad",
    "turbulence": "1",
    "size": "1",
    "season": "1",
    "seed": "1",
}
LONG_NAMES = {
    "beta": "stiffness",
    "zeta": "damping ratio",
    "gamma": "drag",
    "rho": "mass of foliage per area",
    "propagation": "share of the children's drag",
    "wind_speed": "speed of the prevailing wind",
    "heading": "direction the wind blows to, from x towards y",
    "turbulence": "turbulence intensity of the prevailing wind",
    "size": "factor on all lengths of the tree",
    "season": "leaf fraction, 0 bare to 1 in full leaf",
    "seed": "seed of the wind",
}


@dataclass(frozen=True)
class Axis:
    """One swept quantity.

    Attributes
    ----------
    name : str
        Its name in the result.
    parameter : str
        What it sets.
    level : str or None
        Level of a species parameter given as absolute values; None for factors and for the rest.
    values : (n,) float64 or int64
    """

    name: str
    parameter: str
    level: str | None
    values: NDArray[Any]

    @property
    def is_factor(self) -> bool:
        """True for factors on the preset's values at all levels."""
        return self.parameter in SPECIES_PARAMETERS and self.level is None

    @property
    def attrs(self) -> dict[str, str]:
        """Attributes of the coordinate."""
        text = LONG_NAMES[self.parameter]
        if self.is_factor:
            return {
                "units": "1",
                "long_name": f"factor on {text}",
                "values": "factor on the preset's values at all levels",
            }
        if self.level is not None:
            return {
                "units": UNITS[self.parameter],
                "long_name": f"{text} of the {self.level}",
                "values": "absolute",
                "species_level": self.level,
            }
        return {"units": UNITS[self.parameter], "long_name": text, "values": "absolute"}


def axes(given: Mapping[str, Any]) -> list[Axis]:
    """Reads the swept arguments of `sweep`, in their order; None is not swept."""
    found = []
    for parameter, values in given.items():
        if values is None:
            continue
        if isinstance(values, Mapping):
            found += _by_level(parameter, values)
        else:
            found.append(Axis(parameter, parameter, None, _values(parameter, parameter, values)))
    return found


def _by_level(parameter: str, values: Mapping[str, Any]) -> list[Axis]:
    if parameter not in SPECIES_PARAMETERS:
        raise TypeError(f"{parameter}: expected a list of values, not one for each level")
    if not values:
        raise ValueError(f"{parameter}: names no level")
    found = []
    for level, one in values.items():
        if level not in LEVELS:
            raise ValueError(f"{parameter}: expected levels {', '.join(LEVELS)}; got {level!r}")
        name = parameter if len(values) == 1 else f"{parameter}_{level}"
        found.append(
            Axis(name, parameter, level, _values(parameter, f"{parameter}[{level!r}]", one))
        )
    return found


_LOW = {"wind_speed": 0.0, "turbulence": 0.0, "season": 0.0, "seed": 0.0, "rho": 0.0}
_HIGH = {"season": 1.0}


def _values(parameter: str, name: str, given: Any) -> NDArray[Any]:
    array = np.atleast_1d(checks.array(given, name, dtype=np.float64, finite=True))
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name}: expected a list of at least one value")
    if (array < _LOW.get(parameter, -np.inf)).any() or (array > _HIGH.get(parameter, np.inf)).any():
        raise ValueError(f"{name}: out of range: {array.tolist()}")
    if parameter in ("beta", "zeta", "size") and (array <= 0).any():
        raise ValueError(f"{name}: expected values above 0, got {array.min():g}")
    if parameter in ("gamma", "propagation") and (array < 0).any():
        raise ValueError(f"{name}: expected values not below 0, got {array.min():g}")
    if parameter == "seed":
        if (array != np.floor(array)).any():
            raise ValueError(f"{name}: expected whole numbers")
        return array.astype(np.int64)
    return array


def points(
    swept: Sequence[Axis], design: str, samples: int | None, seed: int
) -> NDArray[np.float64]:
    """(point, axis) values in the order of the result; a grid varies its last axis fastest."""
    checks.choice(design, "design", DESIGNS)
    if design == "grid":
        if len({axis.name for axis in swept}) < len(swept):
            raise ValueError("design: two axes have the same name")
        for axis in swept:
            if len(np.unique(axis.values)) < len(axis.values):
                raise ValueError(f"{axis.name}: a grid needs different values")
        _limit(math.prod(len(axis.values) for axis in swept), "grid")
        mesh = np.meshgrid(*(axis.values for axis in swept), indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=1).astype(np.float64)
    if design == "points":
        lengths = {len(axis.values) for axis in swept}
        if len(lengths) > 1:
            raise ValueError(
                "design: a list of points needs lists of one length, got "
                + ", ".join(f"{axis.name} {len(axis.values)}" for axis in swept)
            )
        return np.stack([axis.values for axis in swept], axis=1).astype(np.float64)
    return _sampled(swept, design, samples, seed)


def _limit(count: int, design: str) -> None:
    if count > MOST_POINTS:
        raise ValueError(
            f"design: this {design} has {count} points, more than {MOST_POINTS}; give fewer "
            "values, or design='sobol' with a number of samples"
        )


def _sampled(
    swept: Sequence[Axis], design: str, samples: int | None, seed: int
) -> NDArray[np.float64]:
    if samples is None:
        raise ValueError(f"samples: the design {design!r} needs the number of points")
    count = checks.integer(samples, "samples", low=1)
    _limit(count, design)
    for axis in swept:
        if len(axis.values) != 2 or not axis.values[0] < axis.values[1]:
            raise ValueError(
                f"{axis.name}: the design {design!r} needs bounds (low, high), got "
                f"{axis.values.tolist()}"
            )
    if design == "sobol" and count & (count - 1):
        raise ValueError(f"samples: a Sobol design needs a power of two, got {count}")
    kind = qmc.LatinHypercube if design == "latin_hypercube" else qmc.Sobol
    # The name that the version of SciPy has for a generator.
    name = "rng" if "rng" in signature(kind).parameters else "seed"
    unit = kind(len(swept), **{name: np.random.default_rng(seed)}).random(count)
    columns = []
    for column, axis in zip(unit.T, swept, strict=True):
        low, high = (float(v) for v in axis.values)
        # Spread evenly over the orders of magnitude where there are any.
        if low > 0 and high / low >= 10:
            column = low * (high / low) ** column
        else:
            column = low + (high - low) * column
        columns.append(np.floor(column) if axis.parameter == "seed" else column)
    return np.stack(columns, axis=1)
