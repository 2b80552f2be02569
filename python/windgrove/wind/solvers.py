"""How a `Wind` projects its grids."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import NotConverged
from .grids import Grid

METHODS = ("jacobi", "sor", "multigrid", "pcg", "direct")
DISCRETISATIONS = ("compact", "consistent")


@dataclass(frozen=True, kw_only=True)
class Projection:
    """The options of `kernels.project` for every step.

    Parameters
    ----------
    method : {"jacobi", "sor", "multigrid", "pcg", "direct", "exact"}
        "exact" is "direct" on grids without a solid cell and "pcg" on the others.
    discretisation : {"compact", "consistent"}, optional
        None is the one that goes with the method; "consistent" for "direct".
    iterations : int, optional
        None is 20 sweeps, 2 multigrid cycles, 12 of "pcg".
    tolerance : float, optional
        Iterate until the residual is below this share of the right side, `iterations` at most.
    warm_start : bool, default False
        Start from the pressure of the step before, which moves with the grid.
    """

    method: str = "jacobi"
    discretisation: str | None = None
    iterations: int | None = None
    tolerance: float | None = None
    warm_start: bool = False

    def __post_init__(self) -> None:
        checks.choice(self.method, "projection", (*METHODS, "exact"))
        consistent = self.method in ("pcg", "direct", "exact")
        chosen = self.discretisation
        if chosen is None:
            chosen = "consistent" if consistent else "compact"
        checks.choice(chosen, "discretisation", DISCRETISATIONS)
        if (chosen == "consistent") != consistent and self.method != "direct":
            raise ValueError(
                f"discretisation: {chosen!r} does not go with the method {self.method!r}"
            )
        counts = {"multigrid": 2, "pcg": 12, "exact": 12}
        count = counts.get(self.method, 20) if self.iterations is None else self.iterations
        object.__setattr__(self, "discretisation", chosen)
        object.__setattr__(self, "iterations", checks.integer(count, "iterations", low=1))
        object.__setattr__(self, "warm_start", checks.flag(self.warm_start, "warm_start"))
        if self.tolerance is not None:
            checks.number(self.tolerance, "tolerance", above=0.0)

    def parameters(self, grid: Grid) -> tuple[int, int, int, float]:
        """Method, discretisation, iterations and tolerance for a grid, as the C code takes them."""
        solid = grid.has_solid and bool(grid.solid[1:-1, 1:-1, 1:-1].any())
        method = self.method
        if method == "exact":
            method = "pcg" if solid else "direct"
        assert self.discretisation is not None and self.iterations is not None
        return (
            METHODS.index(method),
            DISCRETISATIONS.index(self.discretisation),
            self.iterations,
            self.tolerance or 0.0,
        )

    def refuse_solids(self, solids: Iterable[NDArray[np.bool_]]) -> None:
        """Raises ValueError where the method does not go with the markers of a grid."""
        if self.method != "direct":
            return
        for solid in solids:
            if solid[(slice(1, -1),) * 3].any() or (self._compact and solid.any()):
                raise ValueError(
                    "projection: 'direct' needs grids without solid cells; 'quality' and 'pcg' "
                    "do not"
                )

    def options(self, grid: Grid) -> dict[str, Any]:
        """The same for `kernels.project`."""
        method, discretisation, iterations, tolerance = self.parameters(grid)
        return {
            "method": METHODS[method],
            "discretisation": DISCRETISATIONS[discretisation],
            "iterations": iterations,
            "tolerance": tolerance or None,
        }

    @property
    def _compact(self) -> bool:
        return self.discretisation == "compact"

    def warn(self, missed: tuple[tuple[float, int], ...]) -> None:
        """Warns of the grid that missed the tolerance most."""
        assert self.tolerance is not None
        residual, iterations = max(missed)
        warnings.warn(
            NotConverged(f"Wind(projection={self.method!r})", residual, self.tolerance, iterations),
            stacklevel=4,
        )

    def describe(self) -> dict[str, Any]:
        return asdict(self)


NAMED = {
    "source": Projection(),
    "quality": Projection(method="exact", warm_start=True),
}


def projection_of(value: Any) -> Projection:
    """`projection` of `Wind`: a word, a mapping of options, or a `Projection`."""
    if isinstance(value, Projection):
        return value
    if isinstance(value, dict):
        return Projection(**value)
    if not isinstance(value, str):
        raise TypeError(f"projection: expected a word or a Projection, got {value!r}")
    if value in NAMED:
        return NAMED[value]
    if value not in (*METHODS, "exact"):
        words = ", ".join((*NAMED, *METHODS))
        raise ValueError(f"projection: expected one of {words}; got {value!r}")
    return Projection(method=value)
