"""What a saved state must be like before any of it is taken over, and whose it is."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from .grids import Grid, WindState
from .inflow import PERIOD

_REPLACED = ("type", "effectors", "shelter", "start_time")
LARGEST_LOW = 2**50  # cells from the origin, within which every centre is exact


def identity(value: Any) -> Any:
    """Plain values that are equal where two parameters are; functions cannot be told apart."""
    if isinstance(value, np.ndarray):
        digest = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8).hexdigest()
        return f"{value.dtype}{list(value.shape)} {digest}"
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): identity(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [identity(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value) if field.compare and field.repr)
        return {"type": type(value).__name__} | {f: identity(getattr(value, f)) for f in fields}
    return "a function" if callable(value) else type(value).__name__


def parameters_of(described: dict[str, Any], solids: Sequence[Any]) -> dict[str, Any]:
    """What a state of a wind belongs to: all that neither it nor the caller replaces later."""
    given = {k: v for k, v in described.items() if k not in _REPLACED}
    given["prevailing"] = {k: v for k, v in given["prevailing"].items() if k != "function"}
    return identity(given | {"solids": list(solids)})


def refuse_another(state: WindState, parameters: Mapping[str, Any]) -> None:
    """Raises ValueError, naming the parameter, where `state` is of a wind with others."""
    if state.parameters is None:
        return
    for name, mine in parameters.items():
        its = state.parameters.get(name)
        if its != mine:
            raise ValueError(
                f"state: of a wind with another {name}: {_short(its)}; this one has {_short(mine)}"
            )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def checked_state(state: Any, grids: Sequence[Grid]) -> WindState:
    """`state` with numbers and arrays of the right types, shapes and ranges; nothing is copied."""
    if not isinstance(state, WindState):
        raise TypeError(f"state: expected a WindState, got {type(state).__name__}")
    velocity, pressure = (
        tuple(
            checks.array(values, f"state: {name}[{level}]", dtype=np.float32, finite=True)
            for level, values in enumerate(_listed(given, f"state: {name}"))
        )
        for name, given in (("velocity", state.velocity), ("pressure", state.pressure))
    )
    shapes = [values.shape for values in velocity]
    if shapes != [grid.velocity.shape for grid in grids]:
        raise ValueError(f"state: its grids {shapes} are not those of this wind")
    shapes = [values.shape for values in pressure]
    if shapes != [grid.pressure.shape for grid in grids]:
        raise ValueError(f"state: pressure: its shapes {shapes} are not those of this wind")
    drift = checks.vector(state.drift, "state: drift").copy()
    if not ((drift >= 0) & (drift <= PERIOD)).all():
        raise ValueError(f"state: drift: expected numbers from 0 to {PERIOD:g}, got {drift}")
    return dataclasses.replace(
        state,
        steps=checks.integer(state.steps, "state: steps", low=0),
        start_time=checks.number(state.start_time, "state: start_time"),
        drift=drift,
        low=_checked_lows(state.low, grids),
        velocity=velocity,
        pressure=pressure,
    )


def _listed(values: Any, name: str) -> Sequence[Any]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{name}: expected a tuple of arrays, got {type(values).__name__}")
    return values


def _checked_lows(low: Any, grids: Sequence[Grid]) -> NDArray[np.int64]:
    lows = checks.array(low, "state: low", dtype=np.int64, shape=(len(grids), 3)).copy()
    if (lows > LARGEST_LOW).any() or (lows < -LARGEST_LOW).any():
        raise ValueError("state: low: expected at most 2^50 cells from the origin")
    cells = np.array(grids[0].solid.shape[::-1]) - 2
    for fine, coarse in itertools.pairwise(lows):
        if (fine % 2).any() or (fine < 2 * coarse).any() or (fine > 2 * coarse + cells).any():
            raise ValueError(
                f"state: low: the grid at {fine.tolist()} does not lie on the cells of the next "
                f"coarser one at {coarse.tolist()}"
            )
    return lows
