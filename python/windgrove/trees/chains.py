"""From cylinders to branches: a branch is an unbranched run of cylinders.

The joint between two cylinders of one run is no joint of the tree, so the run is the unit that
springs: its volume and length are sums, its direction goes from its first start to its last end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def subtree_length(parent: IntArray, length: FloatArray) -> FloatArray:
    """Length of every cylinder and all it carries, m. Parents come before children."""
    total = length.tolist()
    for row in range(len(total) - 1, -1, -1):
        above = parent[row]
        if above >= 0:
            total[above] += total[row]
    return np.array(total)


def usable_runs(parent: IntArray, branch: IntArray) -> NDArray[np.bool_]:
    """(m,) where the id column may be used: its cylinders form one unbranched run.

    An id is usable when it is above 0 or the whole column counts from 0, exactly one of its
    cylinders hangs on another id (or on nothing), and no cylinder carries two of the same id.
    """
    inner = parent >= 0
    inner[inner] = branch[parent[inner]] == branch[inner]
    ids, index = np.unique(branch, return_inverse=True)
    heads = np.bincount(index[~inner], minlength=len(ids))
    inner_children = np.bincount(parent[inner], minlength=len(branch))
    widest = np.zeros(len(ids), dtype=np.int64)
    np.maximum.at(widest, index, inner_children)
    usable = (heads == 1) & (widest <= 1) & (ids >= 0)
    return usable[index]


def continuation(
    parent: IntArray,
    length: FloatArray,
    branch: IntArray | None = None,
    growth: FloatArray | None = None,
) -> IntArray:
    """(m,) the child that continues each cylinder's run, -1 at its end.

    Within a usable id the next cylinder of the id continues. Elsewhere the child with the
    greatest growth length does, ties and missing values being decided by the greatest length of
    the subtree and then by the lower row; a child that starts a usable id of its own does not.
    """
    count = len(parent)
    chosen = np.full(count, -1, dtype=np.int64)
    child = np.flatnonzero(parent >= 0)
    if branch is not None:
        usable = usable_runs(parent, branch)
        same = usable[child] & (branch[child] == branch[parent[child]])
        chosen[parent[child[same]]] = child[same]
        child = child[~(usable[child] | usable[parent[child]])]
    subtree = subtree_length(parent, length)
    first = np.zeros(count) if growth is None else np.nan_to_num(growth, nan=-np.inf)
    order = np.lexsort((child, -subtree[child], -first[child], parent[child]))
    child = child[order]
    leading = np.ones(len(child), dtype=bool)
    leading[1:] = parent[child[1:]] != parent[child[:-1]]
    chosen[parent[child[leading]]] = child[leading]
    return chosen


def chain_of(parent: IntArray, following: IntArray) -> IntArray:
    """(m,) index of each cylinder's run, numbered in the order of their first cylinders."""
    chains = [0] * len(parent)
    count = 0
    parents, followings = parent.tolist(), following.tolist()
    for row, above in enumerate(parents):
        if above >= 0 and followings[above] == row:
            chains[row] = chains[above]
        else:
            chains[row] = count
            count += 1
    return np.array(chains, dtype=np.int64)
