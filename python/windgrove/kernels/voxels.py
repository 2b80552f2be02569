"""Which cells of a grid solids fill."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks

FILLS = ("surface", "winding", "parity")
FARTHEST = 1e100  # m


@dataclass(frozen=True)
class MeshReport:
    """What a mesh is, as far as its inside is concerned.

    Attributes
    ----------
    fill : str
        ``"winding"``: closed and turned consistently, the inside is where the winding number is not
        0. ``"parity"``: closed but turned at random, the inside is where a ray crosses the surface
        an odd number of times. ``"surface"``: open, there is no inside.
    open_edges : int
        Edges with an odd number of faces; 0 where the mesh is closed.
    degenerate_faces : int
        Faces with two corners in one place.
    """

    fill: str
    open_edges: int
    degenerate_faces: int

    @property
    def closed(self) -> bool:
        return self.open_edges == 0


def _near(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Refuse coordinates whose products overflow."""
    if values.size and not np.abs(values).max() <= FARTHEST:
        raise ValueError(f"{name}: expected coordinates within {FARTHEST:g} m")
    return values


def _mesh(vertices: ArrayLike, faces: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    points = checks.array(vertices, "vertices", dtype=np.float64, shape=(None, 3), finite=True)
    _near(points, "vertices")
    corners = checks.array(faces, "faces", dtype=np.int64, shape=(None, 3))
    bad = np.argwhere((corners < 0) | (corners >= len(points)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"faces: row {row} names vertex {corners[row, column]}, expected 0 to {len(points) - 1}"
        )
    return points, checks.array(corners, "faces", dtype=np.int32)


def mesh_report(vertices: ArrayLike, faces: ArrayLike) -> MeshReport:
    """Find out whether a mesh is closed, and by which rule it has an inside.

    Vertices in the same place count as one, so that a soup of triangles, as STL files hold it, is
    closed where its triangles meet.

    Parameters
    ----------
    vertices : array_like, shape (n, 3)
        [m]
    faces : array_like of int, shape (m, 3)
        Indices of vertices.
    """
    points, corners = _mesh(vertices, faces)
    joined = _weld(points)[corners].astype(np.int64)
    starts, ends = joined.ravel(), np.roll(joined, -1, axis=1).ravel()
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    proper = low != high
    _, edge = np.unique((low * len(points) + high)[proper], return_inverse=True)
    turns = np.bincount(edge, weights=np.where(starts < ends, 1.0, -1.0)[proper])
    odd = int((np.bincount(edge) % 2).sum())
    degenerate = int((~proper.reshape(-1, 3)).any(axis=1).sum())
    if odd or len(corners) == 0:
        return MeshReport("surface", odd, degenerate)
    return MeshReport("parity" if turns.any() else "winding", 0, degenerate)


def _weld(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each vertex the number of the first place equal to its own, in an order of places."""
    places = points + 0.0  # -0.0 and 0.0 are one place
    order = np.lexsort(places.T)
    new = np.empty(len(order), bool)
    new[:1] = True
    np.any(places[order][1:] != places[order][:-1], axis=1, out=new[1:])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    return number


def voxelize(
    vertices: ArrayLike,
    faces: ArrayLike,
    origin: ArrayLike,
    spacing: float,
    shape: Sequence[int],
    *,
    fill: str | None = None,
) -> NDArray[np.bool_]:
    """Mark the cells whose centre is inside a mesh or that its surface crosses.

    A surface that only touches a cell's faces does not cross it (within a millionth of the cell's
    edge), so that a box whose faces lie on cell faces fills exactly its own cells and a gap of one
    cell stays open.

    Parameters
    ----------
    vertices : array_like, shape (n, 3)
        [m]
    faces : array_like of int, shape (m, 3)
        Indices of vertices.
    origin : array_like, shape (3,)
        Low corner of cell [0, 0, 0], x y z [m].
    spacing : float
        Edge of a cell [m].
    shape : sequence of int
        (nz, ny, nx)
    fill : {"winding", "parity", "surface"}, optional
        What counts as inside, see `MeshReport`. By default `mesh_report` finds it; give it where
        the same mesh is marked again and again. An open mesh, found so, has a warning and only its
        surface is marked; ``fill="surface"`` asks for that.

    Returns
    -------
    numpy.ndarray, shape (nz, ny, nx), bool

    Raises
    ------
    ValueError, TypeError
        Naming the argument, and the row of a face that names a missing vertex.

    References
    ----------
    Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", J. Graphics Tools 6(1), 2001. Contract:
    ``windgrove/voxels.h``, `wg_voxelize_mesh`.
    """
    points, corners = _mesh(vertices, faces)
    corner = _near(checks.vector(origin, "origin"), "origin")
    size = checks.spacing(spacing)
    cells = checks.counts(shape, "shape", "nz ny nx", low=1, high=2**20)
    if math.prod(cells) > 2**40:
        raise ValueError(f"shape: {cells} has more than 2^40 cells")
    if fill is None:
        report = mesh_report(points, corners)
        fill = report.fill
        if not report.closed:
            warnings.warn(
                f"the mesh is open ({report.open_edges} edges lack a face): only the cells its "
                'surface crosses are marked; fill="surface" says that this is meant',
                stacklevel=2,
            )
    rule = FILLS.index(checks.choice(fill, "fill", FILLS))
    out = np.zeros(cells, np.bool_)
    scratch = np.empty(cells, np.int32)
    _kernels.voxelize_mesh(points, corners, corner, size, rule, scratch, out)
    return out
