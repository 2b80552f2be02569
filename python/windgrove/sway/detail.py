"""Simulation detail: which kinds of branch move, and what leaving the rest still costs the eye."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks

if TYPE_CHECKING:
    from .group import Group
    from .sway import Sway

# In the order of how many kinds of branch move: 3, 2, 1, 0.
DETAILS = ("full", "wood", "trunk", "frozen")


def moving_kinds(detail: str) -> int:
    """How many kinds of branch move."""
    return 3 - DETAILS.index(checks.choice(detail, "detail", DETAILS))


def missing_motion(group: Group, speed: float) -> NDArray[np.float64]:
    """(sets, detail): rms over far ends of the displacement that a detail leaves out [m].

    Every branch is taken at its static angle d v / k in a wind of `speed` across it, at most a
    quarter turn, and moves all that it carries about its pivot.
    """
    tree, p = group.tree, group.parameters
    angle = np.minimum(p["drag"] * speed / np.maximum(p["stiffness"], 1e-30), np.pi / 2)
    sums = np.zeros((group.sets, len(DETAILS)))
    for i in range(len(tree)):
        moved = np.zeros((group.sets, len(DETAILS)))
        j = i
        while j >= 0:
            reach = np.linalg.norm(tree.tip[i] - tree.position[j])
            left_out = np.array([tree.kind[j] >= 3 - d for d in range(len(DETAILS))])
            moved += (angle[:, j] * reach)[:, None] * left_out
            j = int(tree.parent[j])
        sums += moved**2
    return np.sqrt(sums / len(tree))


def detail_error(sway: Sway, viewpoint: ArrayLike, speed: float) -> NDArray[np.float64]:
    """(instance, detail): angle under which the missing motion is seen from a point [rad]."""
    eye = checks.vector(viewpoint, "viewpoint")
    speed = checks.number(speed, "speed", low=0.0)
    out = np.empty((len(sway), len(DETAILS)))
    for number, group in enumerate(sway.groups):
        mine = np.flatnonzero(sway._where[:, 0] == number)
        missing = missing_motion(group, speed)
        for i in mine:
            slot = sway._where[i, 1]
            scale = float(group.placement.scale[slot])
            middle = group.placement.place[slot] + [0, 0, 0.5 * group.tree.height * scale]
            distance = max(float(np.linalg.norm(middle - eye)), 1e-3)
            out[i] = scale * missing[slot if group.sets > 1 else 0] / distance
    return out
