"""What is each part of the multigrid cycle worth? A cycle in plain NumPy, part by part."""

import sys
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

INNER = (slice(1, -1),) * 3
WHOLE = {"order": True, "summed": True, "border": True, "relaxed": True, "filled": True}
CYCLES = {
    "symmetric": {},
    "red-black after": {"order": True},
    "+ sum and border": {"order": True, "summed": True, "border": True},
    "+ relaxed": {**WHOLE, "filled": False},
    "the whole": WHOLE,
    "less the order": {**WHOLE, "order": False, "relaxed": False},
    "less the sum": {**WHOLE, "summed": False},
    "less the border": {**WHOLE, "border": False},
    "less relaxation": {**WHOLE, "relaxed": False},
}


def beside(values, axis, side):
    """The inner cells' neighbours along one axis."""
    index = [slice(1, -1)] * 3
    index[axis] = slice(2, None) if side > 0 else slice(0, -2)
    return values[tuple(index)]


class Level:
    """Edges of one level: `weight[a]` between a cell and the one before it along axis a."""

    def __init__(self, weight):
        self.weight = weight
        self.diagonal = np.zeros(weight[0].shape)
        for axis, w in enumerate(weight):
            self.diagonal[INNER] += w[INNER] + beside(w, axis, +1)
        self.air = self.diagonal > 0
        self.reciprocal = np.divide(1.0, self.diagonal, out=0 * self.diagonal, where=self.air)
        parity = np.indices(self.diagonal.shape).sum(axis=0) % 2
        self.colour = [(parity == 1) & self.air, (parity == 0) & self.air]

    def around(self, x):
        sums = np.zeros_like(x)
        for axis, w in enumerate(self.weight):
            sums[INNER] += w[INNER] * beside(x, axis, -1)
            sums[INNER] += beside(w, axis, +1) * beside(x, axis, +1)
        return sums

    def residual(self, b, x):
        return np.where(self.air, b + self.around(x) - self.diagonal * x, 0.0)

    def half_sweep(self, b, x, colour, factor=1.0):
        solved = (b + self.around(x)) * self.reciprocal
        mine = self.colour[colour]
        x[mine] += factor * (solved[mine] - x[mine])


def finest(solid):
    """Edges across open faces; phi = 0 beyond the border is an edge to a cell that stays 0."""
    weight = []
    inside = np.zeros(solid.shape, bool)
    inside[INNER] = True
    for axis in range(3):
        low, high = [slice(None)] * 3, [slice(None)] * 3
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        low, high = tuple(low), tuple(high)
        w = np.zeros(solid.shape)
        w[high] = ~solid[low] & ~solid[high] & (inside[low] | inside[high])
        weight.append(w)
    return Level(weight)


def distance(size, cells, level):
    """Of the border's phi = 0 from the outermost centres, in cells of the level."""
    low = 0.5 / 2**level + 0.5
    return low, max((size + 0.5) / 2**level - cells + 0.5, 0.25)


def coarser(fine, size, level, parts):
    shape = [(n - 2 + 1) // 2 for n in fine.air.shape]
    weight = []
    for axis, w in enumerate(fine.weight):
        coarse = np.zeros([n + 2 for n in shape])
        places = [(np.arange(n) + 1) // 2 for n in w.shape]
        n = w.shape[axis]
        places[axis] = np.minimum(places[axis], shape[axis] + 1)
        crosses = np.arange(n) % 2 == 1
        crosses[-1], places[axis][-1] = True, shape[axis] + 1  # the edge to the far border
        kept = w * crosses.reshape([-1 if a == axis else 1 for a in range(3)])
        np.add.at(coarse, np.ix_(*places), 0.5 * kept)
        if parts.get("border"):
            was = distance(size[axis], n - 2, level)
            now = distance(size[axis], shape[axis], level + 1)
            for place, old, new in zip((1, shape[axis] + 1), was, now, strict=True):
                index = [slice(None)] * 3
                index[axis] = place
                coarse[tuple(index)] *= old / new
        weight.append(coarse)
    return Level(weight)


def levels(solid, parts):
    built = [finest(solid)]
    size = [n - 2 for n in solid.shape]
    while min(built[-1].air.shape) > 3:
        built.append(coarser(built[-1], size, len(built) - 1, parts))
    return built


def parents(n):
    """Of fine cells 1 to n: the coarse cell over each and the nearer of its neighbours."""
    place = np.arange(1, n + 1)
    own = (place + 1) // 2
    return own, np.where(place % 2 == 1, own - 1, own + 1)


def interpolate(x, shape):
    for axis, size in enumerate(shape):
        moved = np.moveaxis(x, axis, 0)
        out = np.zeros((size, *moved.shape[1:]))
        own, other = parents(size - 2)
        out[1:-1] = 0.75 * moved[own] + 0.25 * moved[other]
        x = np.moveaxis(out, 0, axis)
    return x


def restrict(r, shape, summed):
    for axis, size in enumerate(shape):
        moved = np.moveaxis(r, axis, 0)
        out = np.zeros((size, *moved.shape[1:]))
        own, other = parents(moved.shape[0] - 2)
        np.add.at(out, own, moved[1:-1] * (1.0 if summed else 0.75))
        if not summed:
            np.add.at(out, other, 0.25 * moved[1:-1])
        out[0] = out[-1] = 0
        r = np.moveaxis(out, 0, axis)
    return r


def filled(level, x):
    """Cells without an unknown take the mean of the unknowns beside them."""
    sums, count = np.zeros_like(x), np.zeros_like(x)
    for axis in range(3):
        for side in (-1, 1):
            sums[INNER] += beside(x, axis, side)
            count[INNER] += beside(level.air, axis, side)
    return np.where(level.air, x, sums / np.maximum(count, 1))


def cycle(built, b, parts, x=None):
    level, below = built[0], built[1:]
    x = np.zeros_like(b) if x is None else x
    if not below:
        for colour in (0, 1) * 4:
            level.half_sweep(b, x, colour)
        return x
    before, after = (1.15, 1.35) if parts.get("relaxed") else (1.0, 1.0)
    level.half_sweep(b, x, 0, before)
    level.half_sweep(b, x, 1)
    r = restrict(level.residual(b, x), below[0].air.shape, parts.get("summed"))
    e = cycle(below, r, parts)
    e = filled(below[0], e) if parts.get("filled") else e
    x = x + np.where(level.air, interpolate(e, level.air.shape), 0.0)
    first = 0 if parts.get("order") else 1
    level.half_sweep(b, x, first, after if first == 0 else 1.0)
    level.half_sweep(b, x, 1 - first)
    return x


def left(level, b, x):
    return float(np.linalg.norm(level.residual(b, x)) / np.linalg.norm(b))


def face_divergence(u, solid):
    d = np.zeros(solid.shape)
    for axis in range(3):
        for side in (-1, 1):
            face = 0.5 * (u[axis][INNER] + beside(u[axis], axis, side))
            closed = beside(solid, axis, side)
            d[INNER] -= side * np.where(closed, beside(u[axis], axis, side), face)
    return d


def right_sides(solid, rng):
    noise = np.zeros(solid.shape)
    noise[INNER] = rng.normal(size=noise[INNER].shape)
    u = rng.normal(size=(3, *solid.shape))
    sudden = np.broadcast_to(np.array([5.0, 2.0, 0.0])[:, None, None, None], u.shape).copy()
    u[:, solid] = sudden[:, solid] = 0
    sides = {
        "white velocity": face_divergence(u, solid),
        "white right side": noise,
        "smooth": np.where(noise != 0, gaussian_filter(noise, 4), 0.0),
    }
    if solid.any():
        sides["sudden wind"] = face_divergence(sudden, solid)
    return sides


def scenes(c, rng):
    shape = tuple(n + 2 for n in c["cells"])
    x, y = ((np.arange(n) - 1) % 12 < 4 for n in shape[:2])
    houses = np.zeros(shape, bool)
    houses[1:-1, 1:-1, : 2 * shape[2] // 3 - 1] = (x[:, None] & y)[1:-1, 1:-1, None]
    scattered = np.zeros(shape, bool)
    scattered[INNER] = rng.random(c["cells"]) < c["scattered_share"]
    return {"open": np.zeros(shape, bool), "houses": houses, "single cells": scattered}


def measure(c, solid, rng):
    for name, side in right_sides(solid, rng).items():
        for parts_name, parts in CYCLES.items():
            built = levels(solid, parts)
            b = np.where(built[0].air, side, 0.0)
            x = np.zeros_like(b)
            for _ in range(c["jacobi_sweeps"]):
                x = (b + built[0].around(x)) * built[0].reciprocal
            jacobi, x = left(built[0], b, x), None
            for _ in range(c["cycles"]):
                x = cycle(built, b, parts, x)
            seen = left(built[0], b, x)
            yield name, parts_name, jacobi, seen, seen / jacobi


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
        for scene in dict.fromkeys((row[0], row[1]) for row in rows):
            ratios = [row[-1] for row in rows if row[:2] == scene]
            ax.plot(ratios, range(len(CYCLES)), ".-", label=", ".join(scene))
        ax.axvline(0.35, color="#888888", linewidth=1)
        ax.set_yticks(range(len(CYCLES)), CYCLES)
        ax.invert_yaxis()
        ax.set(xscale="log", xlabel="residual of two cycles over that of 20 Jacobi sweeps")
        ax.grid(color="#e3e3e3")
        figure.legend(fontsize=8, loc="outside right")
    return figure


def main():
    c = config(__file__)
    rng = np.random.default_rng(c["seed"])
    rows = [(scene, *row) for scene, s in scenes(c, rng).items() for row in measure(c, s, rng)]
    here = folder(__file__)
    header = ["solids", "right_side", "cycle", "left_by_jacobi", "left_by_cycles", "ratio"]
    write_table(here / "result.csv", header, rows)
    save_plot(draw(rows), here / "result.png")
    print(f"wrote {here / 'result.csv'} and result.png")


if __name__ == "__main__":
    main()
