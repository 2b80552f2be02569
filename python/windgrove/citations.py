"""What to cite for what was used: BibTeX by object."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

# Class name -> keys of references.bib. By name, so that citing loads no other module.
_BY_CLASS = {
    "Wind": ("beaudoin_gpuzen4", "stam1999", "fedkiw2001", "bridson2008", "perlin2002"),
    "Sway": ("beaudoin_gpuzen4", "perlin2002"),
    "Species": ("beaudoin_gpuzen4",),
    "Calibration": ("beaudoin_gpuzen4",),
    "Sensitivity": ("saltelli2010",),
    "Drawing": ("okabe2008",),
}
_BY_FORMAT = {
    "treeqsm": ("raumonen2013",),
    "simpleforest": ("hackenberg2015",),
    "grown": ("runions2007", "shinozaki1964"),
}


def cite(*objects: Any) -> str:
    """BibTeX for windgrove and for the methods behind the objects given.

    Parameters
    ----------
    *objects : Tree, Wind, Sway, Species, Calibration, Dataset ...
        What a study used; anything else adds nothing. Without any: every entry.

    Returns
    -------
    str
        BibTeX entries, windgrove first, each once.

    Examples
    --------
    >>> print(windgrove.cite(tree, wind, sway))  # doctest: +SKIP
    """
    entries = references()
    keys: list[str] = []
    for item in objects:
        keys += _keys(item)
    wanted = list(dict.fromkeys(keys)) if objects else list(entries)
    return "\n\n".join([_own_entry(), *(entries[key] for key in wanted)]) + "\n"


def references() -> dict[str, str]:
    """Every entry of the reference list by its key."""
    text = (resources.files(__package__) / "references.bib").read_text(encoding="utf-8")
    parts = re.split(r"(?m)^(?=@)", text)
    found = {}
    for part in parts:
        match = re.match(r"@\w+\{([^,]+),", part)
        if match:
            found[match.group(1)] = part.strip()
    return found


def _keys(item: Any) -> tuple[str, ...]:
    name = type(item).__name__
    keys = _BY_CLASS.get(name, ())
    if name == "Tree":
        form = str(item.report.format).lower() or "grown"
        keys = next((v for k, v in _BY_FORMAT.items() if form.startswith(k)), ())
    if name == "Wind" and getattr(item, "advection", "") == "maccormack":
        keys += ("selle2008",)
    if name == "Dataset" and "rotation" in item:
        keys += _BY_CLASS["Sway"]
    return keys


def _own_entry() -> str:
    from . import _kernels

    return (
        "@software{windgrove,\n"
        "  author  = {{The windgrove developers}},\n"
        "  title   = {windgrove: wind-driven vegetation, from fluid wind to calibrated species},\n"
        f"  version = {{{_kernels.version}}}\n"
        "}"
    )
