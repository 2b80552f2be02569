"""Sway frequency against tree size, as forest scientists plot it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .. import checks
from ..species.species import Species
from ..trees.tree import TRUNK, Tree
from .frequencies import natural_frequencies
from .laws import LAWS, PREDICTORS, PublishedLaw, predictor, published_laws

__all__ = ["LAWS", "LinearFit", "PublishedLaw", "fit_line", "frequency_regression", "predictor",
           "published_laws", "tree_sizes"]  # fmt: skip

BREAST_HEIGHT = 1.3  # m


@dataclass(frozen=True, eq=False)
class LinearFit:
    """y = intercept + slope x by least squares.

    Attributes
    ----------
    intercept, slope : float
    intercept_interval, slope_interval : (float, float)
        95 %, Student's t.
    r2 : float
        Share of the variance explained.
    spread : float
        Standard deviation of y about the line.
    count : int
    x, y : (count,) float64
        The points, for plots.
    name : str
        What x is.
    """

    intercept: float
    slope: float
    intercept_interval: tuple[float, float]
    slope_interval: tuple[float, float]
    r2: float
    spread: float
    count: int
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    name: str = "x"

    def predict(self, x: ArrayLike) -> NDArray[np.float64]:
        """The line."""
        return self.intercept + self.slope * np.asarray(x, dtype=np.float64)

    def band(
        self, x: ArrayLike, *, new: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """95 % limits of the line, or of one new point, at x."""
        at = np.asarray(x, dtype=np.float64)
        centred = np.sum((self.x - self.x.mean()) ** 2)
        variance = 1 / self.count + (at - self.x.mean()) ** 2 / centred + (1.0 if new else 0.0)
        half = stats.t.ppf(0.975, self.count - 2) * self.spread * np.sqrt(variance)
        return self.predict(at) - half, self.predict(at) + half

    def __str__(self) -> str:
        low, high = self.slope_interval
        return (
            f"{self.intercept:.4g} + {self.slope:.4g} {self.name} "
            f"(slope {low:.4g} to {high:.4g}), R2 = {self.r2:.3f}, n = {self.count}"
        )


def fit_line(x: ArrayLike, y: ArrayLike, *, name: str = "x") -> LinearFit:
    """Fits a straight line; pairs with a NaN are left out.

    Raises ValueError with fewer than three pairs or where all x are equal.
    """
    a = checks.array(x, "x", dtype=np.float64, shape=(None,))
    b = checks.array(y, "y", dtype=np.float64, shape=(len(a),))
    good = np.isfinite(a) & np.isfinite(b)
    a, b = a[good], b[good]
    if len(a) < 3:
        raise ValueError(f"x: a line with an interval needs three points, got {len(a)}")
    if np.ptp(a) <= 1e-12 * np.abs(a).max():
        raise ValueError("x: all points have the same x")
    found = stats.linregress(a, b)
    rest = b - (found.intercept + found.slope * a)
    quantile = float(stats.t.ppf(0.975, len(a) - 2))
    total = float(np.sum((b - b.mean()) ** 2))
    left = float(rest @ rest)
    return LinearFit(
        intercept=float(found.intercept),
        slope=float(found.slope),
        intercept_interval=_around(found.intercept, quantile * found.intercept_stderr),
        slope_interval=_around(found.slope, quantile * found.stderr),
        r2=1 - left / total if total > 0 else 1.0,
        spread=float(np.sqrt(left / (len(a) - 2))),
        count=len(a),
        x=a,
        y=b,
        name=name,
    )


def _around(value: float, half: float) -> tuple[float, float]:
    return float(value - half), float(value + half)


def tree_sizes(
    trees: Iterable[Tree], species: Species | str | os.PathLike[str] | None = None
) -> xr.Dataset:
    """Height, diameter, volume, and the trunk's frequency where a species is given.

    Parameters
    ----------
    trees : iterable of Tree
        Such as ``read_folder(path).trees``; a frequency needs foliage where the preset assumes it.
    species : Species, name or path, optional

    Returns
    -------
    xarray.Dataset
        Over `tree` (names): `height` (m), `dbh` (m, diameter at 1.3 m; NaN where the trunk is
        shorter), `volume` (m3), `branches` and `frequency` (Hz).
    """
    trees = list(trees)
    if not trees:
        raise ValueError("trees: none given")
    columns: dict[str, tuple[list[float], str, str]] = {
        "height": ([tree.wood_height for tree in trees], "m", "height of the wood"),
        "dbh": ([diameter(tree) for tree in trees], "m", "diameter at breast height"),
        "volume": ([float(tree.volume.sum()) for tree in trees], "m3", "volume of wood"),
        "branches": ([float(len(tree)) for tree in trees], "1", "branches"),
    }
    if species is not None:
        found = []
        for tree in trees:
            trunk = np.flatnonzero(tree.kind == TRUNK)
            values = natural_frequencies(tree, species).to_numpy()[trunk]
            found.append(float(values[0]) if len(values) else np.nan)
        columns["frequency"] = (found, "Hz", "undamped natural frequency of the trunk")
    return xr.Dataset(
        {
            name: ("tree", np.array(values), {"units": units, "long_name": text})
            for name, (values, units, text) in columns.items()
        },
        coords={"tree": [tree.name for tree in trees]},
    )


def diameter(tree: Tree, height: float = BREAST_HEIGHT) -> float:
    """Diameter of the first root `height` m above its foot, m; NaN where it does not reach there.

    From the cylinder that crosses this height where the tree kept its cylinders, else from the
    branch's mean radius.
    """
    root = int(tree.roots[0])
    foot = float(tree.position[root, 2])
    if tree.segments is not None:
        own = tree.segments.branch == root
        low = np.minimum(tree.segments.start[own, 2], tree.segments.end[own, 2])
        high = np.maximum(tree.segments.start[own, 2], tree.segments.end[own, 2])
        crosses = (low <= foot + height) & (high >= foot + height)
        if crosses.any():
            return 2 * float(tree.segments.radius[own][np.argmax(crosses)])
        if own.any():
            return float("nan")
    reaches = max(float(tree.tip[root, 2]), foot) >= foot + height
    return 2 * float(tree.radius[root]) if reaches else float("nan")


def frequency_regression(
    sizes: xr.Dataset, predictors: Iterable[str] = tuple(PREDICTORS)
) -> dict[str, LinearFit]:
    """Lines of frequency against DBH/H^2, 1/H and 1/sqrt(H), with intervals.

    Parameters
    ----------
    sizes : xarray.Dataset
        `height`, `frequency` and, for DBH/H^2, `dbh`: from `tree_sizes` or from a field table.
    predictors : iterable of str
        Of "dbh_h2", "inverse_h", "inverse_sqrt_h".

    Returns
    -------
    dict of str to LinearFit
        To set beside `published_laws(predictor)`.
    """
    if not hasattr(sizes, "data_vars"):
        raise TypeError(
            f"sizes: expected an xarray.Dataset, got {type(sizes).__name__}; "
            "tree_sizes(trees, species) makes one of trees"
        )
    for name in ("height", "frequency"):
        if name not in sizes:
            raise ValueError(f"sizes: has no {name!r}; tree_sizes(trees, species) has")
    height = sizes["height"].to_numpy()
    if (height <= 0).any():
        raise ValueError("sizes: a height is not above 0")
    dbh = sizes["dbh"].to_numpy() if "dbh" in sizes else None
    return {
        name: fit_line(
            predictor(name, height, dbh), sizes["frequency"].to_numpy(), name=PREDICTORS[name][0]
        )
        for name in predictors
    }
