"""The same work in Numba: as one would write it first, and for the sweeps also tuned."""

import numba as nb
import numpy as np

F = np.float32
JIT = {"nopython": True, "fastmath": False, "boundscheck": False, "cache": False}


@nb.jit(**JIT)
def jacobi(divergence, spacing, iterations):
    """Idiomatic: three loops, indices k - 1 and k + 1."""
    p = np.zeros_like(divergence)
    q = np.zeros_like(divergence)
    h2, sixth = F(spacing * spacing), F(1.0 / 6.0)
    nz, ny, nx = p.shape
    for _ in range(iterations):
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                for i in range(1, nx - 1):
                    q[k, j, i] = sixth * (
                        p[k - 1, j, i] + p[k + 1, j, i] + p[k, j - 1, i] + p[k, j + 1, i]
                        + p[k, j, i - 1] + p[k, j, i + 1] - h2 * divergence[k, j, i]
                    )  # fmt: skip
        p, q = q, p
    return p


@nb.jit(**JIT)
def _row(q, below, above, south, north, west, east, right, h2, sixth):
    for i in range(q.size):
        q[i] = sixth * (
            below[i] + above[i] + south[i] + north[i] + west[i] + east[i] - h2 * right[i]
        )


@nb.jit(**JIT)
def jacobi_tuned(divergence, spacing, iterations):
    """Rows as shifted one-dimensional slices, so that no index can be negative."""
    p = np.zeros_like(divergence)
    q = np.zeros_like(divergence)
    h2, sixth = F(spacing * spacing), F(1.0 / 6.0)
    nz, ny, nx = p.shape
    for _ in range(iterations):
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                _row(
                    q[k, j, 1 : nx - 1], p[k - 1, j, 1 : nx - 1], p[k + 1, j, 1 : nx - 1],
                    p[k, j - 1, 1 : nx - 1], p[k, j + 1, 1 : nx - 1],
                    p[k, j, 0 : nx - 2], p[k, j, 2:nx], divergence[k, j, 1 : nx - 1], h2, sixth,
                )  # fmt: skip
        p, q = q, p
    return p


@nb.jit(**JIT)
def _divergence(velocity, spacing):
    _, nz, ny, nx = velocity.shape
    d = np.zeros((nz, ny, nx), np.float32)
    u, v, w = velocity[0], velocity[1], velocity[2]
    half = F(0.5 / spacing)
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                d[k, j, i] = half * (
                    u[k, j, i + 1] - u[k, j, i - 1] + v[k, j + 1, i] - v[k, j - 1, i]
                    + w[k + 1, j, i] - w[k - 1, j, i]
                )  # fmt: skip
    return d


@nb.jit(**JIT)
def _subtract_gradient(velocity, p, spacing, out):
    _, nz, ny, nx = velocity.shape
    half = F(0.5 / spacing)
    out[:] = velocity
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                out[0, k, j, i] -= half * (p[k, j, i + 1] - p[k, j, i - 1])
                out[1, k, j, i] -= half * (p[k, j + 1, i] - p[k, j - 1, i])
                out[2, k, j, i] -= half * (p[k + 1, j, i] - p[k - 1, j, i])


@nb.jit(**JIT)
def project(velocity, spacing, iterations, out):
    """Divergence, sweeps, gradient, each as one would write it."""
    p = jacobi(_divergence(velocity, spacing), spacing, iterations)
    _subtract_gradient(velocity, p, spacing, out)
    return out


@nb.jit(**JIT)
def project_tuned(velocity, spacing, iterations, out):
    p = jacobi_tuned(_divergence(velocity, spacing), spacing, iterations)
    _subtract_gradient(velocity, p, spacing, out)
    return out


@nb.jit(**JIT)
def _trilinear(f, x, y, z):
    nz, ny, nx = f.shape
    x = min(max(x, F(0)), F(nx - 1))
    y = min(max(y, F(0)), F(ny - 1))
    z = min(max(z, F(0)), F(nz - 1))
    i, j, k = min(int(x), nx - 2), min(int(y), ny - 2), min(int(z), nz - 2)
    a, b, c = x - F(i), y - F(j), z - F(k)
    p = f[k, j, i] + a * (f[k, j, i + 1] - f[k, j, i])
    q = f[k, j + 1, i] + a * (f[k, j + 1, i + 1] - f[k, j + 1, i])
    r = f[k + 1, j, i] + a * (f[k + 1, j, i + 1] - f[k + 1, j, i])
    s = f[k + 1, j + 1, i] + a * (f[k + 1, j + 1, i + 1] - f[k + 1, j + 1, i])
    low, high = p + b * (q - p), r + b * (s - r)
    return low + c * (high - low)


@nb.jit(**JIT)
def advect(velocity, spacing, dt):
    out = velocity.copy()
    _, nz, ny, nx = velocity.shape
    s = F(dt / spacing)
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                x = F(i) - s * velocity[0, k, j, i]
                y = F(j) - s * velocity[1, k, j, i]
                z = F(k) - s * velocity[2, k, j, i]
                for c in range(3):
                    out[c, k, j, i] = _trilinear(velocity[c], x, y, z)
    return out


@nb.jit(**JIT)
def confine(velocity, spacing, dt, epsilon):
    u, v, w = velocity[0], velocity[1], velocity[2]
    curl = np.zeros_like(velocity)
    size = np.zeros_like(u)
    nz, ny, nx = u.shape
    half = F(0.5 / spacing)
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                a = half * (w[k, j + 1, i] - w[k, j - 1, i] - v[k + 1, j, i] + v[k - 1, j, i])
                b = half * (u[k + 1, j, i] - u[k - 1, j, i] - w[k, j, i + 1] + w[k, j, i - 1])
                c = half * (v[k, j, i + 1] - v[k, j, i - 1] - u[k, j + 1, i] + u[k, j - 1, i])
                curl[0, k, j, i], curl[1, k, j, i], curl[2, k, j, i] = a, b, c
                size[k, j, i] = np.sqrt(a * a + b * b + c * c)
    out = velocity.copy()
    factor = F(dt * epsilon * spacing)
    for k in range(2, nz - 2):
        for j in range(2, ny - 2):
            for i in range(2, nx - 2):
                gx = half * (size[k, j, i + 1] - size[k, j, i - 1])
                gy = half * (size[k, j + 1, i] - size[k, j - 1, i])
                gz = half * (size[k + 1, j, i] - size[k - 1, j, i])
                norm = np.sqrt(gx * gx + gy * gy + gz * gz)
                if norm > F(0):
                    f = factor / norm
                    a, b, c = curl[0, k, j, i], curl[1, k, j, i], curl[2, k, j, i]
                    out[0, k, j, i] += f * (gy * c - gz * b)
                    out[1, k, j, i] += f * (gz * a - gx * c)
                    out[2, k, j, i] += f * (gx * b - gy * a)
    return out
