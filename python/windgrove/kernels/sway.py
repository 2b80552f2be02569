"""The springs of a tree and the frames they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks
from ..errors import Diverged

if TYPE_CHECKING:
    from ..trees.tree import Tree

CLAMPS = ("source", "compensated", "exponential", "none")  # in the order of wg_clamp
DAMPING_RATES = ("relative", "source")


class Frames(NamedTuple):
    """Where every branch is in the world."""

    rotation: NDArray[np.float64]  # (n, 4) unit quaternions (w, x, y, z)
    pivot: NDArray[np.float64]  # (n, 3) m


def step_springs(
    rotation: NDArray[np.float32],
    previous_rotation: NDArray[np.float32],
    angular_velocity: NDArray[np.float32],
    *,
    position: ArrayLike,
    direction: ArrayLike,
    length: ArrayLike,
    parent: ArrayLike,
    mass: ArrayLike,
    stiffness: ArrayLike,
    damping: ArrayLike,
    drag: ArrayLike,
    wind: ArrayLike,
    dt: float,
    clamp: str = "source",
    inertia: bool = True,
    damping_rate: str = "relative",
    torsion: bool = True,
    threads: int = 1,
) -> None:
    """Advance every spring of one tree by one step, in place.

    Parameters
    ----------
    rotation, previous_rotation : ndarray, shape (n, 3), float32, written
        Rotation vectors of frames n-1 and n-2 relative to the rest pose, in the axes of the tree
        and carried by the parent [rad]. They become those of frames n and n-1, with angles of at
        most pi.
    angular_velocity : ndarray, shape (n, 3), float32, written
        [rad/s].
    position, direction : array_like, shape (n, 3)
        Pivots [m] and unit vectors of the rest pose.
    length : array_like, shape (n,)
        [m], above 0.
    parent : array_like, shape (n,)
        Index of the parent, below the own index; -1 for a root.
    mass, stiffness, damping, drag : array_like, shape (n,)
        As from `windgrove.branch_parameters`: mass above 0, the others not below 0.
    wind : array_like, shape (n, 3)
        Velocity at the centres of mass, in the axes of the tree, with its noise [m/s].
    dt : float
        [s], above 0.
    clamp : {"source", "compensated", "exponential", "none"}
        How stiffness and damping are limited for `dt`: k' = min(k, m/dt^2), c' = min(c, m/dt); the
        same with the drag scaled by k'/k; no limit but the exact damped step; no limit.
    inertia : bool
        Whether a branch lags behind its ancestors' motion, one frame late.
    damping_rate : {"relative", "source"}
        Whether damping acts on the rate relative to the parent or on `angular_velocity`.
    torsion : bool
        False removes the twist about the rest direction every step.
    threads : int
        1 to 64. Does not change the result, not in the last bit.

    Raises
    ------
    ValueError, TypeError
        An argument is out of range or of the wrong kind; nothing was written.
    windgrove.Diverged
        A new state is not finite. All branches were stepped: the arrays hold what was found.

    Notes
    -----
    Equations and cost: ``windgrove/sway.h``. NaN in one row of `wind` or of the state reaches that
    branch in this step and those it carries in the next ones, no others.
    """
    position = checks.array(position, "position", dtype=np.float64, shape=(None, 3), finite=True)
    n = len(position)
    if n == 0:
        raise ValueError("position: a tree has at least 1 branch, got 0")
    for name, state in (
        ("rotation", rotation),
        ("previous_rotation", previous_rotation),
        ("angular_velocity", angular_velocity),
    ):
        checks.output(state, name, (n, 3))
    direction = checks.array(direction, "direction", dtype=np.float64, shape=(n, 3), finite=True)
    columns = {
        name: checks.array(value, name, dtype=np.float64, shape=(n,), finite=True)
        for name, value in (
            ("length", length),
            ("mass", mass),
            ("stiffness", stiffness),
            ("damping", damping),
            ("drag", drag),
        )
    }
    # A copy: no other thread may change what is checked here before the C code reads it.
    parent = checks.array(parent, "parent", dtype=np.int32, shape=(n,)).copy()
    check_branches(direction, parent, columns)
    wind = checks.array(wind, "wind", dtype=np.float32, shape=(n, 3))
    dt = checks.number(dt, "dt", above=0.0)
    clamp = checks.choice(clamp, "clamp", CLAMPS)
    relative = checks.choice(damping_rate, "damping_rate", DAMPING_RATES) == "relative"
    threads = checks.threads(threads)
    scratch = np.empty(_kernels.step_springs_scratch(n), dtype=np.uint8)
    culprit = _kernels.step_springs(
        rotation,
        previous_rotation,
        angular_velocity,
        position,
        direction,
        columns["length"],
        parent,
        columns["mass"],
        columns["stiffness"],
        columns["damping"],
        columns["drag"],
        wind,
        dt,
        CLAMPS.index(clamp),
        checks.flag(inertia, "inertia"),
        relative,
        checks.flag(torsion, "torsion"),
        scratch,
        threads,
    )
    if culprit is not None:
        raise Diverged(0, 0, culprit, culprit_name(wind, rotation, culprit))


def culprit_name(wind: NDArray[Any], rotation: NDArray[Any], branch: int) -> str:
    """Which quantity of a branch is not finite, the first cause first."""
    if not np.isfinite(wind[branch]).all():
        return "wind"
    return "rotation" if not np.isfinite(rotation[branch]).all() else "angular_velocity"


def check_branches(
    direction: NDArray[Any], parent: NDArray[Any], columns: dict[str, NDArray[Any]]
) -> None:
    """Refuse a tree or springs out of range, naming argument and branch."""
    bad = (parent < -1) | (parent >= np.arange(len(parent)))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(
            f"parent: branch {i} has parent {parent[i]}; a parent comes before its child"
        )
    with np.errstate(over="ignore"):
        off = np.abs((direction**2).sum(axis=1) - 1.0)
    if not off.max() <= 1e-3:
        i = int(np.argmax(off))
        raise ValueError(f"direction: branch {i} is not a unit vector")
    for name, values in columns.items():
        positive = name in ("length", "mass")
        bad = values <= 0 if positive else values < 0
        if bad.any():
            i = int(np.argmax(bad))
            rule = "above 0" if positive else "not below 0"
            raise ValueError(f"{name}: branch {i} has {values[i]:g}, expected a number {rule}")


def rotation_frames(tree: Tree, rotation: ArrayLike) -> Frames:
    """World rotation and world pivot of every branch.

    Parameters
    ----------
    tree : Tree
        ``n`` branches.
    rotation : array_like, shape (n, 3) or (..., n, 3)
        Rotation vectors relative to the rest pose [rad]; leading axes are poses.

    Returns
    -------
    Frames
        ``rotation`` (..., n, 4), unit quaternions (w, x, y, z) that take rest to world, and
        ``pivot`` (..., n, 3) [m], both float64. A point x of branch i at rest is now at
        ``pivot[i] + rotation[i] * (x - tree.position[i])``.

    Notes
    -----
    NaN in the rotation of a branch reaches that branch and those it carries.
    """
    checks.tree(tree)
    values = checks.array(rotation, "rotation", dtype=np.float64)
    n = len(tree)
    if values.ndim < 2 or values.shape[-2:] != (n, 3):
        raise ValueError(f"rotation: expected shape (..., {n}, 3), got {values.shape}")
    poses = values.reshape(-1, n, 3)
    quaternion = np.empty((len(poses), n, 4))
    pivot = np.empty((len(poses), n, 3))
    _kernels.rotation_frames(tree.position, tree.parent, poses, quaternion, pivot)
    leading = values.shape[:-2]
    return Frames(quaternion.reshape(*leading, n, 4), pivot.reshape(*leading, n, 3))


def pack_rotation(rotvec: ArrayLike, direction: ArrayLike) -> NDArray[np.uint16]:
    """Rotations as two 16-bit angles of the turned direction; torsion is dropped.

    Parameters
    ----------
    rotvec : array_like, shape (n, 3)
        Rotation vectors relative to the rest pose [rad], finite.
    direction : array_like, shape (n, 3)
        Unit vectors of the rest pose.

    Returns
    -------
    numpy.ndarray, shape (n, 2), uint16
        Azimuth about z in steps of 2 pi / 2^16 and polar angle from z in steps of
        pi / (2^16 - 1).

    Notes
    -----
    The direction read back is off by at most 0.0031 degrees, poles included. The running state of
    ``Sway(state="packed")`` is finer: see `windgrove.packing_error`.

    References
    ----------
    Seed 000, section 3.4.
    """
    vectors = checks.array(rotvec, "rotvec", dtype=np.float64, shape=(None, 3), finite=True)
    rest = _unit_vectors(direction, len(vectors))
    packed = np.empty((len(vectors), 2), np.uint16)
    _kernels.pack_rotation(vectors, rest, packed)
    return packed


def unpack_rotation(packed: ArrayLike, direction: ArrayLike) -> NDArray[np.float64]:
    """The shortest rotations from `direction` to packed directions.

    Parameters
    ----------
    packed : array_like, shape (n, 2)
        From `pack_rotation`.
    direction : array_like, shape (n, 3)
        Unit vectors of the rest pose.

    Returns
    -------
    numpy.ndarray, shape (n, 3), float64
        Rotation vectors across `direction` [rad]; where the packed direction is opposite, a half
        turn about some axis across.
    """
    codes = checks.array(packed, "packed", dtype=np.uint16, shape=(None, 2))
    rest = _unit_vectors(direction, len(codes))
    rotvec = np.empty((len(codes), 3))
    _kernels.unpack_rotation(codes, rest, rotvec)
    return rotvec


def _unit_vectors(direction: ArrayLike, count: int) -> NDArray[np.float64]:
    rest = checks.array(direction, "direction", dtype=np.float64, shape=(count, 3), finite=True)
    with np.errstate(over="ignore"):
        norm = np.linalg.norm(rest, axis=1)
    if count and np.abs(norm - 1).max() > 1e-3:
        raise ValueError(f"direction: row {int(np.argmax(np.abs(norm - 1)))} is not a unit vector")
    return rest / norm[:, None]
