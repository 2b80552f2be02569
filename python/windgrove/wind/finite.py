"""Whether the air still is numbers: a look at one slab each step, at all where it is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .grids import Grid


def slab_is_finite(grids: Sequence[Grid], step: int) -> bool:
    """Looks at one slab of one grid, another each step: what is not a number spreads with the
    projection and to the other grids, so that it is met within a few steps at no cost."""
    grid = grids[step % len(grids)]
    inner = grid.velocity.shape[1] - 2
    slab = grid.velocity[:, 1 + step // len(grids) % inner]
    with np.errstate(all="ignore"):
        return bool(np.isfinite(slab.sum()))


def refuse_what_is_not_finite(grids: Sequence[Grid], step: int, time: float) -> None:
    """Raises FloatingPointError with the first cell of the finest grid that holds such a value."""
    for level, grid in enumerate(grids):
        bad = ~np.isfinite(grid.velocity).all(axis=0)
        if bad.any():
            k, j, i = (int(n) for n in np.argwhere(bad)[0])
            place = [
                low + (n + 0.5) * grid.spacing
                for low, n in zip(grid.origin, (i, j, k), strict=True)
            ]
            at = ", ".join(f"{n:.3g}" for n in place)
            raise FloatingPointError(
                f"the air is not finite: step {step} ({time:g} s), level {level}, cell "
                f"[{k}, {j}, {i}] at ({at}) m, {int(bad.sum())} cells of the level; a smaller dt, "
                "vorticity or force keeps it so, and `restore` goes back to a state before"
            )
