"""Trees without a file: grown from a species' form and a seed."""

from __future__ import annotations

import math
import os
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..species.growth import Growth
from ..species.load import load_species
from ..species.species import Species
from .foliage import add_foliage, crown_ground_area, extended, set_leaf_fraction
from .growing.habits import frond_sides, grow_skeleton
from .growing.skeleton import (
    BREAST_HEIGHT,
    Skeleton,
    chains_by_thickness,
    pipe_areas,
    tree_from_skeleton,
)
from .tree import Tree


def grow_tree(
    species: str | os.PathLike[str] | Species = "oak",
    seed: int = 0,
    *,
    height: float | None = None,
    dbh: float | None = None,
    foliage: bool = True,
    leaf_fraction: float = 1.0,
) -> Tree:
    """Grow a tree of a species.

    Parameters
    ----------
    species : str, path or Species, default "oak"
        Anything `load_species` takes; its `growth` says the form. Or the ``.json`` file of an
        ez-tree preset, which a generator of our own grows from the same parameters.
    seed : int, default 0
        The same seed grows the same tree, on every machine. For a preset 0 keeps its own seed.
    height : float, optional
        Height of the wood, m; the species' typical one by default.
    dbh : float, optional
        Diameter of the stem at 1.3 m, m (of a shrub: of the thickest stem at its foot); not for a
        preset. By default the species' typical one times (height / typical height)^1.5, elastic
        similarity.
    foliage : bool, default True
        With leaves, by rule: see `windgrove.trees.foliage.add_foliage`.
    leaf_fraction : float, default 1.0
        The season, from 0 (bare) to 1 (full leaf).

    Returns
    -------
    Tree
        Its `segments` hold the cylinders of the wood, for drawing.

    Raises
    ------
    ValueError
        The species is not known or has no `growth`, or a size is out of range.

    Notes
    -----
    Broadleaves and shrubs grow by space colonisation (Runions et al. 2007), excurrent conifers by
    whorls, palms by fronds; radii follow the pipe model (Shinozaki et al. 1964). Equations and
    limits: docs/concepts/growing.md. Takes a tenth of a second.

    Examples
    --------
    >>> grow_tree("oak", seed=7).height > 15
    True
    """
    seed = checks.integer(seed, "seed", low=0, high=2**64 - 1)
    leaf_fraction = checks.number(leaf_fraction, "leaf_fraction", low=0, high=1)
    foliage = checks.flag(foliage, "foliage")
    if isinstance(species, (str, os.PathLike)) and os.fspath(species).endswith(".json"):
        if dbh is not None:
            raise ValueError("dbh: an ez-tree preset has its own radii")
        from .grow_preset import grow_preset_file

        return grow_preset_file(
            species, seed, height=height, foliage=foliage, leaf_fraction=leaf_fraction
        )
    species = load_species(species)
    growth = species.growth
    if growth is None:
        raise ValueError(f"species: {species.name!r} has no [growth] table, so it cannot be grown")
    if height is None:
        height = growth.height
    height = checks.number(height, "height", low=0.3, high=150)
    if dbh is None:
        ratio = height / growth.height
        dbh = growth.dbh * ratio * float(np.sqrt(ratio))
    dbh = checks.number(dbh, "dbh", low=1e-3, high=15)
    skeleton = grow_skeleton(growth, height, seed)
    tree = _wood(skeleton, growth, dbh, f"{species.name} {seed}")
    tree = tree.replace(report=replace(tree.report, attributes={"height": height, "dbh": dbh}))
    if not foliage or leaf_fraction == 0:
        return tree
    if growth.habit == "palm":
        tree = _with_leaflets(tree, species.leaf_area_index)
    else:
        # Cross-sections of grown twigs follow the lengths of shoots already, and the presets are
        # calibrated on one bundle a twig.
        tree = add_foliage(
            tree, leaf_area_index=species.leaf_area_index, share="length", largest=math.inf
        )
    return set_leaf_fraction(tree, leaf_fraction)


def _wood(skeleton: Skeleton, growth: Growth, dbh: float, name: str) -> Tree:
    if skeleton.radius is None:
        area = pipe_areas(skeleton, growth.shoot_share)
        if skeleton.chain is None:
            skeleton.chain = chains_by_thickness(skeleton.parent, area)
        radius = np.sqrt(area)
    else:
        radius = skeleton.radius
    radius = radius * (0.5 * dbh / _radius_at_breast(skeleton, radius, growth))
    tree = tree_from_skeleton(skeleton, radius, name=name, format="grown")
    return tree.replace(report=replace(tree.report, version=growth.habit))


def _radius_at_breast(skeleton: Skeleton, radius: NDArray[np.float64], growth: Growth) -> float:
    """Radius of the first stem where `dbh` is measured."""
    assert skeleton.chain is not None
    if growth.habit == "shrub":
        return float(radius[skeleton.parent >= 0].max())
    stem = np.flatnonzero((skeleton.chain == skeleton.chain[0]) & (skeleton.parent >= 0))
    top = skeleton.position[stem, 2]
    at = min(BREAST_HEIGHT, 0.4 * float(skeleton.position[:, 2].max()))
    return float(radius[stem[np.argmax(top >= at)]])


def _with_leaflets(palm: Tree, leaf_area_index: float) -> Tree:
    """Leaflets of a palm: one bundle on each side of every piece of a frond and one at each tip."""
    pieces = np.flatnonzero(palm.level > 0)
    tips = np.setdiff1d(pieces, palm.parent)
    carrier = np.concatenate([pieces, pieces, tips])
    direction = np.concatenate(
        [
            frond_sides(palm.direction[pieces], 0),
            frond_sides(palm.direction[pieces], 1),
            palm.direction[tips],
        ]
    )
    middle = palm.position + palm.direction * (0.5 * palm.length)[:, None]
    position = np.concatenate([middle[pieces], middle[pieces], palm.tip[tips]])
    share = palm.length[carrier] / palm.length[carrier].sum()
    ground = crown_ground_area(palm)
    area = leaf_area_index * ground * share
    attributes = {"leaf_area": leaf_area_index * ground, "crown_ground_area": ground}
    return extended(
        palm.replace(
            report=replace(palm.report, attributes={**palm.report.attributes, **attributes})
        ),
        position=position,
        direction=direction,
        length=np.sqrt(area),
        area=area,
        carrier=carrier,
    )
