"""One chunk of a sweep: variants of one tree in one wind, run as one batch, reduced on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.frequencies import discrete_response
from ..species.species import LEVELS, Species
from ..trees.parameters import BranchParameters, branch_parameters
from ..trees.tree import Tree
from ..wind.protocol import WindSource
from .batch import Batch, Stopped, Watch
from .fingerprint import fingerprint
from .variants import identity, own_copy

__all__ = ["Chunk", "ChunkResult", "RunOptions", "Stopped", "run_chunk"]

SCHEMA = 1
SERIES_A_LEVEL = 3  # branches a level whose motion goes into the spectrum


@dataclass(frozen=True)
class RunOptions:
    """What all runs of a sweep share.

    Attributes
    ----------
    duration, dt : float, s
    clamp, damping_rate : str
        As in `kernels.step_springs`.
    inertia, torsion : bool
    noise, noise_frequency, noise_seed, drag_exponent, reference_speed
        As in `Sway`; the exponent is that of `windgrove/forest.h`, 0 for the linear law.
    segment : int
        Samples of a segment of the spectra, 0 for none.
    """

    duration: float
    dt: float
    clamp: str = "source"
    damping_rate: str = "relative"
    inertia: bool = True
    torsion: bool = True
    noise: float = 0.3
    noise_frequency: str = "natural"
    noise_seed: int = 0
    drag_exponent: float = 0.0
    reference_speed: float = 10.0
    segment: int = 0

    @property
    def steps(self) -> int:
        """Steps of a run; it has one frame more."""
        return max(1, round(self.duration / self.dt))


@dataclass(frozen=True)
class Chunk:
    """Everything a run needs; pickles.

    Attributes
    ----------
    tree, wind
        Shared by all variants. The wind is copied before it is stepped.
    species : tuple of Species
        One for each variant.
    keys : tuple of str
        Name of each variant's result: the hash of everything that determines it.
    options : RunOptions
    threads : int
        Of the kernels; does not change results.
    """

    tree: Tree
    wind: WindSource
    species: tuple[Species, ...]
    keys: tuple[str, ...]
    options: RunOptions
    threads: int = 1

    @property
    def name(self) -> str:
        """The hash of the variants in it."""
        return fingerprint(self.keys)


@dataclass(frozen=True)
class ChunkResult:
    """Arrays (variant, level[, ...]) float64 by name."""

    keys: tuple[str, ...]
    values: dict[str, NDArray[np.float64]] = field(repr=False)


def variant_key(common: str, species: Species) -> str:
    """The hash of a variant: its numbers, not the species' name or provenance."""
    levels = {
        level: [
            getattr(species.level(level), name)
            for name in ("beta", "zeta", "gamma", "rho", "propagation")
        ]
        for level in LEVELS
    }
    return fingerprint([common, levels])


def common_key(tree: Tree, wind: WindSource, options: RunOptions) -> str:
    """The hash of what the variants of a chunk share, the versions of the code included."""
    from .. import __version__

    return fingerprint([SCHEMA, __version__, tree_hash(tree), identity(wind), options])


def tree_hash(tree: Tree) -> str:
    """The hash of a tree's geometry: not of its name or report."""
    names = ("position", "direction", "length", "volume", "area", "kind", "parent")
    return fingerprint([getattr(tree, name) for name in names])


def run_chunk(chunk: Chunk, watch: Watch | None = None) -> ChunkResult:
    """Runs all variants of a chunk.

    Deterministic to the last bit, variant by variant: neither the other variants nor `threads`
    change a result. Raises `Stopped` soon after `watch` says so.
    """
    parameters = [branch_parameters(chunk.tree, species) for species in chunk.species]
    members = [np.flatnonzero(chunk.tree.kind == kind) for kind in range(len(LEVELS))]
    values = _set_and_realised(parameters, members, chunk.options)
    batch = Batch(chunk.tree, parameters, chunk.options, _observed(members), chunk.threads)
    wind = own_copy(chunk.wind)
    if hasattr(wind, "threads"):
        wind.threads = chunk.threads
    batch.run(wind, watch)
    lost = batch.diverged
    values |= _sway(batch, members, chunk.options)
    values |= _spectra(batch, members, chunk.options)
    for name in ("sway_rms", "sway_peak", "spectrum"):
        if name in values:
            values[name][lost] = np.nan
    values["diverged"] = np.repeat(lost[:, None], len(LEVELS), axis=1).astype(np.float64)
    return ChunkResult(chunk.keys, values)


def _observed(members: list[NDArray[np.intp]]) -> NDArray[np.int32]:
    """The branches whose motion is kept: a few of every level, spread over its indices."""
    return np.concatenate([_spread(level) for level in members]).astype(np.int32)


def _spread(level: NDArray[np.intp]) -> NDArray[np.intp]:
    if len(level) <= SERIES_A_LEVEL:
        return level
    return level[np.linspace(0, len(level) - 1, SERIES_A_LEVEL).round().astype(int)]


def _set_and_realised(
    parameters: list[BranchParameters], members: list[NDArray[np.intp]], options: RunOptions
) -> dict[str, NDArray[np.float64]]:
    names = (
        "frequency",
        "damping_ratio",
        "realised_frequency",
        "realised_damping_ratio",
        "clamped",
    )
    out = {name: np.full((len(parameters), len(LEVELS)), np.nan) for name in names}
    for i, p in enumerate(parameters):
        response = discrete_response(p.mass, p.stiffness, p.damping, options.dt, options.clamp)
        arrays = (
            p.frequency,
            p.damping_ratio,
            response.frequency,
            response.damping_ratio,
            response.clamped.astype(np.float64),
        )
        for name, array in zip(names, arrays, strict=True):
            for level, branches in enumerate(members):
                if len(branches):
                    out[name][i, level] = _middle(array[branches], share=name == "clamped")
    return out


def _middle(values: NDArray[np.float64], *, share: bool) -> float:
    """Median without what has none (dead-beat branches), or the mean of a share."""
    if share:
        return float(values.mean())
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else np.nan


def _sway(
    batch: Batch, members: list[NDArray[np.intp]], options: RunOptions
) -> dict[str, NDArray[np.float64]]:
    """|theta| in rad, mean included: rms over frames then over branches, and the maximum.

    Frames count the rest pose at the start, as a recording does.
    """
    count = len(batch.peak)
    rms = np.full((count, len(LEVELS)), np.nan)
    peak = rms.copy()
    for i in range(count):
        mean_square = batch.sum_square[i] / (options.steps + 1)
        for level, branches in enumerate(members):
            if len(branches):
                rms[i, level] = np.sqrt(np.mean(mean_square[branches]))
                peak[i, level] = batch.peak[i][branches].max()
    return {"sway_rms": rms, "sway_peak": peak}


def _spectra(
    batch: Batch, members: list[NDArray[np.intp]], options: RunOptions
) -> dict[str, NDArray[np.float64]]:
    """Power spectral density of theta, all three components, mean of the branches looked at."""
    if not options.segment:
        return {}
    window = np.hanning(options.segment + 1)[:-1]
    scale = 2 * options.dt / float(window @ window)
    count = batch.series.shape[1]
    out = np.full((count, len(LEVELS), options.segment // 2 + 1), np.nan)
    first = 0
    for level, branches in enumerate(members):
        kept = len(_spread(branches))
        for i in range(count):
            if kept:
                # One variant at a time: a transform of many rows may round differently.
                rows = batch.series[:, i, first : first + kept].reshape(len(batch.series), -1)
                out[i, level] = _density(rows, window, options.segment) * (scale / kept)
        first += kept
    return {"spectrum": out}


def _density(
    rows: NDArray[np.float32], window: NDArray[np.float64], segment: int
) -> NDArray[np.float64]:
    """Welch's sum of periodograms of all columns, segments overlapping by half."""
    starts = range(0, len(rows) - segment + 1, segment // 2)
    total = np.zeros(segment // 2 + 1)
    for start in starts:
        piece = rows[start : start + segment].astype(np.float64).T
        piece = (piece - piece.mean(axis=1, keepdims=True)) * window
        power = np.abs(np.fft.rfft(piece, axis=1)) ** 2
        total += power.sum(axis=0)
    total[0] /= 2
    if segment % 2 == 0:
        total[-1] /= 2
    return total / len(starts)


def describe(options: RunOptions) -> dict[str, Any]:
    """The options as attributes of a result."""
    return {
        "duration": options.duration,
        "dt": options.dt,
        "steps": options.steps,
        "clamp": options.clamp,
        "damping_rate": options.damping_rate,
        "inertia": int(options.inertia),
        "torsion": int(options.torsion),
        "noise": options.noise,
        "noise_frequency": options.noise_frequency,
        "noise_seed": options.noise_seed,
        "drag_exponent": options.drag_exponent,
        "reference_speed": options.reference_speed,
    }
