"""Hints for Python said in the words of the command line.

Errors and remarks of the package name the argument that helps, ``bad_rows='drop'``. A command that
prints one says ``--bad-rows drop`` instead: `FLAGS` is the one place where the two meet.
"""

from __future__ import annotations

import re
from collections.abc import Collection

FLAGS = {
    "bad_rows": "--bad-rows",
    "beta": "--beta",
    "bounds": "--bounds",
    "branch": "--branch",
    "clamp": "--clamp",
    "clock": "--wind-clock",
    "colour": "--colour",
    "columns": "--columns",
    "dt": "--dt",
    "drag_law": "--drag-law",
    "ds": "--recording",
    "duration": "--duration",
    "end": "--wind-end",
    "format": "--format",
    "frame": "--frame",
    "frequency_hz": "--frequency-hz",
    "gamma": "--gamma",
    "height": "--height",
    "length": "--length",
    "level": "--level",
    "match": "--match",
    "missing_parents": "--missing-parents",
    "model": "--model",
    "output": "--output",
    "radius": "--radius",
    "rate": "--wind-rate",
    "record": "--record",
    "roots": "--roots",
    "seed": "--seed",
    "species": "--species",
    "substeps": "--substeps",
    "store": "--store",
    "units": "--units",
    "zeta": "--zeta",
}
# Where a hint names more than one argument, or a function: its words, and what to say instead.
PHRASES = {
    'channels=("rotation", "wind")': "windgrove simulate --channels rotation,wind",
    'channels=("rotation",)': "windgrove simulate --channels rotation",
    'columns={"id": "its name"}': '--columns id="its name"',
    "name three with columns=": "name three with --wind-columns",
    "exists and overwrite=False": "exists, and --keep was given",
    "add it with foliage='bundles'": "leave out --no-leaves",
    "use a shorter dt, substeps, or match='set'": "use a shorter --dt, or --match set",
    "use match='set' or a shorter dt": "use --match set or a shorter --dt",
    "Sway(inertia=False)": "--no-inertia",
    "add_foliage(tree, leaf_area=...)": "only from Python, windgrove.trees.foliage.add_foliage",
    "; windgrove.trees.read_mtg reads the graph": "",
    "picks another, read_trees reads all": "picks another",
    "values, or design='sobol' with a number of samples": "values",
    "read_folder reads all of it": "windgrove info FOLDER reads all of it",
    "unpack it; read_folder reads all": "unpack it; windgrove info FOLDER reads all",
    "windgrove.recover_recording saves": "windgrove info FILE --recover NEW.h5 saves",
}
_CALLS = (
    (re.compile(r"Sway\((\w+=[^()]*)\)"), r"\1"),
    (
        re.compile(r"windgrove\.advise\(tree, species, wind_speed=([^()]*)\)"),
        r"windgrove simulate --wind \1",
    ),
)
_HINT = re.compile(
    r"(?<![\w.\-])(?P<name>[a-z_]+)=(?!=)(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<plain>-?\d[\d.]*\d|\d))?"
)
_ARGUMENT = re.compile(r"^(?P<name>[a-z_]+): ")


def translate(text: str, options: Collection[str] | None = None, *, refusal: bool = False) -> str:
    """`text` with Python's arguments as options; only those in `options`, if given.

    A refusal begins with the argument that it refuses, ``dt: expected ...``.
    """

    def there(name: str) -> bool:
        return name in FLAGS and (options is None or FLAGS[name] in options)

    def flag(found: re.Match[str]) -> str:
        name = found["name"]
        if not there(name):
            return found[0]
        value = next(
            (found[k] for k in ("single", "double", "plain") if found[k] is not None), None
        )
        return FLAGS[name] + (f" {value}" if value is not None else "")

    for words, instead in PHRASES.items():
        text = text.replace(words, instead)
    for call, said in _CALLS:
        text = call.sub(said, text)
    text = _HINT.sub(flag, text)
    first = _ARGUMENT.match(text) if refusal else None
    if first and there(first["name"]):
        text = FLAGS[first["name"]] + text[len(first["name"]) :]
    return text
