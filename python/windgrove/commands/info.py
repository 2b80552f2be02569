"""What a tree file or a recording holds, and what was repaired, in about ten lines.

windgrove info ExampleQSM.mat
windgrove info windgrove-demo/oak.h5
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from .common import add_json, file_size, print_json

HDF5 = b"\x89HDF\r\n\x1a\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a tree file or a recording")
    parser.add_argument("--format", help="the tree file's format, where it is not found by itself")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    path = Path(options.file)
    if not path.exists():
        raise ValueError(f"FILE: there is no file {options.file!r}")
    facts = _recording(path) if options.format is None and _is_recording(path) else None
    if facts is None:
        facts = _tree(path, options.format)
    if options.json:
        print_json(facts)
    else:
        print("\n".join(facts.pop("text")))


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
            f"{facts['instances']} tree(s), {facts['branches']} branches",
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
        lines += [f"  {key}: {value}" for key, value in list(facts["attributes"].items())[:8]]
    facts["text"] = lines
    return facts


def _short(value: Any) -> Any:
    text = " ".join(str(value).split())
    if len(text) > 90:
        return text[:87] + "..."
    return text if isinstance(value, (str, bytes)) else value


def _tree(path: Path, format: str | None) -> dict[str, Any]:
    from .. import read_tree
    from ..trees.description import describe

    tree = read_tree(path, format=format)
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
