"""Fields and solids shared by the tests of the projection."""

import numpy as np

# Unit roundoff of float32. Velocities here are of order 1 and spacings 0.5, so that a few sums of
# six neighbours and a division stay within some tens of it.
EPS = 2.0**-23


def field(shape, seed=0):
    """White noise of unit variance, in border and solid cells too."""
    return np.random.default_rng(seed).normal(size=(3, *shape)).astype(np.float32)


def boxes(shape, seed=0, share=0.15):
    """Random boxes, some across the border, until `share` of the cells is solid."""
    rng = np.random.default_rng(seed)
    solid = np.zeros(shape, bool)
    while solid.mean() < share:
        low = [rng.integers(-1, n) for n in shape]
        size = [rng.integers(1, max(2, n // 4) + 1) for n in shape]
        solid[tuple(slice(max(a, 0), max(a + b, 0)) for a, b in zip(low, size, strict=True))] = True
    return solid


def scattered(shape, seed=0, share=0.2):
    """Single solid cells at random: one-cell gaps everywhere, sealed cavities from 20 % on."""
    return np.random.default_rng(seed).random(shape) < share


def cavity(shape, seed=0):
    """A closed box of walls one cell thick around air, and a wall open by one cell; as much of them
    as a small grid holds."""
    solid = np.zeros(shape, bool)
    nz, ny, nx = shape
    box = (slice(1, nz - 2), slice(2, ny // 2), slice(2, nx // 2))
    solid[box] = True
    solid[tuple(slice(s.start + 1, s.stop - 1) for s in box)] = False
    solid[1 : nz - 2, ny // 2 + 1, nx // 2 :] = True
    solid[nz // 2, ny // 2 + 1, 3 * nx // 4] = False
    return solid


SOLIDS = {
    "open": lambda shape: None,
    "boxes": boxes,
    "scattered": scattered,
    "crowded": lambda shape: scattered(shape, share=0.4),
    "cavity": cavity,
}


def norm(values):
    return float(np.linalg.norm(np.asarray(values, np.float64)))
