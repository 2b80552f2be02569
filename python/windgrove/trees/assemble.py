"""A table of cylinders becomes a Tree: components, order, chains, what was repaired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ..errors import TreeFormatError
from .chains import chain_of, continuation, usable_runs
from .cylinders import Cylinders, Notes, Source
from .link import graph_of, skip_rows
from .observe import observe
from .radii import fill_radii
from .stems import continue_stubs
from .tree import BRANCH, TRUNK, Segments, Tree, TreeReport

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_LARGEST = 1e9  # m: beyond it a coordinate is no place on Earth, and squares overflow float32


@dataclass(frozen=True)
class Assembly:
    """How a table is turned into a tree; the arguments of `read_tree` of the same names."""

    roots: str = "largest"
    bad_rows: str = "refuse"
    recentre: bool = True
    radius: Any = None


def assemble(table: Cylinders, source: Source, notes: Notes, how: Assembly) -> Tree:
    """The tree of a table of cylinders; TreeFormatError where it cannot be one."""
    if not len(table):
        notes.refuse("holds no cylinders")
    table = _parents_first(table, notes)
    table, source = fill_radii(table, source, how.radius, notes)
    table = _usable_values(table, notes, how.bad_rows)
    table, roots = _components(table, notes, how.roots)
    observe(table, notes)
    branch = table.branch
    chains = chain_of(table.parent, continuation(table.parent, table.length, branch, table.growth))
    tree, index = continue_stubs(_chains_to_tree(table, chains, source, notes, how.recentre), notes)
    taken_in = len(index) - len(tree)
    _compare_orders(tree, table, notes)
    used = branch is not None and bool(usable_runs(table.parent, branch).all())
    runs = len(np.unique(branch)) if used else int(chains.max()) + 1  # type: ignore[arg-type]
    volume = np.pi * table.radius**2 * table.length
    report = TreeReport(
        path=source.path,
        format=source.format,
        version=source.version,
        cylinders=len(table),
        roots=roots,
        branches=runs - taken_in,
        volume=float(volume.sum()),
        cylinder_length=float(table.length.sum()),
        drag_area=float((2 * table.radius * table.length).sum()),
        units=source.units,
        radius_provenance=source.radius_provenance,
        attributes=dict(source.attributes),
        repairs=tuple(notes.repairs),
    )
    return tree.replace(report=report)


def _compare_orders(tree: Tree, table: Cylinders, notes: Notes) -> None:
    """Given branch orders, from whichever number they count, against the depth."""
    held = tree.segments
    if table.order is None or held is None or len(held) != len(table) or tree.level is None:
        return
    given = table.order - table.order.min()
    differ = given != tree.level[held.branch]
    if differ.any():
        notes.noticed(
            "orders-differ",
            f"{differ.sum()} given branch order(s) differ from the depth in the tree, which counts",
            table.row[differ],
        )


def _usable_values(table: Cylinders, notes: Notes, bad_rows: str) -> Cylinders:
    """Refuse (or drop) rows whose numbers cannot be a cylinder."""
    place = np.hstack([table.start, table.end])
    reasons = [
        ("a point is not a number", ~np.isfinite(place).all(axis=1)),
        ("the radius is not a number (radius= gives one)", ~np.isfinite(table.radius)),
        ("the length is not a number", ~np.isfinite(table.length)),
        ("the radius is below 0", table.radius < 0),
        ("the length is below 0", table.length < 0),
        (f"a value beyond {_LARGEST:g} m", (np.abs(place) > _LARGEST).any(axis=1)),
        (f"a value beyond {_LARGEST:g} m", (table.radius > _LARGEST) | (table.length > _LARGEST)),
    ]
    bad = np.zeros(len(table), dtype=bool)
    for reason, rows in reasons:
        if rows.any() and bad_rows == "refuse":
            notes.refuse(
                f"{reason} ({rows.sum()} such row(s)); bad_rows='drop' leaves them out",
                table.row[rows][0],
            )
        bad |= rows
    return _without(table, bad, notes) if bad.any() else table


def _without(table: Cylinders, bad: NDArray[np.bool_], notes: Notes) -> Cylinders:
    """The table without the bad rows; what they carried hangs on the nearest one kept."""
    parent = skip_rows(table.parent, bad)
    if parent is None:
        notes.refuse("the parents of unusable rows go round in a circle", table.row[bad][0])
        raise AssertionError
    notes.repaired(
        "unusable-rows",
        f"{bad.sum()} row(s) with unusable numbers dropped; what they carried hangs on the "
        "nearest row kept below",
        table.row[bad],
    )
    if bad.all():
        notes.refuse("no row has usable numbers")
    return table.replace(parent=parent).take(np.flatnonzero(~bad))


def _parents_first(table: Cylinders, notes: Notes) -> Cylinders:
    """Rows with every parent before its children; a cycle is refused with one of its rows."""
    count = len(table)
    late = table.parent >= np.arange(count)
    if not late.any():
        return table
    child = np.arange(count)
    above = np.where(table.parent < 0, count, table.parent)
    graph = graph_of(above, child, count + 1)
    order = breadth_first_order(graph, count, return_predecessors=False)
    order = order[1:].astype(np.intp)
    if len(order) < count:
        row = _row_in_cycle(table.parent, order)
        notes.refuse("the parents go round in a circle through this row", table.row[row])
    notes.repaired(
        "parents-after-children",
        f"{late.sum()} row(s) came before their parent: rows were sorted",
        table.row[late],
    )
    return table.take(order)


def _row_in_cycle(parent: IntArray, reached: NDArray[np.intp]) -> int:
    unreached = np.ones(len(parent), dtype=bool)
    unreached[reached] = False
    row = int(np.argmax(unreached))
    seen: set[int] = set()
    while row not in seen:
        seen.add(row)
        row = int(parent[row])
    cycle = [row]
    while (row := int(parent[row])) != cycle[0]:
        cycle.append(row)
    return min(cycle)


def _components(table: Cylinders, notes: Notes, roots: str) -> tuple[Cylinders, int]:
    """The component with the most cylinders first, or alone; and how many there are."""
    root_rows = np.flatnonzero(table.parent < 0)
    if len(root_rows) == 1:
        return table, 1
    child = np.flatnonzero(table.parent >= 0)
    graph = graph_of(table.parent[child], child, len(table))
    _, label = connected_components(graph, directed=False)
    sizes = np.bincount(label)
    volumes = np.bincount(label, weights=table.radius**2 * table.length)
    largest = max(range(len(sizes)), key=lambda c: (sizes[c], volumes[c], -c))
    others = root_rows[label[root_rows] != largest]
    where = ", ".join(str(row) for row in table.row[others][:5])
    where += ", ..." if len(others) > 5 else ""
    if roots == "all":
        notes.noticed(
            "several-roots",
            f"{len(root_rows)} roots, all kept; beside the largest: rows {where}",
            table.row[others],
        )
        return table, len(root_rows)
    left = np.flatnonzero(label != largest)
    lost_volume = float((np.pi * table.radius[left] ** 2 * table.length[left]).sum())
    notes.repaired(
        "several-roots",
        f"{len(root_rows)} roots: kept the component of {sizes[largest]} cylinders, left "
        f"{len(left)} cylinder(s) of {lost_volume:.6g} m3 (roots in rows {where}); roots='all' "
        "keeps them",
        table.row[others],
    )
    return table.take(np.flatnonzero(label == largest)), len(root_rows)


def _chains_to_tree(
    table: Cylinders, chains: IntArray, source: Source, notes: Notes, recentre: bool
) -> Tree:
    count = int(chains.max()) + 1
    first = np.full(count, len(table))
    np.minimum.at(first, chains, np.arange(len(table)))
    last = np.zeros(count, dtype=np.int64)
    np.maximum.at(last, chains, np.arange(len(table)))
    length: FloatArray = np.bincount(chains, weights=table.length, minlength=count).astype(
        np.float64
    )
    wood = np.pi * table.radius**2 * table.length
    volume: FloatArray = np.bincount(chains, weights=wood, minlength=count).astype(np.float64)
    above = table.parent[first]
    parent = np.where(above >= 0, chains[above], -1)
    keep, parent = _drop_empty(length, volume, parent, table.row[first], notes)
    number = np.cumsum(keep) - 1
    kept_chain = np.where(keep, number, -1)
    parent = np.where(parent >= 0, number[parent], -1)[keep]
    first, last = first[keep], last[keep]
    offset = table.start[first[_main_root(parent, volume[keep])]] if recentre else np.zeros(3)
    table = table.replace(start=table.start - offset, end=table.end - offset)
    direction = _directions(table, first, last, kept_chain[chains])
    segments = _segments(table, kept_chain[chains])
    ids = table.id[first] if table.branch is None else table.branch[first]
    try:
        return Tree(
            position=table.start[first],
            direction=direction,
            length=length[keep],
            volume=volume[keep],
            area=np.zeros(len(first)),
            kind=np.where(parent < 0, TRUNK, BRANCH).astype(np.uint8),
            parent=parent.astype(np.int32),
            source_id=ids,
            name=source.name,
            offset=offset,
            segments=segments,
        )
    except ValueError as error:
        raise TreeFormatError(source.path, str(error)) from None


def _sums(chains: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sums over the cylinders of each chain, in the order of the rows."""
    return np.bincount(chains, weights=values, minlength=count).astype(np.float64)


def _segments(table: Cylinders, branch: IntArray) -> Segments:
    """The cylinders of the branches kept; those of no branch are passed over."""
    held = branch >= 0
    parent = skip_rows(table.parent, ~held)
    assert parent is not None  # the rows are in order, so there is no circle
    number = np.append(np.cumsum(held) - 1, -1)
    return Segments(
        start=table.start[held],
        end=table.end[held],
        radius=table.radius[held].copy(),
        branch=branch[held].astype(np.int32),
        source_id=table.id[held].copy(),
        length=table.length[held].copy(),
        parent=number[parent[held]],
    )


def _main_root(parent: IntArray, volume: FloatArray) -> int:
    """The root branch the tree is centred on: the first of the component with most wood."""
    total = volume.tolist()
    for i in range(len(total) - 1, -1, -1):
        if parent[i] >= 0:
            total[parent[i]] += total[i]
    roots = np.flatnonzero(parent < 0)
    return int(max(roots, key=lambda root: total[root]))


def _drop_empty(
    length: FloatArray, volume: FloatArray, parent: IntArray, rows: IntArray, notes: Notes
) -> tuple[NDArray[np.bool_], IntArray]:
    """A branch has a length and a volume above 0: chains without are left out."""
    keep = (length > 0) & (volume > 0)
    if keep.all():
        return keep, parent
    if not keep.any():
        notes.refuse(
            "no branch has a volume above 0: radii or lengths are all 0 (radius= gives one)"
        )
    below = parent.copy()
    for chain in np.flatnonzero(below >= 0):
        while below[chain] >= 0 and not keep[below[chain]]:
            below[chain] = below[below[chain]]
    torn = keep & (below < 0) & (parent >= 0)
    if torn.any():
        root = int(np.argmax(torn))
        while parent[root] >= 0:
            root = int(parent[root])
        notes.refuse(
            "the branch that starts here has no volume but carries the others (radius= gives one)",
            rows[root],
        )
    dropped = np.flatnonzero(~keep)
    notes.repaired(
        "empty-branches",
        f"{len(dropped)} branch(es) of no length or no volume left out; what they carried hangs "
        "on the branch below",
        rows[dropped],
    )
    return keep, below


def _directions(table: Cylinders, first: IntArray, last: IntArray, branch: IntArray) -> FloatArray:
    """From the first start to the last end; where these meet, along the first cylinder that has
    a direction; where none has, up."""
    chord = table.end[last] - table.start[first]
    size = np.linalg.norm(chord, axis=1)
    closed = size <= 1e-9
    if closed.any():
        step = table.end - table.start
        steps = np.linalg.norm(step, axis=1)
        for i in np.flatnonzero(closed):
            along = np.flatnonzero((branch == i) & (steps > 0))
            chord[i] = step[along[0]] if len(along) else (0.0, 0.0, 1.0)
        size[closed] = np.linalg.norm(chord[closed], axis=1)
    return chord / size[:, None]
