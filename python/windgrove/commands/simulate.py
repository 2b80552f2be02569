"""Run a tree in a wind and record it.

windgrove simulate oak.mat --wind 8 --duration 60 --record oak.h5
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .common import (
    DEFAULT_WIND,
    add_json,
    add_step,
    add_tree,
    add_wind,
    check_output,
    check_run,
    file_size,
    make_wind,
    peak_cell,
    peak_notes,
    print_json,
    read_or_grow,
    text_table,
    thrown_advice,
)
from .springs import add_springs, springs
from .words import translate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_tree(parser)
    add_wind(parser, duration=60.0)
    parser.add_argument(
        "--record", metavar="FILE", help="recording to write (default: the tree's name with .h5)"
    )
    add_step(parser, "time of a frame, s")
    parser.add_argument(
        "--channels",
        default="rotation,wind",
        help="of rotation,angular_velocity,tip,wind,torque (default: rotation,wind)",
    )
    parser.add_argument(
        "--state",
        choices=("float32", "packed"),
        default="float32",
        help="how motion is kept: float32, or packed into about half of the memory, leaves to "
        "about 0.01 degrees (default: float32)",
    )
    add_springs(parser)
    parser.add_argument("--keep", action="store_true", help="refuse to replace an existing file")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    check_output("--record", options.record, (".h5", ".hdf5", ".nc"))
    check_run(options)
    tree, species = read_or_grow(options, remarks=False)  # a run tells its own
    import numpy as np

    from .. import Sway, simulate
    from ..demo import measure

    path = Path(options.record or f"{tree.name}.h5")
    channels = tuple(name.strip() for name in options.channels.split(",") if name.strip())
    wind = make_wind(options)
    ds = simulate(
        Sway(tree, species, state=options.state, seed=options.seed, **springs(options)),
        wind,
        duration=options.duration,
        dt=options.dt,
        record=path,
        channels=channels,
        overwrite=not options.keep,
        progress=not options.quiet,
    )
    rows = measure(tree, species, ds, dt=options.dt)
    frames = int(ds.sizes["time"])
    ds.close()
    advice = thrown_advice(tree, species, rows, _speed(wind, options.wind), options.dt)
    advice = [translate(line) for line in advice]
    if options.json:
        found = {"recording": path, "frames": frames, "branches": len(tree), "levels": rows}
        print_json({**found, "advice": advice})
        return
    header = ("level", "branches", "sway rms (deg)", "peak (deg)", "clamped")
    print(
        text_table(
            header,
            [
                (r.level, r.branches, r.sway_rms_deg, peak_cell(r), f"{r.clamped_share:.0%}")
                for r in rows
            ],
        ),
        *peak_notes(rows),
        *advice,
        sep="\n",
    )
    size = np.prod([frames, len(tree)])
    print(f"{path}: {frames} frames of {len(tree)} branches ({size:,} rows), {file_size(path)}")


def _speed(wind: Any, asked: float | None) -> float:
    """Mean speed (m/s) of a wind from a file, else the one that was asked for."""
    import numpy as np

    from .. import RecordedWind

    if not isinstance(wind, RecordedWind):
        return abs(DEFAULT_WIND if asked is None else asked)
    across = wind.samples[:, :2]
    return float(np.hypot(across[:, 0], across[:, 1]).mean())
