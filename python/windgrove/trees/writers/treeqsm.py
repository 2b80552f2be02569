"""A TreeQSM 2.4 model: a MATLAB struct QSM of cylinder, branch and treedata."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from ..chains import usable_runs
from ..tree import Tree
from .pieces import Pieces, pieces


def encode(tree: Tree, *, world: bool) -> bytes:
    """The .mat file. Ids count from 1, 0 is none; volumes of branches and tree are in litres."""
    from scipy.io import savemat

    cylinders = pieces(tree, world, "treeqsm")
    volume = 1000 * np.pi * cylinders.radius**2 * cylinders.length
    trunk = cylinders.branch == 0
    treedata = {
        "TotalVolume": volume.sum(),
        "TrunkVolume": volume[trunk].sum(),
        "BranchVolume": volume[~trunk].sum(),
        "TreeHeight": tree.height,
        "TrunkLength": cylinders.length[trunk].sum(),
        "BranchLength": cylinders.length[~trunk].sum(),
        "TotalLength": cylinders.length.sum(),
        "NumberBranches": float(len(tree) - 1),
        "MaxBranchOrder": float(_level(tree).max()),
    }
    model = {
        "cylinder": _cylinder(cylinders, tree),
        "branch": _branch(tree),
        "treedata": treedata,
        "rundata": {"version": "2.4.1", "inputs": {"name": tree.name}},
    }
    target = io.BytesIO()
    savemat(target, {"QSM": model}, oned_as="column", do_compression=True)
    return target.getvalue()


def _level(tree: Tree) -> NDArray[np.int32]:
    assert tree.level is not None
    return tree.level


def _cylinder(cylinders: Pieces, tree: Tree) -> dict[str, NDArray]:
    count = len(cylinders.radius)
    step = cylinders.end - cylinders.start
    size = np.linalg.norm(step, axis=1)
    upward = np.tile([0.0, 0.0, 1.0], (count, 1))
    axis = np.divide(step, size[:, None], out=upward, where=size[:, None] > 0)
    extension = np.zeros(count, dtype=np.int64)
    position = np.ones(count, dtype=np.int64)
    runs = usable_runs(cylinders.parent, cylinders.branch)
    for row, above in enumerate(cylinders.parent.tolist()):
        if above >= 0 and runs[row] and cylinders.branch[above] == cylinders.branch[row]:
            extension[above] = row + 1
            position[row] = position[above] + 1
    return {
        "radius": cylinders.radius,
        "length": cylinders.length,
        "start": cylinders.start,
        "axis": axis,
        "parent": (cylinders.parent + 1).astype(np.uint32),
        "extension": extension.astype(np.uint32),
        "added": np.zeros(count, dtype=bool),
        "UnmodRadius": cylinders.radius,
        "branch": (cylinders.branch + 1).astype(np.uint32),
        "SurfCov": np.ones(count),
        "mad": np.zeros(count),
        "BranchOrder": _level(tree)[cylinders.branch].astype(np.uint32),
        "PositionInBranch": position.astype(np.uint32),
    }


def _branch(tree: Tree) -> dict[str, NDArray]:
    direction = tree.direction
    zenith = np.degrees(np.arccos(np.clip(direction[:, 2], -1, 1)))
    azimuth = np.degrees(np.arctan2(direction[:, 1], direction[:, 0]))
    above = np.maximum(tree.parent, 0)
    turn = np.clip((direction * direction[above]).sum(axis=1), -1, 1)
    return {
        "order": _level(tree).astype(np.uint32),
        "parent": (tree.parent + 1).astype(np.uint32),
        "diameter": 2 * tree.radius,
        "volume": 1000 * tree.volume,
        "area": 2 * np.pi * tree.radius * tree.length,
        "length": tree.length,
        "angle": np.where(tree.parent >= 0, np.degrees(np.arccos(turn)), 0.0),
        "height": tree.position[:, 2] - tree.base,
        "azimuth": azimuth,
        "zenith": zenith,
    }
