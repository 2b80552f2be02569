"""Perlin noise, the twin of `windgrove.kernels.perlin`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_MASK = (1 << 64) - 1

# fmt: off
_PERLIN = np.array([
    151, 160, 137, 91, 90, 15, 131, 13, 201, 95, 96, 53, 194, 233, 7, 225,
    140, 36, 103, 30, 69, 142, 8, 99, 37, 240, 21, 10, 23, 190, 6, 148,
    247, 120, 234, 75, 0, 26, 197, 62, 94, 252, 219, 203, 117, 35, 11, 32,
    57, 177, 33, 88, 237, 149, 56, 87, 174, 20, 125, 136, 171, 168, 68, 175,
    74, 165, 71, 134, 139, 48, 27, 166, 77, 146, 158, 231, 83, 111, 229, 122,
    60, 211, 133, 230, 220, 105, 92, 41, 55, 46, 245, 40, 244, 102, 143, 54,
    65, 25, 63, 161, 1, 216, 80, 73, 209, 76, 132, 187, 208, 89, 18, 169,
    200, 196, 135, 130, 116, 188, 159, 86, 164, 100, 109, 198, 173, 186, 3, 64,
    52, 217, 226, 250, 124, 123, 5, 202, 38, 147, 118, 126, 255, 82, 85, 212,
    207, 206, 59, 227, 47, 16, 58, 17, 182, 189, 28, 42, 223, 183, 170, 213,
    119, 248, 152, 2, 44, 154, 163, 70, 221, 153, 101, 155, 167, 43, 172, 9,
    129, 22, 39, 253, 19, 98, 108, 110, 79, 113, 224, 232, 178, 185, 112, 104,
    218, 246, 97, 228, 251, 34, 242, 193, 238, 210, 144, 12, 191, 179, 162, 241,
    81, 51, 145, 235, 249, 14, 239, 107, 49, 192, 214, 31, 181, 199, 106, 157,
    184, 84, 204, 176, 115, 121, 50, 45, 127, 4, 150, 254, 138, 236, 205, 93,
    222, 114, 67, 29, 24, 72, 243, 141, 128, 195, 78, 66, 215, 61, 156, 180,
])
# fmt: on
_GRADIENTS = np.array(
    [
        [1, 1, 0],
        [-1, 1, 0],
        [1, -1, 0],
        [-1, -1, 0],
        [1, 0, 1],
        [-1, 0, 1],
        [1, 0, -1],
        [-1, 0, -1],
        [0, 1, 1],
        [0, -1, 1],
        [0, 1, -1],
        [0, -1, -1],
        [1, 1, 0],
        [0, -1, 1],
        [-1, 1, 0],
        [0, -1, -1],
    ]
)  # fmt: skip


def _splitmix64(state: int) -> tuple[int, int]:
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return state, z ^ (z >> 31)


def permutation(seed: int) -> NDArray[np.int64]:
    """The permutation of a seed: Perlin's for 0, else a Fisher-Yates shuffle by splitmix64."""
    if seed == 0:
        return _PERLIN.copy()
    values = np.arange(256)
    state = seed
    for i in range(255, 0, -1):
        state, random = _splitmix64(state)
        j = ((random >> 32) * (i + 1)) >> 32
        values[i], values[j] = values[j], values[i]
    return values


def perlin(points: ArrayLike, seed: int = 0) -> NDArray[np.float64]:
    """Improved noise at (n, 3) points: gradients at the eight lattice corners, quintic weights."""
    points = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    table = permutation(seed)
    with np.errstate(invalid="ignore"):
        cell = np.floor(points)
        offset = points - cell
        weight = offset**3 * (offset * (offset * 6 - 15) + 10)
        index = np.nan_to_num(cell % 256, posinf=0, neginf=0).astype(np.int64)
        total = np.zeros(len(points))
        for corner in np.ndindex(2, 2, 2):
            hashed = np.zeros(len(points), dtype=np.int64)
            for axis in range(3):
                hashed = table[(hashed + index[:, axis] + corner[axis]) % 256]
            ramp = (_GRADIENTS[hashed % 16] * (offset - corner)).sum(axis=1)
            total += ramp * np.prod(np.where(corner, weight, 1 - weight), axis=1)
    return total
