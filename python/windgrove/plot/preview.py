"""A picture of a tree, its frequencies and its spectrum that follows changes within a second."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import choice, number
from ..trees.tree import KIND_NAMES, Tree
from .data import degrees
from .drawing import leaf_order, leaf_polygons, wood_polygons
from .drawing import tree as draw_tree
from .shape import Camera, shape_of
from .styles import COLOURS, INK, MARKERS, plain_log, style
from .sway_plots import spectral_power

if TYPE_CHECKING:
    from ..species.species import Species

TUNED = ("beta", "zeta", "gamma")
SAMPLE = 40  # branches of a level whose spectra are taken


class Preview:
    """Tree at its greatest sway, set against realised, and spectrum, in one figure.

    Parameters
    ----------
    tree : Tree
    species : Species, name or path
    wind_speed : float, default 8
        Mean of a turbulent wind, m/s.
    seconds : float, default 20
        Length of the run behind each picture.
    dt : float, default 1/30
    seed : int, default 1
        Of the wind: the same for every picture.

    Attributes
    ----------
    species : Species
        As tuned.
    figure : matplotlib Figure
    facts : dict
        Numbers of the last picture: ``frequency``, ``realised_frequency`` of the trunk (Hz),
        ``clamped`` (share of branches), ``sway_rms_deg`` and ``sway_peak_deg`` of the trunk.
    """

    def __init__(
        self,
        tree: Tree,
        species: Species | str | os.PathLike[str],
        *,
        wind_speed: float = 8.0,
        seconds: float = 20.0,
        dt: float = 1 / 30,
        seed: int = 1,
    ) -> None:
        from ..species.load import load_species
        from ..wind.synthetic import turbulent_wind

        self.tree, self.species = tree, load_species(species)
        self.dt = number(dt, "dt", above=0)
        self.seconds = number(seconds, "seconds", low=20 * self.dt)
        speed = number(wind_speed, "wind_speed", above=0)
        self._wind = turbulent_wind((speed, 0.0, 0.0), timescale=4.0, seed=seed)
        self.facts: dict[str, float] = {}
        self._shape = shape_of(tree)
        self._camera = Camera()
        random = np.random.default_rng(0)
        self._groups = {}
        for kind, name in enumerate(KIND_NAMES):
            members = np.flatnonzero(tree.kind == kind)
            if members.size:
                some = random.permutation(members)[:SAMPLE]
                self._groups[name] = np.sort(some)
        self._build()

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels that the tree has."""
        return tuple(self._groups)

    def tune(self, level: str, name: str, value: float) -> None:
        """Set one parameter of one level; the picture follows with `update`."""
        choice(level, "level", self.levels)
        choice(name, "name", TUNED)
        self.species = self.species.replace(**{level: {name: value}})

    def update(self) -> None:
        """Run the tree again and bring the picture up to date."""
        table, rotation = self._run()
        self._show_tree(rotation)
        self._show_frequencies(table)
        self._show_spectrum(rotation, table)
        root = int(self.tree.roots[0])
        angle = np.linalg.norm(rotation[:, root], axis=1)
        self.facts = {
            "frequency": float(table["frequency"][root]),
            "realised_frequency": float(table["realised_frequency"][root]),
            "clamped": float(table["clamped"].mean()),
            "sway_rms_deg": degrees(float(np.sqrt(np.mean(angle**2)))),
            "sway_peak_deg": degrees(float(angle.max())),
        }

    def png(self) -> bytes:
        """The picture as it is."""
        out = io.BytesIO()
        self.figure.canvas.print_png(out)  # type: ignore[attr-defined]
        return out.getvalue()

    def _run(self) -> tuple[Any, NDArray[np.float64]]:
        from ..analysis.frequencies import realised
        from ..sway.simulate import simulate
        from ..sway.sway import Sway

        table = realised(self.tree, self.species, dt=self.dt)
        run = simulate(
            Sway(self.tree, self.species),
            self._wind,
            duration=self.seconds,
            dt=self.dt,
            progress=False,
        )
        return table, run["rotation"].to_numpy()[:, 0].astype(np.float64)

    def _build(self) -> None:
        """Draw everything once; later only the data of the artists change."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with style("notebook"):
            self.figure = Figure(figsize=(12.0, 4.4), dpi=80, layout="constrained")
            FigureCanvasAgg(self.figure)
            left, middle, right = self.figure.subplots(1, 3, width_ratios=(1, 1, 1.1))
            drawing = draw_tree(self.tree, ax=left)
            self._wood, self._title = drawing["wood"], drawing["title"]
            self._leaves = drawing.artists.get("leaves")
            self._frequency_axes, self._spectrum_axes = middle, right
            self._dots, self._lines, self._marks = {}, {}, {}
            for name in self._groups:
                look = {"color": COLOURS[name], "label": name}
                (self._dots[name],) = middle.plot([], [], MARKERS[name], markersize=4, **look)
                (self._lines[name],) = right.plot([], [], **look)
                self._marks[name] = right.axvline(1.0, linestyle="--", linewidth=1, **look)
                self._marks[name].set_label("")
            (self._rings,) = middle.plot(
                [], [], "o", mfc="none", mec="#CC79A7", markersize=7, label="clamped", zorder=1
            )
            middle.plot([1e-3, 1e3], [1e-3, 1e3], color=INK, linewidth=0.7, zorder=0)
            middle.set(xscale="log", yscale="log", xlabel="set f_n (Hz)", ylabel="realised f (Hz)")
            right.set(xscale="log", yscale="log", xlabel="frequency (Hz)")
            right.set_ylabel("power of the sway (degrees²/Hz)")
            self._count = middle.set_title("0 clamped")
            room = 0.1 * np.ptp(left.get_xlim())
            left.set_xlim(left.get_xlim()[0] - room, left.get_xlim()[1] + room)
            right.set_title("spectrum, f_n (median) dashed")
            middle.legend(loc="upper left", fontsize="small")
            right.legend(loc="lower left", fontsize="small")
        self.update()
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def _show_tree(self, rotation: NDArray[np.float64]) -> None:
        root = int(self.tree.roots[0])
        frame = int(np.argmax(np.linalg.norm(rotation[:, root], axis=1)))
        posed = rotation[frame]
        order = np.argsort(-self._camera.depth(self._shape.wood_start), kind="stable")
        wood = wood_polygons(self.tree, self._shape, self._camera, posed)
        self._wood.set_verts(wood[order])
        if self._leaves is not None:
            leaf = leaf_polygons(self.tree, self._shape, self._camera, posed)
            self._leaves.set_verts(leaf[leaf_order(self._shape, self._camera)])
        sway = degrees(float(np.linalg.norm(posed[root])))
        self._title.set_text(f"greatest sway: {sway:.1f}°")

    def _show_frequencies(self, table: Any) -> None:
        wanted, got = table["frequency"].to_numpy(), table["realised_frequency"].to_numpy()
        for kind, name in enumerate(KIND_NAMES):
            if name in self._dots:
                here = self.tree.kind == kind
                self._dots[name].set_data(wanted[here], got[here])
        clamped = table["clamped"].to_numpy().astype(bool)
        self._rings.set_data(wanted[clamped], got[clamped])
        axes = self._frequency_axes
        low = float(np.nanmin(wanted)) / 1.5
        axes.set_xlim(low, float(np.nanmax(wanted)) * 1.5)
        axes.set_ylim(low, max(float(np.nanmax(got)), 2 * low) * 1.5)
        plain_log(axes.xaxis)
        plain_log(axes.yaxis)
        self._count.set_text(f"{int(clamped.sum())} of {len(clamped)} clamped")

    def _show_spectrum(self, rotation: NDArray[np.float64], table: Any) -> None:
        top, bottom = 0.0, np.inf
        frequency = table["frequency"].to_numpy()
        for kind, name in enumerate(KIND_NAMES):
            if name not in self._groups:
                continue
            hertz, power = spectral_power(rotation[:, self._groups[name]], 1 / self.dt, None)
            line = np.median(power, axis=1)[1:]
            self._lines[name].set_data(hertz[1:], line)
            middle = float(np.median(frequency[self.tree.kind == kind]))
            self._marks[name].set_xdata([middle, middle])
            top, bottom = max(top, float(line.max())), min(bottom, float(line.min()))
        axes = self._spectrum_axes
        axes.set_xlim(hertz[1], hertz[-1])
        axes.set_ylim(max(bottom, top * 1e-9), top * 3)
        plain_log(axes.xaxis)
