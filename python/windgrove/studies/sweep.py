"""Parameter studies: the same tree many times in one wind, each time a little different."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..kernels.sway import CLAMPS, DAMPING_RATES
from ..recording.layout import plain
from ..species.load import load_species
from ..species.species import LEVELS, Species
from ..sway.sway import NOISE_FREQUENCIES, drag_exponent
from ..trees.tree import Tree
from ..wind.protocol import WindSource
from . import store as stored
from .chunk import Chunk, ChunkResult, RunOptions, common_key, describe, tree_hash, variant_key
from .design import Axis, axes, points
from .fingerprint import fingerprint
from .runner import run_all
from .variants import WIND_PARAMETERS, identity, species_of, tree_of, wind_of

Values = ArrayLike | Mapping[str, ArrayLike]

VARIABLES = {
    "frequency": ("Hz", "undamped natural frequency as set, median"),
    "damping_ratio": ("1", "damping ratio as set, median"),
    "realised_frequency": ("Hz", "undamped natural frequency realised, median"),
    "realised_damping_ratio": ("1", "damping ratio realised, median"),
    "clamped": ("1", "share of branches that the time step limits"),
    "sway_rms": ("rad", "sway angle, rms over time then over branches"),
    "sway_peak": ("rad", "greatest sway angle"),
    "diverged": ("1", "1 where the run left finite numbers"),
    "spectrum": ("rad2 Hz-1", "power spectral density of the rotation vector"),
}


def sweep(
    tree: Tree,
    species: Species | str | os.PathLike[str],
    *,
    wind: WindSource,
    beta: Values | None = None,
    zeta: Values | None = None,
    gamma: Values | None = None,
    rho: Values | None = None,
    propagation: Values | None = None,
    wind_speed: ArrayLike | None = None,
    heading: ArrayLike | None = None,
    turbulence: ArrayLike | None = None,
    size: ArrayLike | None = None,
    season: ArrayLike | None = None,
    seed: ArrayLike | None = None,
    duration: float = 30.0,
    dt: float = 1 / 30,
    design: str = "grid",
    samples: int | None = None,
    design_seed: int = 0,
    clamp: str = "source",
    damping_rate: str = "relative",
    inertia: bool = True,
    torsion: bool = True,
    noise: float = 0.3,
    noise_frequency: str = "natural",
    noise_seed: int = 0,
    drag_law: str | float = "linear",
    reference_speed: float = 10.0,
    spectra: bool = True,
    executor: Executor | None = None,
    store: str | os.PathLike[str] | None = None,
    chunk_size: int | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
) -> xr.Dataset:
    """Runs a tree over a set of parameters in one wind and says what each of them does.

    Parameters
    ----------
    tree : Tree
    species : Species, name or path
        The preset that is varied.
    wind : Wind, UniformWind, GustWind, RecordedWind or other source
        Every chunk of variants starts from a copy of its present state; the wind itself is not
        stepped. A wind that the trees shelter is refused: variants would feel each other.
    beta, zeta, gamma, rho, propagation : array_like or dict, optional
        A list holds *factors* on the preset's values at all levels. A dict holds absolute values
        of a level: ``{"trunk": [2e5, 4e5]}``. One level keeps the parameter's name in the result,
        several become ``beta_trunk``, ``beta_branch``.
    wind_speed : array_like, optional
        m/s: the mean of the prevailing wind; its direction and its relative gusts stay.
    heading : array_like, optional
        rad, from x towards y: where the wind blows to.
    turbulence : array_like, optional
        Intensity of a `Wind`.
    seed : array_like, optional
        Of a `Wind`, and of the trees' noise.
    size : array_like, optional
        Factors on all lengths of the tree, scaled as a solid.
    season : array_like, optional
        Leaf fraction, 0 bare to 1 full.
    duration, dt : float, s
        Every run begins at rest.
    design : {"grid", "points", "latin_hypercube", "sobol"}
        All combinations; lists of one length taken together; or `samples` points between bounds
        (low, high), spread over orders of magnitude where high is ten times low or more.
    samples, design_seed : int
        Of the last two designs; a Sobol design needs a power of two.
    clamp, damping_rate, inertia, torsion, noise, noise_frequency, drag_law, reference_speed
        As of `Sway`; `noise_seed` is its `seed`. Every variant is what `simulate` makes of one
        tree at the origin.
    spectra : bool, default True
        Also reduce spectra, from up to three branches of every level.
    executor : concurrent.futures.Executor, optional
        Anything with ``submit``; never shut down. By default threads of this process.
    store : path, optional
        Folder that keeps finished chunks. What it holds is not run again, however it was chunked;
        a damaged file is set aside and its variants run again.
    chunk_size : int, optional
        Most variants in a chunk: they share one wind and one batch. By default 1024, or 128 with
        an executor. Does not change results.
    progress : bool or callable, optional
        A bar on stderr (by default where that is a terminal), or ``function(done, total)``.

    Returns
    -------
    xarray.Dataset
        Over the swept names (a grid) or `point` (other designs), and `level`: `frequency`,
        `damping_ratio` (set), `realised_frequency`, `realised_damping_ratio` (medians over the
        level's branches), `clamped` (share), `sway_rms`, `sway_peak` (rad, mean included; rms over
        the frames of the run, the rest pose first, then over branches), `diverged` (1 where a run
        left finite numbers: its sway is NaN) and `spectrum` over `spectrum_frequency`. NaN where
        a tree has no branch of a level. Two runs of the same sweep are equal to the last bit,
        whatever the executor, chunking or store.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, before anything runs.

    Notes
    -----
    Ctrl-C keeps what is in the store: call again to go on.
    """
    if not isinstance(tree, Tree):
        raise TypeError(f"tree: expected a Tree, got {type(tree).__name__}")
    species = load_species(species)
    _refuse_wind(wind)
    given = {
        "beta": beta,
        "zeta": zeta,
        "gamma": gamma,
        "rho": rho,
        "propagation": propagation,
        "wind_speed": wind_speed,
        "heading": heading,
        "turbulence": turbulence,
        "size": size,
        "season": season,
        "seed": seed,
    }
    swept = axes(given)
    if not swept:
        raise ValueError("sweep: nothing to vary; give beta=, zeta=, gamma= or another parameter")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor: expected something with submit, got {type(executor).__name__}")
    if not callable(progress):
        progress = checks.optional_flag(progress, "progress")
    if samples is not None:
        samples = checks.integer(samples, "samples", low=1)
    design_seed = checks.integer(design_seed, "design_seed", low=0)
    table = points(swept, design, samples, design_seed)
    options = RunOptions(
        duration=checks.number(duration, "duration", above=0),
        dt=checks.number(dt, "dt", above=0),
        clamp=checks.choice(clamp, "clamp", CLAMPS),
        damping_rate=checks.choice(damping_rate, "damping_rate", DAMPING_RATES),
        inertia=checks.flag(inertia, "inertia"),
        torsion=checks.flag(torsion, "torsion"),
        noise=checks.number(noise, "noise", low=0.0, high=np.pi),
        noise_frequency=checks.choice(noise_frequency, "noise_frequency", NOISE_FREQUENCIES),
        noise_seed=checks.integer(noise_seed, "noise_seed", low=0, high=2**64 - 1),
        drag_exponent=drag_exponent(drag_law),
        reference_speed=checks.number(reference_speed, "reference_speed", above=0.0),
        segment=_segment(duration / dt) if checks.flag(spectra, "spectra") else 0,
    )
    keys, chunks = _plan(tree, species, wind, swept, table, options)
    results = _run(
        keys,
        chunks,
        executor=executor,
        folder=None if store is None else str(stored.open_store(checks.path(store, "store"))),
        size=_chunk_size(chunk_size, executor),
        progress=progress,
    )
    dataset = _dataset(results, swept, table, design, options)
    dataset.attrs |= _attributes(tree, species, wind, options, design)
    return dataset


def _refuse_wind(wind: Any) -> None:
    if not hasattr(wind, "sample"):
        raise TypeError(f"wind: expected a wind, got {type(wind).__name__}")
    if getattr(wind, "sheltered", False) or getattr(wind, "shelter", None):
        raise ValueError(
            "wind: trees shelter this wind, so that variants would feel each other; "
            "give a wind without sheltering"
        )


def _segment(steps: float) -> int:
    """Samples of a segment of Welch's method: half the run or more, a power of two, to 4096."""
    return 0 if steps < 32 else min(1 << int(np.log2(0.7 * steps)), 4096)


def _chunk_size(given: int | None, executor: Executor | None) -> int:
    if given is None:
        return 1024 if executor is None else 128
    return checks.integer(given, "chunk_size", low=1)


Group = tuple[Tree, WindSource, list[tuple[str, Species]]]


def _plan(
    tree: Tree,
    species: Species,
    wind: WindSource,
    swept: Sequence[Axis],
    table: NDArray[np.float64],
    options: RunOptions,
) -> tuple[list[str], list[tuple[Group, RunOptions]]]:
    """The key of every point, and what has to run for them: one group for each tree and wind."""
    names = [axis.parameter for axis in swept]
    shared: dict[tuple[float, ...], tuple[str, Group, RunOptions]] = {}
    keys = []
    for point in table:
        at = dict(zip(names, (float(v) for v in point), strict=True))
        changes = {name: at[name] for name in WIND_PARAMETERS if name in at}
        shape = (at.get("size", 1.0), at.get("season", 1.0))
        where = (*shape, *changes.values())
        if where not in shared:
            one = tree_of(tree, *shape)
            air, here = wind_of(wind, changes), options
            if "seed" in changes:
                here = replace(options, noise_seed=int(changes["seed"]))
            shared[where] = common_key(one, air, here), (one, air, []), here
        common, group, _ = shared[where]
        variant = species_of(species, swept, point)
        keys.append(variant_key(common, variant))
        group[2].append((keys[-1], variant))
    return keys, [(group, here) for _, group, here in shared.values()]


def _run(
    keys: list[str],
    groups: list[tuple[Group, RunOptions]],
    *,
    executor: Executor | None,
    folder: str | None,
    size: int,
    progress: bool | Callable[[int, int], None] | None,
) -> list[dict[str, NDArray[np.float64]]]:
    known: dict[str, dict[str, NDArray[np.float64]]] = {}
    if folder is not None:
        known = stored.collect(Path(folder), keys)
    total = len(set(keys))
    with _Progress(progress, total, len(known)) as bar:

        def done(result: ChunkResult) -> None:
            known.update(stored.rows(result))
            bar.show(len(known))

        def going(variants: float) -> None:
            bar.show(len(known) + int(variants))

        run_all(
            _chunks(groups, known.keys(), size),
            executor=executor,
            folder=folder,
            done=done,
            going=going,
        )
    return [known[key] for key in keys]


def _chunks(groups: list[tuple[Group, RunOptions]], known: Any, size: int) -> list[Chunk]:
    chunks = []
    for (tree, wind, variants), options in groups:
        todo = list({key: s for key, s in variants if key not in known}.items())
        count = -(-len(todo) // size)
        for part in np.array_split(np.arange(len(todo)), max(count, 1)):
            if len(part):
                chunks.append(
                    Chunk(
                        tree=tree,
                        wind=wind,
                        species=tuple(todo[i][1] for i in part),
                        keys=tuple(todo[i][0] for i in part),
                        options=options,
                    )
                )
    return chunks


class _Progress:
    """One bar, driven by the caller's thread."""

    def __init__(
        self, wanted: bool | Callable[[int, int], None] | None, total: int, done: int
    ) -> None:
        self.total = total
        self.call = wanted if callable(wanted) else None
        self.bar = None
        if not callable(wanted) and (sys.stderr.isatty() if wanted is None else wanted):
            from tqdm.auto import tqdm

            self.bar = tqdm(total=total, initial=done, unit="run", desc="sweep", file=sys.stderr)
        self.shown = -1
        self.show(done)

    def show(self, done: int) -> None:
        if done <= self.shown:
            return
        self.shown = done
        if self.call is not None:
            self.call(done, self.total)
        if self.bar is not None:
            self.bar.update(done - self.bar.n)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _dataset(
    results: list[dict[str, NDArray[np.float64]]],
    swept: Sequence[Axis],
    table: NDArray[np.float64],
    design: str,
    options: RunOptions,
) -> xr.Dataset:
    coords: dict[str, Any] = {"level": ("level", list(LEVELS), {"long_name": "level"})}
    if design == "grid":
        dims: tuple[str, ...] = tuple(axis.name for axis in swept)
        shape = tuple(len(axis.values) for axis in swept)
        coords |= {axis.name: (axis.name, axis.values, axis.attrs) for axis in swept}
    else:
        dims, shape = ("point",), (len(table),)
        coords["point"] = ("point", np.arange(len(table)), {"long_name": "point of the design"})
        for column, axis in zip(table.T, swept, strict=True):
            coords[axis.name] = ("point", column.astype(axis.values.dtype), axis.attrs)
    variables = {}
    for name in results[0]:
        units, text = VARIABLES.get(name, ("1", name))
        values = np.stack([row[name] for row in results])
        over = (*dims, "level") + (("spectrum_frequency",) if name == "spectrum" else ())
        variables[name] = (
            over,
            values.reshape(*shape, *values.shape[1:]),
            {"units": units, "long_name": text},
        )
    if "spectrum" in variables:
        frequencies = np.fft.rfftfreq(options.segment, options.dt)
        coords["spectrum_frequency"] = (
            "spectrum_frequency",
            frequencies,
            {"units": "Hz", "long_name": "frequency"},
        )
    return xr.Dataset(variables, coords=coords)


def _attributes(
    tree: Tree, species: Species, wind: Any, options: RunOptions, design: str
) -> dict[str, Any]:
    from .. import __version__

    text = wind.describe() if hasattr(wind, "describe") else {"type": type(wind).__name__}
    return {
        "title": "windgrove parameter sweep",
        "values": "a coordinate's attribute `values` tells factors on the preset from absolute",
        "species": json.dumps(plain(species), sort_keys=True),
        "tree": tree.name,
        "tree_hash": tree_hash(tree),
        "wind": json.dumps(plain(text), sort_keys=True),
        "wind_hash": fingerprint(identity(wind)),
        "design": design,
        "windgrove_version": __version__,
        **describe(options),
    }
