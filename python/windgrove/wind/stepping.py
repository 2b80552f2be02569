"""A step that is taken whole or not at all, also where a signal's handler raises in the middle."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .inflow import Inflow, Place
from .marking import Marks


class Plan(NamedTuple):
    """A step, worked out as far as it can raise."""

    steps: int
    lows: NDArray[np.int64] | None
    place: Place
    marks: Marks | None
    effectors: NDArray[np.float64]
    blasts: NDArray[np.float64]
    unprojected: bool
    moved: list[Any]  # what the move of the grids returned, once it was made
    done: list[Any]  # the same of the step of the air


def once(done: list[Any], function: Callable[..., Any], arguments: Callable[[], tuple]) -> None:
    """Calls a function of the C code unless `done` says that it was called, and notes what it
    returned. No bytecode lies between the two, so that no handler of a signal can part them."""
    if not done:
        done.extend(starmap(function, (arguments(),)))


def take(plan: Plan, stages: Callable[[Plan], None], inflow: Inflow) -> Any:
    """Runs the stages of a step; again, where an exception came in between.

    A stage is either harmless to repeat or run `once`. What a stage itself raises, it raises again:
    then the inflow goes back, and the clock was never put on.
    """
    before = inflow.place
    try:
        stages(plan)
    except BaseException:
        try:
            stages(plan)
        except BaseException:
            if not plan.done:
                inflow.go(before)
            raise
        raise
    return plan.done[0]
