"""What a file holds: a tree, a folder of trees, a recording, a measured or a recorded wind.

windgrove info ExampleQSM.mat
windgrove info windgrove-demo/oak.h5
windgrove info broken.h5.part --recover saved.h5
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TreeFormatError
from .common import add_json, check_output, counted, file_size, print_json
from .reading import add_reading, reading
from .words import translate

HDF5 = b"\x89HDF\r\n\x1a\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="of a tree or a wind, a recording, a folder")
    parser.add_argument(
        "--recover", metavar="NEW.h5", help="copy what can be read of a damaged recording"
    )
    add_reading(parser, leaves=False)
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    path = Path(options.file)
    if not path.exists():
        raise ValueError(f"FILE: there is no file {options.file!r}")
    if options.recover:
        from .. import recover_recording

        check_output("--recover", options.recover, (".h5", ".hdf5", ".nc"))
        path = recover_recording(path, options.recover)
    facts = _facts(path, reading(options))
    if options.json:
        print_json(facts)
    else:
        own = argparse.ArgumentParser()
        add_arguments(own)
        print(*(translate(line, own._option_string_actions) for line in facts.pop("text")),
              sep="\n")  # fmt: skip


def _facts(path: Path, how: dict[str, Any]) -> dict[str, Any]:
    if path.is_dir():
        return _folder(path, how)
    if how.get("format") is None and _is_recording(path):
        return _recording(path)
    if _holds(path, "VTKHDF"):
        return _recorded_wind(path)
    try:
        return _tree(path, how)
    except TreeFormatError:
        wind = None if how else _measured_wind(path)
        if wind is None:
            raise
        return wind


def _folder(path: Path, how: dict[str, Any]) -> dict[str, Any]:
    from .. import read_folder

    found = read_folder(path, **how)
    trees = [{"file": t.report.path, "format": t.report.format, "branches": len(t)} for t in found]
    return {
        "file": path,
        "kind": "folder",
        "trees": trees,
        "failures": found.failures,
        "text": str(found).splitlines(),
    }


def _measured_wind(path: Path) -> dict[str, Any] | None:
    """A record of an anemometer, where the file is one."""
    from .. import RecordedWind

    try:
        report = RecordedWind.read(path).report
    except (OSError, ValueError):
        return None
    if report is None:
        return None
    u, v, w = report.mean
    return {
        "file": path,
        "kind": "measured wind",
        "report": report,
        "text": [
            f"{path}: measured wind, {file_size(path)}",
            *str(report).removeprefix(f"{report.path}: ").split("; "),
            f"columns {', '.join(name for name in report.columns if name)}; mean u, v, w "
            f"{u:.3g}, {v:.3g}, {w:.3g} m/s; fastest {report.speed_max:.3g} m/s",
            f"windgrove simulate --wind-file {path} runs a tree in it",
        ],
    }


def _holds(path: Path, name: str) -> bool:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return name in file
    except OSError:
        return False


def _recorded_wind(path: Path) -> dict[str, Any]:
    """A wind's .vtkhdf: its grids, frames and span."""
    import h5py

    with h5py.File(path, "r") as file:
        root = file["VTKHDF"]
        steps = root.get("Steps")
        times: Any = np.asarray(steps["Values"]) if steps is not None and "Values" in steps else []
        size = (
            np.asarray(root.attrs["WholeExtent"])[1::2] + 1 if "WholeExtent" in root.attrs else None
        )
    span = f"{len(times)} frames" + (
        f" from {float(times[0]):.4g} to {float(times[-1]):.4g} s" if len(times) else ""
    )
    return {
        "file": path,
        "kind": "recorded wind",
        "frames": len(times),
        "text": [
            f"{path}: a wind's grids over time (VTKHDF), {file_size(path)}",
            f"  {span}" + ("" if size is None else f", {' x '.join(map(str, size))} points"),
            "  ParaView and VTK read it; a tree's motion is in the .h5 recorded beside it",
        ],
    }


def _is_recording(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if file.read(len(HDF5)) != HDF5:
            return False
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return "time" in file and "branch" in file
    except OSError:
        return path.suffix in (".h5", ".part")


def _recording(path: Path) -> dict[str, Any]:
    from .. import open_recording

    with open_recording(path) as ds:
        time = ds["time"].to_numpy()
        channels = {
            str(name): str(array.attrs.get("units", ""))
            for name, array in ds.data_vars.items()
            if "time" in array.dims
        }
        facts: dict[str, Any] = {
            "file": path,
            "kind": "recording",
            "frames": int(ds.sizes["time"]),
            "seconds": float(time[-1] - time[0]) if len(time) else 0.0,
            "instances": int(ds.sizes.get("instance", 1)),
            "branches": int(ds.sizes.get("branch", 0)),
            "channels": channels,
            "attributes": {str(k): _short(v) for k, v in ds.attrs.items()},
        }
        lines = [
            f"{path}: recording, {file_size(path)}",
            f"  {facts['frames']} frames over {facts['seconds']:.6g} s, "
            f"{counted(facts['instances'], 'tree', 'trees')}, "
            + counted(facts["branches"], "branch", "branches"),
            "  channels: " + ", ".join(f"{n} ({u})" if u else n for n, u in channels.items()),
        ]
        if "rotation" in ds and len(time):
            from ..demo import TURNED_ROUND, sway_of_branches

            rms, peak = sway_of_branches(ds)
            facts["trunk_sway_rms_deg"] = float(np.degrees(rms[0]))
            facts["trunk_sway_peak_deg"] = float(np.degrees(peak[0]))
            lines.append(
                f"  trunk: sway {facts['trunk_sway_rms_deg']:.3g} degrees rms, "
                f"{facts['trunk_sway_peak_deg']:.3g} at most"
            )
            turned = facts["turned_round"] = int((np.degrees(peak) > TURNED_ROUND).sum())
            if turned:
                lines.append(
                    f"  {turned} branch(es) beyond {TURNED_ROUND:g} degrees, first "
                    f"{int(np.argmax(np.degrees(peak) > TURNED_ROUND))}: turned round rather than "
                    "swayed; windgrove.advise says what to change"
                )
        if "frequency" in ds:
            frequency = ds["frequency"].to_numpy()
            lines.append(
                f"  f_n set: trunk {frequency.ravel()[0]:.4g} Hz, "
                f"{np.nanmin(frequency):.3g} to {np.nanmax(frequency):.3g} Hz in all"
            )
        lines += [
            f"  {_ATTRIBUTES.get(key, key)}: {value}"
            for key, value in list(facts["attributes"].items())[:8]
        ]
    facts["text"] = lines
    return facts


# The wind and a grown tree have seeds of their own, within the texts that describe them.
_ATTRIBUTES = {"seed": "seed of the noise at the branches"}


def _short(value: Any) -> Any:
    text = " ".join(str(value).split())
    if len(text) > 90:
        return text[:87] + "..."
    return text if isinstance(value, (str, bytes)) else value


def _tree(path: Path, how: dict[str, Any]) -> dict[str, Any]:
    from .. import read_tree
    from ..trees.description import describe

    tree = read_tree(path, **how)
    counts = np.bincount(tree.kind, minlength=3)
    return {
        "file": path,
        "kind": "tree",
        "branches": len(tree),
        "trunk": int(counts[0]),
        "branch": int(counts[1]),
        "foliage": int(counts[2]),
        "height_m": tree.height,
        "report": tree.report,
        "text": describe(tree).splitlines(),
    }
