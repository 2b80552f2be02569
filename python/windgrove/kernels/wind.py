"""Air on one grid: advection, vorticity confinement, sampling, voxels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks
from ..wind.protocol import WindView

ADVECTIONS = ("semi_lagrangian", "maccormack")
LARGEST_CONFINEMENT = 1e30  # s


def _field(value: ArrayLike, name: str) -> tuple[NDArray[Any], bool]:
    """A field as (c, nz, ny, nx), and whether it came without its component axis."""
    given = checks.array(value, name)
    if given.ndim not in (3, 4):
        raise ValueError(
            f"{name}: expected shape (nz, ny, nx) or (c, nz, ny, nx), got {given.shape}"
        )
    scalar = given.ndim == 3
    field = given[None] if scalar else given
    if field.size == 0:
        raise ValueError(f"{name}: expected at least one cell, got shape {given.shape}")
    return field, scalar


def _velocity(value: ArrayLike, name: str = "velocity") -> NDArray[np.float32]:
    velocity = checks.array(value, name, shape=(3, None, None, None))
    if min(velocity.shape[1:]) < 3:
        raise ValueError(
            f"{name}: expected at least 3 cells each way with the border, got {velocity.shape}"
        )
    return velocity


def _solid(value: ArrayLike | None, grid: tuple[int, ...]) -> NDArray[np.bool_] | None:
    return None if value is None else checks.array(value, "solid", dtype=np.bool_, shape=grid)


def _output(
    out: NDArray[np.float32] | None, shape: tuple[int, ...], *inputs: NDArray[Any] | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What to return and what to write: they differ where `out` shares memory with an input."""
    if out is None:
        fresh = np.empty(shape, np.float32)
        return fresh, fresh
    result = checks.output(out, "out", shape)
    shares = any(a is not None and np.may_share_memory(result, a) for a in inputs)
    return result, np.empty(shape, np.float32) if shares else result


def advect(
    field: ArrayLike,
    velocity: ArrayLike,
    spacing: float,
    dt: float,
    solid: ArrayLike | None = None,
    *,
    method: str = "semi_lagrangian",
    out: NDArray[np.float32] | None = None,
    scratch: NDArray[np.uint8] | None = None,
    threads: int = 1,
) -> NDArray[np.float32]:
    """Move a field with the air for one time step: semi-Lagrangian, read trilinearly.

    ``out(x) = field(x - dt velocity(x))``. Places outside the grid move to the nearest place on
    the outermost centres; cells in solids have weight 0 and the rest is renormalised; where nothing
    is left the cell keeps its value. Border and solid cells are copied.

    Parameters
    ----------
    field : array_like, shape (nz, ny, nx) or (c, nz, ny, nx)
        Any quantity at cell centres, with its one-cell border; the velocity itself too.
    velocity : array_like, shape (3, nz, ny, nx)
        x y z [m/s].
    spacing : float
        Edge of a cell [m].
    dt : float
        Time step [s], at most 1e30 times the spacing in m.
    solid : array_like of bool, shape (nz, ny, nx), optional
    method : {"semi_lagrangian", "maccormack"}
        ``"maccormack"`` moves the field back again and takes half of what did not return as the
        error, kept between the values that were read: eddies of a few cells keep most of their
        energy, at three times the cost.
    out : numpy.ndarray, optional
        Float32, C-ordered, of the field's shape; may be one of the inputs.
    scratch : numpy.ndarray of uint8, optional
        Memory of `flow_scratch` for repeated calls with the same solids: what they leave around
        each cell is then found once. Changes no bit.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, float32
        `out`, or a new array of the field's shape. A constant stays to the bit; so does a field
        moved by whole cells. NaN in a velocity gives NaN in its cell; an infinite one reads the
        border.

    Raises
    ------
    ValueError, TypeError
        Naming the argument.

    References
    ----------
    Stam, "Stable Fluids", SIGGRAPH 1999. Selle, Fedkiw, Kim, Liu, Rossignac, "An Unconditionally
    Stable MacCormack Method", J. Scientific Computing 35, 2008. Contract: ``windgrove/flow.h``,
    `wg_advect`, `wg_advect_maccormack`.
    """
    moved, scalar = _field(field, "field")
    wind = _velocity(velocity)
    if moved.shape[1:] != wind.shape[1:]:
        raise ValueError(
            f"field: expected the grid of velocity {wind.shape[1:]}, got {moved.shape[1:]}"
        )
    size = checks.spacing(spacing)
    step = checks.time_step(dt, size)
    marks = _solid(solid, wind.shape[1:])
    corrected = checks.choice(method, "method", ADVECTIONS) == "maccormack"
    shape = moved.shape[1:] if scalar else moved.shape
    result, written = _output(out, shape, moved, wind, marks)
    first = np.empty_like(moved) if corrected else None
    target = written.reshape(moved.shape)
    workers = checks.threads(threads)
    _kernels.advect(moved, wind, size, step, marks, target, workers, first, scratch)
    if written is not result:
        result[...] = written
    return result


def confine_vorticity(
    velocity: ArrayLike,
    spacing: float,
    dt: float,
    epsilon: float,
    solid: ArrayLike | None = None,
    *,
    out: NDArray[np.float32] | None = None,
    scratch: NDArray[np.uint8] | None = None,
    threads: int = 1,
) -> NDArray[np.float32]:
    """Give back to eddies some of what advection takes from them.

    ``omega = curl u``, ``N = grad|omega| / |grad|omega||``, ``u + dt epsilon h (N x omega)``. The
    force is 0 in border and solid cells and in air cells with one of these among their six
    neighbours, and where the gradient vanishes within the rounding of float32 velocities.

    Parameters
    ----------
    velocity : array_like, shape (3, nz, ny, nx)
        x y z [m/s], with the one-cell border.
    spacing : float
        Edge h of a cell [m].
    dt : float
        Time step [s], at most 1e30 times the spacing in m.
    epsilon : float
        Strength, dimensionless, not negative; dt times epsilon is at most 1e30 s. It is a source of
        energy.
    solid : array_like of bool, shape (nz, ny, nx), optional
    out : numpy.ndarray, optional
        Float32, C-ordered, of the velocity's shape; may be one of the inputs.
    scratch : numpy.ndarray of uint8, optional
        Memory of `flow_scratch`, as for `advect`; the same may serve both.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, shape (3, nz, ny, nx), float32
        `out`, or a new array.

    Raises
    ------
    ValueError, TypeError
        Naming the argument.

    References
    ----------
    Fedkiw, Stam, Jensen, "Visual Simulation of Smoke", SIGGRAPH 2001. Contract:
    ``windgrove/flow.h``, `wg_confine_vorticity`.
    """
    wind = _velocity(velocity)
    size = checks.spacing(spacing)
    step = checks.time_step(dt, size)
    strength = checks.number(epsilon, "epsilon", low=0.0)
    if not step * strength <= LARGEST_CONFINEMENT:
        raise ValueError(
            f"epsilon: expected dt * epsilon of at most {LARGEST_CONFINEMENT:g} s, "
            f"got {step:g} * {strength:g}"
        )
    marks = _solid(solid, wind.shape[1:])
    result, written = _output(out, wind.shape, wind, marks)
    workers = checks.threads(threads)
    _kernels.confine_vorticity(wind, size, step, strength, marks, written, workers, scratch)
    if written is not result:
        result[...] = written
    return result


def flow_scratch(shape: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Memory in which `advect` and `confine_vorticity` keep what solids leave around each cell.

    Every call compares its solids with those it was filled for, and fills it anew where they
    differ: it may serve any solids of its shape, and is worth having where they seldom change.
    Without it every call looks around each cell near a solid again. One call at a time may use it.

    Parameters
    ----------
    shape : (nz, ny, nx)
        Cells of the grid with its border, at least 3 each way.

    Returns
    -------
    numpy.ndarray of uint8
        Zeros; leave it alone between calls.

    Raises
    ------
    ValueError
        A size is out of range.

    Examples
    --------
    >>> u = np.zeros((3, 10, 10, 20), np.float32)
    >>> solid = np.zeros(u.shape[1:], bool)
    >>> solid[:4, 3:6, 5:9] = True
    >>> memory = flow_scratch(solid.shape)
    >>> for _ in range(3):
    ...     u = advect(u, u, 1.0, 0.1, solid, scratch=memory)
    """
    if len(shape) != 3:
        raise ValueError(f"shape: expected (nz, ny, nx), got {tuple(shape)}")
    nz, ny, nx = (checks.integer(n, "shape", low=3, high=2**20) for n in shape)
    return np.zeros(_kernels.flow_scratch_size(nz, ny, nx), np.uint8)


def sample(
    field: ArrayLike, origin: ArrayLike, spacing: float, points: ArrayLike, *, threads: int = 1
) -> NDArray[np.float32]:
    """Sample a field at points, trilinear between cell centres.

    Parameters
    ----------
    field : array_like, shape (nz, ny, nx) or (c, nz, ny, nx)
        Values at the cell centres.
    origin : array_like, shape (3,)
        Low corner of cell [0, 0, 0], x y z [m].
    spacing : float
        Edge of a cell [m].
    points : array_like, shape (n, 3)
        x y z [m]. Beyond the outermost centres the nearest place on them is read.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, shape (n,) or (n, c), float32
        A point with a NaN gives NaN in its row alone; infinite coordinates clamp.

    Examples
    --------
    >>> ramp = np.arange(4.0) * np.ones((4, 4, 4))
    >>> sample(ramp, (0, 0, 0), 1.0, [(2.0, 1, 1), (99, 1, 1)]).tolist()
    [1.5, 3.0]
    """
    values, scalar = _field(field, "field")
    corner = checks.vector(origin, "origin")
    size = checks.spacing(spacing)
    where = checks.array(points, "points", dtype=np.float64, shape=(None, 3))
    out = np.empty((len(where), len(values)), np.float32)
    _kernels.sample(values, corner, size, where, out, checks.threads(threads))
    return out[:, 0] if scalar else out


def sample_wind(view: WindView, points: ArrayLike, *, threads: int = 1) -> NDArray[np.float32]:
    """Sample nested grids and the wind around them.

    The finest grid around a point, trilinear; over a grid's last interior cell it fades into the
    next coarser grid, and on the coarsest into the prevailing wind, so that a moving point sees
    no jump. Equations: ``windgrove/flow.h``, `wg_wind_sample`.

    Parameters
    ----------
    view : WindView
        The wind of one instant.
    points : array_like, shape (n, 3)
        x y z [m], double precision.
    threads : int, default 1
        Does not change the result, not in the last bit.

    Returns
    -------
    numpy.ndarray, shape (n, 3), float32
        [m/s]. A point with a NaN gives NaN in its row alone; infinite coordinates are outside.
    """
    where = checks.array(points, "points", dtype=np.float64, shape=(None, 3))
    out = np.empty((len(where), 3), np.float32)
    _kernels.wind_sample(view, where, out, checks.threads(threads))
    return out
