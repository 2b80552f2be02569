"""Skinning, the twin of `windgrove.kernels.skin`: each vertex walks up to the root by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.skin import Skinned
from .sway import matrix_from_vector

if TYPE_CHECKING:
    from ..trees.tree import Tree


def skin(
    vertices: ArrayLike,
    normals: ArrayLike | None,
    branch: ArrayLike,
    tree: Tree,
    rotation: ArrayLike,
    *,
    threads: int = 1,
) -> Skinned:
    """Turn about the own pivot, then about each ancestor's, by angles faded with the distance."""
    del threads
    rotation = np.asarray(rotation, float)
    points = np.array(vertices, dtype=float).reshape(-1, 3)
    arrows = None if normals is None else np.array(normals, dtype=float).reshape(-1, 3)
    for v, first in enumerate(np.asarray(branch, dtype=int)):
        i = first
        anchor = points[v].copy()
        while i >= 0:
            pivot = tree.position[i]
            fade = min(np.linalg.norm(anchor - pivot) / tree.length[i], 1.0)
            R = matrix_from_vector(fade * rotation[i])
            points[v] = pivot + R @ (points[v] - pivot)
            if arrows is not None:
                arrows[v] = R @ arrows[v]
            anchor, i = pivot, tree.parent[i]
    return Skinned(points, arrows)
