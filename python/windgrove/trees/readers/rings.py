"""AdTree and AdQSM meshes (.obj): tubes of rings, one a branch, turned back into cylinders.

A tube is a connected piece of mesh with one open edge (AdQSM closes the far end in a point) or
two. The open edge that comes first in the file is its start; vertices as many edges away from it
make a ring. A cylinder runs from the centre of a ring to the centre of the next with the first
one's radius, as rTwig has it; a tube hangs on the ring of another whose centre it starts from.
AdTree puts no ring at the last point of a branch, so that its last piece is not in the mesh, and
of a branch of two points there is one ring without faces, which makes no cylinder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes, Source
from ..link import graph_of
from . import Options, Parsed
from .source import Content

NAME = "adtree"
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def recognises(content: Content) -> int:
    """Lines of vertices, or of comments and names before them."""
    seen = 0
    for line in content.head(8000).splitlines():
        word = line.split(None, 1)[0] if line.strip() else ""
        if word == "v":
            seen += len(line.split()) in (4, 5, 7, 8)
        elif word and not word.startswith("#") and word not in _WORDS:
            return 0
    return 80 if seen else 0


_MOST = 2**31
_WORDS = {"vt", "vn", "f", "g", "o", "s", "mtllib", "usemtl", "l", "vp"}


def read(content: Content, options: Options) -> list[Parsed]:
    """The mesh as one tree."""
    notes = Notes(content.name, strict=options.strict)
    vertices, faces = _mesh(content, notes)
    source = Source(content.name, NAME, "obj rings", "m", "of the mesh, ring by ring")
    return [Parsed(source, notes, lambda: _cylinders(vertices, faces, notes), len(vertices))]


def _mesh(content: Content, notes: Notes) -> tuple[FloatArray, IntArray]:
    """Vertices, equal ones merged into the first, and triangles."""
    points: list[tuple[float, ...]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(content.text().splitlines(), start=1):
        cells = line.split()
        try:
            if cells and cells[0] == "v":
                points.append((float(cells[1]), float(cells[2]), float(cells[3])))
            elif cells and cells[0] == "f":
                corners = [int(cell.split("/", 1)[0]) for cell in cells[1:]]
                corners = [c - 1 if c > 0 else len(points) + c for c in corners]
                if not all(0 <= c < _MOST for c in corners):
                    raise ValueError
                triangles += [
                    (corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)
                ]
        except (ValueError, IndexError):
            notes.refuse(f"line {number}: {line.strip()[:40]!r} is no vertex or face", number - 1)
    if not points or not triangles:
        notes.refuse("has no vertices or no faces: a mesh of rings has both")
    vertices, faces = np.array(points), np.array(triangles, dtype=np.int64)
    if not np.isfinite(vertices).all():
        notes.refuse(f"vertex {int(np.argmin(np.isfinite(vertices).all(axis=1)))} is not finite")
    if faces.min() < 0 or faces.max() >= len(vertices):
        bad = int(np.argmax((faces < 0).any(axis=1) | (faces >= len(vertices)).any(axis=1)))
        notes.refuse(f"face {bad} names a vertex that does not exist")
    _, first, same = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    return vertices, first[same.ravel()][faces]


@dataclass(frozen=True)
class _Tube:
    centre: FloatArray  # (k, 3)
    radius: FloatArray  # (k,)


def _cylinders(vertices: FloatArray, faces: IntArray, notes: Notes) -> Cylinders:
    tubes, others = _tubes(vertices, faces)
    if not tubes:
        closed = f"; its {others} piece(s) are none, or closed at both ends" if others else ""
        notes.refuse(
            f"holds no tube of rings with an open end, as AdTree and AdQSM write branches{closed}"
        )
    if others:
        notes.noticed("no-tubes", f"{others} piece(s) that are no tubes (leaves?) passed over")
    bare = len(vertices) - len(np.unique(faces))
    if bare:
        notes.noticed("no-faces", f"{bare} vertices in no face (rings of the shortest branches?)")
    tubes = _upright(tubes, notes)
    parts = [np.arange(len(tube.radius) - 1) for tube in tubes]
    first = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    parent = np.arange(first[-1]) - 1
    parent[first[:-1]] = _attach(tubes, first, notes)
    lone = len(parts) > 1 and len(parts) == len(parent)
    if lone:
        notes.noticed(
            "a-tube-a-cylinder",
            "every tube is one cylinder: branches follow the forks instead of the tubes",
        )
    start = np.concatenate([tube.centre[:-1] for tube in tubes])
    end = np.concatenate([tube.centre[1:] for tube in tubes])
    table = Cylinders(
        start=start,
        end=end,
        length=np.linalg.norm(end - start, axis=1),
        radius=np.concatenate([tube.radius[:-1] for tube in tubes]),
        parent=parent,
        id=np.arange(len(parent)),
        row=np.arange(len(parent)),
        branch=None if lone else np.repeat(np.arange(len(tubes)), [len(p) for p in parts]),
    )
    return _held_together(table, first[:-1], notes)


def _upright(tubes: list[_Tube], notes: Notes) -> list[_Tube]:
    """z up: other programs turn a mesh so that y is, and then the thickest tube rises along y."""
    thick = max(tubes, key=lambda tube: float(tube.radius.mean()))
    along = thick.centre[-1] - thick.centre[0]
    along = along / max(float(np.linalg.norm(along)), 1e-300)
    if not (along[1] > 0.8 and abs(along[2]) < 0.5):
        return tubes
    notes.repaired("y-up", "its thickest tube rises along y: y was taken as up, -z as y")
    turn = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    return [_Tube(tube.centre @ turn.T, tube.radius) for tube in tubes]


def _held_together(table: Cylinders, first: IntArray, notes: Notes) -> Cylinders:
    """Several stems from one foot get a root of no length, on which all of them stand."""
    stems = first[table.parent[first] < 0]
    lowest = stems[np.argmin(table.start[stems, 2])]
    away = np.linalg.norm(table.start[stems] - table.start[lowest], axis=1)
    stems = stems[away <= max(0.01, table.radius[lowest])]
    if len(stems) < 2:
        return table
    foot = stems[np.argmax(table.radius[stems])]
    notes.noticed("several-stems", f"{len(stems)} stems rise from one foot: held together there")
    joint = np.concatenate([[foot], np.arange(len(table))])
    parent = np.where(table.parent >= 0, table.parent + 1, -1)
    parent[stems] = 0
    joined = {name: getattr(table, name)[joint] for name in ("start", "radius", "row")}
    return Cylinders(
        branch=None if table.branch is None else table.branch[joint],
        end=np.vstack([table.start[foot], table.end]),
        length=np.append(0.0, table.length),
        parent=np.append(-1, parent),
        id=np.arange(len(joint)),
        **joined,
    )


def _tubes(vertices: FloatArray, faces: IntArray) -> tuple[list[_Tube], int]:
    """Tubes in the order of their first vertices, and how many pieces are none."""
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    edges = edges[edges[:, 0] != edges[:, 1]]
    if not len(edges):
        return [], 0
    edges, counts = np.unique(edges, axis=0, return_counts=True)
    piece = _components(edges, len(vertices))
    rim = edges[counts == 1]
    loop = _components(rim, len(vertices))
    on_rim = np.unique(rim)
    level = _levels(edges, on_rim, piece, loop)
    used = np.unique(edges)
    order = np.lexsort((used, level[used], piece[used]))
    used = used[order]
    cuts = np.flatnonzero(np.diff(piece[used])) + 1
    tubes, others = [], 0
    for members in np.split(used, cuts):
        tube = _tube(vertices, members, level[members])
        if tube is None:
            others += 1
        else:
            tubes.append((int(members.min()), tube))
    return [tube for _, tube in sorted(tubes, key=lambda pair: pair[0])], others


def _components(edges: IntArray, count: int) -> IntArray:
    from scipy.sparse.csgraph import connected_components

    graph = graph_of(edges[:, 0], edges[:, 1], count)
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _levels(edges: IntArray, on_rim: IntArray, piece: IntArray, loop: IntArray) -> IntArray:
    """(n,) edges from the start loop of the piece, -1 where there is none."""
    level = np.full(len(piece), -1, dtype=np.int64)
    first: dict[int, int] = {}
    for vertex in on_rim.tolist():
        first.setdefault(int(piece[vertex]), int(loop[vertex]))
    front = np.array(
        [v for v in on_rim.tolist() if first[int(piece[v])] == loop[v]], dtype=np.int64
    )
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    begin = np.searchsorted(both[:, 0], np.arange(len(piece) + 1))
    depth = 0
    while len(front):
        level[front] = depth
        spans = [both[begin[v] : begin[v + 1], 1] for v in front.tolist()]
        reached = np.unique(np.concatenate(spans)) if spans else front
        front = reached[level[reached] < 0]
        depth += 1
    return level


def _tube(vertices: FloatArray, members: IntArray, level: IntArray) -> _Tube | None:
    """Rings of one piece; None where it has no open edge or its rings are not alike."""
    if level[0] < 0 or level[-1] < 1:
        return None
    sizes = np.bincount(level)
    rings = sizes[:-1] if sizes[-1] == 1 else sizes
    if rings[0] < 5 or (rings != rings[0]).any():
        return None
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    point = vertices[members]
    centre = np.add.reduceat(point, starts) / sizes[:, None]
    away = np.linalg.norm(point - centre[level], axis=1)
    return _Tube(centre, np.add.reduceat(away, starts) / sizes)


def _attach(tubes: list[_Tube], first: IntArray, notes: Notes) -> IntArray:
    """The cylinder each tube starts from, -1 for the lowest tube and for what starts in the air."""
    from scipy.spatial import cKDTree

    base = np.array([tube.centre[0] for tube in tubes])
    root = int(np.argmin(base[:, 2]))
    owner = np.repeat(np.arange(len(tubes)), [len(tube.radius) - 1 for tube in tubes])
    centre = np.concatenate([tube.centre[1:] for tube in tubes])
    width = np.concatenate([tube.radius[:-1] for tube in tubes])
    known = cKDTree(centre)
    parent = np.full(len(tubes), -1, dtype=np.int64)
    for i, tube in enumerate(tubes):
        if i == root:
            continue
        gap, near = known.query(tube.centre[0], k=min(64, len(centre)))
        gap, near = np.atleast_1d(gap), np.atleast_1d(near)
        gap, near = gap[near < len(centre)], near[near < len(centre)]  # none at infinity
        fits = (owner[near] != i) & (gap <= max(0.01, tube.radius[0]) + width[near])
        if fits.any():
            parent[i] = near[np.argmax(fits)]
    _cut_circles(parent, owner, root, notes)
    return parent


def _cut_circles(parent: IntArray, owner: IntArray, root: int, notes: Notes) -> None:
    """Tubes that hang on each other: the first in the file of a circle becomes a root."""
    state = np.zeros(len(parent), dtype=np.int8)
    state[root] = 2
    cut = []
    for tube in range(len(parent)):
        path = []
        at = tube
        while at >= 0 and state[at] == 0:
            state[at] = 1
            path.append(at)
            at = int(owner[parent[at]]) if parent[at] >= 0 else -1
        if at >= 0 and state[at] == 1:
            parent[at] = -1
            cut.append(at)
        state[path] = 2
    if cut:
        notes.repaired("circles", f"{len(cut)} circle(s) of tubes that start on each other cut")
