"""A recursive generator driven by the tables of an ez-tree preset.

The same parameters as that generator (github.com/dgreenheck/ez-tree) with the meaning its presets
show, not the same trees: the random numbers and the order of the draws are our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .builder import Builder
from .chance import Chance, circle, cross, dot, frame, unit
from .skeleton import Skeleton

if TYPE_CHECKING:
    from ..readers.eztree import EzTreePreset

DEGREES = 57.29577951308232
SMALLEST_RADIUS = 1e-3  # scene units: a taper of 1 would end in nothing
MOST_SHOOTS = 20_000


class PresetSkeleton:
    """The skeleton of a preset in scene units, z up, and the shoots of the last level.

    `last` holds the chains that carry leaves.
    """

    def __init__(self, preset: EzTreePreset, seed: int) -> None:
        self.preset = preset
        self.chance = Chance(seed, "preset")
        self.build = Builder()
        self.last: list[int] = []
        x, y, z, self.strength = preset.force
        self.pull = unit([x, -z, y])
        self._shoot(-1, np.zeros(3), np.array([0.0, 0.0, 1.0]), 0, self.preset.radius[0], 1.0)

    def skeleton(self) -> Skeleton:
        return self.build.skeleton(own_radius=True)

    def _shoot(
        self,
        carrier: int,
        start: NDArray[np.float64],
        aim: NDArray[np.float64],
        level: int,
        radius: float,
        scale: float,
    ) -> None:
        """One branch with all that grows on it; `scale` shortens it."""
        if self.build.chains >= MOST_SHOOTS:
            raise ValueError(f"branch.children: the preset grows more than {MOST_SHOOTS} branches")
        preset = self.preset
        line = self._line(start, aim, level, radius, scale)
        inner = level < preset.levels
        fractions = self._places(level) if inner else np.zeros(0)
        sections = len(line) - 1
        places = np.union1d(np.arange(sections + 1) / sections, fractions)
        nodes = np.column_stack(
            [np.interp(places, np.arange(sections + 1) / sections, line[:, k]) for k in range(3)]
        )
        thickness = np.maximum(radius * (1.0 - preset.taper[level] * places), SMALLEST_RADIUS)
        first = 0 if carrier < 0 else 1
        shoots = self.build.shoot(carrier, nodes[first:], thickness[first:])
        if not inner:
            self.last.append(self.build.chains - 1)
            return
        node_at = np.array([carrier, *shoots]) if first else np.array(shoots)
        turn = self.chance.one(0.0, 360.0)
        for fraction in fractions.tolist():
            at = int(np.searchsorted(places, fraction))
            along = unit(nodes[min(at + 1, len(nodes) - 1)] - nodes[max(at - 1, 0)])
            turn += 360.0 / len(fractions) + preset.twist[level] * DEGREES * sections * 0.1
            jitter = self.chance.one(-0.25, 0.25) * 360.0 / len(fractions)
            out = self._aside(along, preset.angle[level + 1], turn + jitter)
            shrink = 1.0 - fraction if preset.type == "evergreen" and level == 0 else 1.0
            child_radius = preset.radius[level + 1] * float(thickness[at])
            self._shoot(int(node_at[at]), nodes[at], out, level + 1, child_radius, shrink)
        if preset.type != "evergreen":
            along = unit(line[-1] - line[-2])
            self._shoot(shoots[-1], nodes[-1], along, level + 1, float(thickness[-1]), scale)

    def _places(self, level: int) -> NDArray[np.float64]:
        """Where the children sit, from the level's start to the end, one in each equal part."""
        count = self.preset.children[level]
        low = min(max(self.preset.start[level + 1], 0.0), 1.0)
        part = (np.arange(count) + self.chance.uniform(count)) / max(count, 1)
        return low + (1.0 - low) * 0.98 * part

    def _line(
        self,
        start: NDArray[np.float64],
        aim: NDArray[np.float64],
        level: int,
        radius: float,
        scale: float,
    ) -> NDArray[np.float64]:
        """Section ends of a branch that wanders by its gnarliness and bends to the force."""
        preset = self.preset
        sections = max(preset.sections[level], 1)
        step = preset.length[level] * max(scale, 0.05) / sections
        stray = self.chance.unit_vectors(sections)
        nodes = np.empty((sections + 1, 3))
        nodes[0] = start
        for i in range(sections):
            nodes[i + 1] = nodes[i] + aim * step
            here = max(radius * (1.0 - preset.taper[level] * (i + 1) / sections), SMALLEST_RADIUS)
            wander = abs(preset.gnarliness[level]) * max(1.0, 1.0 / float(np.sqrt(here)))
            across = stray[i] - aim * dot(stray[i], aim)
            # One section turns by the pull over the radius at most, thin branches by more.
            bend = float(np.clip(self.strength / here, -0.5, 0.5))
            aim = unit(aim + across * min(wander, 1.0) + self.pull * bend)
        return nodes

    @staticmethod
    def _aside(
        along: NDArray[np.float64], angle_deg: float, around_deg: float
    ) -> NDArray[np.float64]:
        level, _ = frame(along)
        above = cross(along, level)
        bend, side = circle(angle_deg), circle(around_deg)
        return unit(along * bend[0] + (level * side[0] + above * side[1]) * bend[1])
