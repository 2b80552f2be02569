"""The springs, the twin of `windgrove.kernels.step_springs`, as the equations are written.

World rotations are 3 x 3 matrices, one branch after the other, double precision throughout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.sway import Frames

if TYPE_CHECKING:
    from ..trees.tree import Tree


def cross_matrix(v: NDArray) -> NDArray:
    """The matrix of x -> v x x."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def matrix_from_vector(v: NDArray) -> NDArray:
    """Rotation matrix of a rotation vector (Rodrigues)."""
    angle = np.linalg.norm(v)
    K = cross_matrix(v)
    if angle < 1e-6:
        return np.eye(3) + K + K @ K / 2
    return np.eye(3) + np.sin(angle) / angle * K + (1 - np.cos(angle)) / angle**2 * K @ K


def quaternion_from_matrix(R: NDArray) -> NDArray:
    """Unit quaternion (w, x, y, z) with w >= 0, by the largest of its four components."""
    squares = 1 + np.array(
        [
            R[0, 0] + R[1, 1] + R[2, 2],
            R[0, 0] - R[1, 1] - R[2, 2],
            R[1, 1] - R[0, 0] - R[2, 2],
            R[2, 2] - R[0, 0] - R[1, 1],
        ]
    )
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    d, e, f = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    rows = [[squares[0], a, b, c], [a, squares[1], d, e], [b, d, squares[2], f]]
    rows.append([c, e, f, squares[3]])
    q = np.array(rows[int(np.argmax(squares))])
    q = q / np.linalg.norm(q)
    return -q if q[0] < 0 else q


def vector_from_matrix(R: NDArray) -> NDArray:
    """Rotation vector of a rotation matrix, its angle in [0, pi]."""
    q = quaternion_from_matrix(R)
    sine = np.linalg.norm(q[1:])
    if sine < 1e-12:
        return 2 * q[1:]
    return 2 * np.arctan2(sine, q[0]) / sine * q[1:]


def shortest_rotation(a: NDArray, b: NDArray) -> NDArray:
    """Matrix of the shortest rotation from the direction of `a` to that of `b`."""
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    if norm == 0:
        return np.eye(3)
    axis, cosine = np.cross(a, b), a @ b
    sine = np.linalg.norm(axis)
    if sine == 0:
        return np.eye(3) if cosine > 0 else _half_turn_across(a)
    return matrix_from_vector(np.arctan2(sine, cosine) * axis / sine)


def _half_turn_across(a: NDArray) -> NDArray:
    axis = np.array([0, -a[2], a[1]]) if abs(a[0]) < abs(a[2]) else np.array([-a[1], a[0], 0])
    return matrix_from_vector(np.pi * axis / np.linalg.norm(axis))


def world_frames(
    position: NDArray, parent: NDArray, rotation: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """For every branch: P (product of the ancestors' rotations), G = P R, and the world pivot."""
    n = len(parent)
    P, G, pivot = np.empty((n, 3, 3)), np.empty((n, 3, 3)), np.empty((n, 3))
    for i in range(n):
        j = parent[i]
        P[i] = np.eye(3) if j < 0 else G[j]
        G[i] = P[i] @ matrix_from_vector(rotation[i])
        pivot[i] = position[i] if j < 0 else pivot[j] + G[j] @ (position[i] - position[j])
    return P, G, pivot


def exact_damped_flow(K: float, damping: float, t: float) -> NDArray:
    """(2, 3): theta(t) and its rate from theta(0), rate(0) and a constant unit force.

    theta'' = -K theta - damping theta' + force, by the exponential of the 3 x 3 matrix of the
    augmented system.
    """
    from scipy.linalg import expm

    return expm(t * np.array([[0, 1, 0], [-K, -damping, 1], [0, 0, 0]]))[:2]


def step_springs(
    rotation: NDArray,
    previous_rotation: NDArray,
    angular_velocity: NDArray,
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
    own_rotation_held: bool = True,
) -> None:
    """One step of every spring, in place; the state may be float64 here.

    ``own_rotation_held=False`` lets the inertia see the branch's own motion as well, the literal
    reading of the source: unstable for every stiffness (docs/numerics/springs.md), kept for the
    test that shows it.
    """
    del threads
    position, direction = np.asarray(position, float), np.asarray(direction, float)
    length, parent = np.asarray(length, float), np.asarray(parent, int)
    m, k = np.asarray(mass, float), np.asarray(stiffness, float)
    c, d = np.asarray(damping, float), np.asarray(drag, float)
    wind = np.asarray(wind, float)
    theta = np.array(rotation, dtype=float)
    theta_before = np.array(previous_rotation, dtype=float)
    omega = np.array(angular_velocity, dtype=float)

    k_used, c_used, d_used = k, c, d
    if clamp in ("source", "compensated"):
        k_used, c_used = np.minimum(k, m / dt**2), np.minimum(c, m / dt)
    if clamp == "compensated":
        d_used = np.where(k > 0, d * k_used / np.where(k > 0, k, 1), d)

    # Frame n-1 of everything, and frame n-2 of the ancestors.
    P, _, pivot = world_frames(position, parent, theta)
    P_before, _, pivot_before = world_frames(position, parent, theta_before)

    for i in range(len(parent)):
        R = matrix_from_vector(theta[i])
        arm = R @ direction[i] * (0.75 * length[i])  # pivot to centre of mass, in parent's frame

        # Inertia: where was the centre of mass one frame earlier, as far as the ancestors say?
        C = np.eye(3)
        if inertia and parent[i] >= 0:
            own = R if own_rotation_held else matrix_from_vector(theta_before[i])
            arm_before = own @ direction[i] * (0.75 * length[i])
            centre_before = pivot_before[i] + P_before[i] @ arm_before
            C = shortest_rotation(arm, P[i].T @ (centre_before - pivot[i]))
        lag = vector_from_matrix(C) / dt

        # Wind torque, in the parent's frame.
        tau = np.cross(R @ direction[i], P[i].T @ wind[i])

        if clamp == "exponential":
            force = d[i] * tau / m[i]
            if damping_rate == "source":
                force = force + c[i] / m[i] * lag
            flow = exact_damped_flow(k[i] / m[i], c[i] / m[i], dt)
            rate = omega[i] + lag
            new_theta = flow[0, 0] * theta[i] + flow[0, 1] * rate + flow[0, 2] * force
            new_rate = flow[1, 0] * theta[i] + flow[1, 1] * rate + flow[1, 2] * force
            omega_new = new_rate - lag
            turned = new_theta - theta[i] - lag * dt
        else:
            rate = omega[i] + lag if damping_rate == "relative" else omega[i]
            alpha = (d_used[i] * tau - k_used[i] * theta[i] - c_used[i] * rate) / m[i]
            omega_new = omega[i] + alpha * dt
            turned = omega_new * dt

        R_new = matrix_from_vector(turned) @ C @ R
        if not torsion:
            R_new = shortest_rotation(direction[i], R_new @ direction[i])
        rotation[i] = vector_from_matrix(R_new)
        previous_rotation[i] = theta[i]
        angular_velocity[i] = omega_new


def rotation_frames(tree: Tree, rotation: ArrayLike) -> Frames:
    """World rotation (n, 4) and world pivot (n, 3) of every branch."""
    _, G, pivot = world_frames(tree.position, tree.parent, np.asarray(rotation, dtype=float))
    return Frames(np.array([quaternion_from_matrix(g) for g in G]), pivot)


def pack_rotation(rotvec: ArrayLike, direction: ArrayLike) -> NDArray:
    """Azimuth and polar angle of the turned direction as uint16 (n, 2)."""
    packed = []
    for v, d in zip(np.asarray(rotvec, float), np.asarray(direction, float), strict=True):
        x, y, z = matrix_from_vector(v) @ d
        azimuth = np.arctan2(y, x) % (2 * np.pi)
        polar = np.arctan2(np.hypot(x, y), z)
        packed.append([round(azimuth / (2 * np.pi) * 65536) % 65536, round(polar / np.pi * 65535)])
    return np.array(packed, dtype=np.uint16).reshape(-1, 2)


def unpack_rotation(packed: ArrayLike, direction: ArrayLike) -> NDArray:
    """The shortest rotation vectors from `direction` to the packed directions."""
    rotvec = []
    for (a, p), d in zip(np.asarray(packed, float), np.asarray(direction, float), strict=True):
        azimuth, polar = a * 2 * np.pi / 65536, p * np.pi / 65535
        x, y = np.cos(azimuth), np.sin(azimuth)
        turned = np.array([np.sin(polar) * x, np.sin(polar) * y, np.cos(polar)])
        rotvec.append(vector_from_matrix(shortest_rotation(d, turned)))
    return np.array(rotvec).reshape(-1, 3)
