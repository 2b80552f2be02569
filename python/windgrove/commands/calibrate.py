"""Fit a species to measured frequencies, damping and sway of a tree.

  windgrove calibrate oak.mat --frequency-hz 0.286 --damping-ratio 0.051 \\
      --sway-deg 4 8 --save oak-site.toml
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .common import add_json, add_tree, print_json, read_or_grow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_tree(parser)
    parser.add_argument("--frequency-hz", type=float, metavar="HZ", help="of the trunk, undamped")
    parser.add_argument("--damping-ratio", type=float, metavar="ZETA", help="of the trunk")
    parser.add_argument(
        "--sway-deg",
        type=float,
        nargs=2,
        metavar=("DEGREES", "M_S"),
        help="the trunk's angle in a steady wind across it",
    )
    parser.add_argument("--save", metavar="FILE.toml", help="write the fitted preset")
    parser.add_argument("--plot", metavar="FILE", help="draw targets and results")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    targets = {
        "frequency_hz": options.frequency_hz,
        "damping_ratio": options.damping_ratio,
        "sway_deg": tuple(options.sway_deg) if options.sway_deg else None,
    }
    targets = {name: value for name, value in targets.items() if value is not None}
    if not targets:
        raise ValueError(
            "nothing to fit: give --frequency-hz, --damping-ratio or --sway-deg, "
            "e.g. --frequency-hz 0.286"
        )
    if options.save and Path(options.save).suffix != ".toml":
        raise ValueError(f"--save: expected a name ending in .toml, got {options.save!r}")
    tree, species = read_or_grow(options)
    from .. import calibrate

    result = calibrate(tree, species, **targets)
    if options.save:
        result.species.save(options.save)
    if options.plot:
        from .. import plot
        from .plot import save

        save(lambda: plot.calibration(result), options.plot)
    if options.json:
        print_json({"species": result.species, "report": str(result.report())})
        return
    print(result.report())
    if options.save:
        print(f"saved: {options.save}")
