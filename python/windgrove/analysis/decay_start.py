"""Where the fit of a damped sine begins: a coarse search over frequency and damping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RATIOS = (0.003, 0.01, 0.03, 0.08, 0.18, 0.35, 0.6, 0.85)
MOST_SAMPLES = 4000
KEPT = 4


def starting_points(x: Array, z: Array, with_drift: bool) -> list[Array]:
    """Parameters (ln w, zeta, cosine, sine, offset[, drift]) worth starting from, best first.

    `x` runs from 0 to 1, `z` has variance 1. At every frequency and ratio of a grid the linear
    parameters are solved for; the local minima with the smallest residuals are returned. The
    frequencies are every tenth of a cycle in the record up to four cycles, and the highest peaks
    of the spectrum beyond, in steps of a quarter of a cycle around each.
    """
    step = max(1, len(x) // MOST_SAMPLES)
    frequencies = _frequencies(x, z)
    low = frequencies <= len(x) / step / 4
    table: list[tuple[float, float, float, Array]] = []
    for frequency, coarse in zip(frequencies, low, strict=True):
        every = step if coarse else 1
        for ratio in RATIOS:
            if ratio * frequency > 60:
                continue
            cost, linear = _project(x[::every], z[::every], frequency, ratio, with_drift)
            table.append((cost, frequency, ratio, linear))
    table.sort(key=lambda row: row[0])
    chosen: list[tuple[float, float, float, Array]] = []
    for row in table:
        near = any(
            abs(row[1] - other[1]) < 0.35 and abs(np.log(row[2] / other[2])) < 1.2
            for other in chosen
        )
        if not near:
            chosen.append(row)
        if len(chosen) == KEPT:
            break
    return [
        np.concatenate([[np.log(2 * np.pi * f / np.sqrt(1 - r * r)), r], linear])
        for _, f, r, linear in chosen
    ]


def _frequencies(x: Array, z: Array) -> Array:
    """Candidates, in damped cycles a record."""
    n = len(x)
    top = (n - 1) / 2
    found = list(np.arange(0.3, min(4.0, top), 0.1))
    grid = np.linspace(0, 1, n)
    even = np.interp(grid, x, z)
    even = even - np.polyval(np.polyfit(grid, even, 1), grid)
    power = np.abs(np.fft.rfft(even, 4 * n)) ** 2
    cycles = np.arange(len(power)) * (n - 1) / (4 * n)
    inside = (cycles > 2) & (cycles < top)
    peaks = np.flatnonzero(inside[1:-1] & (power[1:-1] >= power[:-2]) & (power[1:-1] > power[2:]))
    for index in peaks[np.argsort(power[peaks + 1])[::-1][:3]] + 1:
        found += list(cycles[index] + np.array([-0.5, -0.25, 0, 0.25, 0.5]))
    return np.array([f for f in found if 0 < f < top])


def _project(
    x: Array, z: Array, frequency: float, ratio: float, with_drift: bool
) -> tuple[float, Array]:
    """Mean square residual and linear parameters at one frequency and ratio."""
    w = 2 * np.pi * frequency
    decay = np.exp(-ratio / np.sqrt(1 - ratio * ratio) * w * x)
    columns = [decay * np.cos(w * x), decay * np.sin(w * x), np.ones_like(x)] + [x] * with_drift
    design = np.stack(columns, axis=1)
    matrix = design.T @ design
    matrix[np.diag_indices_from(matrix)] *= 1 + 1e-10
    linear = np.linalg.solve(matrix, design.T @ z)
    rest = z - design @ linear
    return float(rest @ rest) / len(z), linear
