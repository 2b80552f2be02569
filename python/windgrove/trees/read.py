"""Any tree file in, a Tree out, with a report of what was found, assumed and repaired."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..species.load import load_species
from ..species.species import Species
from .assemble import Assembly, assemble
from .choose import open_trees, pick
from .combine import combine
from .folder import FolderReading, read_each
from .radii import check_radius
from .readers import Options, Parsed
from .tree import Tree

__all__ = ["FolderReading", "read_folder", "read_tree", "read_trees"]

_UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "0.1mm": 0.0001}


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
    columns: str | Mapping[str, str] | None = None,
    radius: Any = None,
    units: str | None = None,
    recentre: bool = True,
    encoding: str | None = None,
    length: float | None = None,
    foliage_options: dict[str, Any] | None = None,
    species: Species | str | os.PathLike[str] | None = None,
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
        was left, or keep all. With "all" the trees of a file with several become one `Tree`.
    foliage : "bundles", optional
        Adds leaves by rule, with `foliage_options` as further arguments of
        `windgrove.trees.foliage.add_foliage`.
    branch_budget : int, optional
        Merges short twigs until the tree has at most so many branches, foliage included. Mass,
        direct drag, leaf area and the trunk's frequency stay; what the report's repair
        ``merged-twigs`` says changes. See `windgrove.trees.merge_twigs`.
    strict : bool
        Refuse whatever would be repaired or dropped.
    model : int, optional
        Which of several models or trees of the file; the default is the first model, or the
        largest tree.
    missing_parents : "refuse" or "roots"
        What becomes of rows whose parent does not exist.
    bad_rows : "refuse" or "drop"
        What becomes of rows with numbers that no cylinder has (NaN, below 0, beyond 1e9 m).
    columns : mapping of str to str, or str, optional
        For a table with a header, the file's own names of columns that are not found by
        themselves, by the name to use: ``{"id": "Nr.", "parent": "Mutter", "radius (mm)": "R"}``.
        For one without, the names of all its columns in their order,
        ``"id type x y z radius parent"``, or one of TreeQSM's orders, "fields-15", "fields-17",
        "saved-14", "saved-15" or "saved-17".
    radius : float, "pipe" or ("pipe", float), optional
        For cylinders without a radius or with radius 0 (m): one for all, or the pipe model from
        tips of 2 mm or of the radius given.
    units : str, optional
        Unit of the file's lengths, "m", "dm", "cm", "mm" or "0.1mm", where it is not the format's
        own; "cm,mm" says lengths and diameters of a multiscale tree graph.
    recentre : bool
        Put the base of the trunk at the origin; `Tree.offset` keeps what was subtracted.
    encoding : str, optional
        Of a text file; the default is found from marks and content.
    length : float, optional
        Length of a vertex (m) for graphs that hold topology only.
    species : Species, name or path, optional
        With `branch_budget`: whose propagation the reported change of the trunk's drag is worked
        out with. Without one, propagation 1 is assumed, and said. It changes no branch.

    Returns
    -------
    Tree
        With `report`: format, counts, units, what was repaired and in which 0-based rows.

    Raises
    ------
    TreeFormatError
        The file cannot be used: it names file, row and reason.
    """
    request = _request(
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
        length=length,
        foliage_options=foliage_options,
        species=species,
    )
    parsed = _open(path, request)
    if roots == "all" and model is None and len(parsed) > 1 and not parsed[0].alternative:
        return request.finish(combine(parsed))
    return request.finish(pick(parsed, model))


def read_trees(path: Any, **options: Any) -> list[Tree]:
    """All trees or alternative models of a file, in its order.

    Takes the arguments of `read_tree` but `model`. One that cannot be used raises
    TreeFormatError, which names its number.
    """
    if "model" in options:
        raise TypeError("model: read_trees reads all models; read_tree picks one")
    request = _request(**options)
    parsed = _open(path, request)
    return [request.finish(one) for one in parsed]


def _open(path: Any, request: _Request) -> list[Parsed]:
    # What overflows becomes inf or NaN and is refused with its row; numpy need not warn as well.
    with np.errstate(all="ignore"):
        return open_trees(path, request.format, request.encoding, request.options)


def read_folder(
    path: Any, *, pattern: str = "*", recursive: bool = False, models: bool = False, **options: Any
) -> FolderReading:
    """Read every file of a folder; a bad one never stops the others.

    Parameters
    ----------
    path : path of a folder
    pattern : str, default "*"
        Which file names.
    recursive : bool
        Folders inside it too.
    models : bool
        All trees and models of each file (`read_trees`) instead of one (`read_tree`).
    **options
        As of `read_tree`.

    Returns
    -------
    FolderReading
        ``trees`` in the order of the names, ``failures`` by file, and a text that tells all.
    """
    _request(**options)
    recursive, models = checks.flag(recursive, "recursive"), checks.flag(models, "models")
    pattern = checks.word(pattern, "pattern")
    read: Callable[[Path], list[Tree]]
    if models:
        read = lambda file: read_trees(file, **options)  # noqa: E731
    else:
        read = lambda file: [read_tree(file, **options)]  # noqa: E731
    return read_each(path, pattern, recursive, read)


@dataclass(frozen=True)
class _Request:
    """What was asked for, checked."""

    format: str | None
    encoding: str | None
    options: Options
    how: Assembly
    foliage: str | None
    branch_budget: int | None
    foliage_options: dict[str, Any]
    species: Species | None

    def finish(self, parsed: Parsed) -> Tree:
        """Build one tree."""
        with np.errstate(all="ignore"):
            tree = self._built(parsed)
        # Leaves first: merging keeps their area, while longer twigs would cover more ground.
        if self.foliage is not None:
            from .foliage import add_foliage

            tree = add_foliage(tree, **self.foliage_options)
        if self.branch_budget is not None:
            from .budget import merge_twigs

            tree = merge_twigs(tree, self.branch_budget, species=self.species)
        return tree

    def _built(self, parsed: Parsed) -> Tree:
        built = parsed.build()
        if isinstance(built, Tree):
            return built
        units = self.options.units
        if units is not None and not parsed.scaled:
            built = built.scaled(units[0])
            parsed.notes.noticed("units", f"lengths times {units[0]:g}, as units= asks")
        name = Path(parsed.source.path).stem.removesuffix(".csv") or "tree"
        source = replace(parsed.source, name=name)
        return assemble(built, source, parsed.notes, self.how)


def _request(
    *,
    format: str | None = None,
    roots: str = "largest",
    foliage: str | None = None,
    branch_budget: int | None = None,
    strict: bool = False,
    missing_parents: str = "refuse",
    bad_rows: str = "refuse",
    columns: str | Mapping[str, str] | None = None,
    radius: Any = None,
    units: str | None = None,
    recentre: bool = True,
    encoding: str | None = None,
    length: float | None = None,
    foliage_options: dict[str, Any] | None = None,
    species: Species | str | os.PathLike[str] | None = None,
) -> _Request:
    checks.choice(roots, "roots", ("largest", "all"))
    checks.choice(missing_parents, "missing_parents", ("refuse", "roots"))
    checks.choice(bad_rows, "bad_rows", ("refuse", "drop"))
    strict, recentre = checks.flag(strict, "strict"), checks.flag(recentre, "recentre")
    if foliage is not None:
        checks.choice(foliage, "foliage", ("bundles",))
    if branch_budget is not None:
        checks.integer(branch_budget, "branch_budget", low=1)
    radius = check_radius(radius)
    foliage_options = checks.mapping(foliage_options, "foliage_options")
    options = Options(
        strict=strict,
        missing_parents=missing_parents,
        columns=columns,
        radius=radius,
        units=_check_units(units),
        length=None if length is None else checks.number(length, "length", above=0),
    )
    how = Assembly(roots=roots, bad_rows=bad_rows, recentre=recentre, radius=radius)
    return _Request(
        format,
        encoding,
        options,
        how,
        foliage,
        branch_budget,
        foliage_options,
        None if species is None else load_species(species),
    )


def _check_units(units: str | None) -> tuple[float, float] | None:
    if units is None:
        return None
    parts = [part.strip() for part in str(units).split(",")]
    if len(parts) > 2 or any(part not in _UNITS for part in parts):
        raise ValueError(f"units: expected m, dm, cm, mm or 0.1mm, or two of them, got {units!r}")
    return _UNITS[parts[0]], _UNITS[parts[-1]]
