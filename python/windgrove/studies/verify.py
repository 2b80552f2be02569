"""Run a calibrated spring once more and measure what it shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.sway import step_springs
from ..species.species import Species
from .targets import Model, Target

# A decay is watched for this many periods, and at most this many steps.
PERIODS = 6.0
MAX_STEPS = 20_000
RELEASE_ANGLE = 0.05  # rad


def simulate_targets(model: Model, targets: Sequence[Target], species: Species) -> list[float]:
    """What a run of the spring step shows for each target; NaN where it has no meaning."""
    return [_simulate(model, target, species) for target in targets]


def _simulate(model: Model, target: Target, species: Species) -> float:
    if target.kind not in ("frequency_hz", "damping_ratio", "sway_deg"):
        return float("nan")
    p = model.parameters(species, target.tree)
    which = model.members(target.tree, target.level)
    middle = which[np.argsort(p.frequency[which], kind="stable")[(len(which) - 1) // 2]]
    spring = {
        name: np.array([getattr(p, name)[middle]], dtype=np.float64)
        for name in ("mass", "stiffness", "damping", "drag")
    }
    if target.kind == "sway_deg":
        return float(np.degrees(_settled_angle(spring, target.condition, model)))
    frequency, ratio = _decay(spring, float(p.frequency[middle]), model)
    return frequency if target.kind == "frequency_hz" else ratio


def _run(
    spring: dict[str, NDArray[np.float64]],
    model: Model,
    steps: int,
    *,
    angle: float = 0.0,
    wind: float = 0.0,
) -> NDArray[np.float64]:
    """Angle about y of one upright branch, (steps + 1,)."""
    rotation = np.array([[0.0, angle, 0.0]], dtype=np.float32)
    previous, velocity = rotation.copy(), np.zeros((1, 3), dtype=np.float32)
    record = [float(rotation[0, 1])]
    for _ in range(steps):
        step_springs(
            rotation,
            previous,
            velocity,
            position=[[0, 0, 0]],
            direction=[[0, 0, 1]],
            length=[1.0],
            parent=[-1],
            wind=[[wind, 0, 0]],
            dt=model.dt,
            clamp=model.clamp,
            inertia=False,
            mass=spring["mass"],
            stiffness=spring["stiffness"],
            damping=spring["damping"],
            drag=spring["drag"],
        )
        record.append(float(rotation[0, 1]))
    return np.array(record)


def _decay(
    spring: dict[str, NDArray[np.float64]], frequency: float, model: Model
) -> tuple[float, float]:
    """Natural frequency and damping ratio of the recorded free decay.

    Least squares of theta[n+2] = trace theta[n+1] - determinant theta[n]; the roots of that
    recurrence are the eigenvalues of the step.
    """
    steps = int(np.clip(PERIODS / (frequency * model.dt), 30, MAX_STEPS))
    theta = _run(spring, model, steps, angle=RELEASE_ANGLE)
    theta = theta[: _last_above(theta, 1e-3 * RELEASE_ANGLE) + 1]
    if len(theta) < 6:
        return float("nan"), float("nan")
    design = np.stack([theta[1:-1], -theta[:-2]], axis=1)
    (trace, determinant), *_ = np.linalg.lstsq(design, theta[2:], rcond=None)
    roots = np.roots([1.0, -trace, determinant]).astype(complex)
    if (np.abs(roots) < 1e-6).any() or ((roots.imag == 0) & (roots.real < 0)).any():
        return float("nan"), float("nan")
    logarithms = np.log(roots)
    natural = float(np.sqrt(np.prod(logarithms).real))
    ratio = float(-logarithms.real.sum() / (2 * natural))
    return natural / (2 * np.pi * model.dt), ratio


def _last_above(theta: NDArray[np.float64], level: float) -> int:
    return int(np.flatnonzero(np.abs(theta) > level)[-1])


def _settled_angle(spring: dict[str, NDArray[np.float64]], speed: float, model: Model) -> float:
    """Angle in a steady wind; critical damping, which does not move it, gets there soonest."""
    critical = dict(spring, damping=2.0 * np.sqrt(spring["mass"] * spring["stiffness"]))
    rate = float(np.sqrt(spring["stiffness"] / spring["mass"])[0])
    steps = int(np.clip(25.0 / (rate * model.dt), 30, MAX_STEPS))
    return float(_run(critical, model, steps, wind=speed)[-1])
