"""Which reader a file is for, and which of its trees is wanted."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

from .. import checks
from ..errors import TreeFormatError
from .readers import MODULES, Options, Parsed
from .readers.columns import find_roles
from .readers.source import Content, read_bytes

# What else tables of bare numbers are, by how many stand in a line.
_KNOWN_WIDTHS = {
    7: "7 numbers a line and no header, as SWC has points: columns='id type x y z radius parent' "
    "reads it",
    9: "9 numbers a line and no header: the table of QSM-blender-addons (branch, start, axis, "
    "length, radius) names no parents; the model that it was made from does",
}


def formats() -> dict[str, list[Any]]:
    """Reader modules by the name of their format."""
    package = f"{__package__}.readers."
    found: dict[str, list[Any]] = {}
    for name in MODULES:
        module = importlib.import_module(package + name)
        found.setdefault(module.NAME, []).append(module)
    return found


def open_trees(
    path: Any, format: str | None, encoding: str | None, options: Options
) -> list[Parsed]:
    """The trees or models of a file, not yet built."""
    if format is not None:
        checks.choice(format, "format", formats())
    name, raw = read_bytes(path)
    content = Content(name, raw, encoding)
    del raw
    if isinstance(options.columns, Mapping):
        content.layout.rename(options.columns)
    elif isinstance(options.columns, str):
        words = [word for word in re.split(r"[,;\s]+", options.columns) if word]
        if len(words) > 1:
            content.layout.name_columns(words)
    parsed: list[Parsed] = _choose(content, format).read(content, options)
    content.release()
    return parsed


def _choose(content: Content, format: str | None) -> Any:
    """The reader that is surest of the content; of a forced format the surest of its readers."""
    known = formats()
    candidates = known[format] if format is not None else [m for ms in known.values() for m in ms]
    best, sure, failed = None, 0, None
    for module in candidates:
        try:
            score = module.recognises(content)
        except TreeFormatError as error:  # not even text
            failed, score = error, 0
        if score > sure:
            best, sure = module, score
    if best is not None:
        return best
    if failed is not None:
        raise failed
    if format is not None:
        return candidates[0]
    raise TreeFormatError(
        content.name,
        f"is of no known format{_guess(content)}; format= forces one of {', '.join(sorted(known))}",
    )


def _guess(content: Content) -> str:
    """What the file seems to be, where that helps."""
    names = set(content.layout.names)
    if {"order", "diameter", "angle", "azimuth", "zenith"} <= names:
        return " (TreeQSM's table of branches; the cylinders are in cylinder_*.txt)"
    if content.data[:1] in (b"{", b"["):
        return " (JSON, but neither a tree of windgrove's nor an ez-tree preset)"
    if _numbers_only(content):
        known = _KNOWN_WIDTHS.get(content.layout.filled)
        if known is not None:
            return f" ({known})"
        return (
            f" ({content.layout.filled} number(s) a line and no header: TreeQSM's tables of "
            "cylinders have 14, 15 or 17, its tables of branches 8; columns= names those of others)"
        )
    if content.layout.header and content.layout.width > 1:
        shown = ", ".join(name for name in content.layout.header[:6] if name)
        return (
            f" (a table of {shown} ... without {_lacking(content.layout.header)}; columns= says "
            "what the file calls them)"
        )
    return ""


def _lacking(header: list[str]) -> str:
    """What a table of cylinders needs beside the columns of this header."""
    roles = find_roles(header)
    lacking = [] if "parent" in roles.one else ["parents"]
    if "start" not in roles.three and "point" not in roles.three:
        lacking.append("start points (start_x, start_y, start_z)")
    if not roles.places and "point" not in roles.three:
        lacking.append("end points, or axes and lengths")
    return ", ".join(lacking) or "the columns that place and link cylinders"


def _numbers_only(content: Content) -> bool:
    rows = content.layout.rows
    return bool(rows) and not content.layout.header and all(row and row[0] for row in rows)


def pick(parsed: list[Parsed], model: int | None) -> Parsed:
    """One tree of the file: the model asked for, else the first that is not empty, or the largest
    tree."""
    if model is not None:
        number = checks.integer(model, "model")
        if not -len(parsed) <= number < len(parsed):
            raise ValueError(
                f"model: the file holds {len(parsed)} tree(s) or model(s), got {number}"
            )
        return parsed[number]
    chosen = next((i for i, one in enumerate(parsed) if one.size), 0)
    if not parsed[0].alternative:
        chosen = max(range(len(parsed)), key=lambda i: (parsed[i].size, -i))
    if len(parsed) > 1:
        what = "models" if parsed[0].alternative else "trees"
        parsed[chosen].notes.noticed(
            "several-models" if parsed[0].alternative else "several-trees",
            f"the file holds {len(parsed)} {what}: number {chosen} was taken; model= picks "
            "another, read_trees reads all",
        )
    return parsed[chosen]
