"""What the packed state costs: bytes, and how far it strays from the unpacked one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..species.species import Species
from ..trees.tree import FOLIAGE, Tree
from .group import rotate
from .simulate import simulate
from .sway import Sway

_NUDGE = 1e-6  # rad


@dataclass(frozen=True)
class PackingError:
    """Packed against unpacked motion of one tree, both without torsion, over all frames.

    Attributes
    ----------
    rms_deg, max_deg : float
        Angle between the two directions of a branch in the frame of its parent [deg].
    leaf_rms_deg, leaf_max_deg : float
        The same over foliage, or over branches that carry none where there is no foliage.
    rms_mm, max_mm : float
        Distance between the two positions of a branch's far end [mm].
    own_rms_deg, own_max_deg : float
        The same angle between two unpacked float32 runs of which one starts with every branch
        turned by 1e-6 rad [deg]: where these are no smaller, the motion itself is that
        sensitive, and no state could keep to the reference.
    bytes_per_branch : float
        Of the packed state, on average over the tree.
    unpacked_bytes_per_branch : float
    frames : int
    reference : str
        "float32" or "float64".
    """

    rms_deg: float
    max_deg: float
    leaf_rms_deg: float
    leaf_max_deg: float
    rms_mm: float
    max_mm: float
    own_rms_deg: float
    own_max_deg: float
    bytes_per_branch: float
    unpacked_bytes_per_branch: float
    frames: int
    reference: str

    def __str__(self) -> str:
        return (
            f"packed against {self.reference}, {self.frames} frames: "
            f"{self.rms_deg:.2g} deg rms, {self.max_deg:.2g} deg at most "
            f"(leaves {self.leaf_rms_deg:.2g}, {self.leaf_max_deg:.2g}); "
            f"tips {self.rms_mm:.2g} mm rms, {self.max_mm:.2g} mm at most; "
            f"two unpacked runs that start 1e-6 rad apart part by {self.own_rms_deg:.2g} deg rms, "
            f"{self.own_max_deg:.2g} at most; "
            f"{self.bytes_per_branch:.1f} B a branch for {self.unpacked_bytes_per_branch:.1f}"
        )


def packing_error(
    tree: Tree,
    species: Species | str | os.PathLike[str],
    wind: Any = None,
    *,
    duration: float = 20.0,
    dt: float = 1 / 30,
    reference: str = "float32",
    **options: Any,
) -> PackingError:
    """Run a tree packed and unpacked in the same wind and compare.

    Parameters
    ----------
    tree, species
        As for `Sway`.
    wind : optional
        A wind that can be sampled at any time; by default a gusty one of 6 to 10 m/s.
    duration, dt : float
        [s]
    reference : {"float32", "float64"}
        "float64" steps the double-precision twin, about 0.2 ms a branch and step.
    options
        As for `Sway`; `noise` is 0 with the "float64" reference.

    Returns
    -------
    PackingError
    """
    checks.tree(tree)
    checks.choice(reference, "reference", ["float32", "float64"])
    if hasattr(wind, "step"):
        raise ValueError("wind: expected one that can be sampled at any time, not one that steps")
    if reference == "float64":
        options["noise"] = 0.0
    wind = _gusty() if wind is None else wind
    packed = Sway(tree, species, state="packed", **options)
    ds = simulate(packed, wind, duration=duration, dt=dt, progress=False)
    seen = ds.rotation.values[:, 0].astype(np.float64)
    pair = []
    for start in (0.0, (_NUDGE, 0.0, 0.0)):
        plain = Sway(tree, species, torsion=False, **options)
        plain.set_state(start)
        run = simulate(plain, wind, duration=duration, dt=dt, progress=False)
        pair.append(run.rotation.values[:, 0].astype(np.float64))
    own = np.degrees(_angle_between(tree, *pair))
    expected = pair[0]
    if reference == "float64":
        expected = _double_run(plain, wind, len(seen) - 1, dt)
    return _compare(tree, seen, expected, own, packed, plain, reference)


def _compare(
    tree: Tree,
    seen: NDArray[np.float64],
    expected: NDArray[np.float64],
    own: NDArray[np.float64],
    packed: Sway,
    plain: Sway,
    reference: str,
) -> PackingError:
    from ..kernels import rotation_frames

    angle = np.degrees(_angle_between(tree, seen, expected))
    tips = []
    for pose in (seen, expected):
        frames = rotation_frames(tree, pose)
        tips.append(frames.pivot + rotate(frames.rotation, tree.direction * tree.length[:, None]))
    distance = 1e3 * np.linalg.norm(tips[0] - tips[1], axis=-1)
    leaf = tree.kind == FOLIAGE
    if not leaf.any():
        leaf = ~np.isin(np.arange(len(tree)), tree.parent)
    return PackingError(
        rms_deg=_rms(angle),
        max_deg=float(angle.max()),
        leaf_rms_deg=_rms(angle[:, leaf]),
        leaf_max_deg=float(angle[:, leaf].max()),
        rms_mm=_rms(distance),
        max_mm=float(distance.max()),
        own_rms_deg=_rms(own),
        own_max_deg=float(own.max()),
        bytes_per_branch=packed.state_bytes / packed.branch_count,
        unpacked_bytes_per_branch=plain.state_bytes / plain.branch_count,
        frames=len(seen),
        reference=reference,
    )


def _rms(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _angle_between(
    tree: Tree, seen: NDArray[np.float64], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    a, b = (rotate(_quaternions(v), tree.direction) for v in (seen, expected))
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))


def _quaternions(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    half = np.where(angle > 1e-9, np.sin(angle / 2) / np.maximum(angle, 1e-9), 0.5)
    return np.concatenate([np.cos(angle / 2), half * vector], axis=-1)


def _double_run(sway: Sway, wind: Any, steps: int, dt: float) -> NDArray[np.float64]:
    """(steps + 1, n, 3): the same run by the double-precision twin."""
    from ..kernels import rotation_frames
    from ..reference import step_springs

    tree, p, o = sway.tree, sway.groups[0].parameters, sway.options
    state = [np.zeros((len(tree), 3)) for _ in range(3)]
    out = np.zeros((steps + 1, len(tree), 3))
    for step in range(steps):
        frames = rotation_frames(tree, state[0])
        arm = tree.direction * (0.75 * tree.length)[:, None]
        centre = frames.pivot + rotate(frames.rotation, arm)
        step_springs(
            *state,
            position=tree.position,
            direction=tree.direction,
            length=tree.length,
            parent=tree.parent,
            mass=p["mass"][0],
            stiffness=p["stiffness"][0],
            damping=p["damping"][0],
            drag=p["drag"][0],
            wind=wind.sample(centre, (step + 1) * dt),
            dt=dt,
            clamp=o.clamp,
            inertia=o.inertia,
            damping_rate=o.damping_rate,
            torsion=False,
        )
        out[step + 1] = state[0]
    return out


class _Gusty:
    """6 to 10 m/s, swinging at three frequencies that no branch shares for long."""

    def sample(self, points: Any, time: float | None = None) -> NDArray[np.float64]:
        return np.tile(self.velocity(time), (len(points), 1))

    def velocity(self, time: float | None = None) -> NDArray[np.float64]:
        t = time or 0.0
        speed = 8.0 + 0.9 * np.sin(0.8 * t) + 0.7 * np.sin(2.1 * t + 1) + 0.4 * np.sin(5.3 * t + 2)
        side = 1.2 * np.sin(1.3 * t + 0.5)
        return np.array([speed, side, 0.0])


def _gusty() -> Any:
    return _Gusty()
