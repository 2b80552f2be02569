"""Which cells a mesh fills, the twin of `windgrove.kernels.voxelize`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def voxelize(
    vertices: ArrayLike,
    faces: ArrayLike,
    origin: ArrayLike,
    spacing: float,
    shape: Sequence[int],
    *,
    fill: str = "winding",
) -> NDArray[np.bool_]:
    """Cells whose centre the mesh winds around, or whose shrunk box a triangle meets.

    The inside comes from solid angles, which is another way than the kernel's rays.
    """
    triangles = np.asarray(vertices, dtype=np.float64)[np.asarray(faces, dtype=np.int64)]
    k, j, i = np.indices(tuple(shape)).reshape(3, -1)
    centres = np.asarray(origin) + spacing * (np.column_stack([i, j, k]) + 0.5)
    half = 0.5 * spacing * (1 - 2e-6)
    solid = np.zeros(len(centres), bool)
    winding = np.zeros(len(centres))
    for triangle in triangles:
        corners = triangle - centres[:, None]
        solid |= _meets_box(corners, half)
        winding += _solid_angle(corners) / (4 * np.pi)
    if fill == "winding":
        solid |= np.abs(winding) > 0.5
    elif fill == "parity":
        solid |= _odd_crossings(triangles, centres)
    return solid.reshape(tuple(shape))


def _meets_box(corners: NDArray[np.float64], half: float) -> NDArray[np.bool_]:
    """Whether triangles (n, 3, 3) meet the box [-half, half]^3: no axis separates the two."""
    edges = np.roll(corners[0], -1, axis=0) - corners[0]
    axes = [*np.eye(3), np.cross(edges[0], edges[1])]
    axes += [np.cross(edge, axis) for edge in edges for axis in np.eye(3)]
    along = corners @ np.transpose(axes)
    reach = half * np.abs(axes).sum(axis=1)
    return ((along.min(axis=1) <= reach) & (along.max(axis=1) >= -reach)).all(axis=1)


def _solid_angle(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Signed solid angles of triangles (n, 3, 3) seen from 0.

    Source: Van Oosterom, Strackee, "The Solid Angle of a Plane Triangle", IEEE Transactions on
    Biomedical Engineering 30(2), 1983.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    la, lb, lc = (np.sqrt((v**2).sum(axis=1)) for v in (a, b, c))
    top = (a * np.cross(b, c)).sum(axis=1)
    bottom = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return 2 * np.arctan2(top, bottom)


def _odd_crossings(
    triangles: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether a ray from each point crosses an odd number of triangles.

    The direction is one that no edge of a sensible mesh follows.
    """
    direction = np.array([0.6137, 0.5711, 0.5452])
    count = np.zeros(len(points), np.int64)
    for a, b, c in triangles:
        across = np.cross(direction, c - a)
        scale = across @ (b - a)
        if scale == 0:
            continue
        from_a = points - a
        u = from_a @ across / scale
        around = np.cross(from_a, b - a)
        v = around @ direction / scale
        distance = around @ (c - a) / scale
        count += (u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 0)
    return count % 2 == 1
