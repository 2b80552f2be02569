"""Solids in the wind: boxes, spheres, closed meshes and terrain, each cell of a grid marked or not.

A solid has ``mark(cells, spacing, time)`` for a block of cells, so that only those newly exposed by
a moving grid are marked again, and a velocity that its cells hold and push the air with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks, kernels

if TYPE_CHECKING:
    from ..kernels import MeshReport

Vector = tuple[float, float, float]


class Cells(NamedTuple):
    """A block of cells of the world's lattice: (x, y, z) of the first one, and (nx, ny, nz)."""

    first: tuple[int, int, int]
    size: tuple[int, int, int]

    @property
    def shape(self) -> tuple[int, int, int]:
        return (self.size[2], self.size[1], self.size[0])

    def corner(self, spacing: float) -> NDArray[np.float64]:
        """Low corner of the first cell [m]."""
        return np.array(self.first) * np.float64(spacing)


class Solid:
    """What all solids share: at rest, moving evenly, or along a function of time.

    Attributes
    ----------
    velocity : tuple of float
        [m/s]; the solid is where it was given at time 0.
    motion : callable or None
        ``motion(time) -> (x, y, z)``, the displacement [m]; replaces `velocity`.
    """

    velocity: Vector = (0.0, 0.0, 0.0)
    motion: Callable[[float], ArrayLike] | None = None

    @property
    def moves(self) -> bool:
        """Whether it has to be marked again every step."""
        return self.motion is not None or any(self.velocity)

    def displacement(self, time: float) -> NDArray[np.float64]:
        """From where it was given [m]."""
        if self.motion is not None:
            return checks.vector(self.motion(time), "motion(time)")
        return time * np.array(self.velocity)

    def velocity_at(self, time: float, dt: float) -> NDArray[np.float64]:
        """Mean velocity over the step that ends at `time` [m/s]."""
        if self.motion is None:
            return np.array(self.velocity)
        return (self.displacement(time) - self.displacement(time - dt)) / dt

    def mark(self, cells: Cells, spacing: float, time: float) -> NDArray[np.bool_]:
        """Which cells (nz, ny, nx) are solid at `time`."""
        raise NotImplementedError

    def _read_motion(self) -> None:
        x, y, z = checks.vector(self.velocity, "velocity").tolist()
        object.__setattr__(self, "velocity", (x, y, z))
        if self.motion is not None and not callable(self.motion):
            raise TypeError(f"motion: expected a function of time, got {self.motion!r}")
        if self.motion is not None and any(self.velocity):
            raise ValueError("velocity: give either velocity or motion")


@dataclass(frozen=True)
class Box(Solid):
    """A box along the axes. A cell is solid where box and cell share volume.

    Parameters
    ----------
    low, high : array_like, shape (3,)
        Corners [m]; each of `high` above that of `low`.
    velocity, motion : keyword-only
        See `Solid`.

    Examples
    --------
    >>> Box((4, -2, 0), (6, 2, 5)).low
    (4.0, -2.0, 0.0)
    """

    low: Vector
    high: Vector
    _: KW_ONLY
    velocity: Vector = (0.0, 0.0, 0.0)
    motion: Callable[[float], ArrayLike] | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            x, y, z = checks.vector(getattr(self, name), name).tolist()
            object.__setattr__(self, name, (x, y, z))
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise ValueError(f"high: each of {self.high} must be above that of low, {self.low}")
        self._read_motion()

    def mark(self, cells: Cells, spacing: float, time: float) -> NDArray[np.bool_]:
        marked = np.zeros(cells.shape, np.bool_)
        low, high = (np.array(end) + self.displacement(time) for end in (self.low, self.high))
        _kernels.voxelize_box(low, high, cells.corner(spacing), spacing, marked)
        return marked


@dataclass(frozen=True)
class Sphere(Solid):
    """A ball. A cell is solid where ball and cell share volume.

    Parameters
    ----------
    centre : array_like, shape (3,)
        [m]
    radius : float
        [m]
    velocity, motion : keyword-only
        See `Solid`.
    """

    centre: Vector
    radius: float
    _: KW_ONLY
    velocity: Vector = (0.0, 0.0, 0.0)
    motion: Callable[[float], ArrayLike] | None = None

    def __post_init__(self) -> None:
        x, y, z = checks.vector(self.centre, "centre").tolist()
        object.__setattr__(self, "centre", (x, y, z))
        object.__setattr__(self, "radius", checks.number(self.radius, "radius", above=0.0))
        self._read_motion()

    def mark(self, cells: Cells, spacing: float, time: float) -> NDArray[np.bool_]:
        marked = np.zeros(cells.shape, np.bool_)
        centre = np.array(self.centre) + self.displacement(time)
        _kernels.voxelize_sphere(centre, self.radius, cells.corner(spacing), spacing, marked)
        return marked


@dataclass(frozen=True, eq=False)
class Mesh(Solid):
    """A closed triangle mesh. A cell is solid where its centre is inside or the surface crosses it.

    An open mesh has no inside: it is taken with a warning, and only its surface is solid.

    Parameters
    ----------
    vertices : array_like, shape (n, 3), or a mesh object
        [m]. An object with ``vertices`` and ``faces``, such as a trimesh.Trimesh, is taken whole.
    faces : array_like of int, shape (m, 3)
        Indices of vertices.
    velocity, motion : keyword-only
        See `Solid`.

    Attributes
    ----------
    report : windgrove.kernels.MeshReport
        Whether the mesh is closed, and by which rule it has an inside. An open mesh has a warning
        and only its surface is solid.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64] | None = None
    _: KW_ONLY
    velocity: Vector = (0.0, 0.0, 0.0)
    motion: Callable[[float], ArrayLike] | None = None
    report: MeshReport = field(init=False, repr=False)

    def __post_init__(self) -> None:
        from ..kernels import mesh_report

        vertices, faces = read_mesh(self.vertices, self.faces)
        report = mesh_report(vertices, faces)
        if not report.closed:
            warnings.warn(
                f"the mesh is open ({report.open_edges} edges lack a face): only the cells its "
                "surface crosses are solid",
                stacklevel=3,
            )
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        object.__setattr__(self, "report", report)
        self._read_motion()

    def mark(self, cells: Cells, spacing: float, time: float) -> NDArray[np.bool_]:
        block = _touched(
            cells,
            spacing,
            self.vertices.min(axis=0),
            self.vertices.max(axis=0),
            self.displacement(time),
        )
        marked = np.zeros(cells.shape, np.bool_)
        if block is None:
            return marked
        part, where = block
        assert self.faces is not None
        # Vertices are brought near the block, so that large coordinates lose nothing.
        corner = np.array(part.first) * spacing
        marked[where] = kernels.voxelize(
            self.vertices + (self.displacement(time) - corner),
            self.faces, (0.0, 0.0, 0.0), spacing, part.shape, fill=self.report.fill,
        )  # fmt: skip
        return marked


def _touched(
    cells: Cells,
    spacing: float,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    shift: NDArray[np.float64],
) -> tuple[Cells, tuple[slice, slice, slice]] | None:
    """The cells of a block that a bounding box can touch, and where they lie in it."""
    first, last = [], []
    for axis in range(3):
        begin, end = cells.first[axis], cells.first[axis] + cells.size[axis]
        first.append(max(int(np.floor((low[axis] + shift[axis]) / spacing)) - 1, begin))
        last.append(min(int(np.floor((high[axis] + shift[axis]) / spacing)) + 2, end))
        if first[axis] >= last[axis]:
            return None
    count = tuple(b - a for a, b in zip(first, last, strict=True))
    x, y, z = (
        slice(a - begin, b - begin) for a, b, begin in zip(first, last, cells.first, strict=True)
    )
    return Cells((first[0], first[1], first[2]), (count[0], count[1], count[2])), (z, y, x)


def read_mesh(vertices: Any, faces: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices and faces of two arrays or of one mesh object, checked."""
    if faces is None:
        if not (hasattr(vertices, "vertices") and hasattr(vertices, "faces")):
            raise TypeError("vertices: expected a mesh object, or vertices and faces")
        vertices, faces = vertices.vertices, vertices.faces
    points = checks.array(vertices, "vertices", dtype=np.float64, shape=(None, 3), finite=True)
    corners = checks.array(faces, "faces", dtype=np.int64, shape=(None, 3)).copy()
    if len(corners) == 0:
        raise ValueError("faces: expected at least one triangle")
    if corners.min() < 0 or corners.max() >= len(points):
        raise ValueError(f"faces: indices must lie in 0 to {len(points) - 1}")
    return points.copy(), corners


@dataclass(frozen=True, eq=False)
class Terrain(Solid):
    """Ground given by heights on a regular lattice. A cell is solid where its bottom lies below the
    highest ground under it, so that no slope has holes.

    Heights between the lattice's points are bilinear; beyond its rim the nearest height goes on,
    so that no air leaks in from the side.

    Parameters
    ----------
    height : array_like, shape (ny, nx)
        [m]; a number is flat ground.
    origin : array_like, shape (2,), default (0, 0)
        x and y of ``height[0, 0]`` [m].
    spacing : float, default 1
        Between lattice points [m].
    """

    height: NDArray[np.float64]
    origin: tuple[float, float] = (0.0, 0.0)
    spacing: float = 1.0

    def __post_init__(self) -> None:
        height = checks.array(
            self.height, "height", dtype=np.float64, shape=(None, None), ndmin=2, finite=True
        ).copy()
        if height.size == 0:
            raise ValueError("height: expected at least one number")
        object.__setattr__(self, "height", height)
        x, y = checks.vector(self.origin, "origin", size=2).tolist()
        object.__setattr__(self, "origin", (x, y))
        object.__setattr__(self, "spacing", checks.spacing(self.spacing))

    def mark(self, cells: Cells, spacing: float, time: float) -> NDArray[np.bool_]:
        marked = np.zeros(cells.shape, np.bool_)
        _kernels.voxelize_terrain(
            self.height, np.array(self.origin), self.spacing,
            cells.corner(spacing), spacing, marked,
        )  # fmt: skip
        return marked


def as_solid(value: Any) -> Solid:
    """One of `solids` of `Wind`: a solid, or a mesh object with vertices and faces."""
    if isinstance(value, Solid):
        return value
    if hasattr(value, "vertices") and hasattr(value, "faces"):
        return Mesh(value)
    raise TypeError(
        f"solids: expected Box, Sphere, Mesh, Terrain or a mesh object, got {type(value).__name__}"
    )
