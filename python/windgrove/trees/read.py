"""Any tree file in, a Tree out, with a report of what was found, assumed and repaired."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import checks
from ..errors import TreeFormatError
from .assemble import Assembly, assemble
from .readers import MODULES, Options, Parsed
from .readers.source import Content, read_bytes
from .tree import Tree

__all__ = ["read_tree", "read_trees"]


def _formats() -> dict[str, Any]:
    package = __package__ + ".readers."
    modules = [importlib.import_module(package + name) for name in MODULES]
    found: dict[str, list[Any]] = {}
    for module in modules:
        found.setdefault(module.NAME, []).append(module)
    return found


def _choose(content: Content, format: str | None) -> Any:
    formats = _formats()
    if format is not None:
        checks.choice(format, "format", formats)
    candidates = [m for name, ms in formats.items() if format in (None, name) for m in ms]
    scored = []
    for module in candidates:
        try:
            scored.append((module.recognises(content), module))
        except TreeFormatError as error:
            failed = error
    best = max(scored, key=lambda pair: pair[0], default=(0, None))
    if best[0] > 0:
        return best[1]
    if format is not None and scored:
        return scored[0][1]
    if not scored:
        raise failed
    raise TreeFormatError(
        content.name,
        "is of no known format; format= forces one of " + ", ".join(sorted(formats)),
    )


def _parse(path: Any, format: str | None, encoding: str | None, options: Options) -> list[Parsed]:
    name, raw = read_bytes(path)
    content = Content(name, raw, encoding)
    return _choose(content, format).read(content, options)


def _pick(parsed: list[Parsed], model: int | None) -> Parsed:
    """One tree of the file: the model asked for, else the first model or the largest tree."""
    if model is not None:
        number = checks.integer(model, "model")
        if not -len(parsed) <= number < len(parsed):
            raise ValueError(
                f"model: the file holds {len(parsed)} tree(s) or model(s), got {number}"
            )
        return parsed[number]
    if parsed[0].alternative or len(parsed) == 1:
        chosen = 0
    else:
        chosen = max(range(len(parsed)), key=lambda i: (parsed[i].size, -i))
    if len(parsed) > 1:
        what = "models of one tree" if parsed[0].alternative else "trees"
        parsed[chosen].notes.noticed(
            "several-models" if parsed[0].alternative else "several-trees",
            f"the file holds {len(parsed)} {what}: number {chosen} was taken; model= picks "
            "another, read_trees reads all",
        )
    return parsed[chosen]


def _finish(
    parsed: Parsed,
    how: Assembly,
    foliage: str | None,
    branch_budget: int | None,
    foliage_options: dict[str, Any] | None,
) -> Tree:
    built = parsed.build()
    tree = built
    if not isinstance(built, Tree):
        tree = assemble(built, parsed.source, parsed.notes, how)
    assert isinstance(tree, Tree)
    if tree.name == "tree" and tree.report.path:
        tree = tree.replace(name=Path(tree.report.path).stem)
    if branch_budget is not None:
        from .budget import merge_twigs

        tree = merge_twigs(tree, branch_budget)
    if foliage is not None:
        from .foliage import add_foliage

        tree = add_foliage(tree, **(foliage_options or {}))
    return tree


def read_tree(
    path: Any,
    *,
    format: str | None = None,
    roots: str = "largest",
    foliage: str | None = None,
    branch_budget: int | None = None,
    strict: bool = False,
    model: int | None = None,
    missing_parents: str = "refuse",
    bad_rows: str = "refuse",
    columns: str | None = None,
    radius: Any = None,
    units: str | None = None,
    recentre: bool = True,
    encoding: str | None = None,
    foliage_options: dict[str, Any] | None = None,
) -> Tree:
    """Read one tree; the format is found from the content.

    Parameters
    ----------
    path : path or open binary file
        gzip is unpacked on the way.
    format : str, optional
        Forces a reader, e.g. "treeqsm" or "simpleforest".
    roots : "largest" or "all"
        Where a file holds several components: keep the one with the most cylinders and say what
        was left, or keep all.
    foliage : "bundles", optional
        Adds leaves by rule, with `foliage_options` as further arguments of
        `windgrove.trees.foliage.add_foliage`.
    branch_budget : int, optional
        Merges short twigs until the tree has at most so many branches.
    strict : bool
        Refuse whatever would be repaired or dropped.
    model : int, optional
        Which of several models or trees of the file; the default is the first model, or the
        largest tree.
    missing_parents : "refuse" or "roots"
        What becomes of rows whose parent does not exist.
    bad_rows : "refuse" or "drop"
        What becomes of rows with numbers that no cylinder has (NaN, below 0, beyond 1e9 m).
    columns : str, optional
        Order of the columns of a table without a header; see ``docs/concepts/trees-in.md``.
    radius : float or "pipe", optional
        For files without radii (m): one for all, or the pipe model from the tips.
    units : "m", "cm" or "mm", optional
        Unit of the file's lengths where it is not the format's own.
    recentre : bool
        Put the base of the trunk at the origin; `Tree.offset` keeps what was subtracted.
    encoding : str, optional
        Of a text file; the default is found from marks and content.

    Returns
    -------
    Tree
        With `report`: format, counts, units, what was repaired and in which 0-based rows.

    Raises
    ------
    TreeFormatError
        The file cannot be used: it names file, row and reason.
    """
    parsed, finish = _prepare(
        path,
        format=format,
        roots=roots,
        foliage=foliage,
        branch_budget=branch_budget,
        strict=strict,
        missing_parents=missing_parents,
        bad_rows=bad_rows,
        columns=columns,
        radius=radius,
        units=units,
        recentre=recentre,
        encoding=encoding,
        foliage_options=foliage_options,
    )
    return finish(_pick(parsed, model))


def read_trees(path: Any, **options: Any) -> list[Tree]:
    """All trees or alternative models of a file, in its order.

    Takes the arguments of `read_tree` but `model`. One that cannot be used raises
    TreeFormatError, which names its number.
    """
    parsed, finish = _prepare(path, **options)
    return [finish(one) for one in parsed]


def _prepare(
    path: Any,
    *,
    format: str | None = None,
    roots: str = "largest",
    foliage: str | None = None,
    branch_budget: int | None = None,
    strict: bool = False,
    missing_parents: str = "refuse",
    bad_rows: str = "refuse",
    columns: str | None = None,
    radius: Any = None,
    units: str | None = None,
    recentre: bool = True,
    encoding: str | None = None,
    foliage_options: dict[str, Any] | None = None,
) -> tuple[list[Parsed], Callable[[Parsed], Tree]]:
    """The trees of a file, not yet built, and the function that builds one."""
    checks.choice(roots, "roots", ("largest", "all"))
    checks.choice(missing_parents, "missing_parents", ("refuse", "roots"))
    checks.choice(bad_rows, "bad_rows", ("refuse", "drop"))
    if foliage is not None:
        checks.choice(foliage, "foliage", ("bundles",))
    if branch_budget is not None:
        checks.integer(branch_budget, "branch_budget", low=1)
    how = Assembly(roots=roots, bad_rows=bad_rows, recentre=recentre)
    options = Options(
        strict=strict, missing_parents=missing_parents, columns=columns, radius=radius, units=units
    )
    parsed = _parse(path, format, encoding, options)
    return parsed, lambda one: _finish(one, how, foliage, branch_budget, foliage_options)
