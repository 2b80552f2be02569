"""Trees from ez-tree presets: artists' parameters, grown by a generator of our own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import checks
from .cylinders import Notes, Source
from .foliage import extended, set_leaf_fraction
from .growing.recursive import PresetSkeleton
from .growing.skeleton import tree_from_skeleton
from .readers import Options
from .readers.eztree import EzTreePreset, read_preset
from .readers.source import Content, read_bytes
from .stems import continue_stubs
from .tree import Tree

SCENE_UNIT = 0.3  # m: the shipped oaks then stand 10 to 25 m high
LEAF_COVER = 0.5  # part of a leaf plane that is leaf


def grow_preset(
    preset: EzTreePreset,
    source: Source,
    notes: Notes,
    options: Options,
    *,
    seed: int = 0,
    height: float | None = None,
) -> Tree:
    """Grow the tree of a preset.

    `seed` 0 keeps the preset's own. Lengths are taken as 0.3 m a scene unit unless `options.units`
    or `height` (m, of the wood) says otherwise. Each branch of the last level carries one bundle:
    its leaf planes, count x size^2, half of which is leaf.
    """
    try:
        grown = PresetSkeleton(preset, seed or preset.seed)
    except ValueError as error:
        notes.refuse(str(error))
        raise
    skeleton = grown.skeleton()
    assert skeleton.radius is not None and skeleton.chain is not None
    if height is not None:
        scale = height / float(skeleton.position[:, 2].max())
    elif options.units is not None:
        scale = options.units[0]
    else:
        scale = SCENE_UNIT
        notes.noticed("scene-units", f"a scene unit taken as {scale:g} m; units= says otherwise")
    skeleton.position *= scale
    tree = tree_from_skeleton(
        skeleton, skeleton.radius * scale, name=Path(source.path).stem, format=source.format
    )
    # Chains are numbered as branches are: every one of them has a segment.
    tree, index = continue_stubs(tree, notes)
    report = replace(
        tree.report,
        branches=len(tree),
        path=source.path,
        version=source.version,
        units=f"scene units of {scale:.4g} m",
        radius_provenance="preset",
        repairs=tuple(notes.repairs),
    )
    return _with_leaves(
        tree.replace(report=report), preset, index[np.array(grown.last, dtype=int)], scale
    )


def _with_leaves(
    wood: Tree, preset: EzTreePreset, carrier: NDArray[np.int64], scale: float
) -> Tree:
    count, size = preset.leaves.get("count", 0), preset.leaves.get("size", 0)
    good = isinstance(count, (int, float)) and isinstance(size, (int, float))
    if not (good and count > 0 and size > 0 and len(carrier)):
        return wood
    area = np.full(len(carrier), LEAF_COVER * count * (size * scale) ** 2)
    attributes = {**wood.report.attributes, "leaf_area": float(area.sum())}
    return extended(
        wood.replace(report=replace(wood.report, attributes=attributes)),
        position=wood.tip[carrier],
        direction=wood.direction[carrier],
        length=np.sqrt(area),
        area=area,
        carrier=carrier,
    )


def grow_preset_file(
    path: str | os.PathLike[str],
    seed: int,
    *,
    height: float | None,
    foliage: bool,
    leaf_fraction: float,
) -> Tree:
    """`grow_tree` for the path of an ez-tree preset."""
    if height is not None:
        height = checks.number(height, "height", low=0.3, high=150)
    content = Content(*read_bytes(path))
    notes = Notes(content.name)
    preset = read_preset(content, notes)
    source = Source(content.name, "ez-tree", f"{preset.type}, {preset.levels} levels")
    tree = grow_preset(preset, source, notes, Options(), seed=seed, height=height)
    return set_leaf_fraction(tree, leaf_fraction if foliage else 0.0)
