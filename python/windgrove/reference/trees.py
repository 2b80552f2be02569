"""Carried mass and propagated drag, the twins of `windgrove.kernels`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def total_mass(own_mass: ArrayLike, parent: ArrayLike) -> NDArray[np.float64]:
    """Every branch adds its own mass to itself and to each of its ancestors."""
    own = np.asarray(own_mass, dtype=np.float64)
    parents = np.asarray(parent, dtype=np.int64).tolist()
    total = np.zeros(len(own))
    for i, mass in enumerate(own):
        j = i
        while j >= 0:
            total[j] += mass
            j = parents[j]
    return total


def propagate_drag(
    direct_drag: ArrayLike,
    position: ArrayLike,
    direction: ArrayLike,
    length: ArrayLike,
    parent: ArrayLike,
    propagation: ArrayLike,
) -> NDArray[np.float64]:
    """Listing 3.1 of GPU Zen 4 as it is written: every branch walks down to its root."""
    direct = np.asarray(direct_drag, dtype=np.float64)
    position = np.asarray(position, dtype=np.float64)
    direction = np.asarray(direction, dtype=np.float64)
    length = np.asarray(length, dtype=np.float64)
    parents = np.asarray(parent, dtype=np.int64).tolist()
    factor = np.broadcast_to(np.asarray(propagation, dtype=np.float64), direct.shape)
    drag = direct.copy()
    for i in range(len(direct)):
        anchor = position[i]
        propagated = direct[i]
        j = parents[i]
        while j >= 0:
            propagated *= factor[j]
            projection = np.dot(anchor - position[j], direction[j])
            drag[j] += propagated * np.clip(projection / length[j], 0.0, 1.0)
            anchor = position[j]
            j = parents[j]
    return drag
