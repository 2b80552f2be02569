"""Spring parameters of instances: by species, or the caller's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..species.species import Species
from ..trees.parameters import branch_parameters
from ..trees.tree import Tree
from .group import PARAMETER_NAMES


def parameters_of(tree: Tree, kinds: Iterable[Species]) -> dict[str, NDArray[np.float64]]:
    """(1, n) where all are the same species, else (m, n)."""
    kinds = list(kinds)
    if all(kind is kinds[0] for kind in kinds):
        kinds = kinds[:1]
    made = {id(kind): branch_parameters(tree, kind) for kind in kinds}
    return {
        name: np.stack([getattr(made[id(kind)], name) for kind in kinds])
        for name in PARAMETER_NAMES
    }


def own_parameters(given: Any, trees: list[Tree]) -> dict[str, NDArray[np.float64]] | None:
    """What a caller gives in place of the species: (1 or m, n) each, checked."""
    if given is None:
        return None
    if len({id(tree) for tree in trees}) != 1:
        raise ValueError("parameters: only with a single tree")
    n = len(trees[0])
    read = {}
    for name in ("mass", "stiffness", "damping", "drag"):
        try:
            value = given[name] if hasattr(given, "keys") else getattr(given, name)
        except (KeyError, AttributeError):
            raise ValueError(f"parameters: misses {name}") from None
        values = checks.array(value, f"parameters.{name}", dtype=np.float64, finite=True)
        values = np.atleast_2d(values)
        if values.shape[1:] != (n,):
            raise ValueError(f"parameters.{name}: expected shape ({n},) or (m, {n})")
        low = values.min()
        if low < 0 or (name == "mass" and low == 0):
            raise ValueError(f"parameters.{name}: expected numbers above 0, got {low:g}")
        read[name] = values
    shape = np.broadcast_shapes(*(v.shape for v in read.values()))
    read = {name: np.ascontiguousarray(np.broadcast_to(v, shape)) for name, v in read.items()}
    root = np.sqrt(read["stiffness"] * read["mass"])
    read["frequency"] = np.sqrt(read["stiffness"] / read["mass"]) / (2 * np.pi)
    read["damping_ratio"] = np.divide(
        read["damping"], 2 * root, out=np.zeros_like(root), where=root > 0
    )
    return read
