"""Draw a tree, a recording or a sweep into a picture (.png, .pdf, .svg) or a film (.gif, .html).

windgrove plot frequencies oak.mat --species oak --output f.png
windgrove plot spectrum oak.h5 --output spectrum.pdf --size paper
windgrove plot tree oak.mat --recording oak.h5 --frame 100 --colour sway --output tree.png
windgrove plot film oak.mat --recording oak.h5 --output sway.gif
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .common import PICTURES, add_step, check_output
from .reading import add_reading, read_file

KINDS = ("frequencies", "spectrum", "sway", "history", "sweep", "tree", "film")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=KINDS, help="what to draw")
    parser.add_argument("file", metavar="FILE", help="tree file, recording, or sweep table (.nc)")
    parser.add_argument(
        "--output", metavar="FILE", help="file to write (default: the kind with .png or .gif)"
    )
    parser.add_argument(
        "--size",
        choices=("notebook", "paper"),
        default="notebook",
        help="of texts and lines: for a screen, or for a column of print (default: notebook)",
    )
    parser.add_argument("--species", default="oak", help="for frequencies and colours")
    add_reading(parser)
    parser.add_argument("--recording", metavar="FILE", help="for tree and film")
    parser.add_argument("--frame", type=int, help="for tree (default: the most deflected)")
    parser.add_argument("--branch", type=int, default=None, help="for spectrum, sway, history")
    parser.add_argument("--level", default="trunk", help="for sweep (default: trunk)")
    parser.add_argument("--colour", default="kind", help="kind, level, frequency, sway or clamped")
    add_step(parser, "time step of the realised frequencies, s")


def run(options: argparse.Namespace) -> None:
    if not Path(options.file).exists():
        raise ValueError(f"FILE: there is no file {options.file!r}")
    if options.kind == "film":
        print(_film(options))
        return
    from ..plot import style

    path = Path(options.output or f"{options.kind}.png")
    check_output("--output", path, PICTURES)
    with style(options.size):
        save(_drawer(options), path)
    print(path)


def save(draw: Callable[[], Any], path: str | Path) -> None:
    """Draw without a display and write the figure."""
    from ..plot.styles import without_display

    with without_display():
        draw().figure.savefig(path)


def _drawer(options: argparse.Namespace) -> Callable[[], Any]:
    from .. import load_species, open_recording, plot

    kind = options.kind
    if kind == "frequencies":
        species = load_species(options.species)
        return lambda: plot.frequencies(_tree(options), species, dt=options.dt)
    if kind == "tree":
        recording = open_recording(options.recording) if options.recording else None
        species = load_species(options.species)
        return lambda: plot.tree(
            _tree(options),
            recording,
            frame=options.frame,
            colour=options.colour,
            species=species,
            dt=options.dt,
        )
    if kind == "sweep":
        table = _sweep_table(options.file)
        return lambda: plot.sweep(table, level=options.level)
    ds = open_recording(options.file)
    if kind == "spectrum":
        return lambda: plot.spectrum(ds, branch=options.branch)
    branch = 0 if options.branch is None else options.branch
    function = plot.sway if kind == "sway" else plot.history
    return lambda: function(ds, branch=branch)


def _sweep_table(file: str) -> Any:
    import xarray as xr

    advice = "a picture is drawn from the .nc that `windgrove sweep --output table.nc` writes"
    if Path(file).suffix == ".csv":
        raise ValueError(f"FILE: {file!r} holds rows for other programs; {advice}")
    try:
        table = xr.load_dataset(file, engine="h5netcdf")
    except (OSError, ValueError):
        table = xr.Dataset()
    if "sway_rms" not in table:
        raise ValueError(f"FILE: {file!r} is no table of a sweep; {advice}")
    return table


def _tree(options: argparse.Namespace) -> Any:
    from .. import load_species

    return read_file(options.file, load_species(options.species), options)


def _film(options: argparse.Namespace) -> Path:
    from .. import load_species, open_recording, plot
    from ..plot.styles import without_display

    check_output("--output", options.output, (".gif", ".html"))
    if not options.recording:
        raise ValueError("--recording: a film needs one, e.g. --recording oak.h5")
    with without_display(), open_recording(options.recording) as ds:
        film = plot.animate(
            _tree(options), ds, colour=options.colour, species=load_species(options.species)
        )
        return film.save(options.output or "film.gif")
