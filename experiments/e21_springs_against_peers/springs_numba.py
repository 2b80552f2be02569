"""The spring step in Numba, as one would write it first: trees, then branches, parents first."""

import numba as nb
import numpy as np

F = np.float32
JIT = {"nopython": True, "fastmath": False, "boundscheck": False, "inline": "never"}


@nb.jit(**JIT)
def _quaternion(x, y, z):
    angle = np.sqrt(x * x + y * y + z * z)
    s = F(0.5) if angle < F(1e-6) else np.sin(F(0.5) * angle) / angle
    return np.cos(F(0.5) * angle), s * x, s * y, s * z


@nb.jit(**JIT)
def _multiply(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + b[0] * a[1] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + b[0] * a[2] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + b[0] * a[3] + a[1] * b[2] - a[2] * b[1],
    )


@nb.jit(**JIT)
def _cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@nb.jit(**JIT)
def _rotate(q, v):
    u = (q[1], q[2], q[3])
    c = _cross(u, v)
    d = _cross(u, c)
    two = F(2)
    return (
        v[0] + two * (q[0] * c[0] + d[0]),
        v[1] + two * (q[0] * c[1] + d[1]),
        v[2] + two * (q[0] * c[2] + d[2]),
    )


@nb.jit(**JIT)
def _back(q, v):
    return _rotate((q[0], -q[1], -q[2], -q[3]), v)


@nb.jit(**JIT)
def _vector(q):
    sign = F(1) if q[0] >= 0 else F(-1)
    s = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    scale = F(2) if s < F(1e-7) else F(2) * np.arctan2(s, sign * q[0]) / s
    scale *= sign
    return scale * q[1], scale * q[2], scale * q[3]


@nb.jit(**JIT)
def _shortest(a, b):
    axis = _cross(a, b)
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    w = np.sqrt((a[0] ** 2 + a[1] ** 2 + a[2] ** 2) * (b[0] ** 2 + b[1] ** 2 + b[2] ** 2)) + dot
    norm = np.sqrt(w * w + axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    if norm == 0:
        return F(1), F(0), F(0), F(0)
    return w / norm, axis[0] / norm, axis[1] / norm, axis[2] / norm


def _step(state, tree, wind, dt):
    rotation, previous, omega = state
    position, direction, length, parent, theta_over, rate_over, torque_over = tree
    trees, n = rotation.shape[0], rotation.shape[1]
    for t in nb.prange(trees):
        now = np.empty((n, 4), np.float32)
        before = np.empty((n, 4), np.float32)
        pivot = np.empty((n, 3), np.float32)
        pivot_before = np.empty((n, 3), np.float32)
        for i in range(n):
            own = _quaternion(rotation[t, i, 0], rotation[t, i, 1], rotation[t, i, 2])
            old = _quaternion(previous[t, i, 0], previous[t, i, 1], previous[t, i, 2])
            arm = (
                F(0.75) * length[i] * direction[i, 0],
                F(0.75) * length[i] * direction[i, 1],
                F(0.75) * length[i] * direction[i, 2],
            )
            p = parent[i]
            P, P_old = (F(1), F(0), F(0), F(0)), (F(1), F(0), F(0), F(0))
            shift = (F(0), F(0), F(0))
            if p >= 0:
                P = (now[p, 0], now[p, 1], now[p, 2], now[p, 3])
                P_old = (before[p, 0], before[p, 1], before[p, 2], before[p, 3])
                offset = (
                    position[i, 0] - position[p, 0],
                    position[i, 1] - position[p, 1],
                    position[i, 2] - position[p, 2],
                )
                a, b = _rotate(P, offset), _rotate(P_old, offset)
                for c in range(3):
                    pivot[i, c] = pivot[p, c] + a[c]
                    pivot_before[i, c] = pivot_before[p, c] + b[c]
                shift = (
                    pivot_before[i, 0] - pivot[i, 0],
                    pivot_before[i, 1] - pivot[i, 1],
                    pivot_before[i, 2] - pivot[i, 2],
                )
            else:
                for c in range(3):
                    pivot[i, c] = pivot_before[i, c] = position[i, c]
            G, G_old = _multiply(P, own), _multiply(P_old, old)
            for c in range(4):
                now[i, c], before[i, c] = G[c], G_old[c]
            turned = _rotate(own, arm)
            C = (F(1), F(0), F(0), F(0))
            if p >= 0:
                lagged = _rotate(P_old, turned)
                C = _shortest(
                    turned,
                    _back(P, (lagged[0] + shift[0], lagged[1] + shift[1], lagged[2] + shift[2])),
                )
            lag = _vector(C)
            tau = _cross(
                _rotate(own, (direction[i, 0], direction[i, 1], direction[i, 2])),
                _back(P, (wind[t, 0], wind[t, 1], wind[t, 2])),
            )
            for c in range(3):
                rate = omega[t, i, c] + lag[c] / dt
                omega[t, i, c] += (
                    torque_over[i] * tau[c] - theta_over[i] * rotation[t, i, c]
                    - rate_over[i] * rate
                )  # fmt: skip
            turn = _quaternion(omega[t, i, 0] * dt, omega[t, i, 1] * dt, omega[t, i, 2] * dt)
            new = _vector(_multiply(turn, _multiply(C, own)))
            for c in range(3):
                previous[t, i, c] = rotation[t, i, c]
                rotation[t, i, c] = new[c]


step_one_thread = nb.njit(fastmath=False)(_step)
step_two_threads = nb.njit(fastmath=False, parallel=True)(_step)
