"""Branches at rest in a steady wind."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def steady_angle(push: ArrayLike) -> NDArray[np.float64]:
    """The angle theta (rad) of a branch in a steady wind across it: theta = push cos(theta).

    `push` is d v / k, not below 0, of any shape. Newton's rule; the function is monotone, so that
    it always converges.
    """
    load = np.asarray(push, dtype=np.float64)
    theta = np.minimum(load, 1.0)
    for _ in range(60):
        theta = theta - (theta - load * np.cos(theta)) / (1.0 + load * np.sin(theta))
    return theta
