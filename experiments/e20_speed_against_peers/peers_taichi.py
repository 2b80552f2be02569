"""The same work in Taichi on the CPU, one thread."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.ERROR, offline_cache=False)


@ti.kernel
def _sweep(p: ti.types.ndarray(), q: ti.types.ndarray(), d: ti.types.ndarray(), h2: ti.f32):
    for k, j, i in ti.ndrange((1, p.shape[0] - 1), (1, p.shape[1] - 1), (1, p.shape[2] - 1)):
        q[k, j, i] = (
            p[k - 1, j, i] + p[k + 1, j, i] + p[k, j - 1, i] + p[k, j + 1, i]
            + p[k, j, i - 1] + p[k, j, i + 1] - h2 * d[k, j, i]
        ) * ti.f32(1.0 / 6.0)  # fmt: skip


def jacobi(divergence, spacing, iterations=20):
    p, q = np.zeros_like(divergence), np.zeros_like(divergence)
    for _ in range(iterations):
        _sweep(p, q, divergence, spacing * spacing)
        p, q = q, p
    return p


@ti.func
def _trilinear(f: ti.template(), c, x, y, z):
    i = ti.min(ti.cast(x, ti.i32), f.shape[3] - 2)
    j = ti.min(ti.cast(y, ti.i32), f.shape[2] - 2)
    k = ti.min(ti.cast(z, ti.i32), f.shape[1] - 2)
    a, b, e = x - i, y - j, z - k
    p = f[c, k, j, i] + a * (f[c, k, j, i + 1] - f[c, k, j, i])
    q = f[c, k, j + 1, i] + a * (f[c, k, j + 1, i + 1] - f[c, k, j + 1, i])
    r = f[c, k + 1, j, i] + a * (f[c, k + 1, j, i + 1] - f[c, k + 1, j, i])
    s = f[c, k + 1, j + 1, i] + a * (f[c, k + 1, j + 1, i + 1] - f[c, k + 1, j + 1, i])
    low = p + b * (q - p)
    return low + e * (r + b * (s - r) - low)


@ti.kernel
def _advect(f: ti.types.ndarray(), out: ti.types.ndarray(), scale: ti.f32):
    for k, j, i in ti.ndrange((1, f.shape[1] - 1), (1, f.shape[2] - 1), (1, f.shape[3] - 1)):
        x = ti.math.clamp(i - scale * f[0, k, j, i], 0.0, f.shape[3] - 1.0)
        y = ti.math.clamp(j - scale * f[1, k, j, i], 0.0, f.shape[2] - 1.0)
        z = ti.math.clamp(k - scale * f[2, k, j, i], 0.0, f.shape[1] - 1.0)
        for c in ti.static(range(3)):
            out[c, k, j, i] = _trilinear(f, c, x, y, z)


def advect(velocity, spacing, dt):
    out = velocity.copy()
    _advect(velocity, out, dt / spacing)
    return out
