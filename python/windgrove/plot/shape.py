"""The outline of a tree on paper: pieces of wood and leaf, posed, projected, as polygons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..trees.tree import FOLIAGE, Tree

PIECES_ALONG = 6  # a branch without cylinders is drawn in so many pieces, so that it can bend


@dataclass(frozen=True, eq=False)
class Shape:
    """Axis pieces of the wood and the leaf rectangles in the rest pose, with their branches."""

    wood_start: NDArray[np.float64]  # (p, 3) m
    wood_end: NDArray[np.float64]  # (p, 3) m
    wood_radius: NDArray[np.float64]  # (p,) m
    wood_branch: NDArray[np.intp]  # (p,)
    leaf_start: NDArray[np.float64]  # (q, 3) m
    leaf_end: NDArray[np.float64]  # (q, 3) m
    leaf_half_width: NDArray[np.float64]  # (q,) m
    leaf_branch: NDArray[np.intp]  # (q,)


def shape_of(tree: Tree) -> Shape:
    """The tree's cylinders where it has them, else its branches cut in pieces."""
    checks.tree(tree)
    foliage = np.flatnonzero(tree.kind == FOLIAGE)
    wood = np.flatnonzero(tree.kind != FOLIAGE)
    tip = tree.tip
    if tree.segments is not None and len(tree.segments):
        cylinders = tree.segments
        start, end = cylinders.start, cylinders.end
        radius, branch = cylinders.radius, cylinders.branch.astype(np.intp)
        drawn = np.isin(branch, wood)
        start, end, radius, branch = start[drawn], end[drawn], radius[drawn], branch[drawn]
    else:
        steps = np.linspace(0.0, 1.0, PIECES_ALONG + 1)
        base, span = tree.position[wood], tip[wood] - tree.position[wood]
        start = (base[:, None] + steps[:-1, None] * span[:, None]).reshape(-1, 3)
        end = (base[:, None] + steps[1:, None] * span[:, None]).reshape(-1, 3)
        radius = np.repeat(tree.radius[wood], PIECES_ALONG)
        branch = np.repeat(wood, PIECES_ALONG)
    return Shape(
        wood_start=start,
        wood_end=end,
        wood_radius=radius,
        wood_branch=branch,
        leaf_start=tree.position[foliage],
        leaf_end=tip[foliage],
        leaf_half_width=0.5 * tree.area[foliage] / tree.length[foliage],
        leaf_branch=foliage,
    )


def pose(
    tree: Tree,
    rotation: NDArray[np.floating] | None,
    points: NDArray[np.float64],
    branch: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Where `points` of the rest pose go: bending, faded towards each branch's root.

    `rotation` (n, 3) holds rotation vectors in rad; None is the rest pose.
    """
    moved = np.array(points, dtype=np.float64)
    if rotation is None or not len(moved):
        return moved
    turn = np.asarray(rotation, dtype=np.float64)
    at = np.array(branch)
    arm = np.linalg.norm(moved - tree.position[at], axis=1)
    alive = np.arange(len(moved))
    while alive.size:
        here = at[alive]
        fade = np.clip(arm[alive] / tree.length[here], 0.0, 1.0)
        pivot = tree.position[here]
        moved[alive] = pivot + _turned(moved[alive] - pivot, turn[here] * fade[:, None])
        parent = tree.parent[here]
        keep = parent >= 0
        alive, here, parent = alive[keep], here[keep], parent[keep]
        arm[alive] = np.linalg.norm(tree.position[here] - tree.position[parent], axis=1)
        at[alive] = parent
    return moved


def _turned(v: NDArray[np.float64], rotvec: NDArray[np.float64]) -> NDArray[np.float64]:
    angle = np.linalg.norm(rotvec, axis=1, keepdims=True)
    axis = rotvec / np.where(angle > 0, angle, 1.0)
    along = np.sum(axis * v, axis=1, keepdims=True) * axis
    return along + (v - along) * np.cos(angle) + np.cross(axis, v) * np.sin(angle)


@dataclass(frozen=True)
class Camera:
    """Orthographic view from the side: `azimuth` turns it about the vertical (rad)."""

    azimuth: float = 0.0

    @property
    def right(self) -> NDArray[np.float64]:
        """Unit vector towards the right of the drawing."""
        return np.array([np.cos(self.azimuth), np.sin(self.azimuth), 0.0])

    def flat(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3) -> (n, 2): to the right and up, m."""
        return np.stack([points @ self.right, points[..., 2]], axis=-1)

    def depth(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distance into the drawing, m."""
        return points @ np.array([-np.sin(self.azimuth), np.cos(self.azimuth), 0.0])


def ribbons(
    start: NDArray[np.float64], end: NDArray[np.float64], half_width: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n, 4, 2) corners of flat strips from `start` to `end` (n, 2), in metres on paper."""
    along = end - start
    size = np.linalg.norm(along, axis=1, keepdims=True)
    unit = np.where(size > 0, along / np.where(size > 0, size, 1.0), [1.0, 0.0])
    side = np.stack([-unit[:, 1], unit[:, 0]], axis=1) * half_width[:, None]
    # A piece seen end-on is still a disc: never shorter than it is wide.
    short = np.maximum(half_width[:, None] - size / 2, 0.0) * unit
    start, end = start - short, end + short
    return np.stack([start + side, end + side, end - side, start - side], axis=1)


# Where the leaves of a bundle lie in its rectangle: along, across, from 0 to 1 and -1 to 1.
_ALONG = np.array([0.08, 0.24, 0.36, 0.52, 0.64, 0.82, 0.92])
_ACROSS = np.array([0.12, -0.72, 0.66, -0.22, 0.78, -0.58, 0.16])
_TURN = np.array([0.2, -1.1, 0.9, -0.5, 1.2, -0.8, 0.1])  # rad, about the bundle's direction
LEAVES_A_BUNDLE = len(_ALONG)


def leaves(
    start: NDArray[np.float64], end: NDArray[np.float64], half_width: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(7 q, 4, 2) corners of the leaves of q bundles, in the rectangle that bounds each."""
    span = end - start
    length = np.linalg.norm(span, axis=1, keepdims=True)
    unit = np.where(length > 0, span / np.where(length > 0, length, 1.0), [0.0, 1.0])
    side = np.stack([-unit[:, 1], unit[:, 0]], axis=1)
    # Alternate bundles are mirrored, so that no pattern shows.
    mirror = np.where(np.arange(len(start)) % 2, -1.0, 1.0)[:, None]
    across = 0.8 * half_width[:, None] * _ACROSS * mirror
    centre = start[:, None] + span[:, None] * _ALONG[:, None] + side[:, None] * across[..., None]
    cosine, sine = np.cos(_TURN), np.sin(_TURN) * mirror
    along = unit[:, None] * cosine[:, None] + side[:, None] * sine[..., None]
    tip = along * (0.42 * half_width)[:, None, None]
    rim = np.stack([-along[..., 1], along[..., 0]], axis=-1) * (0.2 * half_width)[:, None, None]
    corners = np.stack([centre - tip, centre + rim, centre + tip, centre - rim], axis=2)
    return corners.reshape(-1, 4, 2)
