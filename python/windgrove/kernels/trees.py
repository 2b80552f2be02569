"""Sums along a hierarchy of branches: carried mass and propagated drag."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels, checks


def total_mass(own_mass: ArrayLike, parent: ArrayLike) -> NDArray[np.float32]:
    """Mass each branch carries: its own and that of everything that grows on it.

    Parameters
    ----------
    own_mass : array_like, shape (n,)
        Own masses M, kg.
    parent : array_like of int, shape (n,)
        Index of the parent, -1 for a root. Any order without cycles; parents before children
        is fastest.

    Returns
    -------
    numpy.ndarray, shape (n,), float32
        m = M + sum of the children's m, kg. Summed in double precision by descending index, so the
        same bits always. NaN reaches the ancestors of its branch and no others.

    Raises
    ------
    ValueError
        `parent` has a cycle or an index outside the tree, or the sizes differ.

    References
    ----------
    Seed 000, section 3.3.1, Mass. Contract of the C function: ``windgrove/tree.h``.

    Examples
    --------
    >>> total_mass([8, 4, 2, 1], [-1, 0, 1, 0]).tolist()
    [15.0, 6.0, 2.0, 1.0]
    """
    parent, order = _ordered(parent)
    own = checks.array(own_mass, "own_mass", dtype=np.float64, shape=(len(parent),))
    return _back(total_mass_double(own if order is None else own[order], parent), order)


def propagate_drag(
    direct_drag: ArrayLike,
    position: ArrayLike,
    direction: ArrayLike,
    length: ArrayLike,
    parent: ArrayLike,
    propagation: ArrayLike,
) -> NDArray[np.float32]:
    """Wind drag each branch feels: its own and what the branches on it hand down (listing 3.1).

    Parameters
    ----------
    direct_drag : array_like, shape (n,)
        Direct drag D, kg m^-1 s^-1.
    position, direction : array_like, shape (n, 3)
        Attachment points, m, and unit vectors of the rest pose.
    length : array_like, shape (n,)
        m, above 0.
    parent : array_like of int, shape (n,)
        Index of the parent, -1 for a root. Any order without cycles.
    propagation : array_like, shape (n,) or ()
        How much a branch is moved by what it carries, usually 0 to 1.

    Returns
    -------
    numpy.ndarray, shape (n,), float32
        d, kg m^-1 s^-1. One pass over the branches, O(n), where the listing walks from every branch
        to its root; the sums are the same and made in double precision by descending index, so the
        same bits always. NaN in a row reaches the ancestors of that branch and no others.

    Raises
    ------
    ValueError
        A length is not above 0, `parent` has a cycle or an index outside the tree, or a shape does
        not fit.

    References
    ----------
    Seed 000, section 3.3.1, listing 3.1. Contract of the C function: ``windgrove/tree.h``.

    Examples
    --------
    A branch halfway up a 10 m trunk hands half of its drag to it:

    >>> propagate_drag([1, 2], [[0, 0, 0], [0, 0, 5]], [[0, 0, 1], [1, 0, 0]], [10, 2], [-1, 0], 1)
    array([2., 2.], dtype=float32)
    """
    parent, order = _ordered(parent)
    n = len(parent)
    arrays = {
        "direct_drag": checks.array(direct_drag, "direct_drag", dtype=np.float64, shape=(n,)),
        "position": checks.array(position, "position", dtype=np.float64, shape=(n, 3)),
        "direction": checks.array(direction, "direction", dtype=np.float64, shape=(n, 3)),
        "length": checks.array(length, "length", dtype=np.float64, shape=(n,)),
    }
    bad = ~(arrays["length"] > 0)
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"length: branch {i} has {arrays['length'][i]}; a length is above 0")
    factor = checks.array(propagation, "propagation", dtype=np.float64)
    if factor.ndim == 0:
        factor = np.full(n, factor)
    factor = checks.array(factor, "propagation", dtype=np.float64, shape=(n,))
    if order is not None:
        arrays = {name: values[order] for name, values in arrays.items()}
        factor = factor[order]
    result = propagate_drag_double(**arrays, parent=parent, propagation=factor)
    return _back(result, order)


def total_mass_double(
    own_mass: NDArray[np.float64], parent: NDArray[np.int32]
) -> NDArray[np.float64]:
    """`total_mass` without conversions: canonical order, double precision in and out."""
    out = np.empty(len(parent))
    _kernels.total_mass(own_mass, parent, out)
    return out


def propagate_drag_double(
    direct_drag: NDArray[np.float64],
    position: NDArray[np.float64],
    direction: NDArray[np.float64],
    length: NDArray[np.float64],
    parent: NDArray[np.int32],
    propagation: NDArray[np.float64],
) -> NDArray[np.float64]:
    """`propagate_drag` without conversions: canonical order, double precision in and out."""
    arriving, out = np.empty(len(parent)), np.empty(len(parent))
    _kernels.propagate_drag(
        direct_drag, position, direction, length, parent, propagation, arriving, out
    )
    return out


def _ordered(parent: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.intp] | None]:
    """Parents in canonical order, and the order that makes them so (None where they are)."""
    # A copy: what was checked here must still hold where the C code, without the lock, reads it.
    given = checks.array(parent, "parent", dtype=np.int32, shape=(None,)).copy()
    n = len(given)
    outside = (given < -1) | (given >= n)
    if outside.any():
        i = int(np.argmax(outside))
        raise ValueError(f"parent: branch {i} has parent {given[i]}; expected -1 to {n - 1}")
    if bool((given < np.arange(n)).all()):
        return given, None
    order = np.argsort(_depths(given), kind="stable")
    new_index = np.empty(n + 1, dtype=np.int32)
    new_index[order] = np.arange(n, dtype=np.int32)
    new_index[-1] = -1
    return new_index[given[order]], order


def _depths(parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """Depth of every branch by pointer doubling; a cycle never reaches a root and is refused."""
    n = len(parent)
    ancestor = np.append(np.where(parent < 0, n, parent), n)
    depth = np.append(np.ones(n, dtype=np.int64), 0)
    for _ in range(max(n, 1).bit_length() + 1):
        depth = depth + depth[ancestor]
        ancestor = ancestor[ancestor]
    cyclic = ancestor[:n] != n
    if cyclic.any():
        raise ValueError(f"parent: branch {int(np.argmax(cyclic))} is its own ancestor")
    return depth[:n]


def _back(values: NDArray[np.float64], order: NDArray[np.intp] | None) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        if order is None:
            return values.astype(np.float32)
        result = np.empty(len(values), dtype=np.float32)
        result[order] = values
    return result
