"""TreeQSM models in MATLAB files: 2.0 flat, 2.3 and 2.4 structs, arrays of models, v5 to v7.3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..cylinders import Notes, Source
from . import Options, Parsed
from .layout import plain_name
from .matlab import MatlabError, load_level5
from .matlab_hdf5 import load_hdf5
from .source import Content
from .treeqsm_columns import cylinders_from, matrix

NAME = "treeqsm"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_FLAT = {"Rad": "radius", "Len": "length", "Sta": "start", "Axe": "axis", "CPar": "parent"}
_NEEDED = ("radius", "length", "start", "axis", "parent")
_COLUMNS = (*_NEEDED, "extension", "branch", "BranchOrder", "PositionInBranch", "SurfCov")
_DEPTH = 4


def recognises(content: Content) -> int:
    """MATLAB's header text, or an HDF5 file behind a MATLAB user block."""
    raw = content.raw
    if raw.startswith(b"MATLAB 5.0") or raw[126:128] in (b"IM", b"MI"):
        return 95
    if raw.startswith(b"MATLAB 7.3") and raw[512:520] == _HDF5:
        return 95
    return 0


def read(content: Content, options: Options) -> list[Parsed]:
    """All models of the file, in the file's order."""
    notes = Notes(content.name, strict=options.strict)
    variables = _load(content, notes)
    models = list(_models(variables))
    if not models:
        names = ", ".join(sorted(variables)[:8]) or "nothing"
        empty = [name for name, value in variables.items() if isinstance(value, list) and not value]
        if empty:
            notes.refuse(
                f"its {empty[0]} holds no model: an empty struct array, as failed runs leave"
            )
        objects = [name for name, value in variables.items() if value is None and name]
        if objects:
            notes.refuse(
                f"holds objects of MATLAB classes ({', '.join(objects[:5])}), which MATLAB alone "
                "reads: table2struct(T, 'ToScalar', true) makes a struct of a table"
            )
        notes.refuse(
            "holds no TreeQSM model: no struct with cylinder.radius, length, start, axis and "
            f"parent, and no flat Rad, Len, Sta, Axe, CPar; it holds {names}"
        )
    trees = {_tree_of(model) for _, model in models}
    same = len(trees) < len(models)
    parsed = []
    for number, (name, model) in enumerate(models):
        own = notes.copy()
        own.path = content.name if len(models) == 1 else f"{content.name} (model {number})"
        one = _parsed(content.name, name, model, own, options, len(models))
        parsed.append(replace(one, alternative=same))
    return parsed


def _load(content: Content, notes: Notes) -> dict[str, Any]:
    if _HDF5 in content.raw[:2056]:
        return load_hdf5(content, notes)
    try:
        return load_level5(content.raw)
    except (MatlabError, ValueError, TypeError, OverflowError, IndexError) as error:
        notes.refuse(f"is a broken MATLAB file: {error}")
        raise


def _models(variables: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, model) for each model: a dict with `cylinder` columns and what else there is."""
    if set(variables) >= set(_FLAT):
        yield "flat", _from_flat(variables)
        return
    columns = _cylinder(variables)
    if columns is not None:
        yield "columns", {"cylinder": columns}
        return
    for name in sorted(variables):
        yield from ((name, model) for model in _structs(variables[name], _DEPTH))


def _from_flat(variables: dict[str, Any]) -> dict[str, Any]:
    """A model from the variables of TreeQSM 2.0, or a struct of them."""
    cylinder = {ours: variables[theirs] for theirs, ours in _FLAT.items()}
    runs = matrix(variables.get("BoC"))
    if runs.ndim == 2 and runs.shape[1:] == (3,):
        cylinder["branch"], cylinder["BranchOrder"] = runs[:, 0], runs[:, 1]
    if "CExt" in variables:
        cylinder["extension"] = variables["CExt"]
    return {"cylinder": cylinder}


def _structs(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Every struct that holds a cylinder struct, in structs, struct arrays and cells."""
    if not isinstance(value, (list, tuple)) or depth < 0:
        return
    for item in value:
        if not isinstance(item, dict):
            yield from _structs(item, depth - 1)
        elif (own := _cylinder(item)) is not None:
            yield {"cylinder": own}
        elif set(item) >= set(_FLAT):
            yield _from_flat(item)
        elif (inside := _cylinder(_first(item.get("cylinder")))) is not None:
            yield {**item, "cylinder": inside}
        else:
            for inner in item.values():
                yield from _structs(inner, depth - 1)


def _first(value: Any) -> dict[str, Any]:
    """The first struct of an array of them, an empty one where there is none."""
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}


def _cylinder(fields: dict[str, Any]) -> dict[str, Any] | None:
    """The columns of a model, also under names of other case and with a column a coordinate, as
    tables that were turned into structs have them; None for anything else."""
    if all(name in fields for name in _NEEDED):
        return fields
    plain = {plain_name(str(name)): value for name, value in fields.items()}
    found = {ours: plain[plain_name(ours)] for ours in _COLUMNS if plain_name(ours) in plain}
    for name in ("start", "axis"):
        parts = [matrix(plain.get(name + letter)).ravel() for letter in "xyz"]
        if name not in found and len(parts[0]) and len({len(part) for part in parts}) == 1:
            found[name] = np.column_stack(parts)
    return found if all(name in found for name in _NEEDED) else None


def _tree_of(model: dict[str, Any]) -> Any:
    """Which tree a model is of, as its run was told: name and number; None where it says nothing.

    Optimal models of several trees come in one array, as alternative models of one tree do.
    """
    inputs = _first(_first(model.get("rundata")).get("inputs"))
    said = [np.ravel(inputs.get(name, "")) for name in ("name", "tree")]
    key = tuple(str(value[0]) for value in said if len(value))
    return key or None


def _parsed(
    path: str, name: str, model: dict[str, Any], notes: Notes, options: Options, count: int
) -> Parsed:
    flat = name == "flat"
    attributes = _scalars(_first(model.get("treedata")))
    version = "2.0 flat" if flat else f"{_version(model)} struct"
    if count > 1:
        version += f", {count} models"
    source = Source(
        path, NAME, version, "m; treedata volumes in litres", "fitted", attributes=attributes
    )
    cylinder = model["cylinder"]
    size = int(np.size(cylinder["radius"]))
    return Parsed(source, notes, lambda: cylinders_from(cylinder, notes, options), size)


def _version(model: dict[str, Any]) -> str:
    """What rundata says; before 2.4 it says nothing and SurfCov does not exist."""
    said = np.ravel(_first(model.get("rundata")).get("version", ""))
    if len(said) and isinstance(said[0], str) and said[0].strip():
        return str(said[0]).strip()[:20]
    return "2.4" if "SurfCov" in model["cylinder"] else "2.3"


def _scalars(fields: dict[str, Any]) -> dict[str, float]:
    found = {}
    for name, value in fields.items():
        if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "fiu":
            found[name] = float(value.ravel()[0])
    return found
