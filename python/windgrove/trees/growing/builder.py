"""Skeletons built shoot by shoot, each shoot its own chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .skeleton import Skeleton


class Builder:
    """Collects nodes; parents come before children because a shoot grows on a node that exists."""

    def __init__(self) -> None:
        self.position: list[NDArray[np.float64]] = []
        self.parent: list[int] = []
        self.chain: list[int] = []
        self.radius: list[float] = []
        self.chains = 0

    def shoot(
        self, carrier: int, nodes: NDArray[np.float64], radius: NDArray[np.float64] | None = None
    ) -> list[int]:
        """Adds a chain of nodes on a carrier node (-1: the first node is a foot); their indices."""
        indices = []
        for i, node in enumerate(nodes):
            self.position.append(node)
            self.parent.append(carrier)
            self.chain.append(self.chains)
            self.radius.append(0.0 if radius is None else float(radius[i]))
            carrier = len(self.position) - 1
            indices.append(carrier)
        self.chains += 1
        return indices

    def skeleton(self, *, own_radius: bool = False) -> Skeleton:
        """The skeleton of all shoots; with `own_radius` the radii given, else the pipe model's."""
        return Skeleton(
            np.array(self.position),
            np.array(self.parent, dtype=np.int64),
            np.array(self.chain, dtype=np.int64),
            np.array(self.radius) if own_radius else None,
        )
