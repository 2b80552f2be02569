"""Small made-up trees shared by the tests of the springs."""

import numpy as np


def random_branches(n, seed, *, arity=6):
    """Arguments of `step_springs` that describe a tree: any shape, any direction, mixed springs."""
    rng = np.random.default_rng(seed)
    parent = np.array([-1] + [int(rng.integers(max(0, i - arity), i)) for i in range(1, n)])
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return {
        "position": rng.normal(size=(n, 3)) * 2,
        "direction": direction,
        "length": rng.uniform(0.1, 3, n),
        "parent": parent,
        "mass": rng.uniform(0.1, 5, n),
        "stiffness": 10 ** rng.uniform(0, 4, n),
        "damping": rng.uniform(0, 2, n),
        "drag": rng.uniform(0, 1, n),
    }


def one_branch(frequency, damping_ratio, *, mass=2.0, drag=0.0):
    """A single upright branch with a given natural frequency and damping ratio."""
    stiffness = mass * (2 * np.pi * frequency) ** 2
    return {
        "position": np.zeros((1, 3)),
        "direction": np.array([[0.0, 0.0, 1.0]]),
        "length": np.ones(1),
        "parent": np.array([-1]),
        "mass": np.array([mass]),
        "stiffness": np.array([stiffness]),
        "damping": np.array([2 * damping_ratio * np.sqrt(mass * stiffness)]),
        "drag": np.array([drag]),
    }


def random_state(n, seed, *, angle=0.4, step=0.05, rate=1.0):
    """Rotation, previous rotation and angular velocity, float32."""
    rng = np.random.default_rng(seed)
    rotation = rng.normal(size=(n, 3)) * angle
    previous = rotation + rng.normal(size=(n, 3)) * step
    velocity = rng.normal(size=(n, 3)) * rate
    return [np.ascontiguousarray(a, dtype=np.float32) for a in (rotation, previous, velocity)]


def zero_state(n):
    return [np.zeros((n, 3), dtype=np.float32) for _ in range(3)]


def sapling(n, *, seed=1):
    """A small tree: a trunk, branches on it, leaves on those."""
    import windgrove as wg

    rng = np.random.default_rng(seed)
    wood = max(1, n // 3)
    parent, kind = [-1], [0]
    position, direction, length = [np.zeros(3)], [np.array([0.0, 0.0, 1.0])], [6.0]
    for i in range(1, n):
        leaf = i >= wood
        p = int(rng.integers(0, min(i, wood))) if leaf or i > 4 else 0
        parent.append(p)
        kind.append(2 if leaf else 1)
        reach = rng.uniform(0.4, 0.95)
        position.append(position[p] + reach * length[p] * direction[p])
        turn = rng.normal(loc=(0, 0, 0.4), size=3)
        direction.append(turn / np.linalg.norm(turn))
        length.append(0.3 if leaf else length[p] * rng.uniform(0.35, 0.6))
    length, kind = np.array(length), np.array(kind)
    wood_only = kind < 2
    return wg.Tree(
        position=position,
        direction=direction,
        length=length,
        volume=np.where(wood_only, np.pi * (0.015 * length) ** 2 * length, 0),
        area=np.where(wood_only, 0, 0.09),
        kind=kind,
        parent=parent,
        name=f"sapling {seed}",
    )


def sturdy(*, beta=2e5):
    """Plain numbers, so that the tests do not lean on a preset."""
    from windgrove.species.species import Level, Species

    return Species(
        name="sturdy",
        trunk=Level(beta=beta, zeta=0.06, gamma=0.3, propagation=0.5),
        branch=Level(beta=beta / 4, zeta=0.08, gamma=0.3, propagation=0.5),
        foliage=Level(beta=3.0, zeta=0.12, gamma=0.2, rho=0.3, propagation=0.0),
    )
