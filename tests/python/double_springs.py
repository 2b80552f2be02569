"""The spring step in double precision, all branches of a depth at once: for long fine references.

The same equations as `windgrove.reference.step_springs` without clamp, a test says so; a thousand
times as fast.
"""

import numpy as np
from scipy.spatial.transform import Rotation


class DoubleTree:
    """Free motion of one tree: no wind, no clamp, inertia with the relative damping rate."""

    def __init__(self, tree, parameters):
        self.tree, self.parent = tree, np.asarray(tree.parent)
        depth = np.asarray(tree.level)
        self.levels = [np.flatnonzero(depth == d) for d in range(1, depth.max() + 1)]
        self.root = self.parent < 0
        self.offset = tree.position - np.where(
            self.root[:, None], 0, tree.position[np.maximum(self.parent, 0)]
        )
        self.arm = tree.direction * (0.75 * tree.length)[:, None]
        self.K = (parameters.stiffness / parameters.mass)[:, None]
        self.G = (parameters.damping / parameters.mass)[:, None]
        self.theta = np.zeros((len(tree), 3))
        self.before, self.omega = self.theta.copy(), self.theta.copy()

    def frames(self, R):
        """P (n, 3, 3) and pivots for rotations R (n, 3, 3)."""
        P = np.tile(np.eye(3), (len(R), 1, 1))
        G, pivot = R.copy(), self.tree.position.copy()
        for index in self.levels:
            above = self.parent[index]
            P[index] = G[above]
            G[index] = G[above] @ R[index]
            pivot[index] = pivot[above] + np.einsum("nij,nj->ni", G[above], self.offset[index])
        return P, pivot

    def step(self, dt):
        turn = Rotation.from_rotvec(self.theta)
        R, R_before = turn.as_matrix(), Rotation.from_rotvec(self.before).as_matrix()
        P, pivot = self.frames(R)
        P_before, pivot_before = self.frames(R_before)
        a = np.einsum("nij,nj->ni", R, self.arm)
        centre = pivot_before + np.einsum("nij,nj->ni", P_before, a)
        b = np.einsum("nji,nj->ni", P, centre - pivot)
        axis = np.cross(a, b)
        sine = np.linalg.norm(axis, axis=1, keepdims=True)
        angle = np.arctan2(sine, np.einsum("ni,ni->n", a, b)[:, None])
        C = np.where(sine > 0, angle / np.where(sine > 0, sine, 1), 0) * axis
        C[self.root] = 0
        self.omega = self.omega + dt * (-self.K * self.theta - self.G * (self.omega + C / dt))
        self.before = self.theta
        new = Rotation.from_rotvec(self.omega * dt) * Rotation.from_rotvec(C) * turn
        self.theta = new.as_rotvec()
