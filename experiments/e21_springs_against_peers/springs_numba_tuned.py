"""The spring step in Numba, tuned as ours is: instances side by side, polynomials for libm.

The innermost loop goes over instances and has no branches, so that LLVM can make vectors of it. The
polynomials are those of ``csrc/sway/rotation.h``.
"""

import numba as nb
import numpy as np

F = np.float32
LANES = 32  # instances side by side
FAST = {"fastmath": False, "error_model": "numpy", "inline": "always"}

# Of cos(a/2) and sin(a/2)/a in a^2, and of a/sin(a/2) in 1 - cos(a/2); highest power first.
C5, C4, C3, C2, C1 = (
    F(-2.546577613e-10), F(9.672608610e-08), F(-2.170063024e-05), F(2.604165045e-03),
    F(-1.249999989e-01),
)  # fmt: skip
S4, S3, S2, S1 = F(5.095542068e-09), F(-1.547742688e-06), F(2.604090028e-04), F(-2.083332557e-02)
A9, A8, A7, A6, A5, A4, A3, A2, A1 = (
    F(2.315373591e-02), F(-6.876861893e-02), F(1.083474587e-01), F(-7.315398393e-02),
    F(6.335645014e-02), F(3.936321283e-02), F(1.160969361e-01), F(2.665270765e-01),
    F(6.666703555e-01),
)  # fmt: skip


@nb.njit(**FAST)
def _quaternion(x, y, z):
    t = x * x + y * y + z * z
    c = ((((C5 * t + C4) * t + C3) * t + C2) * t + C1) * t + F(1)
    s = (((S4 * t + S3) * t + S2) * t + S1) * t + F(0.5)
    return c, s * x, s * y, s * z


@nb.njit(**FAST)
def _scale(w):
    s = F(1) - abs(w)
    f = A9
    f = f * s + A8
    f = f * s + A7
    f = f * s + A6
    f = f * s + A5
    f = f * s + A4
    f = f * s + A3
    f = f * s + A2
    f = f * s + A1
    return np.copysign(f * s + F(2), w)


@nb.njit(**FAST)
def _multiply(aw, ax, ay, az, bw, bx, by, bz):
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + bw * ax + (ay * bz - az * by),
        aw * by + bw * ay + (az * bx - ax * bz),
        aw * bz + bw * az + (ax * by - ay * bx),
    )


@nb.njit(**FAST)
def _rotate(w, x, y, z, a, b, c):
    u, v, s = y * c - z * b, z * a - x * c, x * b - y * a
    p, q, r = y * s - z * v, z * u - x * s, x * v - y * u
    two = F(2)
    return a + two * (w * u + p), b + two * (w * v + q), c + two * (w * s + r)


def _step(state, tree, wind, dt):
    """`state` holds (blocks, n, 3, LANES) arrays; `wind` is one vector."""
    rotation, previous, omega = state
    position, direction, length, parent, theta_over, rate_over, torque_over = tree
    blocks, n = rotation.shape[0], rotation.shape[1]
    inverse_dt = F(1) / dt
    for block in nb.prange(blocks):
        # Of every branch: rotation now and before, pivot now and before; row n is the ground.
        frame = np.zeros((n + 1, 14, LANES), np.float32)
        frame[n, 0, :] = F(1)
        frame[n, 4, :] = F(1)
        for i in range(n):
            p = parent[i] if parent[i] >= 0 else n
            root = F(0) if parent[i] >= 0 else F(1)
            ox, oy, oz = position[i, 0], position[i, 1], position[i, 2]
            if parent[i] >= 0:
                ox, oy, oz = ox - position[p, 0], oy - position[p, 1], oz - position[p, 2]
            dx, dy, dz = direction[i, 0], direction[i, 1], direction[i, 2]
            reach = F(0.75) * length[i]
            k_theta, k_rate, k_torque = theta_over[i], rate_over[i], torque_over[i]
            up, here = frame[p], frame[i]
            r, b, o = rotation[block, i], previous[block, i], omega[block, i]
            for k in range(LANES):
                rx, ry, rz = r[0, k], r[1, k], r[2, k]
                qw, qx, qy, qz = _quaternion(rx, ry, rz)
                ew, ex, ey, ez = _quaternion(b[0, k], b[1, k], b[2, k])
                gw, gx, gy, gz = up[0, k], up[1, k], up[2, k], up[3, k]
                hw, hx, hy, hz = up[4, k], up[5, k], up[6, k], up[7, k]
                ax, ay, az = _rotate(gw, gx, gy, gz, ox, oy, oz)
                bx, by, bz = _rotate(hw, hx, hy, hz, ox, oy, oz)
                ax, ay, az = ax + up[8, k], ay + up[9, k], az + up[10, k]
                bx, by, bz = bx + up[11, k], by + up[12, k], bz + up[13, k]
                here[8, k], here[9, k], here[10, k] = ax, ay, az
                here[11, k], here[12, k], here[13, k] = bx, by, bz
                mw, mx, my, mz = _multiply(gw, gx, gy, gz, qw, qx, qy, qz)
                here[0, k], here[1, k], here[2, k], here[3, k] = mw, mx, my, mz
                mw, mx, my, mz = _multiply(hw, hx, hy, hz, ew, ex, ey, ez)
                here[4, k], here[5, k], here[6, k], here[7, k] = mw, mx, my, mz
                tx, ty, tz = _rotate(qw, qx, qy, qz, dx, dy, dz)
                lx, ly, lz = _rotate(hw, hx, hy, hz, reach * tx, reach * ty, reach * tz)
                lx, ly, lz = _rotate(
                    gw, -gx, -gy, -gz, lx + (bx - ax), ly + (by - ay), lz + (bz - az)
                )
                sx, sy, sz = ty * lz - tz * ly, tz * lx - tx * lz, tx * ly - ty * lx
                dot = tx * lx + ty * ly + tz * lz
                w = np.sqrt((tx * tx + ty * ty + tz * tz) * (lx * lx + ly * ly + lz * lz)) + dot
                inverse = (F(1) - root) / np.sqrt(w * w + sx * sx + sy * sy + sz * sz)
                w, sx, sy, sz = inverse * w + root, inverse * sx, inverse * sy, inverse * sz
                f = _scale(w) * inverse_dt
                vx, vy, vz = _rotate(gw, -gx, -gy, -gz, wind[0], wind[1], wind[2])
                ux, uy, uz = ty * vz - tz * vy, tz * vx - tx * vz, tx * vy - ty * vx
                jx, jy, jz = o[0, k], o[1, k], o[2, k]
                jx += k_torque * ux - k_theta * rx - k_rate * (jx + f * sx)
                jy += k_torque * uy - k_theta * ry - k_rate * (jy + f * sy)
                jz += k_torque * uz - k_theta * rz - k_rate * (jz + f * sz)
                o[0, k], o[1, k], o[2, k] = jx, jy, jz
                w, sx, sy, sz = _multiply(w, sx, sy, sz, qw, qx, qy, qz)
                ew, ex, ey, ez = _quaternion(jx * dt, jy * dt, jz * dt)
                w, sx, sy, sz = _multiply(ew, ex, ey, ez, w, sx, sy, sz)
                f = _scale(w)
                b[0, k], b[1, k], b[2, k] = rx, ry, rz
                r[0, k], r[1, k], r[2, k] = f * sx, f * sy, f * sz


step_one_thread = nb.njit(fastmath=False, error_model="numpy")(_step)
step_two_threads = nb.njit(fastmath=False, error_model="numpy", parallel=True)(_step)
