"""Sway a tree in the nested wind: the main job, in under a minute.

Grows the species' tree, or reads TREE_FILE and adds leaves; runs three nested grids of wind around
it, two sheds and a wall, with a blow of air halfway; records 60 s; sweeps beta, zeta and gamma in
the same wind; draws what happened.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..demo import describe_scene
from .common import (
    add_json,
    file_size,
    peak_cell,
    peak_notes,
    print_json,
    seconds,
    speed,
    text_table,
)
from .reading import add_reading, reading
from .words import translate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tree", metavar="TREE_FILE", nargs="?", help="without it a tree is grown")
    parser.add_argument(
        "--output",
        default="windgrove-demo",
        metavar="FOLDER",
        help="where pictures, film and recording go (default: windgrove-demo)",
    )
    parser.add_argument("--species", default="oak", help="shipped name or .toml file")
    parser.add_argument(
        "--wind", type=speed, default=6.0, metavar="M_S", help="mean wind, m/s (default: 6)"
    )
    parser.add_argument(
        "--duration", type=seconds, default=60.0, metavar="S", help="of the run, s (default: 60)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the wind, and of a grown tree (default: 1)"
    )
    add_reading(parser, leaves=False)
    parser.add_argument("--small", action="store_true", help="coarse grids, short sweep: for tests")
    parser.add_argument(
        "--no-animation", action="store_true", help="leave the film out, which takes longest"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    from ..demo import run_demo

    report = run_demo(
        options.tree,
        output=options.output,
        species=options.species,
        wind_speed=options.wind,
        duration=options.duration,
        seed=options.seed,
        small=options.small,
        animation=not options.no_animation,
        reading=reading(options),
        say=(lambda line: print(line, file=sys.stderr)) if options.json else print,
    )
    if options.json:
        print_json(report)
    else:
        print(text(report))


def text(report: Any) -> str:
    """The table at the end, and where everything is."""
    header = (
        "level", "branches", "f_n set (Hz)", "realised", "zeta set", "realised", "clamped",
        "sway rms (deg)", "peak (deg)",
    )  # fmt: skip
    rows = [
        (
            row.level,
            row.branches,
            row.frequency_set,
            row.frequency_realised,
            row.damping_ratio_set,
            row.damping_ratio_realised,
            f"{100 * row.clamped_share:.0f} %",
            row.sway_rms_deg,
            peak_cell(row),
        )
        for row in report.rows
    ]
    parts = [
        "",
        describe_scene(report.duration),
        f"{report.tree}, species {report.species}, gusts of {report.wind_speed:g} m/s on average, "
        f"{report.duration:g} s at 30 Hz (frequencies and ratios: medians of a level; sway and "
        f"peaks: after the first {report.settling:g} s, the swing from rest)",
        text_table(header, rows),
        *peak_notes(report.rows),
    ]
    mean, least, most = report.wind_at_trunk
    parts.append(
        f"wind recorded at the trunk: mean {mean:.2g} m/s, {least:.2g} to {most:.2g}; "
        f"its peak sway is at {report.peak_time:.1f} s"
    )
    if report.spectral_peak == report.spectral_peak:
        parts.append(
            f"near its f_n the trunk's recorded sway peaks at {report.spectral_peak:.3g} Hz"
        )
    if report.advice:
        head = "what could be changed (options are of windgrove simulate):"
        parts += ["", head, *(f"  {translate(line)}" for line in report.advice)]
    parts += ["", "files:"]
    width = max(len(str(path)) for path in report.files.values())
    parts += [
        f"  {path!s:<{width}}  {file_size(path):>8}  {_WHAT.get(name, name)}"
        for name, path in report.files.items()
    ]
    spent = ", ".join(f"{name} {seconds:.1f}" for name, seconds in report.seconds.items())
    parts.append(f"seconds: {spent}; {sum(report.seconds.values()):.1f} in all")
    return "\n".join(parts)


_WHAT = {
    "recording": "rotation and wind of every branch; windgrove.open_recording, xarray",
    "frequencies": "natural frequency of every branch, set against realised",
    "spectrum": "power spectrum of the sway, f_n marked",
    "sway": "sway of the trunk against the wind",
    "history": "wind and sway over time",
    "sweep": "what beta, zeta and gamma do",
    "tree": "the tree at rest and most deflected",
    "overview": "four of these on one sheet",
    "film": "six seconds, moving",
}
