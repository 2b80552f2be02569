"""The spring step in NumPy: all trees at once, one level of the hierarchy after the other."""

import numpy as np


def quaternion(v):
    angle = np.sqrt((v * v).sum(-1, keepdims=True))
    small = angle < 1e-6
    s = np.where(small, np.float32(0.5), np.sin(angle / 2) / np.where(small, 1, angle))
    return np.concatenate([np.cos(angle / 2), s * v], axis=-1).astype(np.float32)


def multiply(a, b):
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + bw * ax + ay * bz - az * by,
            aw * by + bw * ay + az * bx - ax * bz,
            aw * bz + bw * az + ax * by - ay * bx,
        ],
        axis=-1,
    )


def rotate(q, v):
    c = np.cross(q[..., 1:], v)
    return v + 2 * (q[..., :1] * c + np.cross(q[..., 1:], c))


def back(q, v):
    return rotate(q * np.array([1, -1, -1, -1], np.float32), v)


def vector(q):
    q = np.where(q[..., :1] < 0, -q, q)
    s = np.sqrt((q[..., 1:] ** 2).sum(-1, keepdims=True))
    small = s < 1e-7
    scale = np.where(small, 2, 2 * np.arctan2(s, q[..., :1]) / np.where(small, 1, s))
    return (scale * q[..., 1:]).astype(np.float32)


def shortest(a, b):
    axis = np.cross(a, b)
    w = np.sqrt((a * a).sum(-1) * (b * b).sum(-1)) + (a * b).sum(-1)
    q = np.concatenate([w[..., None], axis], axis=-1)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def step(state, tree, wind, dt, levels):
    """`levels` holds the branch indices of each depth."""
    rotation, previous, omega = state
    position, direction, length, parent, theta_over, rate_over, torque_over = tree
    own, old = quaternion(rotation), quaternion(previous)
    now, before = own.copy(), old.copy()
    pivot = np.broadcast_to(position, rotation.shape).copy()
    pivot_before = pivot.copy()
    P = np.zeros_like(own)
    P[..., 0] = 1
    P_old = P.copy()
    for which in levels[1:]:
        up = parent[which]
        offset = position[which] - position[up]
        P[:, which], P_old[:, which] = now[:, up], before[:, up]
        pivot[:, which] = pivot[:, up] + rotate(now[:, up], offset)
        pivot_before[:, which] = pivot_before[:, up] + rotate(before[:, up], offset)
        now[:, which] = multiply(now[:, up], own[:, which])
        before[:, which] = multiply(before[:, up], old[:, which])
    turned = rotate(own, np.float32(0.75) * length[:, None] * direction)
    lagged = back(P, rotate(P_old, turned) + pivot_before - pivot)
    C = shortest(turned, lagged)
    C[:, levels[0]] = [1, 0, 0, 0]
    tau = np.cross(rotate(own, direction), back(P, wind[:, None, :]))
    omega += (
        torque_over[:, None] * tau - theta_over[:, None] * rotation
        - rate_over[:, None] * (omega + vector(C) / dt)
    )  # fmt: skip
    turn = quaternion(omega * dt)
    previous[:] = rotation
    rotation[:] = vector(multiply(turn, multiply(C, own)))
