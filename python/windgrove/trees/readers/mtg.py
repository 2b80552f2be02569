"""OpenAlea multiscale tree graphs as trees: digitised points, or lengths with angles or by rule.

The graph itself is read by `windgrove.trees.mtg.read_mtg`; here the scale with most geometry
becomes cylinders. Units are not in the file: they are taken from names such as ``length_cm``,
from `units=`, or guessed from the size of the plant, which is reported.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cylinders import Cylinders, Notes, Source
from ..link import skip_rows
from ..mtg import Mtg, parse_mtg
from . import Options, Parsed
from .columns import unit_of
from .source import Content

NAME = "mtg"
_POINTS = (("xx", "yy", "zz"), ("x", "y", "z"))
_LENGTHS = ("length", "len", "l", "long", "longueur", "longuc")
_DIAMETERS = (
    *("topdia", "topdiameter", "diameter", "diam", "dia", "width"),
    *("bottomdia", "botdia", "basdia"),
)
_RADII = ("radius", "topradius", "rad")
_SLENDER = 40.0  # height by thickness, from 20 in the open to 100 in a stand
_GOLDEN = np.radians(137.50776405003785)  # between successive branches where no angle is given
_SPREAD = np.radians(45.0)  # of a branch from its parent where no angle is given


def recognises(content: Content) -> int:
    """The sections of the format."""
    head = content.head(20000)
    find = re.MULTILINE | re.IGNORECASE
    marks = [re.search(rf"^\W*{word}\s*:", head, find) for word in ("CODE", "CLASSES")]
    return 95 if all(marks) else 60 if marks[1] and re.search(r"^\W*SYMBOL", head, find) else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """One tree a plant."""
    notes = Notes(content.name, strict=options.strict)
    graph = parse_mtg(content, notes)
    counts = ", ".join(f"{symbol} {count}" for symbol, count in graph.counts().items())
    geometry = _Geometry(graph, notes, options, counts)
    if content.encoding == "latin-1":
        notes.noticed("encoding", "is not UTF-8: read as Latin-1")
    source = Source(
        content.name,
        NAME,
        f"header {graph.header}, {geometry.kind}",
        geometry.units,
        geometry.provenance,
        attributes={f"count_{name}": float(count) for name, count in graph.counts().items()},
    )
    plants = _plants(graph, geometry.rows)
    if len(np.unique(plants[geometry.rows])) < 2:
        return [Parsed(source, notes, geometry.cylinders, len(geometry.rows), scaled=True)]
    table = geometry.cylinders()
    parsed = []
    for plant in dict.fromkeys(plants[table.id].tolist()):
        own = notes.copy()
        own.path = f"{content.name} (plant {graph.symbol[plant]}{graph.index[plant]})"
        rows = np.flatnonzero(plants[table.id] == plant)
        parsed.append(Parsed(source, own, partial(table.take, rows), len(rows), scaled=True))
    return parsed


def _plants(graph: Mtg, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The plant, an entity of scale 1, that each entity is part of; one where plants are linked."""
    plant = np.zeros(len(graph), dtype=np.int64)
    for vertex, (scale, above) in enumerate(zip(graph.scale, graph.complex, strict=True)):
        plant[vertex] = vertex if scale <= 1 or above < 0 else plant[above]
    parent = np.array(graph.parent)[rows]
    linked = parent >= 0
    if (plant[parent[linked]] != plant[rows[linked]]).any():
        plant[:] = 0
    return plant


class _Geometry:
    """Which vertices and features make cylinders."""

    def __init__(self, graph: Mtg, notes: Notes, options: Options, counts: str) -> None:
        self.graph, self.notes, self.options = graph, notes, options
        names = {_plain(name): name for name in graph.features}
        scales = np.array(graph.scale)
        points = next((p for p in _POINTS if all(axis in names for axis in p)), None)
        length = next((names[name] for name in _LENGTHS if name in names), None)
        self.point = self._values([names[axis] for axis in points]) if points else None
        self.length = self._values([length])[:, 0] if length else None
        placed = np.isfinite(self.point).all(axis=1) if self.point is not None else None
        if placed is not None and placed.sum() > 1:
            self.kind, has = "points", placed
        elif self.length is not None and np.isfinite(self.length).any():
            self.kind, has = "lengths", np.isfinite(self.length)
        elif options.length is not None:
            self.kind, has = "topology", np.ones(len(graph), dtype=bool)
        else:
            notes.refuse(
                f"holds topology only ({counts}): no coordinates XX, YY, ZZ and no lengths. "
                "length= (m a vertex) makes a tree of it by rule; windgrove.trees.read_mtg reads "
                "the graph"
            )
        per_scale = (
            np.bincount(scales[has]) if self.kind != "topology" else [0] * scales.max() + [1]
        )
        chosen = int(np.flatnonzero(per_scale == np.max(per_scale))[-1])
        self.rows = np.flatnonzero(scales == chosen)
        self.names, self.length_name = names, length
        self._choose_units(points and names[points[0]])
        self._choose_radii()

    def _values(self, features: list[str]) -> NDArray[np.float64]:
        return np.array(
            [[self.graph.number(f, v) for f in features] for v in range(len(self.graph))]
        )

    def _choose_units(self, point_name: str | None) -> None:
        given = self.options.units
        feature = (point_name if self.kind == "points" else self.length_name) or ""
        if self.kind == "topology":
            self.scale, why = 1.0, "length= in m"
        elif given is not None:
            self.scale, why = given[0], "asked for"
        elif unit_of(feature)[1] != 1.0:
            self.scale, why = unit_of(feature)[1], "named by the file"
        else:
            size, in_m, in_cm = self._size()
            self.scale = 1.0 if size <= in_m else 0.01 if size <= in_cm else 0.001
            why = f"guessed from {feature} up to {size:.4g}"
            if self.scale != 1.0:
                self.notes.repaired(
                    "units-guessed",
                    f"the file names no unit; {feature} spans {size:.4g}, taken as "
                    f"{_unit_name(self.scale)} (units= says it)",
                )
        self.units = f"{_unit_name(self.scale)}, {why}"

    def _size(self) -> tuple[float, float, float]:
        """Extent of the points or longest vertex, and up to where that is m and cm."""
        if self.kind == "points" and self.point is not None:
            above = np.array(self.graph.complex)[self.rows]
            used = np.concatenate([self.rows, np.unique(above[above >= 0])])
            point = self.point[used]
            return float((np.nanmax(point, 0) - np.nanmin(point, 0)).max()), 30.0, 500.0
        assert self.length is not None
        return float(np.nanmax(np.abs(self.length[self.rows]))), 5.0, 300.0

    def _choose_radii(self) -> None:
        """From the first feature of diameters or radii; where it is empty, from the next."""
        self.radius = np.full(len(self.graph), np.nan)
        used: list[str] = []
        for plain in (*_DIAMETERS, *_RADII):
            name = self.names.get(plain)
            values = None if name is None else self._values([name])[:, 0]
            if name is None or values is None:
                continue
            new = np.isfinite(values[self.rows]) & ~np.isfinite(self.radius[self.rows])
            if not new.any():
                continue
            half = 1.0 if plain in _RADII else 0.5
            largest = float(np.nanmax(values[self.rows])) * 2 * half
            scale = self._diameter_scale(name, largest)
            filled = np.isfinite(self.radius)
            self.radius = np.where(filled, self.radius, values * scale * half)
            used.append(f"{name}, {_unit_name(scale)}")
        self.provenance = f"measured ({'; '.join(used)})" if used else "not in the file"

    def _diameter_scale(self, name: str, largest: float) -> float:
        """Metres in a unit of a feature of diameters."""
        given = self.options.units
        if given is not None:
            return given[1]
        if unit_of(name)[1] != 1.0:
            return unit_of(name)[1]
        if largest <= 3:  # no stem is 3 m thick, and callipers read millimetres
            return self.scale
        scale, why = 0.001, ""
        if self.kind == "points":
            height = self._size()[0] * self.scale
            units = [u for u in (0.01, 0.001, 0.0001) if u <= max(self.scale, 0.001)]
            scale = min(units, key=lambda u: abs(np.log(height / (largest * u) / _SLENDER)))
            why = f", which makes the plant {height / (largest * scale):.2g} times as high as thick"
        self.notes.repaired(
            "units-guessed",
            f"{name} up to {largest:.4g} was taken as {_unit_name(scale)}{why} (units='cm,mm' "
            "says both)",
        )
        return scale

    def cylinders(self) -> Cylinders:
        """The cylinders of the chosen scale."""
        if self.options.radius is None and not np.isfinite(self.radius[self.rows]).any():
            self.notes.refuse("has no diameters: radius= gives them (a number in m, or 'pipe')")
        number = np.full(len(self.graph) + 1, -1)
        number[self.rows] = np.arange(len(self.rows))
        parent = number[np.array(self.graph.parent)[self.rows]]
        radius = self.radius[self.rows]
        line = np.array(self.graph.line)[self.rows] - 1
        if self.kind == "points":
            return self._from_points(parent, radius, line)
        return self._from_lengths(parent, radius, line)

    def _from_points(
        self, parent: NDArray[np.int64], radius: NDArray[np.float64], line: NDArray[np.int64]
    ) -> Cylinders:
        assert self.point is not None
        point = self.point[self.rows] * self.scale
        placed = np.asarray(np.isfinite(point).all(axis=1))
        below = skip_rows(parent, ~placed)
        assert below is not None  # parents come before children in this format
        bare = int((~placed).sum())
        if bare:
            self.notes.repaired(
                "no-coordinates",
                f"{bare} vertices without coordinates passed over; what they carry hangs on the "
                "vertex below",
                line[~placed],
            )
        start = np.where((below >= 0)[:, None], point[below], point)
        complexes = np.array(self.graph.complex)[self.rows]
        base = self.point[complexes] * self.scale
        from_complex = (below < 0) & (complexes >= 0) & np.isfinite(base).all(axis=1)
        start = np.where(from_complex[:, None], base, start)
        start = self._on_feet(start, point, below, ~from_complex & placed, line)
        table = Cylinders(
            start=start,
            end=point,
            length=np.linalg.norm(point - start, axis=1),
            radius=radius,
            parent=below,
            id=self.rows.astype(np.int64),
            row=line,
            branch=self._runs(parent),
        )
        return table.take(np.flatnonzero(placed))

    def _on_feet(
        self,
        start: NDArray[np.float64],
        point: NDArray[np.float64],
        below: NDArray[np.int64],
        may_lack: NDArray[np.bool_],
        line: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Where points are the tops of vertices, as a feature of lengths shows, a first vertex
        without a point below it begins its length below its top, in line with what follows."""
        if self.length is None:
            return start
        length = self.length[self.rows] * self.scale
        size = np.linalg.norm(point - start, axis=1)
        linked = np.flatnonzero((below >= 0) & np.isfinite(length) & np.isfinite(size))
        lack = np.flatnonzero((below < 0) & may_lack & (np.nan_to_num(length) > 0))
        if not len(lack) or not len(linked):
            return start
        if np.median(np.abs(length[linked] - size[linked])) > 0.02 * np.median(size[linked]):
            return start
        start = start.copy()
        goes_on = np.array([self.graph.edge[row] == "<" for row in self.rows])
        for row in lack:
            after = np.flatnonzero((below == row) & (size > 0) & goes_on)
            along = (point[after[0]] - point[row]) / size[after[0]] if len(after) else (0, 0, 1.0)
            start[row] = point[row] - length[row] * np.asarray(along)
        self.notes.repaired(
            "foot",
            f"{len(lack)} first vertices stand on no point: they begin their length below their "
            "own, in line with what follows",
            line[lack],
        )
        return start

    def _from_lengths(
        self, parent: NDArray[np.int64], radius: NDArray[np.float64], line: NDArray[np.int64]
    ) -> Cylinders:
        if self.kind == "topology":
            length = np.full(len(self.rows), float(self.options.length or 0))
        else:
            assert self.length is not None
            length = self.length[self.rows] * self.scale
        axis = self._axes(parent)
        reach = np.nan_to_num(length)[:, None] * axis
        start = np.zeros((len(length), 3))
        for row, above in enumerate(parent.tolist()):
            if above >= 0:
                start[row] = start[above] + reach[above]
        return Cylinders(
            start=start,
            end=start + reach,
            length=length,
            radius=radius,
            parent=parent,
            id=self.rows.astype(np.int64),
            row=line,
            branch=self._runs(parent),
        )

    def _runs(self, parent: NDArray[np.int64]) -> NDArray[np.int64]:
        """Runs as the graph has them: a vertex that follows with "<" goes on its parent's."""
        run = np.arange(len(parent))
        taken: set[int] = set()
        for row, above in enumerate(parent.tolist()):
            if above >= 0 and self.graph.edge[self.rows[row]] == "<" and above not in taken:
                run[row] = run[above]
                taken.add(above)
        return run

    def _axes(self, parent: NDArray[np.int64]) -> NDArray[np.float64]:
        """From azimuth and zenith (degrees, absolute) where the file has them, else by rule."""
        names = self.names
        if "azimuth" in names and "zenith" in names:
            angle = np.radians(self._values([names["azimuth"], names["zenith"]])[self.rows])
            azimuth, zenith = np.nan_to_num(angle).T
            self.notes.noticed("angles", "azimuth and zenith were taken as absolute, in degrees")
            flat = np.sin(zenith)
            return np.column_stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.cos(zenith)])
        self.notes.noticed(
            "directions-by-rule",
            "the file has no directions: branches leave at 45 degrees, 137.5 degrees from the last",
        )
        return _axes_by_rule(parent, [self.graph.edge[v] for v in self.rows])


def _axes_by_rule(parent: NDArray[np.int64], edges: list[str]) -> NDArray[np.float64]:
    axis = np.zeros((len(parent), 3))
    turns = 0
    for row, above in enumerate(parent.tolist()):
        if above < 0:
            axis[row] = 0, 0, 1
        elif edges[row] != "+":
            axis[row] = axis[above]
        else:
            along = axis[above]
            helper = np.array([1.0, 0, 0]) if abs(along[0]) < 0.9 else np.array([0, 1.0, 0])
            side = np.cross(along, helper)
            side /= np.linalg.norm(side)
            other = np.cross(along, side)
            around = np.cos(turns * _GOLDEN) * side + np.sin(turns * _GOLDEN) * other
            axis[row] = np.cos(_SPREAD) * along + np.sin(_SPREAD) * around
            turns += 1
    return axis


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", unit_of(name)[0].lower())


def _unit_name(scale: Any) -> str:
    return {1.0: "m", 0.1: "dm", 0.01: "cm", 0.001: "mm", 0.0001: "0.1 mm"}.get(
        scale, f"{scale:g} m"
    )
