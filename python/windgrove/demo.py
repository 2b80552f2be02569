"""The main job: a tree sways in the nested wind, is recorded, swept, measured and drawn.

Everything here goes through the public names, so that it can be copied into a script of one's own.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from .species.species import Species
    from .trees.tree import Tree

DT = 1 / 30
FACTORS = (0.5, 1.0, 2.0)
KINDS = ("trunk", "branch", "foliage")
BLOW_SECONDS = 2.0
TURNED_ROUND = 160.0  # degrees; angles end at 180, so that a greater peak is no measure of a sway


@dataclass(frozen=True)
class LevelRow:
    """What the demo found about one level; frequencies and ratios are medians over its branches."""

    level: str
    branches: int
    frequency_set: float  # Hz
    frequency_realised: float  # Hz
    damping_ratio_set: float
    damping_ratio_realised: float
    clamped_share: float  # 0 to 1
    sway_rms_deg: float  # over time, then over branches
    sway_peak_deg: float
    turned_round: int = 0  # branches whose peak is above TURNED_ROUND
    thrown: int = 0  # branches whose peak is above analysis.motion.TURNED, 60 degrees


@dataclass
class DemoReport:
    """Results of a demo: rows by level, advice in words, files, and seconds each part took."""

    tree: str
    species: str
    wind_speed: float  # m/s
    duration: float  # s
    rows: list[LevelRow]
    spectral_peak: float  # Hz, of the trunk's recorded sway near its f_n; NaN where none is
    wind_at_trunk: tuple[float, float, float]  # m/s: mean, least and greatest speed recorded there
    peak_time: float  # s, of the trunk's greatest angle after `settling`
    settling: float  # s, the swing from rest into the wind, left out of sway and peaks
    advice: list[str] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def scene(tree: Tree, speed: float, duration: float, *, small: bool = False, seed: int = 1) -> Any:
    """Three nested grids around the tree, two sheds upwind, a wall downwind and one blow of air.

    The gusts that come in have the mean `speed` over the run itself, not only over the ten minutes
    that they are cut from. `describe_scene` says all this in words.
    """
    from . import Box, LinearForce, Wind

    height = tree.height
    solids = [
        Box((-10.0, -6.0, 0.0), (-6.0, -2.0, 3.0)),
        Box((-9.0, 3.0, 0.0), (-7.0, 6.0, 2.5)),
        Box((5.0, -8.0, 0.0), (6.0, 8.0, 2.0)),
    ]
    blow = LinearForce(
        position=(-6.0, -3.0, 0.6 * height),
        velocity=(3.0, 1.5, 0.0),
        radius=2.5,
        acceleration=25.0,
        start=0.5 * duration,
        duration=BLOW_SECONDS,
    )
    return Wind(
        _gusts(speed, duration, seed),
        cells=(16, 16, 8) if small else (48, 48, 16),
        levels=3,
        cell_size=1.5 if small else 0.5,
        dt=DT,
        solids=solids,
        effectors=[blow],
        seed=seed,
        floor=0.0,
        threads=min(2, os.cpu_count() or 1),
    )


def _gusts(speed: float, duration: float, seed: int) -> Any:
    """Turbulent wind along x whose mean over the first `duration` seconds is `speed`."""
    from . import turbulent_wind

    gusts = turbulent_wind((speed, 0.0, 0.0), intensity=0.3, timescale=5.0, seed=seed)
    frames = min(max(round(duration / DT), 1), len(gusts.samples))
    return gusts.scaled(speed / float(gusts.samples[:frames, 0].mean()))


def describe_scene(duration: float) -> str:
    """What stands and happens in `scene`, in one line."""
    start = 0.5 * duration
    return (
        "scene: two sheds, 3 and 2.5 m high, 6 to 10 m upwind; a wall of 2 m, 5 m downwind; gusts "
        f"of 30 %; one blow of air (LinearForce, 25 m/s2, 5 m wide) at {start:g} to "
        f"{start + BLOW_SECONDS:g} s from upwind towards the crown"
    )


def run_demo(
    tree_file: str | Path | None = None,
    *,
    output: str | Path = "windgrove-demo",
    species: str | Path = "oak",
    wind_speed: float = 6.0,
    duration: float = 60.0,
    seed: int = 1,
    small: bool = False,
    animation: bool = True,
    progress: bool = True,
    say: Callable[[str], None] = print,
    reading: Mapping[str, Any] | None = None,
) -> DemoReport:
    """Run the main job and write its files into `output`.

    The tree stands among two sheds, a wall and one blow of air (`describe_scene`). Sway, peaks and
    the drawing are those after the swing from rest into the wind, `DemoReport.settling` seconds.

    Parameters
    ----------
    tree_file : str or Path, optional
        A tree file of any known format; leaves are added by rule. Without it the species' tree is
        grown.
    output : str or Path, default "windgrove-demo"
        Folder for the recording, the pictures and the film; made where it is not there.
    species : str or Path, default "oak"
    wind_speed : float, default 6
        m/s along x: the mean of the gusts that come in during the run.
    duration : float, default 60
        s.
    seed : int, default 1
        Of the wind and of a grown tree.
    small : bool, default False
        Coarse grids and a short sweep: for tests.
    animation : bool, default True
    progress : bool, default True
        Progress bars on stderr.
    say : callable, default print
        Gets each line of text.
    reading : mapping, optional
        Further arguments of `read_tree` for `tree_file`.

    Returns
    -------
    DemoReport
    """
    from . import grow_tree, load_species, read_tree
    from .checks import flag, number
    from .commands.common import writable_folder

    if tree_file is not None and not Path(tree_file).exists():
        raise ValueError(f"TREE_FILE: there is no file {str(tree_file)!r}")
    folder = writable_folder(output)
    small, animation = flag(small, "small"), flag(animation, "animation")
    progress = flag(progress, "progress")
    duration = number(duration, "duration", low=2.0)
    wind_speed = number(wind_speed, "wind_speed")
    clock = _Clock()
    preset = load_species(species)
    if tree_file is None:
        tree = grow_tree(preset, seed=seed)
    else:
        options = {"leaf_area_index": preset.leaf_area_index}
        how: dict[str, Any] = dict(reading or {})
        tree = read_tree(tree_file, foliage="bundles", foliage_options=options, **how)
    say(_describe(tree))
    say(describe_scene(duration))
    clock.lap("tree")

    from . import Sway, simulate

    record = folder / f"{_slug(tree.name)}.h5"
    wind = scene(tree, wind_speed, duration, small=small, seed=seed)
    ds = simulate(
        Sway(tree, preset, seed=seed),
        wind,
        duration=duration,
        dt=DT,
        record=record,
        channels=("rotation", "wind"),
        progress=progress,
    )
    clock.lap("simulate")
    files = {"recording": record}
    table = _sweep(tree, preset, wind_speed, duration, small, seed, progress)
    clock.lap("sweep")
    files |= draw(tree, preset, ds, table, folder, animation=animation, progress=progress)
    clock.lap("draw")
    rows = measure(tree, preset, ds, skip=_settling(ds))
    report = DemoReport(
        tree=tree.name,
        species=preset.name,
        wind_speed=wind_speed,
        duration=duration,
        rows=rows,
        spectral_peak=_spectral_peak(ds, rows[0].frequency_realised),
        wind_at_trunk=_wind_at_trunk(ds),
        peak_time=_peak_time(ds),
        settling=_settling(ds),
        advice=_advice(tree, preset, abs(wind_speed)),
        files=files,
    )
    clock.lap("measure")
    ds.close()
    report.seconds = clock.laps
    return report


class _Clock:
    def __init__(self) -> None:
        self.before = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self.before
        self.before = now


def _describe(tree: Tree) -> str:
    counts = np.bincount(tree.kind, minlength=3)
    lines = [
        f"{tree.name}: {tree.height:.3g} m high, {len(tree)} branches ({counts[0]} trunk, "
        f"{counts[1]} branch, {counts[2]} foliage)"
    ]
    if tree.report.cylinders:
        lines += ["  " + line.strip() for line in str(tree.report).splitlines()]
    return "\n".join(lines)


def _slug(name: str) -> str:
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-")
    return kept or "tree"


def _sweep(
    tree: Tree,
    species: Species,
    speed: float,
    duration: float,
    small: bool,
    seed: int,
    progress: bool,
) -> xr.Dataset:
    """Factors on beta, zeta and gamma of every level, in the same wind from its beginning."""
    from . import sweep

    factors = FACTORS[:2] if small else FACTORS
    return sweep(
        tree,
        species,
        beta=factors,
        zeta=factors,
        gamma=factors,
        wind=scene(tree, speed, duration, small=small, seed=seed),
        duration=1.0 if small else min(12.0, duration),
        dt=DT,
        progress=progress,
    )


def measure(
    tree: Tree, species: Species, ds: xr.Dataset, *, dt: float = DT, skip: float = 0.0
) -> list[LevelRow]:
    """A row for each level that the tree has; sway and peaks from `skip` seconds on."""
    from . import realised
    from .analysis.motion import TURNED

    table = realised(tree, species, dt=dt)
    rms, peak = sway_of_branches(after(ds, skip))
    rows = []
    for kind, level in enumerate(KINDS):
        here = tree.kind == kind
        if not here.any():
            continue
        rows.append(
            LevelRow(
                level=level,
                branches=int(here.sum()),
                frequency_set=_median(table["frequency"], here),
                frequency_realised=_median(table["realised_frequency"], here),
                damping_ratio_set=_median(table["damping_ratio"], here),
                damping_ratio_realised=_median(table["realised_damping_ratio"], here),
                clamped_share=float(table["clamped"].to_numpy()[here].mean()),
                sway_rms_deg=float(np.degrees(np.sqrt(np.mean(rms[here] ** 2)))),
                sway_peak_deg=float(np.degrees(peak[here].max())),
                turned_round=int((np.degrees(peak[here]) > TURNED_ROUND).sum()),
                thrown=int((np.degrees(peak[here]) > TURNED).sum()),
            )
        )
    return rows


def _median(values: xr.DataArray, here: np.ndarray) -> float:
    chosen = values.to_numpy()[here]
    chosen = chosen[np.isfinite(chosen)]
    return float(np.median(chosen)) if chosen.size else float("nan")


def sway_of_branches(ds: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Root mean square and greatest angle (rad) of each branch of the first tree."""
    count = ds.sizes["time"]
    squares = np.zeros(ds.sizes["branch"])
    peak = np.zeros(ds.sizes["branch"])
    for start in range(0, count, 600):  # in blocks, so that a long recording needs no memory
        block = ds["rotation"].isel(time=slice(start, start + 600), instance=0).to_numpy()
        square = np.sum(block.astype(np.float64) ** 2, axis=-1)
        squares += square.sum(axis=0)
        peak = np.maximum(peak, square.max(axis=0))
    return np.sqrt(squares / count), np.sqrt(peak)


def after(ds: xr.Dataset, skip: float) -> xr.Dataset:
    """A recording without its first `skip` seconds."""
    if skip <= 0:
        return ds
    time = ds["time"].to_numpy()
    return ds.isel(time=slice(int(np.searchsorted(time, time[0] + skip - 1e-9)), None))


def _spectral_peak(ds: xr.Dataset, frequency: float) -> float:
    """Where the trunk's spectrum peaks within a factor 1.6 of `frequency` (Hz); NaN for nowhere."""
    from scipy.signal import welch

    angle = ds["rotation"].isel(instance=0, branch=0).to_numpy().astype(np.float64)
    size = min(len(angle), max(len(angle) // 2, 64))
    hertz, power = welch(angle, 1 / DT, nperseg=size, axis=0)
    near = np.flatnonzero((hertz > frequency / 1.6) & (hertz < frequency * 1.6))
    if near.size < 3:
        return float("nan")
    top = near[np.argmax(power.sum(axis=-1)[near])]
    return float(hertz[top]) if near[0] < top < near[-1] else float("nan")


def _wind_at_trunk(ds: xr.Dataset) -> tuple[float, float, float]:
    wind = ds["wind"].isel(instance=0, branch=0).to_numpy().astype(np.float64)
    speed = np.linalg.norm(wind[np.isfinite(wind).all(axis=-1)], axis=-1)
    return float(speed.mean()), float(speed.min()), float(speed.max())


def _peak_time(ds: xr.Dataset) -> float:
    return float(ds["time"][_peak_frame(ds)])


def _peak_frame(ds: xr.Dataset) -> int:
    """The frame of the trunk's greatest angle, the swing from rest left out."""
    kept = after(ds, _settling(ds))
    angle = kept["rotation"].isel(instance=0, branch=0).to_numpy().astype(np.float64)
    first = int(ds.sizes["time"]) - len(angle)
    return first + int(np.argmax(np.sum(angle**2, axis=-1)))


def _advice(tree: Tree, species: Species, speed: float) -> list[str]:
    """What `windgrove.advise` would change, as text."""
    from . import advise

    return [str(line) for line in advise(tree, species, dt=DT, wind_speed=speed or 1.0)]


def draw(
    tree: Tree,
    species: Species,
    ds: xr.Dataset,
    table: xr.Dataset,
    folder: Path,
    *,
    animation: bool = True,
    progress: bool = True,
) -> dict[str, Path]:
    """Write every picture into `folder`; their paths by name."""
    from . import plot
    from .plot.styles import without_display

    skip = _settling(ds)
    jobs: dict[str, Callable[[], Any]] = {
        "frequencies": lambda: plot.frequencies(tree, species, dt=DT),
        "spectrum": lambda: plot.spectrum(ds, skip=skip),
        "sway": lambda: plot.sway(ds, tree=tree, species=species, skip=skip),
        "history": lambda: plot.history(ds),
        "sweep": lambda: plot.sweep(table),
        "tree": lambda: plot.tree(tree, ds, frame=_peak_frame(ds), exaggerate=_visible(ds)),
        "overview": lambda: overview(tree, species, ds),
    }
    files = {}
    with without_display():
        for name, job in _bar(jobs, "draw", progress):
            path = folder / f"{name}.png"
            job().figure.savefig(path)
            files[name] = path
        if animation:
            stop = float(ds["time"][-1])
            plot.animate(
                tree,
                ds,
                folder / "sway.gif",
                start=max(0.0, stop - 6.0),
                fps=12,
                exaggerate=_visible(ds),
            )
            files["film"] = folder / "sway.gif"
    return files


def _visible(ds: xr.Dataset) -> float:
    """How much angles are enlarged in drawings, so that a sway of a few degrees can be seen."""
    peak = float(np.degrees(sway_of_branches(after(ds, _settling(ds)))[1][0]))
    return float(np.clip(round(9.0 / max(peak, 0.1)), 1, 5))


def _bar(jobs: dict[str, Any], what: str, progress: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(list(jobs.items()), desc=what, unit="picture", disable=not progress, leave=False)


def overview(tree: Tree, species: Species, ds: xr.Dataset) -> Any:
    """Four plots on one sheet: the tree deflected, set against realised, spectrum, sway."""
    from . import plot
    from .plot.styles import new_figure

    skip = _settling(ds)
    with plot.style("paper"):
        figure = new_figure((8.4, 4.4), dpi=170)
        parts: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.45))
        left, right = parts
        beside = left.subplots()
        top, below = right.subplots(2, 2)
        plot.frequencies(tree, species, dt=DT, ax=top[0])
        plot.spectrum(ds, skip=skip, ax=top[1])
        plot.sway(ds, tree=tree, species=species, skip=skip, ax=below[0])
        plot.history(ds, ax=below[1])
        # Last: its polygons take most of the time of a layout, and a legend asks for one.
        drawing = plot.tree(tree, ds, frame=_peak_frame(ds), exaggerate=_visible(ds), ax=beside)
        for axes in (*left.axes, *right.axes):
            _fit_in(axes)
    return drawing


def _fit_in(axes: Any) -> None:
    """Smaller words for a small plot: long titles ran into the next one."""
    axes.set_title(axes.get_title(loc="left"), loc="left", fontsize=6.5)
    legend = axes.get_legend()
    if legend is not None:
        for words in legend.get_texts():
            words.set_fontsize(5.5)


def _settling(ds: xr.Dataset) -> float:
    """Whole seconds until the trunk's free swing is at a twentieth; half of a short run."""
    rate = 2 * math.pi * float(ds["damping_ratio"][0] * ds["frequency"][0])
    half = 0.5 * float(ds["time"][-1])
    return half if half * rate < math.log(20) else math.ceil(math.log(20) / rate)
