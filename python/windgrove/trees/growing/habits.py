"""The habits: how a decurrent tree, an excurrent one, a palm and a shrub build their skeletons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...species.growth import Growth
from .builder import Builder
from .chance import Chance, circle, cross, frame, profile, tilt, unit
from .colonise import Colony, colonise, fill_crown, sprout
from .skeleton import Skeleton

STEM_PIECES_BELOW_CROWN = 8
SPROUT_EVERY = 4


def grow_skeleton(growth: Growth, height: float, seed: int) -> Skeleton:
    """The skeleton of one tree, `height` m high; the same for the same arguments everywhere."""
    return _HABITS[growth.habit](growth, height, seed)


def _colony(growth: Growth, points: NDArray[np.float64]) -> tuple[Colony, float]:
    """Steps and reaches from the room that one point has."""
    size = points.max(axis=0) - points.min(axis=0)
    room = 0.6 * float(size[0] * size[1] * size[2]) / len(points)
    # The cube root by Newton's rule: pow differs between processors.
    root = float(size.max())
    for _ in range(60):
        root = (2.0 * root + room / (root * root)) / 3.0
    step = 0.45 * root
    return (
        Colony(
            step=step,
            influence=7.0 * root,
            kill=0.55 * root,
            wander=growth.wander,
            lift=growth.lift,
            rise=growth.rise,
        ),
        step,
    )


def _crown_points(growth: Growth, height: float, seed: int) -> NDArray[np.float64]:
    return fill_crown(
        np.asarray(growth.outline),
        growth.crown_base * height,
        height,
        0.5 * growth.crown_width * height,
        growth.twigs,
        Chance(seed, "crown"),
        shell=growth.shell,
    )


def _stem(growth: Growth, top: float, step: float, chance: Chance) -> NDArray[np.float64]:
    """A slightly wandering stem from the origin up to the height `top`."""
    count = max(int(top / step), 4)
    step = top / count
    stray = chance.unit_vectors(count) * (0.35 * growth.wander)
    nodes = np.zeros((count + 1, 3))
    aim = np.array([0.0, 0.0, 1.0])
    for i in range(count):
        home = np.array([-nodes[i, 0], -nodes[i, 1], 0.0]) * (0.3 / top)
        aim = unit(aim + stray[i] + home + [0.0, 0.0, 0.4])
        nodes[i + 1] = nodes[i] + aim * (step / aim[2])
    return nodes


def _decurrent(growth: Growth, height: float, seed: int) -> Skeleton:
    points = _crown_points(growth, height, seed)
    colony, step = _colony(growth, points)
    base = growth.crown_base * height
    top = max(base + growth.leader * (height - base), 0.05 * height)
    stem = _stem(growth, top, step, Chance(seed, "stem"))
    first = len(stem)
    position, parent = colonise(points, stem, np.arange(first) - 1, colony, Chance(seed, "shoots"))
    position, parent = sprout(position, parent, first, SPROUT_EVERY, step, Chance(seed, "sprouts"))
    position[:, 2] *= height / position[:, 2].max()
    return Skeleton(position, parent)


def _shrub(growth: Growth, height: float, seed: int) -> Skeleton:
    points = _crown_points(growth, height, seed)
    colony, step = _colony(growth, points)
    chance = Chance(seed, "stems")
    place = np.arange(growth.stems) + 0.7 * chance.uniform(growth.stems)
    around = circle(360.0 * place / growth.stems)
    out = chance.between(0.2, 1.0, growth.stems)[:, None]
    feet = np.column_stack([around * (0.05 * height) * out, np.zeros(growth.stems)])
    lean = np.column_stack([around * 0.35 * out, np.ones(growth.stems)])
    forks = feet + unit(lean) * (0.6 * growth.crown_base + 0.04) * height
    position = np.concatenate([feet, forks])
    parent = np.concatenate([np.full(growth.stems, -1), np.arange(growth.stems)])
    first = len(position)
    position, parent = colonise(points, position, parent, colony, Chance(seed, "shoots"))
    position, parent = sprout(position, parent, first, SPROUT_EVERY, step, Chance(seed, "sprouts"))
    position[:, 2] *= height / position[:, 2].max()
    return Skeleton(position, parent)


def _arc(
    start: NDArray[np.float64], aim: NDArray[np.float64], length: float, pieces: int, bend: float
) -> NDArray[np.float64]:
    """Nodes after `start` of a shoot that bends up (bend > 0) or down piece by piece."""
    nodes = np.empty((pieces, 3))
    here = start
    for i in range(pieces):
        aim = unit(aim + np.array([0.0, 0.0, bend / pieces]))
        here = here + aim * (length / pieces)
        nodes[i] = here
    return nodes


def _excurrent(growth: Growth, height: float, seed: int) -> Skeleton:
    chance = Chance(seed, "whorls")
    build = Builder()
    base = growth.crown_base * height
    level = base + (height - base) * (np.arange(growth.whorls) + 0.3) / growth.whorls
    below = np.arange(STEM_PIECES_BELOW_CROWN) * base / STEM_PIECES_BELOW_CROWN
    z = np.concatenate([below, level, [height]])
    stray = Chance(seed, "stem").unit_vectors(len(z)) * (0.004 * growth.wander * height)
    stray[:, 2] = 0.0
    stray[0] = 0.0
    nodes = np.cumsum(0.5 * stray, axis=0)
    nodes[:, 2] = z
    stem = build.shoot(-1, nodes)
    turn = chance.one(0.0, 360.0)
    for w in range(growth.whorls):
        node = stem[STEM_PIECES_BELOW_CROWN + w]
        t = (w + 0.3) / growth.whorls
        turn += 137.5
        for b in range(growth.per_whorl):
            around = turn + 360.0 * b / growth.per_whorl + chance.one(-18.0, 18.0)
            _whorl_branch(build, growth, height, t, node, around, chance)
    skeleton = build.skeleton()
    skeleton.position[:, 2] *= height / skeleton.position[:, 2].max()
    return skeleton


def _whorl_branch(
    build: Builder,
    growth: Growth,
    height: float,
    t: float,
    node: int,
    around: float,
    chance: Chance,
) -> None:
    reach = 0.5 * growth.crown_width * height
    full = reach * float(profile(growth.outline, t)) * chance.one(0.75, 1.12)
    low, high = growth.branch_angle
    steep = low + (high - low) * t + chance.one(-5.0, 5.0)
    aim = tilt([0.0, 0.0, 1.0], steep, around)
    count = round(growth.side_shoots * full / reach + chance.one(-0.5, 0.5))
    pieces = max(count, 3)
    start = build.position[node]
    nodes = _arc(start, aim, full, pieces, growth.lift)
    shoots = build.shoot(node, nodes)
    for j in range(count):
        at = min(j, pieces - 2)
        along = unit(nodes[at + 1] - nodes[at])
        level, _ = frame(along)
        side = level if j % 2 else -level
        rest = full * (1.0 - (at + 1) / pieces)
        length = (0.5 * rest + 0.12 * full) * chance.one(0.75, 1.15)
        out = unit(along * chance.one(0.5, 0.8) + side)
        build.shoot(shoots[at], _arc(nodes[at], out, length, 2, growth.lift + growth.droop))


def _palm(growth: Growth, height: float, seed: int) -> Skeleton:
    chance = Chance(seed, "fronds")
    build = Builder()
    reach = 0.5 * growth.crown_width * height
    crown = height - 0.45 * reach
    stem = _stem(growth, crown, crown / 12, Chance(seed, "stem"))
    fraction = stem[:, 2] / crown
    radius = 0.5 * growth.dbh / growth.height * height * (1.06 - 0.22 * fraction)
    top = build.shoot(-1, stem, radius)[-1]
    for f in range(growth.per_whorl):
        age = (f + 0.5) / growth.per_whorl
        steep = growth.branch_angle[1] + (growth.branch_angle[0] - growth.branch_angle[1]) * age
        aim = tilt([0.0, 0.0, 1.0], steep + chance.one(-6.0, 6.0), 137.5 * f)
        length = reach * chance.one(1.05, 1.3)
        nodes = _arc(stem[-1], aim, length, 9, -growth.droop * (0.6 + 0.8 * age))
        thick = 0.011 * length * (1.05 - np.arange(9) / 9.0)
        carrier = top
        for third in range(3):
            part = slice(3 * third, 3 * third + 3)
            carrier = build.shoot(carrier, nodes[part], thick[part])[-1]
    skeleton = build.skeleton(own_radius=True)
    skeleton.position[:, 2] *= height / skeleton.position[:, 2].max()
    return skeleton


def frond_sides(direction: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Where the leaflets of one side of frond pieces point: sideways, forwards and down."""
    level, _ = frame(direction)
    upward = cross(direction, level)
    return unit(level * (1.0 if side else -1.0) + 0.45 * direction - 0.25 * np.abs(upward[:, 2:]))


_HABITS = {
    "decurrent": _decurrent,
    "excurrent": _excurrent,
    "palm": _palm,
    "shrub": _shrub,
}
