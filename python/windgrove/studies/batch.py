"""Variants of one tree that stand in the same place in the same wind, stepped together."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sway.feed import Feed
from ..sway.group import PARAMETER_NAMES, Clock, Group, Placement, StepOptions
from ..sway.placing import keys_of
from ..trees.parameters import BranchParameters
from ..trees.tree import Tree


class Stopped(Exception):
    """The sweep was interrupted while this chunk ran."""


class Watch:
    """How a chunk that runs in this process is stopped, and how far it is."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.share = 0.0  # of the steps done

    def tell(self, share: float) -> None:
        """Notes progress; raises `Stopped` where the sweep was interrupted."""
        self.share = share
        if self.stop.is_set():
            raise Stopped


class Batch:
    """State and running sums of a chunk: what `simulate` would do with each variant alone.

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
        count = len(parameters)
        self.tree, self.options, self.observed = tree, options, observed
        self._group = Group(tree)
        place = np.zeros((count, 3))
        upright = np.zeros((count, 4), np.float32)
        upright[:, 0] = 1
        _, key = keys_of(None, place, options.noise_seed)
        self._group.add(
            Placement(place, upright, np.ones(count, np.float32), key),
            {name: np.stack([getattr(p, name) for p in parameters]) for name in PARAMETER_NAMES},
        )
        self._step = StepOptions(
            clamp=options.clamp,
            inertia=options.inertia,
            damping_rate=options.damping_rate,
            torsion=options.torsion,
            noise=options.noise,
            noise_frequency=options.noise_frequency,
            drag_exponent=options.drag_exponent,
            reference_speed=options.reference_speed,
            threads=threads,
        )
        padded = self._group.padded
        self._sum_square = np.zeros((count, padded))
        self._peak = np.zeros((count, padded), np.float32)
        frames = options.steps + 1 if options.segment else 1
        self.series = np.zeros((frames, count, len(observed), 3), np.float32)

    @property
    def sum_square(self) -> NDArray[np.float64]:
        return self._sum_square[:, : len(self.tree)]

    @property
    def peak(self) -> NDArray[np.float32]:
        return self._peak[:, : len(self.tree)]

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """(variant,) True where a state is not finite any more."""
        n = len(self.tree)
        state = self._group.rotation[:, :, :n], self._group.angular_velocity[:, :, :n]
        return ~np.all([np.isfinite(a).all(axis=(1, 2)) for a in state], axis=0)

    def run(self, wind: Any, watch: Watch | None) -> None:
        """Steps the wind and all variants to the end.

        A variant that leaves finite numbers stays where it left, the others go on; ValueError
        where it is the wind that is not finite.
        """
        feed, dt, total = Feed(wind), self.options.dt, self.options.steps
        tree, count = self.tree, len(self._group)
        focus = (0.0, 0.0, tree.base + 0.5 * tree.height)
        start = float(wind.time) if feed.stepped else 0.0
        most = feed.frames_at_once(count * len(tree)) if feed.kind in ("series", "still") else 1
        done = 0
        while done < total:
            if watch is not None:
                watch.tell(done / total)
            steps = min(most, total - done)
            if feed.stepped:
                # The same allowance for rounding as in `simulate`.
                limit = start + (done + 1) * dt + 1e-3 * min(dt, float(wind.dt))
                while float(wind.time) + float(wind.dt) <= limit:
                    wind.step(focus=focus)
            self._advance(feed, done, steps)
            done += steps

    def _advance(self, feed: Feed, done: int, steps: int) -> None:
        clock = Clock(0.0, done, self.options.dt)
        rotation = self.series[done + 1 : done + 1 + steps] if self.options.segment else None
        record = (1, self.observed, rotation, None, None, None, None, self._sum_square, self._peak)
        fault = self._group.run(
            self._step,
            clock=clock,
            wind=feed.for_group(self._group, clock, steps),
            steps=steps,
            record=record,
        )
        if fault is not None:
            step, instance, branch = fault
            now = clock.after(step + 1)
            if not feed.is_finite(self._group, instance, branch, now):
                raise ValueError(f"wind: not finite at {now:g} s")
