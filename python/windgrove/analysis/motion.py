"""How far each branch turns when a wind sets in: what no steady angle tells."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..species.load import load_species
from ..species.species import Species
from ..trees.tree import Tree

DURATION = 10.0  # s; the swings from rest into a wind are the greatest there are
TURNED = 60.0  # deg; a torque that falls with the cosine bends no branch on by itself there


def peak_angles(
    tree: Tree,
    species: Species | str | os.PathLike[str],
    wind_speed: float,
    *,
    dt: float = 1 / 30,
    duration: float = DURATION,
    **options: Any,
) -> NDArray[np.float64]:
    """Greatest angle (deg) of each branch from its rest pose in a wind that sets in at once.

    Parameters
    ----------
    tree : Tree
        ``n`` branches.
    species : Species, name or path
    wind_speed : float
        [m/s], along x, from the first step on, the same everywhere.
    dt : float, default 1/30 s
    duration : float, default 10 s
        Run from rest; the greatest angles come with the first swings.
    **options
        Further arguments of `windgrove.Sway`, such as ``clamp="compensated"`` or ``inertia=False``.

    Returns
    -------
    ndarray, shape (n,)
        From 0 to 180; NaN for branches whose state did not stay finite. Relative to the parent, as
        all rotations are. Deterministic; about 0.1 us a branch and step.
    """
    from .. import Sway, UniformWind
    from ..sway.measure import measure

    checks.tree(tree)
    speed = checks.number(wind_speed, "wind_speed", low=0)
    sway = Sway(tree, load_species(species), **options)
    wind = UniformWind((speed, 0.0, 0.0))
    done = measure(sway, wind, duration=duration, dt=dt)
    # A state that was lost has sums that are NaN, but a peak from before.
    lost = np.isnan(done.sum_square[0])
    return np.where(lost, np.nan, np.degrees(done.peak[0].astype(np.float64)))
