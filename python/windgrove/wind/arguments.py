"""Arguments of `Wind` that are more than a number, checked, and arrays it gives out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from .effectors import Effector


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    view = values.view()
    view.flags.writeable = False
    return view


def cell_counts(cells: Any) -> tuple[int, int, int]:
    if not isinstance(cells, (tuple, list, np.ndarray)) or len(cells) != 3:
        raise ValueError(f"cells: expected three counts (nx, ny, nz), got {cells!r}")
    x, y, z = (checks.integer(n, "cells", low=4, high=32766) for n in cells)
    if x % 2 or y % 2 or z % 2:
        raise ValueError(f"cells: expected even counts of at least 4, got {(x, y, z)}")
    return x, y, z


def effector_of(value: Any) -> Effector:
    if not isinstance(value, Effector):
        raise TypeError(
            f"effectors: expected LinearForce, Blast, Vortex or Rotor, got {type(value).__name__}"
        )
    return value
