"""Variants of one tree that stand in the same place in the same wind, stepped together."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..trees.parameters import BranchParameters
from ..trees.tree import Tree


class Batch:
    """State and running sums of a chunk.

    Attributes
    ----------
    sum_square : (variant, branch) float64, rad^2
        Sum of |theta|^2 over all steps.
    peak : (variant, branch) float32, rad
        Greatest |theta|.
    series : (frame, variant, observed, component) float32, rad
        Rotation vectors of the branches observed, the rest pose first.
    """

    def __init__(
        self,
        tree: Tree,
        parameters: list[BranchParameters],
        options: Any,
        observed: NDArray[np.int32],
        threads: int,
    ) -> None:
        self.tree, self.parameters, self.options = tree, parameters, options
        self.observed, self.threads = observed, threads
        shape = (len(parameters), len(tree))
        self.sum_square = np.zeros(shape)
        self.peak = np.zeros(shape, np.float32)
        frames = options.steps + 1 if options.segment else 1
        self.series = np.zeros((frames, len(parameters), len(observed), 3), np.float32)
        self._state = np.zeros((3, *shape, 3), np.float32)

    def run(self, wind: Any, stop: threading.Event | None) -> None:
        """Steps the wind and all variants to the end."""
        from .chunk import Stopped

        focus = (0.0, 0.0, self.tree.base + 0.5 * self.tree.height)
        start = float(getattr(wind, "time", 0.0))
        for frame in range(1, self.options.steps + 1):
            if stop is not None and stop.is_set():
                raise Stopped
            now = start + frame * self.options.dt
            if hasattr(wind, "step"):
                while wind.time + wind.dt <= now + 1e-9:
                    wind.step(focus=focus)
            for i in range(len(self.parameters)):
                self._step(i, wind, None if hasattr(wind, "step") else now)
            theta = self._state[0]
            square = np.einsum("ibc,ibc->ib", theta, theta, dtype=np.float64)
            self.sum_square += square
            np.maximum(self.peak, np.sqrt(square), out=self.peak, casting="unsafe")
            if self.options.segment:
                self.series[frame] = theta[:, self.observed]

    def _step(self, i: int, wind: Any, time: float | None) -> None:
        tree, p, o = self.tree, self.parameters[i], self.options
        rotation, previous, rate = self._state[:, i]
        frames = kernels.rotation_frames(tree, rotation)
        w, v = frames.rotation[:, :1], frames.rotation[:, 1:]
        arm = tree.direction + 2 * np.cross(v, np.cross(v, tree.direction) + w * tree.direction)
        centre = frames.pivot + (0.75 * tree.length)[:, None] * arm
        kernels.step_springs(
            rotation,
            previous,
            rate,
            position=tree.position,
            direction=tree.direction,
            length=tree.length,
            parent=tree.parent,
            mass=p.mass,
            stiffness=p.stiffness,
            damping=p.damping,
            drag=p.drag,
            wind=wind.sample(centre, time),
            dt=o.dt,
            clamp=o.clamp,
            inertia=o.inertia,
            damping_rate=o.damping_rate,
            torsion=o.torsion,
        )
