"""Natural frequencies as set, and as the clamped time step realises them."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..species.species import Species
from ..trees.parameters import branch_parameters
from ..trees.tree import KIND_NAMES, Tree

LONGEST_STEP = 1e100  # s; its square is still a number
CLAMPS = ("source", "compensated", "exponential", "none")


@dataclass(frozen=True, eq=False)
class DiscreteResponse:
    """What the time step makes of springs. Arrays of the springs' shape.

    Attributes
    ----------
    frequency : Hz
        Undamped natural frequency of the discrete map, abs(ln lambda) / (2 pi dt); for two real
        eigenvalues sqrt(ln l1 ln l2) / (2 pi dt). NaN where an eigenvalue is 0 (dead-beat) or
        negative (it alternates from step to step, no oscillator does that).
    damping_ratio : 1
        -Re ln lambda / abs(ln lambda); 1 or more for two real eigenvalues, NaN as above.
    damped_frequency : Hz
        Of the oscillation a record shows; 0 where there is none.
    decay_rate : 1/s
        Amplitude falls as exp(-decay_rate t): of the slower eigenvalue, infinite if dead-beat.
    clamped : bool
        The clamp changed k or c.
    stable : bool
        No eigenvalue outside the unit circle.
    deflection : 1
        Static deflection in a steady wind over d tau / k of the unclamped spring: 1 where the
        clamp leaves it alone, (2 pi f_n dt)^2 for a stiff branch under "source".
    eigenvalues : complex, shape (..., 2)
    """

    frequency: NDArray[np.float64]
    damping_ratio: NDArray[np.float64]
    damped_frequency: NDArray[np.float64]
    decay_rate: NDArray[np.float64]
    clamped: NDArray[np.bool_]
    stable: NDArray[np.bool_]
    deflection: NDArray[np.float64]
    eigenvalues: NDArray[np.complex128]


def discrete_response(
    mass: ArrayLike,
    stiffness: ArrayLike,
    damping: ArrayLike,
    dt: float,
    clamp: str = "source",
) -> DiscreteResponse:
    """Frequency and damping that one time step of free springs realises, exactly.

    Parameters
    ----------
    mass, stiffness, damping : array_like, kg, kg s^-2, kg s^-1
        Any shapes that broadcast together. Mass and stiffness above 0, damping not below 0.
    dt : float, s
        Time step, above 0.
    clamp : {"source", "compensated", "exponential", "none"}
        "source" and "compensated" limit k to m/dt^2 and c to m/dt and differ in the drag alone;
        "exponential" is the exact step of the unclamped spring; "none" steps it unclamped.

    Returns
    -------
    DiscreteResponse

    Notes
    -----
    Semi-implicit Euler with kappa = k' dt^2 / m and g = c' dt / m is the linear map
    ``[[1 - kappa, 1 - g], [-kappa, 1 - g]]`` of (theta, dt omega): trace 2 - kappa - g, determinant
    1 - g. The exact step's eigenvalues are exp(s dt), s the roots of m s^2 + c s + k; what a record
    shows of a frequency above 1/(2 dt) is its alias, and so does this function. Derivation in
    docs/numerics/parameters.md.
    """
    m, k, c = np.broadcast_arrays(
        _positive(mass, "mass"),
        _positive(stiffness, "stiffness"),
        _not_negative(damping, "damping"),
    )
    dt = checks.number(dt, "dt", above=0, high=LONGEST_STEP)
    clamp = checks.choice(clamp, "clamp", CLAMPS)
    kappa, g = k * dt**2 / m, c * dt / m
    if clamp == "exponential":
        exact = _exact_logarithms(kappa, g), g**2 < 4.0 * kappa
        return _response(*exact, dt, np.zeros(m.shape, bool), np.ones(m.shape))
    clamped = np.zeros(m.shape, bool)
    deflection = np.ones(m.shape)
    if clamp != "none":
        clamped = (kappa > 1) | (g > 1)
        if clamp == "source":
            deflection = np.maximum(kappa, 1.0)
        kappa, g = np.minimum(kappa, 1.0), np.minimum(g, 1.0)
    oscillates = (kappa + g) ** 2 < 4.0 * kappa
    return _response(_map_logarithms(kappa, g), oscillates, dt, clamped, deflection)


def _map_logarithms(kappa: NDArray, g: NDArray) -> NDArray[np.complex128]:
    """Principal logarithms of both eigenvalues of the semi-implicit map, shape (..., 2)."""
    half = (2.0 - kappa - g) / 2.0
    # (trace/2)^2 - det without the cancellation of two numbers near 1.
    root = np.sqrt(((kappa + g) ** 2 - 4.0 * kappa).astype(complex)) / 2.0
    first = half + np.where(half < 0, -root, root)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The smaller of two real ones from the product, which is exact.
        second = np.where(first == 0, 0, (1.0 - g) / first)
        return np.log(np.stack([first, second], axis=-1))


def _exact_logarithms(kappa: NDArray, g: NDArray) -> NDArray[np.complex128]:
    root = np.sqrt((g**2 / 4.0 - kappa).astype(complex))
    first = -g / 2.0 - root
    logarithms = np.stack(
        [first, np.where(root.imag != 0, -g / 2.0 + root, kappa / first)], axis=-1
    )
    turns = np.round(logarithms.imag / (2.0 * np.pi))
    return logarithms - 2j * np.pi * turns


def _response(
    logarithms: NDArray[np.complex128],
    oscillates: NDArray[np.bool_],
    dt: float,
    clamped: NDArray[np.bool_],
    deflection: NDArray[np.float64],
) -> DiscreteResponse:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        l1, l2 = logarithms[..., 0], logarithms[..., 1]
        dead_beat = (l1.real == -np.inf) | (l2.real == -np.inf)
        alternates = ~oscillates & ((l1.imag != 0) | (l2.imag != 0))
        natural = np.where(oscillates, np.abs(l1), np.sqrt(l1.real * l2.real))
        natural = np.where(dead_beat | alternates, np.nan, natural)
        ratio = -(l1.real + l2.real) / 2.0 / natural
        slowest = np.maximum(l1.real, l2.real)
        return DiscreteResponse(
            frequency=natural / (2.0 * np.pi * dt),
            damping_ratio=ratio,
            damped_frequency=np.where(oscillates, np.abs(l1.imag), 0.0) / (2.0 * np.pi * dt),
            decay_rate=-slowest / dt,
            clamped=clamped,
            stable=slowest <= 1e-12,
            deflection=deflection,
            eigenvalues=np.exp(logarithms),
        )


def _positive(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = checks.array(values, name, dtype=np.float64)
    if not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"{name}: expected finite numbers above 0")
    return array


def _not_negative(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = checks.array(values, name, dtype=np.float64)
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(f"{name}: expected finite numbers not below 0")
    return array


def natural_frequencies(tree: Tree, species: Species | str | os.PathLike[str]) -> xr.DataArray:
    """Undamped natural frequency of every branch, sqrt(k / m) / (2 pi).

    Parameters
    ----------
    tree : Tree
    species : Species, name or path

    Returns
    -------
    xarray.DataArray
        Hz, over ``branch``, with coordinates ``level`` (depth, 0 for a root), ``kind`` (0 trunk,
        1 branch, 2 foliage, as `Tree.kind`) and ``kind_name`` (the same in words, to group and
        print by). What a run shows is in `realised`.

    Examples
    --------
    ``natural_frequencies(tree, "oak").groupby("kind_name").median()``
    """
    frequency = branch_parameters(tree, species).frequency
    return xr.DataArray(
        frequency.copy(),
        dims="branch",
        coords=_branch_coordinates(tree),
        name="frequency",
        attrs={"units": "Hz", "long_name": "undamped natural frequency"},
    )


def realised(
    tree: Tree,
    species: Species | str | os.PathLike[str],
    dt: float = 1 / 30,
    *,
    clamp: str = "source",
) -> xr.Dataset:
    """Frequency and damping as set, beside what the clamp and the time step make of them.

    Parameters
    ----------
    tree : Tree
    species : Species, name or path
    dt : float, default 1/30 s
        Time step, or substep.
    clamp : {"source", "compensated", "exponential", "none"}

    Returns
    -------
    xarray.Dataset
        Over ``branch``: ``frequency``, ``damping_ratio`` (set), ``realised_frequency``,
        ``realised_damping_ratio`` (of the discrete map: undamped natural frequency in Hz and ratio;
        NaN where the branch is dead-beat), ``damped_frequency`` (Hz, what a record shows; 0 if it
        does not oscillate), ``deflection`` (static deflection over that of the unclamped spring)
        and ``clamped``. Coordinates as in `natural_frequencies`. Exact for a branch on ancestors
        at rest, see `discrete_response`.
    """
    p = branch_parameters(tree, species)
    response = discrete_response(p.mass, p.stiffness, p.damping, dt, clamp)
    variables = {
        "frequency": (p.frequency, "Hz", "undamped natural frequency, as set"),
        "damping_ratio": (p.damping_ratio, "1", "damping ratio, as set"),
        "realised_frequency": (response.frequency, "Hz", "undamped natural frequency, realised"),
        "realised_damping_ratio": (response.damping_ratio, "1", "damping ratio, realised"),
        "damped_frequency": (response.damped_frequency, "Hz", "frequency of the record"),
        "deflection": (response.deflection, "1", "static deflection over the unclamped one"),
        "clamped": (response.clamped, "1", "the time step limits k or c"),
    }
    return xr.Dataset(
        {
            name: ("branch", np.array(values), {"units": units, "long_name": text})
            for name, (values, units, text) in variables.items()
        },
        coords=_branch_coordinates(tree),
        attrs={"dt": float(dt), "clamp": clamp},
    )


def _branch_coordinates(tree: Tree) -> dict[str, tuple]:
    kinds = {"flag_values": [0, 1, 2], "flag_meanings": " ".join(KIND_NAMES)}
    return {
        "branch": ("branch", np.arange(len(tree))),
        "level": ("branch", np.array(tree.level), {"long_name": "depth, 0 for a root"}),
        "kind": ("branch", np.array(tree.kind), kinds),
        "kind_name": ("branch", np.array(KIND_NAMES)[tree.kind]),
    }
