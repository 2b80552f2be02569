"""Fit a species to measured frequencies, damping and sway of a tree.

  windgrove calibrate oak.mat --frequency-hz 0.286 --damping-ratio 0.051 \\
      --sway-deg 4 8 --save oak-site.toml
"""

from __future__ import annotations

import argparse
from typing import Any

from .common import (
    PICTURES,
    add_json,
    add_step,
    add_tree,
    check_output,
    number_list,
    print_json,
    read_or_grow,
)
from .words import translate


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
    parser.add_argument(
        "--bounds",
        action="append",
        metavar="NAME=LOW,HIGH",
        help="of a fitted parameter, e.g. trunk.beta=1e4,1e8; several times for several",
    )
    parser.add_argument(
        "--match",
        choices=("set", "realised"),
        default="set",
        help="which values meet the targets: those set, or those of the time step (default: set)",
    )
    add_step(parser, "time step that realises the values, s")
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
    check_output("--save", options.save, (".toml",))
    check_output("--plot", options.plot, PICTURES)
    more: dict[str, Any] = {"bounds": _bounds(options.bounds)} if options.bounds else {}
    tree, species = read_or_grow(options)
    from .. import calibrate

    result = calibrate(tree, species, match=options.match, dt=options.dt, **targets, **more)
    if options.save:
        result.species.save(options.save)
    if options.plot:
        from .. import plot
        from .plot import save

        save(lambda: plot.calibration(result), options.plot)
    if options.json:
        print_json({"species": result.species, "report": str(result.report())})
        return
    print(translate(str(result.report())))
    if options.save:
        print(f"saved: {options.save}")


def _bounds(words: list[str]) -> dict[str, tuple[float, float]]:
    found = {}
    for word in words:
        name, _, rest = word.partition("=")
        try:
            low, high = number_list(rest)
        except (argparse.ArgumentTypeError, ValueError):
            raise ValueError(f"--bounds: expected NAME=LOW,HIGH, got {word!r}") from None
        found[name] = (low, high)
    return found
