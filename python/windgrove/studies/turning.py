"""What a fit to one level does to all the others: how far they turn, before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..analysis.motion import TURNED, peak_angles
from ..species.species import LEVELS, Species
from .calibration import Turning
from .targets import Model, Target


def turning(
    model: Model, targets: Sequence[Target], before: Species, after: Species
) -> tuple[Turning, ...]:
    """All levels of all trees in the strongest wind of the sway targets, if there are any."""
    speeds = [target.condition for target in targets if target.kind == "sway_deg"]
    if not speeds:
        return ()
    speed = max(speeds)
    kind = np.concatenate([tree.kind for tree in model.trees])
    peaks = [_peaks(model, species, speed) for species in (before, after)]
    result = []
    for index, level in enumerate(LEVELS):
        was, now = (values[kind == index] for values in peaks)
        if not now.size:
            continue
        over = [int(np.count_nonzero(~(values <= TURNED))) for values in (was, now)]
        result.append(
            Turning(
                level=level,
                branches=int(now.size),
                speed=speed,
                before=float(np.median(was)),
                after=float(np.median(now)),
                peak_before=float(was.max()),
                peak_after=float(now.max()),
                thrown_before=over[0],
                thrown_after=over[1],
            )
        )
    return tuple(result)


def _peaks(model: Model, species: Species, speed: float) -> NDArray[np.float64]:
    return np.concatenate(
        [peak_angles(t, species, speed, dt=model.dt, clamp=model.clamp) for t in model.trees]
    )
