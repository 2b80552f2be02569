"""Perlin noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks


def perlin(points: ArrayLike, seed: int = 0) -> NDArray[np.float64]:
    """Perlin's improved gradient noise, in double precision.

    Parameters
    ----------
    points : array_like, shape (n, 3)
        Dimensionless lattice coordinates; the noise has period 256 along each axis and is 0 at
        integer points.
    seed : int, default 0
        0 is Perlin's own permutation; any other value shuffles it, the same on every machine.

    Returns
    -------
    numpy.ndarray, shape (n,), float64
        Between -1 and 1. NaN where a point is not finite.

    References
    ----------
    Perlin, "Improving Noise", SIGGRAPH 2002.

    Examples
    --------
    >>> float(perlin([[3.14, 42, 7]])[0])
    0.13691995878400012
    """
    points = checks.array(points, "points", dtype=np.float64, shape=(None, 3))
    seed = checks.integer(seed, "seed", low=0, high=2**64 - 1)
    out = np.empty(len(points))
    _kernels.perlin(points, seed, out)
    return out
