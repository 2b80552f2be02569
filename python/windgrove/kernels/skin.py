"""Skinning: meshes that bend with the branches they hang on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks

if TYPE_CHECKING:
    from ..trees.tree import Tree


class Skinned(NamedTuple):
    """A bent mesh."""

    vertices: NDArray[np.floating]  # (n, 3) m
    normals: NDArray[np.floating] | None  # (n, 3), None where the mesh has none


def skin(
    vertices: ArrayLike,
    normals: ArrayLike | None,
    branch: ArrayLike,
    tree: Tree,
    rotation: ArrayLike,
    *,
    threads: int = 1,
) -> Skinned:
    """Bend a mesh with a pose of its tree.

    Parameters
    ----------
    vertices : array_like, shape (n, 3)
        Rest positions in the axes of the tree [m].
    normals : array_like, shape (n, 3), or None
    branch : array_like, shape (n,)
        Index of the branch each vertex hangs on, as the 16-bit vertex attribute has it.
    tree : Tree
    rotation : array_like, shape (len(tree), 3)
        Rotation vectors relative to the rest pose [rad], as a recording has them.
    threads : int, default 1
        1 to 64. Does not change the result, not in the last bit.

    Returns
    -------
    Skinned
        ``vertices`` and ``normals``, float32, new arrays.

    Raises
    ------
    ValueError, TypeError
        Shapes do not fit, or a vertex names a branch the tree does not have.

    Notes
    -----
    The rotation of the vertex's own branch is scaled by ``saturate(distance / length)``, its
    distance from the branch's pivot; that of every ancestor by the same ratio taken where the chain
    of the branch grows from it, so that branches stay attached and a child moves rigidly with that
    place. Bending is for the eye: the simulation's own kinematics are rigid (`rotation_frames`).
    Cost: about 120 flop a vertex whatever its depth. NaN in a vertex reaches that vertex alone; NaN
    in a rotation the vertices of that branch and of those it carries.

    References
    ----------
    Source document 000, section 3.3.3; docs/numerics/skinning.md.
    """
    checks.tree(tree)
    vertices = checks.array(vertices, "vertices", shape=(None, 3))
    n = len(vertices)
    if normals is not None:
        normals = checks.array(normals, "normals", shape=(n, 3))
    branch = checks.array(branch, "branch", dtype=np.int64, shape=(n,)).copy()
    bad = (branch < 0) | (branch >= len(tree))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(
            f"branch: vertex {i} names branch {branch[i]}; the tree has {len(tree)} branches"
        )
    rotation = checks.array(rotation, "rotation", dtype=np.float64, shape=(len(tree), 3))
    result = Skinned(
        np.empty((n, 3), np.float32), None if normals is None else np.empty_like(normals)
    )
    _kernels.skin(
        tree.position,
        tree.length,
        tree.parent,
        rotation,
        vertices,
        normals,
        branch.astype(np.uint16),
        result.vertices,
        result.normals,
        np.empty(_kernels.skin_scratch(len(tree)), np.uint8),
        checks.threads(threads),
    )
    return result
