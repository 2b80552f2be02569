"""What several commands share: a tree, a species, a wind, tables and JSON."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .reading import add_reading, read_file

if TYPE_CHECKING:
    from ..demo import LevelRow
    from ..species.species import Species
    from ..trees.tree import Tree

DEFAULT_WIND = 6.0  # m/s
FASTEST = 113.0  # m/s: Barrow Island 1996, the record of the World Meteorological Organization
LONGEST_STEP = 0.5  # s: a trunk of 0.3 Hz has seven such frames a swing
PICTURES = (".png", ".pdf", ".svg")


def add_tree(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """TREE_FILE or a grown tree, and its species."""
    parser.add_argument(
        "tree",
        metavar="TREE_FILE",
        nargs=None if required else "?",
        help="a tree file of any known format" + ("" if required else "; without it one is grown"),
    )
    parser.add_argument(
        "--species", default="oak", help="a shipped name or a .toml file (default: oak)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the wind, and of a grown tree (default: 1)"
    )
    parser.add_argument("--height", type=float, metavar="M", help="of a grown tree, m")
    add_reading(parser)


def read_or_grow(options: argparse.Namespace, *, remarks: bool = True) -> tuple[Tree, Species]:
    """The tree and the species that the options name."""
    from .. import grow_tree, load_species
    from ..species import species_names
    from ..species.inspect import unit_remarks

    species = load_species(options.species)
    if remarks and options.species not in species_names():
        for remark in unit_remarks(species):
            print(f"remark: {options.species}: {remark}", file=sys.stderr)
    if options.tree is None:
        size = {} if options.height is None else {"height": options.height}
        grown = grow_tree(species, seed=options.seed, foliage=not options.no_leaves, **size)
        return grown, species
    if options.height is not None:
        raise ValueError("--height: is of a grown tree; leave out TREE_FILE or --height")
    return read_file(options.tree, species, options), species


def add_wind(parser: argparse.ArgumentParser, *, duration: float) -> None:
    """The wind's strength, kind and length."""
    parser.add_argument(
        "--wind", type=speed, metavar="M_S", help="mean wind along x, m/s (default: 6)"
    )
    parser.add_argument(
        "--wind-kind",
        choices=("nested", "uniform"),
        help="nested: the fluid grids; uniform: the same everywhere and always (default: nested)",
    )
    parser.add_argument(
        "--wind-file", metavar="FILE", help="a recorded wind (CSV of an anemometer) instead of both"
    )
    parser.add_argument(
        "--wind-end",
        choices=("refuse", "hold", "repeat"),
        help="after the last sample of --wind-file (default: refuse)",
    )
    parser.add_argument(
        "--wind-rate", type=float, metavar="HZ", help="of a --wind-file without a clock, Hz"
    )
    parser.add_argument("--wind-clock", metavar="HEADER", help="column of the time in --wind-file")
    parser.add_argument(
        "--wind-columns", metavar="U,V,W", help="columns of the components in --wind-file"
    )
    parser.add_argument(
        "--duration",
        type=seconds,
        default=duration,
        metavar="S",
        help=f"length of the run, s (default: {duration:g})",
    )


def make_wind(options: argparse.Namespace) -> Any:
    """The wind that the options describe."""
    from .. import RecordedWind, UniformWind, Wind

    of_file = {
        name: value
        for name in ("end", "rate", "clock", "columns")
        if (value := getattr(options, f"wind_{name}")) is not None
    }
    if options.wind_file:
        for name in ("wind", "wind_kind"):
            if getattr(options, name) is not None:
                flag = "--" + name.replace("_", "-")
                raise ValueError(f"{flag}: --wind-file has its own wind; give one of the two")
        if "columns" in of_file:
            of_file["columns"] = [name.strip() for name in of_file["columns"].split(",")]
        wind = RecordedWind.read(options.wind_file, **of_file)
        if wind.end == "refuse" and options.duration > wind.duration + 1 / wind.rate:
            raise ValueError(
                f"--duration: the record of wind spans {wind.duration:g} s and {options.duration:g}"
                " s were asked; give --wind-end repeat or --wind-end hold, or a shorter --duration"
            )
        return wind
    for name in of_file:
        raise ValueError(f"--wind-{name}: goes with --wind-file, and there is none")
    mean = (DEFAULT_WIND if options.wind is None else options.wind, 0.0, 0.0)
    return UniformWind(mean) if options.wind_kind == "uniform" else Wind(mean, seed=options.seed)


def add_step(parser: argparse.ArgumentParser, what: str) -> None:
    """The option ``--dt``; `what` the step is, for its help."""
    parser.add_argument(
        "--dt", type=time_step, default=1 / 30, metavar="S", help=f"{what} (default: 1/30)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``: for scripts."""
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def print_json(value: Any) -> None:
    """Strict JSON on stdout: NaN and infinities become null."""
    json.dump(plain(value), sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def plain(value: Any) -> Any:
    """NumPy, paths and dataclasses as what JSON knows."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def text_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns lined up: words to the left, numbers to the right."""
    cells = [[_cell(item) for item in row] for row in rows]
    widths = [
        max(len(str(column[i])) for column in [list(header), *cells]) for i in range(len(header))
    ]
    right = [bool(cells) and all(_numeric(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            text.rjust(width) if side else text.ljust(width)
            for text, width, side in zip(row, widths, right, strict=True)
        ).rstrip()

    return "\n".join([line(list(header)), line(["-" * w for w in widths]), *map(line, cells)])


def peak_cell(row: LevelRow) -> str:
    """The greatest angle of a level, marked where it is no measure of a sway."""
    return _cell(row.sway_peak_deg) + ("*" if row.turned_round else "")


def _of(count: int, row: LevelRow) -> str:
    """``3 of 232 branches``, ``1 of 1 trunk``, ``5 of 291 leaf bundles``."""
    one, more = _LEVEL_WORDS[row.level]
    return f"{count} of {row.branches} {one if row.branches == 1 else more}"


_LEVEL_WORDS = {
    "trunk": ("trunk", "trunks"),
    "branch": ("branch", "branches"),
    "foliage": ("leaf bundle", "leaf bundles"),
}


def counted(count: int, one: str, more: str) -> str:
    """``1 branch``, ``2 branches``."""
    return f"{count} {one if count == 1 else more}"


def peak_notes(rows: Iterable[LevelRow]) -> list[str]:
    """The lines below a table with marked peaks, or with branches beyond 60 degrees."""
    from ..analysis.motion import TURNED
    from ..demo import TURNED_ROUND

    rows = list(rows)
    turned = [_of(row.turned_round, row) for row in rows if row.turned_round]
    thrown = [_of(row.thrown, row) for row in rows if row.thrown]
    notes = []
    if turned:
        notes.append(
            f"* above {TURNED_ROUND:g} degrees, in {', '.join(turned)}: turned round rather than "
            "swayed (angles end at 180); windgrove.advise says what to change"
        )
    if thrown:
        notes.append(f"beyond {TURNED:g} degrees at some time: {', '.join(thrown)}")
    return notes


def thrown_advice(
    tree: Tree, species: Species, rows: Iterable[LevelRow], speed: float, dt: float
) -> list[str]:
    """Why branches passed 60 degrees, and what keeps them there, tried out on this very tree."""
    from .. import advise

    if not any(row.thrown for row in rows) or not speed > 0:
        return []
    report = advise(tree, species, wind_speed=speed, dt=dt)
    return [str(item) for item in report if item.topic == "thrown"]


def _cell(item: Any) -> str:
    if isinstance(item, float):
        return "-" if math.isnan(item) else f"{item:.3g}"
    return str(item)


def _numeric(text: str) -> bool:
    return text == "-" or text[:1].isdigit() or text[:2] in {f"-{d}" for d in range(10)}


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a finite number, got {text!r}")
    return value


def speed(text: str) -> float:
    """A mean wind in m/s that a wind near the ground can have."""
    value = _number(text)
    if abs(value) > FASTEST:
        raise argparse.ArgumentTypeError(
            f"expected m/s, at most {FASTEST:g} (the fastest gust measured near the ground), "
            f"got {value:g}"
        )
    return value


def seconds(text: str) -> float:
    """The length of a run."""
    value = _number(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {value:g}")
    return value


def time_step(text: str) -> float:
    """The time of a frame: above half a second no sway of a tree is left."""
    value = _number(text)
    if not 0 < value <= LONGEST_STEP:
        hint = f"; {value:g} ms are {value / 1000:g}" if value >= 1 else ""
        raise argparse.ArgumentTypeError(
            f"expected seconds above 0 and at most {LONGEST_STEP:g}, got {value:g}{hint}"
        )
    return value


def check_run(options: argparse.Namespace) -> None:
    """A run of no frame would replace a recording by its first pose."""
    if options.duration < options.dt / 2:
        raise ValueError(
            f"--duration: {options.duration:g} s are less than a frame of {options.dt:g} s (--dt)"
        )


def check_output(flag: str, path: str | Path | None, suffixes: Sequence[str]) -> None:
    """Refuse a file to write, before any work, where its folder or its kind is wrong."""
    if path is None:
        return
    path = Path(path)
    if path.suffix not in suffixes:
        known = ", ".join(suffixes[:-1]) + " or " + suffixes[-1] if suffixes[1:] else suffixes[0]
        raise ValueError(f"{flag}: expected a name ending in {known}, got {path.name!r}")
    if not path.parent.is_dir():
        raise ValueError(f"{flag}: there is no folder {str(path.parent)!r}")


def number_list(text: str) -> list[float]:
    """``0.5,1,2`` as numbers."""
    try:
        values = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers like 0.5,1,2, got {text!r}") from None
    if not values:
        raise argparse.ArgumentTypeError("expected at least one number")
    return values


def levelled(text: str) -> tuple[str | None, list[float]]:
    """``0.5,1,2`` or ``trunk=1e5,2e5``: a level's absolute values have its name before them."""
    name, sign, rest = text.partition("=")
    return (name.strip(), number_list(rest)) if sign else (None, number_list(text))


def file_size(path: Path) -> str:
    """``12.3 MB``."""
    size = float(path.stat().st_size)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def writable_folder(path: str | Path) -> Path:
    """The folder, made if it is not there; an error that names it before any work is done."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".windgrove-can-write"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ValueError(f"--output: cannot write into {str(folder)!r}: {error.strerror}") from None
    return folder
