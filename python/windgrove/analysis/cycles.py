"""Rainflow counting: how often a stem is bent how far, for fatigue."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cycles:
    """Counted cycles, in the order in which they close. Arrays (m,).

    Attributes
    ----------
    range, mean : float64
        Difference and mean of the two reversals, in the unit of the data.
    count : float64
        1, or 0.5 for half cycles.
    start, end : int64
        Indices of the two reversals in the data.
    """

    range: Array
    mean: Array
    count: Array
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    def histogram(self, edges: ArrayLike) -> Array:
        """Cycles with a range in each bin: edges[i] <= range < edges[i+1], the last closed."""
        bins = checks.array(edges, "edges", dtype=np.float64, shape=(None,), finite=True)
        return np.histogram(self.range, bins, weights=self.count)[0]

    def damage_equivalent_range(self, exponent: float) -> float:
        """The range that, once for every cycle counted, does the same damage ~ range^exponent."""
        m = checks.number(exponent, "exponent", above=0)
        total = self.count.sum()
        return float((self.count @ self.range**m / total) ** (1 / m)) if total else 0.0


def rainflow(data: ArrayLike, *, threshold: float = 0.0) -> Cycles:
    """Counts cycles by the rainflow method.

    Parameters
    ----------
    data : array_like, shape (n,)
        A record, finite; any unit. Reversals are found in it.
    threshold : float, default 0
        Cycles with a range at or below it are counted, but left out of the result.

    Returns
    -------
    Cycles
        Empty for a constant record.

    Notes
    -----
    ASTM E1049-85 (2017), section 5.4.4: three reversals are compared at a time; a range that is
    not smaller than the one before closes it, as a half cycle where it holds the starting point.
    What remains at the end counts as half cycles.
    """
    y = checks.array(data, "data", dtype=np.float64, shape=(None,), finite=True)
    least = checks.number(threshold, "threshold", low=0.0)
    where = reversals(y)
    found: list[tuple[int, int, float]] = []
    stack: list[int] = []
    for index in where.tolist():
        stack.append(index)
        while len(stack) >= 3:
            newest = abs(y[stack[-1]] - y[stack[-2]])
            before = abs(y[stack[-2]] - y[stack[-3]])
            if newest < before:
                break
            if len(stack) == 3:
                found.append((stack[0], stack[1], 0.5))
                stack.pop(0)
            else:
                found.append((stack[-3], stack[-2], 1.0))
                del stack[-3:-1]
    found += [(a, b, 0.5) for a, b in pairwise(stack)]
    return _cycles(y, found, least)


def reversals(data: ArrayLike) -> NDArray[np.int64]:
    """Indices of the turning points of a record, its ends included; plateaus at their first point.

    Empty where the record is constant.
    """
    y = checks.array(data, "data", dtype=np.float64, shape=(None,), finite=True)
    if len(y) == 0:
        return np.zeros(0, np.int64)
    changed = np.flatnonzero(np.r_[True, np.diff(y) != 0])
    z = y[changed]
    if len(z) < 2:
        return np.zeros(0, np.int64)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(z))) != 0) + 1
    return changed[np.r_[0, turns, len(z) - 1]].astype(np.int64)


def _cycles(y: Array, found: list[tuple[int, int, float]], least: float) -> Cycles:
    start = np.array([a for a, _, _ in found], dtype=np.int64)
    end = np.array([b for _, b, _ in found], dtype=np.int64)
    count = np.array([c for _, _, c in found], dtype=np.float64)
    span = np.abs(y[end] - y[start]) if len(found) else np.zeros(0)
    keep = span > least
    start, end = start[keep], end[keep]
    return Cycles(span[keep], (y[start] + y[end]) / 2, count[keep], start, end)
