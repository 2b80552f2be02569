"""Trees of our own as JSON: read back to the last bit."""

from __future__ import annotations

import json
from typing import Any

from ..cylinders import Notes, Source
from ..serial import FORMAT, VERSION, make_tree
from ..tree import Tree
from . import Options, Parsed
from .source import Content

NAME = "json"


def recognises(content: Content) -> int:
    """The format's name near the start."""
    head = content.head(2000)
    return 99 if head.lstrip().startswith("{") and f'"{FORMAT}"' in head else 0


def read(content: Content, options: Options) -> list[Parsed]:
    """The one tree of the file; its report is the one it was written with."""
    notes = Notes(content.name, strict=options.strict)
    document = parse_json(content, notes)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        notes.refuse(f"is not a {FORMAT} document")
    if document.get("version") != VERSION:
        notes.refuse(f"is of version {document.get('version')!r}; this reads {VERSION}")
    source = Source(content.name, NAME, str(VERSION))
    return [Parsed(source, notes, lambda: _tree(document, notes))]


def parse_json(content: Content, notes: Notes) -> Any:
    """The document; syntax and depth errors become refusals with the line."""
    try:
        return json.loads(content.text())
    except json.JSONDecodeError as error:
        notes.refuse(f"is broken JSON, line {error.lineno}: {error.msg}")
    except (RecursionError, ValueError) as error:
        notes.refuse(f"is not usable JSON: {error}")


def _tree(document: dict[str, Any], notes: Notes) -> Tree:
    try:
        branches = dict(document["branches"], offset=document.get("offset", [0, 0, 0]))
        segments = document.get("segments") or {}
        name = str(document.get("name", "tree"))
        return make_tree(branches, segments, document.get("report") or {}, name)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        notes.refuse(f"does not hold a tree: {error}")
        raise
