"""A tree and a recording made by formula, for tests of what reads and draws recordings."""

from __future__ import annotations

import numpy as np
import xarray as xr

from windgrove.trees.parameters import branch_parameters
from windgrove.trees.tree import Tree


def fork_tree(generations: int = 3, children: int = 3, seed: int = 4, leaves: bool = True) -> Tree:
    """A trunk of 8 m that forks; every twig carries a leaf bundle."""
    random = np.random.default_rng(seed)
    rows = [(np.zeros(3), np.array([0.03, 0.0, 1.0]), 8.0, 0.16, 0, -1)]
    parents = [0]
    for generation in range(1, generations + 1):
        grown = []
        for parent in parents:
            start, direction, length, radius, _, _ = rows[parent]
            for child in range(children):
                turn = 2 * np.pi * (child / children + random.uniform(-0.1, 0.1))
                out = np.array([np.cos(turn), np.sin(turn), random.uniform(0.3, 1.1)])
                at = start + direction * length * random.uniform(0.55, 1.0)
                size = length * random.uniform(0.4, 0.6)
                kind = 1 if generation <= generations else 2
                rows.append((at, out / np.linalg.norm(out), size, radius * 0.45, kind, parent))
                grown.append(len(rows) - 1)
        parents = grown
    wood = len(rows)
    if leaves:
        for parent in parents:
            start, direction, length, *_ = rows[parent]
            rows.append((start + direction * length, direction, 0.7, 0.0, 2, parent))
    position, direction, length, radius, kind, parent = (
        np.array([row[i] for row in rows]) for i in range(6)
    )
    direction = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    foliage = np.arange(len(rows)) >= wood
    return Tree(
        position=position,
        direction=direction,
        length=length,
        volume=np.where(foliage, 0.0, np.pi * radius**2 * length),
        area=np.where(foliage, length**2, 0.0),
        kind=kind,
        parent=parent,
        name="fork",
    )


def formula_recording(
    tree: Tree, species: str = "oak", *, duration: float = 60.0, rate: float = 30.0, seed: int = 1
) -> xr.Dataset:
    """Every branch as its own damped oscillator in one gusty wind, by an exact recursion."""
    p = branch_parameters(tree, species)
    time = np.arange(round(duration * rate) + 1) / rate
    random = np.random.default_rng(seed)
    slow = np.cumsum(random.normal(size=len(time))) / np.sqrt(rate)
    speed = np.clip(6 + slow - slow.mean() + 0.8 * random.normal(size=len(time)), 0.2, None)
    n = len(tree)
    omega = 2 * np.pi * np.minimum(p.frequency, 0.25 * rate)
    pole = np.exp((-p.damping_ratio * omega + 1j * omega) / rate)
    state = np.zeros(n, complex)
    rotation = np.zeros((len(time), 1, n, 3), np.float32)
    static = np.minimum(p.drag / p.stiffness, 0.02)
    for i in range(1, len(time)):
        state = pole * state + (1 - pole) * static * speed[i]
        rotation[i, 0, :, 1] = 2 * state.real
        rotation[i, 0, :, 0] = 0.3 * state.imag
    wind = np.zeros((len(time), 1, n, 3), np.float32)
    wind[:, 0, :, 0] = speed[:, None]
    dims = ("time", "instance", "branch", "component")
    return xr.Dataset(
        {
            "rotation": (dims, rotation, {"units": "rad"}),
            "wind": (dims, wind, {"units": "m/s"}),
            "kind": ("branch", np.array(tree.kind)),
            "level": ("branch", np.array(tree.level)),
            "parent": ("branch", np.array(tree.parent)),
            "length": ("branch", np.array(tree.length), {"units": "m"}),
            "frequency": ("branch", np.array(p.frequency), {"units": "Hz"}),
            "damping_ratio": ("branch", np.array(p.damping_ratio)),
        },
        coords={
            "time": ("time", time, {"units": "s"}),
            "instance": [0],
            "branch": np.arange(n),
            "component": ["x", "y", "z"],
        },
        attrs={"dt": 1 / rate},
    )


def formula_sweep() -> xr.Dataset:
    """A sweep's result over factors of beta, zeta and gamma, from the trunk's closed forms."""
    factors = np.array([0.5, 1.0, 2.0])
    b, z, g = np.meshgrid(factors, factors, factors, indexing="ij")
    frequency = 0.3 * np.sqrt(b)
    sway = 0.05 * g / b / np.sqrt(z)
    per_level = np.array([1.0, 5.0, 20.0])
    dims = ("beta", "zeta", "gamma", "level")

    def over(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return values[..., None] * scale

    return xr.Dataset(
        {
            "realised_frequency": (dims, over(frequency, per_level), {"units": "Hz"}),
            "realised_damping_ratio": (dims, over(0.05 * z, np.ones(3)), {"units": "1"}),
            "sway_rms": (dims, over(sway, 1 / per_level), {"units": "rad"}),
            "sway_peak": (dims, over(2 * sway, 1 / per_level), {"units": "rad"}),
        },
        coords={
            **{name: (name, factors, {"long_name": "factor"}) for name in dims[:3]},
            "level": ["trunk", "branch", "foliage"],
        },
    )
