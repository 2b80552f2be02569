"""The instances of one specimen: their arrays, and the calls of the C core that move them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from ..analysis.frequencies import discrete_response
from ..kernels.sway import CLAMPS
from ..trees.tree import Tree

STATE_NAMES = ("rotation", "previous_rotation", "angular_velocity")
KEPT_SCRATCH = 16 << 20  # bytes; more is taken anew for every call
PARAMETER_NAMES = ("mass", "stiffness", "damping", "drag", "frequency", "damping_ratio")


class InstanceState(NamedTuple):
    """Motion of one instance: live float32 views (n, 3); writing them moves the tree."""

    rotation: NDArray[np.float32]
    previous_rotation: NDArray[np.float32]
    angular_velocity: NDArray[np.float32]


class Clock(NamedTuple):
    """Time of steps as a product, so that it does not know how they are grouped in calls."""

    base: float  # s, of step 0
    first: int  # steps before this call
    dt: float  # s, of a step

    def after(self, steps: int) -> float:
        """s, after so many steps of this call."""
        return self.base + (self.first + steps) * self.dt

    def later(self, steps: int) -> Clock:
        return Clock(self.base, self.first + steps, self.dt) if steps else self


@dataclass(frozen=True)
class StepOptions:
    """What all instances of a `Sway` share: the parts of the step that can be switched."""

    clamp: str = "source"
    inertia: bool = True
    damping_rate: str = "relative"
    torsion: bool = True
    limit_turn: bool = True
    noise: float = 0.0
    noise_frequency: str = "natural"
    drag_exponent: float = 0.0
    reference_speed: float = 10.0
    threads: int = 1

    def packed(self, clock: Clock) -> tuple[Any, ...]:
        """The tuple that `_kernels.forest_run` takes."""
        switches, numbers = self._parts
        return (clock.dt, *switches, clock.base, clock.first, *numbers)

    @cached_property
    def _parts(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        relative = self.damping_rate == "relative"
        clamp = CLAMPS.index(self.clamp)
        return (
            (clamp, self.inertia, relative, self.torsion, self.limit_turn),
            (self.noise, self.drag_exponent, self.reference_speed),
        )


@dataclass(frozen=True)
class Placement:
    """Where instances stand: arrays over instances."""

    place: NDArray[np.float64]  # (m, 3) m
    turn: NDArray[np.float32]  # (m, 4) unit quaternions, tree to world
    scale: NDArray[np.float32]  # (m,)
    key: NDArray[np.uint32]  # (m,) what the noise is keyed by

    def __len__(self) -> int:
        return len(self.place)

    def take(self, index: NDArray[np.intp] | slice) -> Placement:
        return Placement(self.place[index], self.turn[index], self.scale[index], self.key[index])

    def join(self, other: Placement) -> Placement:
        return Placement(
            *(
                np.concatenate([getattr(self, name), getattr(other, name)])
                for name in ("place", "turn", "scale", "key")
            )
        )


class Group:
    """Instances of one tree in the layout of the kernels.

    `arrays` hold the state, see `_at_rest`; `padded` is the branch count rounded up to 8.
    """

    def __init__(self, tree: Tree, *, packed: bool = False) -> None:
        self.tree = tree
        self.packed = packed
        n = len(tree)
        self.padded = (n + 7) // 8 * 8
        self.specimen = np.zeros(_kernels.specimen_size(n), dtype=np.uint8)
        _kernels.specimen_init(
            tree.position, tree.direction, tree.length, tree.parent, self.specimen
        )
        empty = np.zeros((0, 3))
        self.placement = Placement(
            empty,
            np.zeros((0, 4), np.float32),
            np.zeros(0, np.float32),
            np.zeros(0, np.uint32),
        )
        self.parameters: dict[str, NDArray[np.float64]] = {}
        self.kind = np.zeros(self.padded, np.uint8)
        self.kind[:n] = tree.kind
        self.kinds = np.zeros(0, np.uint8)  # of every instance, how many kinds of branch move
        self.arrays = self._at_rest(0)
        self._coefficients: dict[Any, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}
        # Options, dt, and what the core is called with for them.
        self._call: tuple[StepOptions, float, tuple[Any, ...]] | None = None

    def _at_rest(self, count: int) -> tuple[NDArray[Any], ...]:
        """The arrays of the state of `count` instances at rest.

        Unpacked three (count, 3, padded) float32. Packed the three of `wg_packed` in
        ``windgrove/forest.h``: swings, what changed them last, and rates, as codes of three bytes.
        """
        p = self.padded
        if not self.packed:
            return tuple(np.zeros((count, 3, p), np.float32) for _ in STATE_NAMES)
        inner = (_kernels.specimen_inner_count(self.specimen) + 7) // 8 * 8
        shapes = ((2, p), (2, inner), (3, p))
        return tuple(np.zeros((count, *shape, 3), np.uint8) for shape in shapes)

    @property
    def rotation(self) -> NDArray[np.float32]:
        """(instances, 3, padded) rad; live, or a copy where the state is packed."""
        return self._rows()[0]

    @property
    def previous_rotation(self) -> NDArray[np.float32]:
        return self._rows()[1]

    @property
    def angular_velocity(self) -> NDArray[np.float32]:
        return self._rows()[2]

    def _rows(self) -> tuple[NDArray[Any], ...]:
        return self._unpacked(self.arrays) if self.packed else self.arrays

    def _unpacked(self, arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        shape = (len(arrays[0]), 3, self.padded)
        rows = tuple(np.empty(shape, np.float32) for _ in STATE_NAMES)
        _kernels.forest_repack(self.specimen, *arrays, *rows, False)  # type: ignore[call-arg]
        return rows

    @property
    def state_bytes(self) -> int:
        """Bytes of the state of all instances."""
        return sum(values.nbytes for values in self.arrays)

    def __len__(self) -> int:
        return len(self.placement)

    @property
    def sets(self) -> int:
        """Sets of parameters: 1 where all instances share them."""
        return len(self.parameters["mass"])

    # -- instances -------------------------------------------------------------------------------

    def add(self, placement: Placement, parameters: dict[str, NDArray[np.float64]]) -> None:
        """Append instances at rest; `parameters` have (1, n) or (instances, n)."""
        count, new = len(placement), len(self) == 0
        shared = new or (
            self.sets == 1
            and len(parameters["mass"]) == 1
            and all(np.array_equal(self.parameters[k], parameters[k]) for k in PARAMETER_NAMES)
        )
        if new:
            self.parameters = {k: np.array(parameters[k]) for k in PARAMETER_NAMES}
        elif not shared:
            mine = {k: self._for_each(self.parameters[k], len(self)) for k in PARAMETER_NAMES}
            theirs = {k: self._for_each(parameters[k], count) for k in PARAMETER_NAMES}
            self.parameters = {k: np.concatenate([mine[k], theirs[k]]) for k in PARAMETER_NAMES}
        self.placement = self.placement.join(placement)
        self.kinds = np.concatenate([self.kinds, np.full(count, 3, np.uint8)])
        rest = self._at_rest(count)
        if new:
            self.arrays = rest
        else:
            pairs = zip(self.arrays, rest, strict=True)
            self.arrays = tuple(np.concatenate(pair) for pair in pairs)
        self._forget()

    @staticmethod
    def _for_each(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        return np.broadcast_to(values, (count, values.shape[1])) if len(values) == 1 else values

    def keep(self, index: NDArray[np.intp]) -> None:
        """Keep only these instances, in this order."""
        if self.sets > 1:
            self.parameters = {k: v[index] for k, v in self.parameters.items()}
        self.placement = self.placement.take(index)
        self.kinds = np.ascontiguousarray(self.kinds[index])
        self.arrays = tuple(np.ascontiguousarray(values[index]) for values in self.arrays)
        self._forget()

    def state(self, slot: int) -> InstanceState:
        """Views (n, 3) of one instance: live, or read-only copies where the state is packed."""
        n = len(self.tree)
        if not self.packed:
            return InstanceState(*(values[slot].T[:n] for values in self.arrays))
        rows = self._unpacked([values[slot : slot + 1] for values in self.arrays])
        views = [values[0].T[:n] for values in rows]
        for view in views:
            view.flags.writeable = False
        return InstanceState(*views)

    def write(self, slot: int, values: Sequence[NDArray[np.float32]]) -> None:
        """Set the motion of one instance to three arrays (n, 3)."""
        n = len(self.tree)
        if not self.packed:
            for array, given in zip(self.arrays, values, strict=True):
                array[slot].T[:n] = given
            return
        rows = [np.zeros((1, 3, self.padded), np.float32) for _ in STATE_NAMES]
        for row, given in zip(rows, values, strict=True):
            row[0].T[:n] = given
        one = [array[slot : slot + 1] for array in self.arrays]
        _kernels.forest_repack(self.specimen, *one, *rows, True)  # type: ignore[call-arg]

    def snapshot(self) -> list[NDArray[Any]]:
        return [values.copy() for values in self.arrays]

    def restore(self, arrays: Sequence[NDArray[Any]]) -> None:
        for mine, values in zip(self.arrays, arrays, strict=True):
            mine[...] = values

    def _forget(self) -> None:
        """What was made for the instances as they were."""
        self._coefficients.clear()
        self._call = None

    # -- stepping --------------------------------------------------------------------------------

    def coefficients(
        self, options: StepOptions, dt: float
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Spring coefficients and noise frequencies for a step of `dt`; made once and kept."""
        key = (dt, options.clamp, options.noise_frequency)
        if key not in self._coefficients:
            p = self.parameters
            rows = 8 if options.clamp == "exponential" else 3
            springs = np.empty((self.sets, rows, self.padded), np.float32)
            _kernels.forest_springs(
                np.ascontiguousarray(p["mass"]),
                np.ascontiguousarray(p["stiffness"]),
                np.ascontiguousarray(p["damping"]),
                np.ascontiguousarray(p["drag"]),
                dt,
                CLAMPS.index(options.clamp),
                springs,
            )
            frequency = np.zeros((self.sets, self.padded), np.float32)
            frequency[:, : len(self.tree)] = self._noise_frequency(options, dt)
            self._coefficients = {key: (springs, frequency)}
        return self._coefficients[key]

    def _noise_frequency(self, options: StepOptions, dt: float) -> NDArray[np.float64]:
        natural = self.parameters["frequency"]
        if options.noise_frequency == "natural":
            return natural
        p = self.parameters
        realised = discrete_response(
            p["mass"], p["stiffness"], p["damping"], dt, options.clamp
        ).frequency
        # A dead-beat branch has none: the frequency of the clamp, 1 / (6 dt).
        return np.where(np.isfinite(realised), realised, 1.0 / (6.0 * dt))

    def drag(self) -> NDArray[np.float32]:
        """(sets, padded) float32, for the torque channel."""
        values = np.zeros((self.sets, self.padded), np.float32)
        values[:, : len(self.tree)] = self.parameters["drag"]
        return values

    def run(
        self,
        options: StepOptions,
        *,
        clock: Clock,
        wind: tuple[Any, Any],
        steps: int,
        record: tuple[Any, ...] | None = None,
    ) -> tuple[int, int, int] | None:
        """`steps` steps in one call; the (step, instance, branch) that diverged, or None."""
        if not len(self):
            return None
        forest, scratch = self._arguments(options, clock.dt)
        drag = self.drag() if record is not None and record[6] is not None else None
        packed = options.packed(clock)
        return _kernels.forest_run(
            forest, packed, wind, steps, record, drag, scratch, options.threads
        )

    def _arguments(self, options: StepOptions, dt: float) -> tuple[Any, ...]:
        """The instances as `_kernels.forest_run` takes them, and scratch; kept while they stay."""
        call = self._call
        if call is not None and call[0] is options and call[1] == dt:
            return call[2]
        springs, frequency = self.coefficients(options, dt)
        p = self.placement
        placed = (p.place, p.turn, p.scale, p.key, self.kind, self.kinds)
        forest = (self.specimen, springs, frequency, *placed, *self.arrays)
        size = _kernels.forest_scratch(self.padded, options.threads)
        arguments = (forest, np.empty(size, np.uint8))
        if size <= KEPT_SCRATCH:
            self._call = options, dt, arguments
        return arguments

    def centres_of_mass(self) -> NDArray[np.float64]:
        """(instances, n, 3) world positions of the points at 75 % of the length, m."""
        return self._points_along(0.75)[0]

    def tips(self) -> NDArray[np.float64]:
        """(instances, n, 3) world positions of the far ends, m."""
        return self._points_along(1.0)[0]

    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Pivots and far ends, each (instances, n, 3) in the world, m."""
        root, tip = self._points_along(0.0, 1.0)
        return root, tip

    def _points_along(self, *shares: float) -> tuple[NDArray[np.float64], ...]:
        tree, n = self.tree, len(self.tree)
        rotation = np.ascontiguousarray(
            self.rotation[:, :, :n].transpose(0, 2, 1), dtype=np.float64
        )
        quaternion = np.empty((len(self), n, 4))
        pivot = np.empty((len(self), n, 3))
        _kernels.rotation_frames(tree.position, tree.parent, rotation, quaternion, pivot)
        along = [tree.direction * (share * tree.length)[:, None] for share in shares]
        return tuple(self.to_world(pivot + rotate(quaternion, axis)) for axis in along)

    def to_world(self, local: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (instances, k, 3) from the axes of the trees to the world."""
        p = self.placement
        turned = rotate(p.turn[:, None].astype(np.float64), local * p.scale[:, None, None])
        return p.place[:, None] + turned


def rotate(quaternion: NDArray[np.float64], vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    w, v = quaternion[..., :1], quaternion[..., 1:]
    c = np.cross(v, vector)
    return vector + 2 * (w * c + np.cross(v, c))
