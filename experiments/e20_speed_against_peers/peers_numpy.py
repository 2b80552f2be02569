"""The same work in plain NumPy and SciPy. Grids are [z, y, x] with their border."""

import numpy as np
from scipy import fft, ndimage

INNER = (slice(1, -1),) * 3


def jacobi(divergence, spacing, iterations=20):
    """Sweeps from zero; p = 0 on the border."""
    p = np.zeros_like(divergence)
    q = np.zeros_like(divergence)
    right = (spacing * spacing) * divergence[INNER]
    for _ in range(iterations):
        total = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1]
        total += p[1:-1, :-2, 1:-1]
        total += p[1:-1, 2:, 1:-1]
        total += p[1:-1, 1:-1, :-2]
        total += p[1:-1, 1:-1, 2:]
        total -= right
        total *= np.float32(1 / 6)
        q[INNER] = total
        p, q = q, p
    return p


def direct(divergence, spacing):
    """Exact solution by type-I sine transforms in three directions."""
    inner = divergence[INNER]
    eigen = np.zeros(inner.shape, np.float32)
    for axis, n in enumerate(inner.shape):
        one = (2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1)) - 2) / spacing**2
        eigen += one.astype(np.float32).reshape([-1 if a == axis else 1 for a in range(3)])
    p = np.zeros_like(divergence)
    p[INNER] = fft.idstn(fft.dstn(inner, type=1) / eigen, type=1)
    return p


def _project(velocity, spacing, solve, out):
    d = np.zeros_like(velocity[0])
    d[INNER] = sum(_central(velocity[c], 2 - c, spacing) for c in range(3))
    p = solve(d, spacing)
    out[:] = velocity
    for c in range(3):
        out[c][INNER] -= _central(p, 2 - c, spacing)
    return out


def project(velocity, spacing, iterations, out):
    """Divergence, sweeps, gradient."""
    return _project(velocity, spacing, lambda d, h: jacobi(d, h, iterations), out)


def project_direct(velocity, spacing, out):
    """Divergence, sine transforms, gradient."""
    return _project(velocity, spacing, direct, out)


def advect(velocity, spacing, dt):
    """`scipy.ndimage.map_coordinates`, order 1, one call a component."""
    grid = velocity.shape[1:]
    scale = np.float32(dt / spacing)
    index = np.meshgrid(*[np.arange(n, dtype=np.float32) for n in grid], indexing="ij")
    back = [
        np.clip(index[axis] - scale * velocity[2 - axis], 0, grid[axis] - 1) for axis in range(3)
    ]
    out = velocity.copy()
    for c in range(3):
        new = ndimage.map_coordinates(velocity[c], back, order=1, mode="nearest")
        out[c][INNER] = new[INNER]
    return out


def _central(field, axis, spacing):
    ahead, behind = [slice(1, -1)] * 3, [slice(1, -1)] * 3
    ahead[axis], behind[axis] = slice(2, None), slice(None, -2)
    return (field[tuple(ahead)] - field[tuple(behind)]) * np.float32(0.5 / spacing)


def confine(velocity, spacing, dt, epsilon):
    """Vorticity confinement; the force is zero beside the border."""
    u, v, w = velocity
    zero = np.zeros_like(u)
    curl = [zero.copy() for _ in range(3)]
    curl[0][INNER] = _central(w, 1, spacing) - _central(v, 0, spacing)
    curl[1][INNER] = _central(u, 0, spacing) - _central(w, 2, spacing)
    curl[2][INNER] = _central(v, 2, spacing) - _central(u, 1, spacing)
    size = np.sqrt(curl[0] ** 2 + curl[1] ** 2 + curl[2] ** 2)
    gradient = [_central(size, axis, spacing) for axis in (2, 1, 0)]
    norm = np.sqrt(gradient[0] ** 2 + gradient[1] ** 2 + gradient[2] ** 2)
    inverse = np.where(norm > 0, 1 / np.where(norm > 0, norm, 1), 0).astype(np.float32)
    n = [g * inverse for g in gradient]
    c = [one[INNER] for one in curl]
    out = velocity.copy()
    factor = np.float32(dt * epsilon * spacing)
    force = (
        n[1] * c[2] - n[2] * c[1],
        n[2] * c[0] - n[0] * c[2],
        n[0] * c[1] - n[1] * c[0],
    )
    deep = (slice(1, -1),) * 3
    for axis in range(3):
        out[axis][INNER][deep] += factor * force[axis][deep]
    return out
