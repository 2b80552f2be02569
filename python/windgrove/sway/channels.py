"""What a run records: channels, buffers, coordinates and the description that repeats it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..recording.layout import ChannelSpec

if TYPE_CHECKING:
    from .group import Group
    from .sway import Sway

CHANNELS = {
    "rotation": ChannelSpec(
        "rad",
        long_name="rotation vector relative to the rest pose",
        attrs={"frame": "axes of the tree, carried by the parent branch"},
    ),
    "angular_velocity": ChannelSpec(
        "rad s-1",
        long_name="angular velocity",
        attrs={"frame": "axes of the tree, carried by the parent branch"},
    ),
    "tip": ChannelSpec("m", long_name="position of the branch's far end", attrs={"frame": "world"}),
    "wind": ChannelSpec(
        "m s-1",
        long_name="wind at the centre of mass, noise included",
        attrs={"frame": "world", "comment": "what the step to this frame felt"},
    ),
    "torque": ChannelSpec(
        "N m",
        long_name="torque of the wind about the branch's root",
        attrs={
            "frame": "axes of the tree, carried by the parent branch",
            "comment": "of the step to this frame",
        },
    ),
}
NAMES = tuple(CHANNELS)


def chosen_channels(channels: str | Sequence[str]) -> tuple[str, ...]:
    """The channels asked for, in the order of `CHANNELS`."""
    asked = [channels] if isinstance(channels, str) else list(channels)
    if not asked:
        raise ValueError("channels: nothing to record")
    for name in asked:
        checks.choice(name, "channels", NAMES)
    return tuple(name for name in NAMES if name in asked)


def chosen_branches(branches: ArrayLike | None, widest: int) -> NDArray[np.int32]:
    """Increasing branch indices to record; None is all."""
    if branches is None:
        return np.arange(widest, dtype=np.int32)
    values = checks.array(branches, "branches", dtype=np.int32, ndmin=1)
    if values.ndim != 1 or not values.size:
        raise ValueError("branches: expected indices, got none")
    if values.min() < 0 or values.max() >= widest:
        raise ValueError(f"branches: expected indices from 0 to {widest - 1}")
    return np.unique(values)


class Frames:
    """Buffers that the C core fills: one block of frames of every group, and their joining."""

    def __init__(self, sway: Sway, channels: tuple[str, ...], branches: NDArray[np.int32]) -> None:
        self.sway = sway
        self.channels = channels
        self.branches = branches
        self.of_group = [branches[branches < len(g.tree)] for g in sway.groups]
        self.rows = [np.flatnonzero(sway._where[:, 0] == i) for i in range(len(sway.groups))]
        self.every = 1
        # One group in order: its buffers are what is recorded.
        self.direct = len(sway.groups) == 1 and bool((np.diff(sway._where[:, 1]) > 0).all())
        self._buffers: list[dict[str, NDArray[np.float32]]] = []

    def begin(self, frames: int, out: dict[str, NDArray[np.float32]] | None = None) -> None:
        """Buffers for a block of recorded frames: fresh ones, or `out` where `direct`."""
        if out is not None:
            self._buffers = [out]
            return
        self._buffers = [
            {
                name: np.empty((frames, len(group), len(branch), 3), np.float32)
                for name in self.channels
            }
            for group, branch in zip(self.sway.groups, self.of_group, strict=True)
        ]

    def tuple_for(self, number: int, frame: int, step: int, steps: int) -> tuple[Any, ...]:
        """The record argument of `_kernels.forest_run`: its frames start at `frame` of the block.

        Steps before `step` of the block went to an earlier call. A call that does not begin where
        a recorded frame ended records its last step, or none.
        """
        per = self.sway.substeps * self.every
        begin = frame * self.sway.substeps + step
        first, last = begin // per, (begin + steps) // per
        if last == first:
            every, span = steps + 1, slice(0, 0)
        elif begin % per:
            every, span = steps, slice(last - 1, last)
        else:
            every, span = per, slice(first, last)
        buffers = self._buffers[number]
        arrays = [buffers[name][span] if name in buffers else None for name in NAMES]
        return (every, self.of_group[number], *arrays, None, None)

    def joined(self, frames: int) -> dict[str, NDArray[np.float32]]:
        """(frames, instance, branch, 3) of every channel, NaN where a tree has no such branch."""
        sway = self.sway
        if self.direct:
            return {name: values[:frames] for name, values in self._buffers[0].items()}
        shape = (frames, len(sway), len(self.branches), 3)
        out = {name: np.full(shape, np.nan, np.float32) for name in self.channels}
        for number, buffers in enumerate(self._buffers):
            columns = np.searchsorted(self.branches, self.of_group[number])
            slots = sway._where[self.rows[number], 1]
            for name, values in buffers.items():
                part = values[:frames][:, slots]
                out[name][:, self.rows[number][:, None], columns[None, :]] = part
        return out

    def now(self) -> dict[str, NDArray[np.float32]]:
        """One frame of the state as it is; wind and torque are NaN, as no step led here."""
        self.begin(1)
        for buffers in self._buffers:
            for values in buffers.values():
                values[...] = np.nan
        for group, branch, buffers in zip(
            self.sway.groups, self.of_group, self._buffers, strict=True
        ):
            for name in ("rotation", "angular_velocity"):
                if name in buffers:
                    rows = getattr(group, name)[:, :, branch]
                    buffers[name][0] = rows.transpose(0, 2, 1)
            if "tip" in buffers:
                buffers["tip"][0] = group.tips()[:, branch]
        return self.joined(1)


def coordinates(sway: Sway, branches: NDArray[np.int32]) -> dict[str, Any]:
    """Dimensions and per-branch variables of a recording."""
    groups = sway.groups
    coords: dict[str, Any] = {
        "instance": np.arange(len(sway), dtype=np.int32),
        "branch": branches,
        "component": np.array(["x", "y", "z"]),
    }
    per = {name: [_per_branch(g, name, branches) for g in groups] for name in _PER_BRANCH}
    for name, values in per.items():
        rows = np.concatenate(values) if len(groups) > 1 else values[0]
        if len(groups) == 1 and len(rows) == 1:
            coords[name] = ("branch", rows[0])
            continue
        expanded = [
            values[g][s if len(values[g]) > 1 else 0] for g, s in sway._where
        ]  # one row for each instance
        coords[name] = (("instance", "branch"), np.stack(expanded))
    coords["place"] = (("instance", "component"), sway.at, {"units": "m", "long_name": "place"})
    coords["scale"] = ("instance", sway.scale, {"units": "1", "long_name": "scale of the points"})
    return coords


_PER_BRANCH = ("kind", "level", "parent", "length", "frequency", "damping_ratio")


def _per_branch(group: Group, name: str, branches: NDArray[np.int32]) -> NDArray[Any]:
    """(1 or sets, branch): values of the branches that are recorded, blanks beyond the tree."""
    if name in ("frequency", "damping_ratio"):
        values = group.parameters[name]
    else:
        values = getattr(group.tree, name)[None]
    blank: Any = np.nan if values.dtype.kind == "f" else -1 if values.dtype.kind == "i" else 255
    out = np.full((len(values), len(branches)), blank, values.dtype)
    inside = branches < len(group.tree)
    out[:, inside] = values[:, branches[inside]]
    return out


def attributes(sway: Sway, wind: Any, dt: float, duration: float, every: int) -> dict[str, Any]:
    """What a recording says about itself, enough to run it again."""
    import windgrove

    options = sway.options
    config = {
        "sway": {
            "state": sway.state_kind,
            "noise": options.noise,
            "noise_frequency": options.noise_frequency,
            "seed": sway.seed,
            "clamp": options.clamp,
            "inertia": options.inertia,
            "damping_rate": options.damping_rate,
            "torsion": options.torsion,
            "limit_turn": options.limit_turn,
            "vogel_exponent": options.drag_exponent - 1.0,
            "reference_speed": options.reference_speed,
            "substeps": sway.substeps,
            "start_time": sway.time,
        },
        "instances": {
            "at": sway.at.tolist(),
            "turn": sway.turn.tolist(),
            "scale": sway.scale.tolist(),
            "ids": [int(i) for i in sway.ids],
            "tree": [int(g) for g in sway._where[:, 0]],
            "species": [species.name for species in sway.species],
        },
        "wind": describe_wind(wind),
        "dt": dt,
        "duration": duration,
        "every": every,
    }
    if len(sway) > 1000:
        config["instances"] = {"count": len(sway)}
    return {
        "Conventions": "CF-1.11",
        "title": f"Sway of {', '.join(sorted({tree.name for tree in sway.trees}))}",
        "source": f"windgrove {windgrove.__version__}",
        "windgrove_version": windgrove.__version__,
        "seed": int(sway.seed) if sway.seed < 2**63 else str(sway.seed),
        "dt": dt,
        "substeps": sway.substeps,
        "clamp": options.clamp,
        "config": json.dumps(config, sort_keys=True),
        "species": json.dumps(_species_texts(sway), sort_keys=True),
    }


def describe_wind(wind: Any) -> dict[str, Any]:
    """Plain values that say which wind blew."""
    if wind is None:
        return {"type": "none"}
    if callable(getattr(wind, "describe", None)):
        return wind.describe()
    return {"type": type(wind).__qualname__, "repr": repr(wind)[:500]}


def _species_texts(sway: Sway) -> dict[str, Any]:
    from dataclasses import asdict

    distinct = {id(species): species for species in sway.species}
    texts = {}
    for number, species in enumerate(list(distinct.values())[:50]):
        name = species.name if species.name not in texts else f"{species.name} {number}"
        texts[name] = asdict(species)
    return texts


def tree_groups(sway: Sway) -> dict[str, dict[str, Any]]:
    """Whole trees, for the groups of the file: everything a `Tree` is made from."""
    groups = {}
    for number, group in enumerate(sway.groups):
        tree = group.tree
        path = "tree" if number == 0 else f"tree_{number}"
        groups[path] = {
            "position": (("node", "axis"), tree.position, {"units": "m"}),
            "direction": (("node", "axis"), tree.direction, {"units": "1"}),
            "length": ("node", tree.length, {"units": "m"}),
            "volume": ("node", tree.volume, {"units": "m3"}),
            "area": ("node", tree.area, {"units": "m2"}),
            "kind": ("node", tree.kind),
            "parent": ("node", tree.parent),
            "source_id": ("node", tree.source_id),
            "offset": ("axis", tree.offset, {"units": "m", "name": tree.name}),
        }
    return groups
