"""Pressure projection and divergence, the twins of `windgrove.kernels.project` and `divergence`.

`jacobi` and `sor` repeat the kernel's iteration. `multigrid`, `pcg` and `direct` stand for the
exact solution of their discretisation, which is found here by sparse elimination.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
_INNER = (slice(1, -1),) * 3


def _neighbour(grid: NDArray, axis: int, side: int) -> NDArray:
    """The interior cells' neighbours along `axis` (0 is x, the last one of the array)."""
    index = list(_INNER)
    index[2 - axis] = slice(2, None) if side > 0 else slice(0, -2)
    return grid[tuple(index)]


def _masks(velocity: Array, solid: ArrayLike | None) -> tuple[Mask, Mask]:
    """Solid marks of the whole grid, and the air cells of the interior."""
    marks = np.zeros(velocity.shape[1:], bool) if solid is None else np.asarray(solid, bool)
    return marks, ~marks[_INNER]


def _central_divergence(velocity: Array, spacing: float, air: Mask) -> Array:
    total = sum(
        _neighbour(velocity[axis], axis, +1) - _neighbour(velocity[axis], axis, -1)
        for axis in range(3)
    )
    return np.where(air, total / (2 * spacing), 0.0)


def _face_divergence(velocity: Array, spacing: float, solid: Mask, air: Mask) -> Array:
    """Sum of outward face velocities over h: the mean of two air cells, the solid's at a solid."""
    total = np.zeros(air.shape)
    for axis in range(3):
        own = velocity[axis][_INNER]
        for side in (-1, +1):
            beyond = _neighbour(velocity[axis], axis, side)
            closed = _neighbour(solid, axis, side)
            total += side * np.where(closed, beyond, (own + beyond) / 2)
    return np.where(air, total / spacing, 0.0)


def _laplacian(phi: Array, spacing: float, solid: Mask, air: Mask) -> Array:
    """Sum over open faces of (phi_neighbour - phi) / h^2; `phi` has its border."""
    total = np.zeros(air.shape)
    for axis in range(3):
        for side in (-1, +1):
            open_face = ~_neighbour(solid, axis, side)
            total += np.where(open_face, _neighbour(phi, axis, side) - phi[_INNER], 0.0)
    return np.where(air, total / spacing**2, 0.0)


def _compact_correction(phi: Array, spacing: float, solid: Mask, air: Mask) -> Array:
    """Per axis the mean of the two face gradients; a closed face counts 0."""
    result = np.zeros((3, *air.shape))
    for axis in range(3):
        for side in (-1, +1):
            open_face = ~_neighbour(solid, axis, side)
            slope = side * (_neighbour(phi, axis, side) - phi[_INNER]) / spacing
            result[axis] += np.where(open_face & air, slope, 0.0) / 2
    return result


def _central_gradient(phi: Array, spacing: float, air: Mask) -> Array:
    return np.array(
        [
            np.where(
                air,
                (_neighbour(phi, axis, +1) - _neighbour(phi, axis, -1)) / (2 * spacing),
                0.0,
            )
            for axis in range(3)
        ]
    )


def divergence(
    velocity: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    pressure: ArrayLike | None = None,
) -> Array:
    """Central differences in air cells; with `pressure`, div u - lap phi at the faces."""
    u = np.asarray(velocity, np.float64)
    marks, air = _masks(u, solid)
    result = np.zeros(u.shape[1:])
    if min(result.shape) < 3:
        return result
    if pressure is None:
        result[_INNER] = _central_divergence(u, spacing, air)
    else:
        phi = np.asarray(pressure, np.float64)
        result[_INNER] = _face_divergence(u, spacing, marks, air) - _laplacian(
            phi, spacing, marks, air
        )
    return result


def compact_matrix(solid: ArrayLike, spacing: float) -> sp.csr_matrix:
    """The compact Laplacian over the interior cells; an empty row in a solid cell."""
    marks = np.asarray(solid, bool)
    air = ~marks[_INNER]
    number = np.full(marks.shape, -1)
    number[_INNER] = np.arange(air.size).reshape(air.shape)
    rows, columns, values = [], [], []
    for axis in range(3):
        for side in (-1, +1):
            open_face = air & ~_neighbour(marks, axis, side)
            cell = number[_INNER][open_face]
            beyond = _neighbour(number, axis, side)[open_face]
            inside = beyond >= 0
            rows += [cell, cell[inside]]
            columns += [cell, beyond[inside]]
            values += [np.full(cell.size, -1.0), np.ones(inside.sum())]
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sp.csr_matrix(entries, shape=(air.size, air.size)) / spacing**2


def consistent_matrix(solid: ArrayLike, spacing: float) -> sp.csr_matrix:
    """D M G over the interior cells: central differences through the air cells only."""
    air = ~np.asarray(solid, bool)[_INNER]
    mask = sp.diags(air.ravel().astype(float))
    total = sp.csr_matrix((air.size, air.size))
    for axis in range(3):
        n = air.shape[2 - axis]
        line = sp.diags([np.ones(n - 1), -np.ones(n - 1)], [1, -1], shape=(n, n))
        factors = [sp.identity(size) for size in air.shape]
        factors[2 - axis] = line / (2 * spacing)
        gradient = sp.kron(sp.kron(factors[0], factors[1]), factors[2])
        total = total + mask @ gradient @ mask @ gradient @ mask
    return sp.csr_matrix(total)


def null_labels(matrix: sp.spmatrix) -> tuple[int, NDArray[np.int64]]:
    """Components of the matrix's graph whose rows sum to zero: each one's indicator is a null mode.

    Returns their number and, per unknown, the component's index or -1.
    """
    count, label = connected_components(matrix, directed=False)
    leak = np.zeros(count)
    np.add.at(leak, label, np.abs(np.asarray(matrix.sum(axis=1)).ravel()))
    scale = float(np.abs(matrix.data).max()) if matrix.nnz else 1.0
    floating = leak <= 1e-9 * scale
    index = np.where(floating, np.cumsum(floating) - 1, -1)
    return int(floating.sum()), index[label]


def without_null(matrix: sp.spmatrix, values: Array) -> Array:
    """`values` less their mean over each null component."""
    count, label = null_labels(matrix)
    members = label >= 0
    sums = np.bincount(label[members], values[members], minlength=count)
    sizes = np.bincount(label[members], minlength=count)
    result = values.astype(np.float64)
    result[members] -= (sums / np.maximum(sizes, 1))[label[members]]
    return result


def solve_without_null(matrix: sp.spmatrix, right_side: Array) -> Array:
    """Solve on the rest after the mean over each null component is taken from the right side.

    phi has mean zero over each such component: one cell of each is fixed, then the mean taken off.
    """
    b = without_null(matrix, right_side)
    _, label = null_labels(matrix)
    members = np.flatnonzero(label >= 0)
    _, first = np.unique(label[members], return_index=True)
    keep = np.ones(b.size, bool)
    keep[members[first]] = False
    x = np.zeros(b.size)
    if keep.any():
        x[keep] = spsolve(sp.csc_matrix(matrix[keep][:, keep]), b[keep])
    return without_null(matrix, x)


def sor_factor(shape: tuple[int, ...]) -> float:
    """Young's optimal factor for a box of interior `shape` with phi = 0 around it."""
    rho = sum(math.cos(math.pi / (n + 1)) for n in shape) / len(shape)
    return 2 / (1 + math.sqrt(1 - rho * rho))


def _neighbour_sum(phi: Array) -> Array:
    x, y, z = (_neighbour(phi, a, -1) + _neighbour(phi, a, +1) for a in range(3))
    return (x + y) + z


def _sweeps(
    phi: Array,
    b: Array,
    spacing: float,
    solid: Mask,
    air: Mask,
    method: str,
    iterations: int,
    tolerance: float | None,
) -> None:
    """Jacobi or red-black sweeps on `phi` (with border, 0 in solids and border), in place."""
    opened = sum(
        (~_neighbour(solid, axis, side)).astype(int) for axis in range(3) for side in (-1, 1)
    )
    weight = np.where(air & (opened > 0), 1.0 / np.maximum(opened, 1), 0.0)
    scaled = spacing**2 * b
    norm = np.linalg.norm(b)
    parity = np.indices(air.shape).sum(axis=0) % 2
    # The colour whose right side is larger goes first, so that mirroring changes nothing.
    first = int((b[parity == 1] ** 2).sum() > (b[parity == 0] ** 2).sum())
    for _ in range(iterations):
        if method == "jacobi":
            phi[_INNER] = weight * (_neighbour_sum(phi) - scaled)
        else:
            for colour in (first, 1 - first):
                change = weight * (_neighbour_sum(phi) - scaled) - phi[_INNER]
                phi[_INNER] += np.where(
                    (parity == colour) & (weight > 0), sor_factor(air.shape) * change, 0.0
                )
        if tolerance is not None:
            r = b - _laplacian(phi, spacing, solid, air)
            if np.linalg.norm(r) <= tolerance * norm:
                return


def jacobi_sweeps(
    divergence: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    iterations: int = 20,
    pressure: NDArray | None = None,
    out: NDArray | None = None,
    threads: int = 1,
) -> Array:
    """phi = (sum of phi over open faces - h^2 divergence) / open faces, again and again."""
    d = np.asarray(divergence, np.float64)
    marks, air = _masks(d[None], solid)
    phi = np.zeros(d.shape)
    if min(d.shape) >= 3:
        if pressure is not None:
            phi[_INNER] = np.where(air, np.asarray(pressure, np.float64)[_INNER], 0.0)
        _sweeps(phi, d[_INNER], spacing, marks, air, "jacobi", iterations, None)
    for result in (pressure, out):
        if result is not None:
            result[...] = phi
    return phi


def project(
    velocity: ArrayLike,
    spacing: float,
    solid: ArrayLike | None = None,
    *,
    method: str = "jacobi",
    discretisation: str = "compact",
    iterations: int = 20,
    tolerance: float | None = None,
    pressure: NDArray | None = None,
    out: NDArray | None = None,
    threads: int = 1,
) -> Array:
    """lap phi = div u, u -= grad phi, in either discretisation."""
    u = np.array(velocity, np.float64)
    marks, air = _masks(u, solid)
    phi = np.zeros(u.shape[1:])
    if min(phi.shape) >= 3:
        if discretisation == "compact":
            b = _face_divergence(u, spacing, marks, air)
        else:
            b = _central_divergence(u, spacing, air)
        if method in ("jacobi", "sor"):
            if pressure is not None:
                phi[_INNER] = np.where(air, np.asarray(pressure, np.float64)[_INNER], 0.0)
            if method == "sor" or tolerance is not None:
                b = without_null(compact_matrix(marks, spacing), b.ravel()).reshape(b.shape)
            _sweeps(phi, b, spacing, marks, air, method, iterations, tolerance)
        else:
            operator = compact_matrix if discretisation == "compact" else consistent_matrix
            x = solve_without_null(operator(marks, spacing), b.ravel())
            phi[_INNER] = np.where(air, x.reshape(air.shape), 0.0)
        if discretisation == "compact":
            u[(slice(None), *_INNER)] -= _compact_correction(phi, spacing, marks, air)
        else:
            u[(slice(None), *_INNER)] -= _central_gradient(phi, spacing, air)
    if pressure is not None:
        pressure[...] = phi
    if out is not None:
        out[...] = u
        return out
    return u
