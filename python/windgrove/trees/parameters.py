"""Spring parameters of every branch from the tree's geometry and a species."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..kernels.trees import propagate_drag_double, total_mass_double
from ..species.load import load_species
from ..species.species import LEVELS, Species
from .tree import FOLIAGE, Tree

WOOD_DENSITY = 500.0  # kg/m3, the fixed density of the source


@dataclass(frozen=True, eq=False)
class BranchParameters:
    """What the spring of every branch is made of. Arrays (n,), float64, read-only.

    Attributes
    ----------
    own_mass, mass : kg
        M, and m = M + the mass of all that grows on the branch.
    stiffness : kg s^-2
        k.
    damping : kg s^-1
        c = 2 zeta sqrt(m k).
    direct_drag, drag : kg m^-1 s^-1
        D, and d with what the children hand down (listing 3.1).
    frequency : Hz
        Undamped natural frequency sqrt(k / m) / (2 pi).
    damping_ratio, propagation : 1
        As set by the species for the branch's level.
    """

    own_mass: NDArray[np.float64]
    mass: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    damping: NDArray[np.float64]
    direct_drag: NDArray[np.float64]
    drag: NDArray[np.float64]
    frequency: NDArray[np.float64]
    damping_ratio: NDArray[np.float64]
    propagation: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.mass)


def branch_parameters(tree: Tree, species: Species | str | os.PathLike[str]) -> BranchParameters:
    """Mass, stiffness, damping, drag and natural frequency of every branch.

    Parameters
    ----------
    tree : Tree
        ``n`` branches.
    species : Species, name or path
        Anything `load_species` takes.

    Returns
    -------
    BranchParameters
        Arrays (n,) in double precision, SI units. A pure function of its arguments, the same bits
        on every machine; O(n), about 20 us and 0.2 us a branch.

    Notes
    -----
    With the branch's level setting beta, zeta, gamma, rho and propagation:

    ========== =========================== ====================
    quantity   wood                        foliage
    ========== =========================== ====================
    M          500 V                       rho A
    m          M + the children's m        same
    k          beta V / l^2                beta sqrt(A)
    c          2 zeta sqrt(m k)            same
    D          2 gamma sqrt(l V / pi)      gamma A
    d          D + what children propagate same
    ========== =========================== ====================

    References
    ----------
    Seed 000, section 3.3.1, equation 3.2 and listing 3.1; docs/numerics/parameters.md.
    """
    checks.tree(tree)
    species = load_species(species)
    foliage = tree.kind == FOLIAGE
    beta, zeta, gamma, rho, propagation = _by_branch(tree, species)
    own_mass = np.where(foliage, rho * tree.area, WOOD_DENSITY * tree.volume)
    stiffness = beta * np.where(foliage, np.sqrt(tree.area), tree.volume / tree.length**2)
    shadow = np.where(foliage, tree.area, 2.0 * np.sqrt(tree.length * tree.volume / math.pi))
    mass = total_mass_double(own_mass, tree.parent)
    direct = gamma * shadow
    drag = propagate_drag_double(
        direct, tree.position, tree.direction, tree.length, tree.parent, propagation
    )
    result = BranchParameters(
        own_mass=own_mass,
        mass=mass,
        stiffness=stiffness,
        damping=2.0 * zeta * np.sqrt(mass * stiffness),
        direct_drag=direct,
        drag=drag,
        frequency=np.sqrt(stiffness / mass) / (2.0 * math.pi),
        damping_ratio=zeta,
        propagation=propagation,
    )
    for values in vars(result).values():
        values.flags.writeable = False
    return result


def _by_branch(tree: Tree, species: Species) -> tuple[NDArray[np.float64], ...]:
    levels = [species.level(name) for name in LEVELS]
    return tuple(
        np.array([getattr(level, key) for level in levels], dtype=np.float64)[tree.kind]
        for key in ("beta", "zeta", "gamma", "rho", "propagation")
    )
