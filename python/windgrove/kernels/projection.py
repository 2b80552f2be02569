"""Pressure projection and divergence."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks
from ..errors import NotConverged

METHODS = ("jacobi", "sor", "multigrid", "pcg", "direct")
DISCRETISATIONS = ("compact", "consistent")
_GOES_WITH = {
    "compact": ("jacobi", "sor", "multigrid", "direct"),
    "consistent": ("pcg", "direct"),
}


@dataclass(frozen=True)
class ProjectionReport:
    """A projected velocity and what the solver did.

    Attributes
    ----------
    velocity : numpy.ndarray, shape (3, nz, ny, nx), float32
        After the projection [m/s].
    pressure : numpy.ndarray, shape (nz, ny, nx), float32
        The potential phi [m^2/s]; 0 in border and solid cells.
    method, discretisation : str
        As asked for.
    iterations : int
        Sweeps or cycles done; 1 for the direct solver.
    converged : bool
        Whether `tolerance` was met; True where none was asked for.
    tolerance : float or None
        As asked for.
    residual : float
        Norm of the solver's residual over the norm of the right side without its null part: for
        "compact" the divergence of the corrected face velocities, for "consistent" the central
        differences at cells.
    right_side : float
        Root mean square of the divergence before, over the interior air cells [1/s].
    null_modes : int
        Independent right sides that no pressure can answer: air sealed off from the border, and
        for "consistent" also the sublattices that the wide stencil cannot reach.
    null_part : float
        Share of the right side's norm in those modes; it was removed and stays in the velocity.
    """

    velocity: NDArray[np.float32]
    pressure: NDArray[np.float32]
    method: str
    discretisation: str
    iterations: int
    converged: bool
    tolerance: float | None
    residual: float
    right_side: float
    null_modes: int
    null_part: float


def project(
    velocity: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    method: str = "jacobi",
    discretisation: str = "compact",
    iterations: int = 20,
    tolerance: float | None = None,
    pressure: NDArray[np.float32] | None = None,
    out: NDArray[np.float32] | None = None,
    scratch: NDArray[np.uint8] | None = None,
    threads: int = 1,
) -> NDArray[np.float32]:
    """Take the divergence out of a velocity grid: ``lap phi = div u``, ``u -= grad phi``.

    Border cells keep their velocity and have phi = 0, so that net flux leaves there. Solid cells
    keep theirs too, which is how moving solids push the air; a border cell may be solid.

    Parameters
    ----------
    velocity : array_like, shape (3, nz, ny, nx)
        [m/s], with its one-cell border.
    spacing : float
        Cell size [m].
    solid : array_like of bool, shape (nz, ny, nx), optional
        Marks solid cells.
    method : {"jacobi", "sor", "multigrid", "pcg", "direct"}
        "jacobi", "sor" and "multigrid" solve the "compact" discretisation, "pcg" the "consistent"
        one, each with or without solids; "direct" solves both where no cell is solid.
    discretisation : {"compact", "consistent"}
        "compact": the 7-point Laplacian; faces between air and solid are closed and carry the
        solid's velocity. Exact at the faces; at cells up to half of the divergence stays, however
        good the solver. "consistent": central differences vanish in air cells; an orthogonal
        projection that never adds energy.
    iterations : int, default 20
        Sweeps or cycles; the cap where `tolerance` is given. "direct" needs none.
    tolerance : float, optional
        Iterate until the norm of the solver's residual over the norm of the right side (without
        its null part, see `ProjectionReport`) is at most this.
    pressure : numpy.ndarray, shape (nz, ny, nx), float32, optional
        The potential phi [m^2/s]: the start of the iteration, overwritten with the result. Border
        and solid cells are not read, and written as 0.
    out : numpy.ndarray, shape (3, nz, ny, nx), float32, optional
        Receives the result; may be `velocity` itself, which moves the least memory.
    scratch : numpy.ndarray of uint8, optional
        Memory of `projection_scratch` for repeated calls, which then allocate nothing; "direct"
        keeps its tables there, "multigrid" and "pcg" what follows from the solid marks. It
        changes no bit of the result. Not for two calls at the same time.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, shape (3, nz, ny, nx), float32
        The projected velocity [m/s].

    Raises
    ------
    ValueError
        A shape or value does not fit, or method, discretisation and solids do not go together.
    TypeError
        An argument has a wrong type.

    Warns
    -----
    windgrove.NotConverged
        `tolerance` was not reached; the warning names the residual, the best velocity is returned.

    Notes
    -----
    Equations, sources and what each method leaves: ``windgrove/project.h`` and
    ``docs/numerics/projection.md``. NaN in the velocity spreads to the cells that the solver
    connects with it.

    Examples
    --------
    >>> import numpy as np
    >>> from windgrove import kernels
    >>> u = np.zeros((3, 10, 10, 10), np.float32)
    >>> u[0, 5, 5, 5] = 1.0
    >>> div = np.abs(kernels.divergence(u, 1.0)).max()
    >>> u = kernels.project(u, 1.0, method="direct", discretisation="consistent")
    >>> bool(np.abs(kernels.divergence(u, 1.0)).max() < 1e-6 * div)
    True
    """
    call = _Call.read(
        velocity, spacing, solid, method, discretisation, iterations, tolerance, pressure, threads
    )
    result = call.run(out, scratch, measure=tolerance is not None)
    if not result.converged:
        assert tolerance is not None
        warnings.warn(
            NotConverged(
                f"project(method={method!r})", result.residual, tolerance, result.iterations
            ),
            stacklevel=2,
        )
    return result.velocity


def project_report(
    velocity: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    method: str = "jacobi",
    discretisation: str = "compact",
    iterations: int = 20,
    tolerance: float | None = None,
    pressure: NDArray[np.float32] | None = None,
    out: NDArray[np.float32] | None = None,
    scratch: NDArray[np.uint8] | None = None,
    threads: int = 1,
) -> ProjectionReport:
    """`project`, with what the solver did: residual, iterations, null modes.

    Takes the arguments of `project`. Measuring costs about one sweep over the grid. Does not warn:
    the report says whether the tolerance was met.

    Examples
    --------
    >>> import numpy as np
    >>> from windgrove import kernels
    >>> u = np.zeros((3, 10, 10, 10), np.float32)
    >>> u[0, 5, 5, 5] = 1.0
    >>> report = kernels.project_report(u, 1.0)
    >>> report.iterations, report.null_modes
    (20, 0)
    """
    call = _Call.read(
        velocity, spacing, solid, method, discretisation, iterations, tolerance, pressure, threads
    )
    return call.run(out, scratch, measure=True)


def projection_scratch(
    shape: tuple[int, int, int],
    *,
    method: str = "jacobi",
    discretisation: str = "compact",
    solid: bool = False,
) -> NDArray[np.uint8]:
    """Memory that `project` and `jacobi_sweeps` can use again and again.

    Parameters
    ----------
    shape : (nz, ny, nx)
        Cells of the grid with its border.
    method, discretisation : str
        As for `project`; the defaults serve `jacobi_sweeps`.
    solid : bool, default False
        Whether calls will have solid cells.

    Returns
    -------
    numpy.ndarray of uint8
        Zeros; leave it alone between calls.

    Raises
    ------
    ValueError
        A size is not positive, or method and discretisation do not go together.

    Examples
    --------
    >>> import numpy as np
    >>> from windgrove import kernels
    >>> u = np.zeros((3, 10, 10, 10), np.float32)
    >>> memory = kernels.projection_scratch(u.shape[1:], method="direct")
    >>> for _ in range(3):
    ...     u = kernels.project(u, 1.0, method="direct", out=u, scratch=memory)
    """
    method = checks.choice(method, "method", METHODS)
    discretisation = checks.choice(discretisation, "discretisation", DISCRETISATIONS)
    solid = checks.flag(solid, "solid")
    _check_combination(method, discretisation, None)
    if len(shape) != 3:
        raise ValueError(f"shape: expected (nz, ny, nx), got {tuple(shape)}")
    nz, ny, nx = (checks.integer(n, "shape", low=1, high=2**31 - 1) for n in shape)
    size = _kernels.project_scratch_size(
        nz, ny, nx, METHODS.index(method), DISCRETISATIONS.index(discretisation), solid
    )
    if size == 0:
        raise ValueError(f"shape: {(nz, ny, nx)} has more cells than a grid may have, 2^31")
    return np.zeros(size, np.uint8)


def jacobi_sweeps(
    divergence: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    iterations: int = 20,
    pressure: NDArray[np.float32] | None = None,
    out: NDArray[np.float32] | None = None,
    scratch: NDArray[np.uint8] | None = None,
    threads: int = 1,
) -> NDArray[np.float32]:
    """Jacobi sweeps of ``lap phi = divergence`` alone: the solver inside ``project("jacobi")``.

    ``phi = (sum of phi over open faces - h^2 divergence) / open faces``, with phi = 0 in border
    and solid cells, in the compact discretisation.

    Parameters
    ----------
    divergence : array_like, shape (nz, ny, nx)
        [1/s], with its one-cell border; border and solid cells are not read.
    spacing : float
        Cell size [m].
    solid : array_like of bool, shape (nz, ny, nx), optional
        Marks solid cells.
    iterations : int, default 20
        Sweeps.
    pressure : numpy.ndarray, shape (nz, ny, nx), float32, optional
        The potential to start from [m^2/s], overwritten with the result. Default: start at 0.
    out : numpy.ndarray, shape (nz, ny, nx), float32, optional
        Receives the result of a start at 0; not together with `pressure`.
    scratch : numpy.ndarray of uint8, optional
        Memory of `projection_scratch`.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, shape (nz, ny, nx), float32
        The potential phi [m^2/s]; 0 in border and solid cells.

    Raises
    ------
    ValueError
        A shape or value does not fit.
    TypeError
        An argument has a wrong type.

    Notes
    -----
    8 flop a cell and sweep. NaN spreads by one cell a sweep. Equations:
    ``docs/numerics/projection.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from windgrove import kernels
    >>> d = np.zeros((5, 5, 5), np.float32)
    >>> d[2, 2, 2] = 6.0
    >>> float(kernels.jacobi_sweeps(d, 1.0, iterations=1)[2, 2, 2])
    -1.0
    """
    divergence = checks.array(divergence, "divergence", shape=(None, None, None))
    shape = divergence.shape
    if divergence.size == 0:
        raise ValueError(f"divergence: expected at least one cell along each axis, got {shape}")
    spacing = checks.spacing(spacing)
    solid = _solid(solid, shape)
    if pressure is not None and out is not None:
        raise ValueError("out: give either pressure, which receives the result, or out")
    from_zero = pressure is None
    if pressure is not None:
        out = checks.output(pressure, "pressure", shape)
    else:
        out = np.empty(shape, np.float32) if out is None else checks.output(out, "out", shape)
    iterations = checks.integer(iterations, "iterations", low=1, high=2**31 - 1)
    _kernels.jacobi_sweeps(
        divergence, spacing, solid, out, from_zero, iterations, scratch, checks.threads(threads)
    )
    return out


def divergence(
    velocity: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    pressure: ArrayLike | None = None,
) -> NDArray[np.float32]:
    """Divergence in the air cells inside the border; 0 in border and solid cells.

    Parameters
    ----------
    velocity : array_like, shape (3, nz, ny, nx)
        [m/s], with its one-cell border.
    spacing : float
        Cell size [m].
    solid : array_like of bool, shape (nz, ny, nx), optional
        Marks solid cells; their velocity counts as the solid's.
    pressure : array_like, shape (nz, ny, nx), optional
        The potential phi [m^2/s] of a "compact" projection of `velocity`. With it, and `velocity`
        from before the projection, the result is the divergence of the corrected face velocities:
        the residual of the compact equations.

    Returns
    -------
    numpy.ndarray, shape (nz, ny, nx), float32
        [1/s]: by central differences, or of the corrected face velocities.
    """
    velocity = _velocity(velocity)
    spacing = checks.spacing(spacing)
    shape = velocity.shape[1:]
    solid = _solid(solid, shape)
    if pressure is not None:
        pressure = checks.array(pressure, "pressure", shape=shape)
    out = np.empty(shape, np.float32)
    _kernels.divergence(velocity, spacing, solid, pressure, out)
    return out


def _velocity(value: ArrayLike) -> NDArray[np.float32]:
    result = checks.array(value, "velocity", shape=(3, None, None, None))
    if result.size == 0:
        raise ValueError(
            f"velocity: expected at least one cell along each axis, got {result.shape}"
        )
    return result


def _solid(value: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    if value is None:
        return None
    result = checks.array(value, "solid", dtype=np.bool_, shape=shape)
    return result if result.any() else None


def _check_combination(method: str, discretisation: str, solid: NDArray[np.bool_] | None) -> None:
    if method not in _GOES_WITH[discretisation]:
        other = "consistent" if discretisation == "compact" else "compact"
        raise ValueError(
            f"method: {method!r} goes with discretisation={other!r}; "
            f"discretisation={discretisation!r} goes with {_words(_GOES_WITH[discretisation])}"
        )
    if method == "direct" and solid is not None:
        # phi is 0 in border cells and their velocity is fixed: for the consistent operator a
        # solid there changes nothing.
        counted = solid if discretisation == "compact" else solid[1:-1, 1:-1, 1:-1]
        if count := int(np.count_nonzero(counted)):
            others = [name for name in _GOES_WITH[discretisation] if name != "direct"]
            raise ValueError(
                f"method: 'direct' needs a grid without solid cells and {count} are solid; with "
                f"solids discretisation={discretisation!r} goes with {_words(others)}"
            )


def _words(names: tuple[str, ...] | list[str]) -> str:
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return quoted[0]
    return ", ".join(quoted[:-1]) + " or " + quoted[-1]


@dataclass(frozen=True)
class _Call:
    """The checked arguments of one projection."""

    velocity: NDArray[np.float32]
    spacing: float
    solid: NDArray[np.bool_] | None
    method: str
    discretisation: str
    iterations: int
    tolerance: float | None
    pressure: NDArray[np.float32] | None
    threads: int

    @classmethod
    def read(
        cls,
        velocity: ArrayLike,
        spacing: Any,
        solid: ArrayLike | None,
        method: Any,
        discretisation: Any,
        iterations: Any,
        tolerance: Any,
        pressure: Any,
        threads: Any,
    ) -> _Call:
        method = checks.choice(method, "method", METHODS)
        discretisation = checks.choice(discretisation, "discretisation", DISCRETISATIONS)
        velocity = _velocity(velocity)
        shape = velocity.shape[1:]
        solid = _solid(solid, shape)
        _check_combination(method, discretisation, solid)
        if tolerance is not None:
            tolerance = checks.number(tolerance, "tolerance", above=0.0)
        if pressure is not None:
            pressure = checks.output(pressure, "pressure", shape)
        return cls(
            velocity,
            checks.spacing(spacing),
            None if method == "direct" else solid,
            method,
            discretisation,
            checks.integer(iterations, "iterations", low=1, high=2**31 - 1),
            tolerance,
            pressure,
            checks.threads(threads),
        )

    def run(
        self,
        out: NDArray[np.float32] | None,
        scratch: NDArray[np.uint8] | None,
        *,
        measure: bool,
    ) -> ProjectionReport:
        if out is None:
            out = np.empty_like(self.velocity)
        else:
            out = checks.output(out, "out", self.velocity.shape)
        pressure = self.pressure
        if pressure is None and measure:
            pressure = np.zeros(self.velocity.shape[1:], np.float32)
        converged, iterations, null_modes, right_side, null_part, residual = _kernels.project(
            self.velocity,
            self.spacing,
            self.solid,
            pressure,
            out,
            METHODS.index(self.method),
            DISCRETISATIONS.index(self.discretisation),
            self.iterations,
            self.tolerance or 0.0,
            measure,
            self.threads,
            scratch,
        )
        return ProjectionReport(
            out,
            pressure if pressure is not None else np.empty((0, 0, 0), np.float32),
            self.method,
            self.discretisation,
            iterations,
            converged,
            self.tolerance,
            residual,
            right_side,
            null_modes,
            null_part,
        )
