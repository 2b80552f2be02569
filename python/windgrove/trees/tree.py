"""The tree: branches in their rest pose, in the tree's own axes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks

TRUNK, BRANCH, FOLIAGE = 0, 1, 2
KIND_NAMES = ("trunk", "branch", "foliage")
MAX_BRANCHES = 65_536  # what 16-bit branch indices at vertices can name; a tree may have more


@dataclass(frozen=True)
class Repair:
    """One kind of thing a reader changed, dropped or noticed."""

    kind: str  # short slug, e.g. "several-roots"
    message: str  # one sentence with numbers
    rows: tuple[int, ...] = ()  # 0-based rows concerned, at most the first 100
    count: int = 0  # how many rows in all


@dataclass(frozen=True)
class TreeReport:
    """What a reader found, assumed and did."""

    path: str = ""
    format: str = ""  # e.g. "treeqsm"
    version: str = ""  # dialect, e.g. "2.4 struct"
    cylinders: int = 0  # rows of the file that belong to this tree, all roots
    roots: int = 1  # found in the file
    branches: int = 0  # branch numbers that occur, or chains
    volume: float = 0.0  # m3, sum of pi r^2 l over the cylinders kept
    cylinder_length: float = 0.0  # m, sum over the cylinders kept
    drag_area: float = 0.0  # m2, sum of 2 r l over the cylinders kept
    units: str = ""  # what was assumed
    radius_provenance: str = ""  # measured, fitted, allometric, unknown ...
    attributes: dict[str, float] = field(default_factory=dict)  # tree-level values of the file
    repairs: tuple[Repair, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.path or 'tree'}: {self.format} {self.version}".rstrip()]
        lines.append(
            f"  {self.cylinders} cylinders, {self.branches} branches, {self.roots} root(s), "
            f"{self.volume:.6g} m3, {self.cylinder_length:.6g} m"
        )
        if self.units:
            lines.append(f"  units: {self.units}; radii: {self.radius_provenance or 'unknown'}")
        lines += [f"  {repair.message}" for repair in self.repairs]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Segments:
    """The cylinders the branches were made of, for drawing and for going back to the source."""

    start: NDArray[np.float64]  # (m, 3) m
    end: NDArray[np.float64]  # (m, 3) m
    radius: NDArray[np.float64]  # (m,) m
    branch: NDArray[np.int32]  # (m,) index of the branch of the tree
    source_id: NDArray[np.int64]  # (m,) id in the file
    length: NDArray[np.float64] | None = None  # (m,) m, as the file gives it; None: from the ends
    parent: NDArray[np.int64] | None = None  # (m,) row of the cylinder below, -1 for a root

    def __len__(self) -> int:
        return len(self.radius)


@dataclass(frozen=True, eq=False)
class Tree:
    """Branches of one tree in the rest pose, parents before children. Arrays are read-only.

    Attributes
    ----------
    position : (n, 3) float64, m
        Attachment to the parent, the pivot.
    direction : (n, 3) float64
        Unit vector from the first start to the last end.
    length, volume, area : (n,) float64, m, m3, m2
        Wood has area 0, foliage has volume 0.
    kind : (n,) uint8
        0 trunk, 1 branch, 2 foliage.
    parent : (n,) int32
        Index of the parent, -1 for a root.
    level : (n,) int32
        Depth, 0 for a root.
    source_id : (n,) int64
        Branch id in the file, -1 where there is none.
    name : str
    offset : (3,) float64, m
        What was subtracted from the file's coordinates.
    report : TreeReport
    segments : Segments or None
    """

    position: NDArray[np.float64]
    direction: NDArray[np.float64]
    length: NDArray[np.float64]
    volume: NDArray[np.float64]
    area: NDArray[np.float64]
    kind: NDArray[np.uint8]
    parent: NDArray[np.int32]
    source_id: NDArray[np.int64] = None  # type: ignore[assignment]
    level: NDArray[np.int32] = None  # type: ignore[assignment]
    name: str = "tree"
    offset: NDArray[np.float64] = None  # type: ignore[assignment]
    report: TreeReport = field(default_factory=TreeReport)
    segments: Segments | None = None

    def __post_init__(self) -> None:
        n = checks.array(self.length, "length", dtype=np.float64, ndmin=1).size
        if n < 1:
            raise ValueError("length: a tree has at least one branch, got none")
        self._freeze("position", np.float64, (n, 3))
        self._freeze("direction", np.float64, (n, 3))
        for name in ("length", "volume", "area"):
            self._freeze(name, np.float64, (n,))
        self._freeze("kind", np.uint8, (n,))
        self._freeze("parent", np.int32, (n,))
        if self.source_id is None:
            object.__setattr__(self, "source_id", np.full(n, -1))
        self._freeze("source_id", np.int64, (n,))
        if self.offset is None:
            object.__setattr__(self, "offset", np.zeros(3))
        self._freeze("offset", np.float64, (3,))
        self._check()
        object.__setattr__(self, "level", _depth(self.parent))
        self.level.flags.writeable = False

    def _freeze(self, name: str, dtype: Any, shape: tuple[int, ...]) -> None:
        array = checks.array(getattr(self, name), name, dtype=dtype, shape=shape).copy()
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check(self) -> None:
        index = np.arange(len(self))
        bad = (self.parent < -1) | (self.parent >= index)
        if bad.any():
            i = int(np.argmax(bad))
            raise ValueError(
                f"parent: branch {i} has parent {self.parent[i]}; a parent comes before its child"
            )
        for name in ("position", "direction", "length", "volume", "area"):
            values = getattr(self, name)
            finite = np.isfinite(values).reshape(len(self), -1).all(axis=1)
            if not finite.all():
                raise ValueError(f"{name}: branch {int(np.argmin(finite))} is not finite")
        self._refuse("length", self.length <= 0, "a branch has a length above 0")
        foliage = self.kind == FOLIAGE
        self._refuse("kind", self.kind > FOLIAGE, "0 trunk, 1 branch or 2 foliage")
        self._refuse("volume", ~foliage & (self.volume <= 0), "wood has a volume above 0")
        self._refuse("area", foliage & (self.area <= 0), "foliage has an area above 0")
        self._refuse("volume", foliage & (self.volume != 0), "foliage has volume 0")
        self._refuse("area", ~foliage & (self.area != 0), "wood has area 0")
        with np.errstate(over="ignore"):
            norm = np.linalg.norm(self.direction, axis=1)
        self._refuse("direction", np.abs(norm - 1) > 1e-5, "a direction is a unit vector")
        # What is a unit vector to rounding stays as it is, so that a copy has the same bits.
        unit = np.where(
            np.abs(norm - 1)[:, None] > 1e-15, self.direction / norm[:, None], self.direction
        )
        unit.flags.writeable = False
        object.__setattr__(self, "direction", unit)

    def _refuse(self, name: str, bad: NDArray[np.bool_], rule: str) -> None:
        if bad.any():
            i = int(np.argmax(bad))
            value = getattr(self, name)[i]
            raise ValueError(f"{name}: branch {i} has {value}; {rule}")

    def __len__(self) -> int:
        return len(self.length)

    def __repr__(self) -> str:
        counts = np.bincount(self.kind, minlength=3)
        return (
            f"<Tree {self.name!r}: {len(self)} branches ({counts[0]} trunk, {counts[1]} branch, "
            f"{counts[2]} foliage), {self.height:.3g} m high>"
        )

    @property
    def roots(self) -> NDArray[np.intp]:
        """Indices of the branches without a parent."""
        return np.flatnonzero(self.parent < 0)

    @property
    def tip(self) -> NDArray[np.float64]:
        """(n, 3) far end of every branch, m."""
        return self.position + self.direction * self.length[:, None]

    @property
    def centre_of_mass(self) -> NDArray[np.float64]:
        """(n, 3) the point at 75 % of the length, m (source 000, section 3.3.2)."""
        return self.position + self.direction * (0.75 * self.length)[:, None]

    @property
    def radius(self) -> NDArray[np.float64]:
        """(n,) radius of the cylinder of the same volume and length, 0 for foliage, m."""
        return np.sqrt(self.volume / (np.pi * self.length))

    @property
    def base(self) -> float:
        """Height of the lowest root, m."""
        return float(self.position[self.roots, 2].min())

    @property
    def height(self) -> float:
        """From the lowest root to the highest point, m.

        The highest point of the cylinders where the tree has them (a bent branch reaches less
        high than its length along its direction says), and of the leaves.
        """
        top = self.position[:, 2].max()
        if self.segments is None:
            return float(max(top, self.tip[:, 2].max()) - self.base)
        leaves = self.tip[self.kind == FOLIAGE, 2]
        ends = (self.segments.start[:, 2], self.segments.end[:, 2], leaves)
        return float(max([top, *(z.max() for z in ends if len(z))]) - self.base)

    @property
    def wood_height(self) -> float:
        """`height` without the leaves, m: what a scan or a tape measures and presets name."""
        wood = self.kind != FOLIAGE
        tops = [self.position[wood, 2], self.tip[wood, 2]]
        if self.segments is not None:
            tops = [self.position[wood, 2], self.segments.start[:, 2], self.segments.end[:, 2]]
        return float(max(z.max() for z in tops if len(z)) - self.base) if wood.any() else 0.0

    def replace(self, **changes: Any) -> Tree:
        """A new tree with some fields changed; `level` is derived again."""
        unknown = changes.keys() - {f.name for f in fields(self)} | (changes.keys() & {"level"})
        if unknown:
            raise TypeError(f"replace: a tree has no field {sorted(unknown)[0]!r} to set")
        return replace(self, level=None, **changes)  # type: ignore[arg-type]


def _depth(parent: NDArray[np.int32]) -> NDArray[np.int32]:
    level = np.zeros(len(parent), dtype=np.int32)
    for i, p in enumerate(parent.tolist()):
        if p >= 0:
            level[i] = level[p] + 1
    return level
