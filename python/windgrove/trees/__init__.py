"""Trees: read, grown, written, described. Names load when they are first used."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Repair": ".tree",
    "Segments": ".tree",
    "Tree": ".tree",
    "TreeReport": ".tree",
    "FolderReading": ".folder",
    "describe": ".description",
    "read_folder": ".read",
    "read_tree": ".read",
    "read_trees": ".read",
    "write_tree": ".write",
    "Mtg": ".mtg",
    "read_mtg": ".mtg",
    "FieldTable": ".readers.treecm",
    "read_field_table": ".readers.treecm",
    "add_foliage": ".foliage",
    "grow_tree": ".grow",
    "branch_parameters": ".parameters",
    "merge_twigs": ".budget",
}

__all__ = [*sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'windgrove.trees' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
