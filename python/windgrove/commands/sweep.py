"""Vary beta, zeta and gamma over one tree in one wind.

A bare list holds factors on the preset's values at all levels; LEVEL=list holds values of a level:

  windgrove sweep oak.mat --beta 0.5,1,2 --zeta trunk=0.03,0.05,0.1 --store sweep/ --output t.nc
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from .common import (
    PICTURES,
    add_json,
    add_step,
    add_tree,
    add_wind,
    check_output,
    check_run,
    levelled,
    make_wind,
    print_json,
    read_or_grow,
    text_table,
)

UNITS = {"frequency": "Hz", "realised_frequency": "Hz", "sway_rms": "deg", "sway_peak": "deg"}
PARAMETERS = ("beta", "zeta", "gamma", "rho", "propagation")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_tree(parser)
    add_wind(parser, duration=30.0)
    for name in PARAMETERS:
        parser.add_argument(
            f"--{name}",
            type=levelled,
            action="append",
            metavar="[LEVEL=]LIST",
            help="numbers with commas; several times for several levels",
        )
    add_step(parser, "time step of the runs, s; what a step cannot realise is clamped")
    parser.add_argument("--store", metavar="FOLDER", help="keep finished parts there, and resume")
    parser.add_argument("--output", metavar="FILE", help="write the table: .nc or .csv")
    parser.add_argument("--plot", metavar="FILE", help="draw small multiples: .png, .pdf or .svg")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    swept = {name: _values(getattr(options, name), name) for name in PARAMETERS}
    swept = {name: values for name, values in swept.items() if values is not None}
    if not swept:
        raise ValueError("nothing to vary: give --beta, --zeta or --gamma, e.g. --beta 0.5,1,2")
    output = Path(options.output) if options.output else None
    check_output("--output", output, (".nc", ".csv"))
    check_output("--plot", options.plot, PICTURES)
    check_run(options)
    tree, species = read_or_grow(options)
    from .. import sweep

    table = sweep(
        tree,
        species,
        **swept,
        wind=make_wind(options),
        duration=options.duration,
        dt=options.dt,
        store=options.store,
        progress=not options.quiet,
    )
    _write(table, output, options.plot)
    frame = _frame(table)
    if options.json:
        print_json(frame.to_dict(orient="records"))
    else:
        angles = [name for name in frame.columns if UNITS.get(name) == "deg"]
        frame[angles] *= 180.0 / np.pi
        columns = [f"{name} ({UNITS[name]})" if name in UNITS else name for name in frame.columns]
        print(text_table(columns, frame.itertuples(index=False)))


def _values(given: list[tuple[str | None, list[float]]] | None, name: str) -> Any:
    if given is None:
        return None
    if any(level is None for level, _ in given):
        if len(given) > 1:
            raise ValueError(f"--{name}: give one list of factors, or lists for named levels")
        return given[0][1]
    named = dict(given)
    if len(named) < len(given):
        raise ValueError(f"--{name}: a level is named twice; give all its values in one list")
    return named


def _frame(table: Any) -> Any:
    """A row for each point and level; spectra do not go into rows."""
    return table.drop_dims("spectrum_frequency", errors="ignore").to_dataframe().reset_index()


def _write(table: Any, output: Path | None, picture: str | None) -> None:
    if output is not None and output.suffix == ".nc":
        table.to_netcdf(output, engine="h5netcdf")
    elif output is not None:
        _frame(table).to_csv(output, index=False)
    if picture is not None:
        from .. import plot
        from .plot import save

        save(lambda: plot.sweep(table), picture)
