"""What does each projection leave of the divergence, by scale, at faces and at cells?"""

import itertools
import sys
from pathlib import Path

import numpy as np

import windgrove as wg
from windgrove.wind.residual import divergence_by_scale

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

# method, discretisation, iterations; what does not go with solids is left out there.
CASES = [
    ("jacobi", "compact", 20), ("jacobi", "compact", 200), ("sor", "compact", 20),
    ("multigrid", "compact", 1), ("multigrid", "compact", 2), ("multigrid", "compact", 4),
    ("multigrid", "compact", 20), ("direct", "compact", 1),
    ("pcg", "consistent", 2), ("pcg", "consistent", 4), ("pcg", "consistent", 8),
    ("pcg", "consistent", 20), ("direct", "consistent", 1),
]  # fmt: skip


def wind(cells, spectrum, rng):
    """A random field whose energy falls with the wavenumber to the power `spectrum`."""
    shape = tuple(n + 2 for n in cells[::-1])
    k = np.sqrt(sum(f**2 for f in np.meshgrid(*map(np.fft.fftfreq, shape), indexing="ij")))
    k[0, 0, 0] = np.inf
    field = [
        np.fft.ifftn(np.fft.fftn(rng.normal(size=shape)) * k ** ((spectrum - 2) / 2)).real
        for _ in range(3)
    ]
    return np.float32(field / np.std(field))


def houses(shape, share, rng):
    """Boxes on the ground, at rest."""
    solid = np.zeros(shape, bool)
    while solid.mean() < share:
        y, x = rng.integers(0, shape[1] - 4), rng.integers(0, shape[2] - 4)
        height, *side = rng.integers(3, 1 + max(4, shape[0] // 2)), *rng.integers(3, 9, 2)
        solid[:height, y : y + side[0], x : x + side[1]] = True
    return solid


def measure(u, solid, h, case, bands):
    method, discretisation, iterations = case
    seen = divergence_by_scale(
        u, h, solid, bands=bands,
        method=method, discretisation=discretisation, iterations=iterations,
    )  # fmt: skip
    for place in ("cells", "faces") if discretisation == "compact" else ("cells",):
        at = seen.sel(place=place)
        total = float(at["total"].sel(when="after") / at["total"].sel(when="before"))
        old, new = (at["divergence"].sel(when=when).values for when in ("before", "after"))
        yield (
            "houses" if solid is not None else "open", *case, place, total, *(new / old), *old,
        )  # fmt: skip


def draw(rows, bands):
    import matplotlib.pyplot as plt

    names = [f"> {bands[0]:g}"]
    names += [f"{low:g}-{high:g}" for high, low in itertools.pairwise(bands)]
    names += [f"< {bands[-1]:g}"]
    colours = {"jacobi": "#D55E00", "sor": "#CC79A7", "multigrid": "#0072B2", "pcg": "#009E73"}
    colours["direct"] = "#000000"
    dashes = {1: (0, (1, 3)), 2: ":", 4: "--", 8: "-.", 20: "-", 200: (0, (6, 1))}
    with wg.plot.style("notebook"):
        figure, axes = plt.subplots(
            2, 2, figsize=(10, 7), sharex=True, sharey=True, layout="constrained"
        )
        for line, solids in zip(axes, ("open", "houses"), strict=True):
            for ax, place in zip(line, ("faces", "cells"), strict=True):
                for row in (r for r in rows if r[0] == solids and r[4] == place):
                    direct = row[1] == "direct"
                    style = {
                        "color": colours[row[1]],
                        "linestyle": "-" if direct else dashes[row[3]],
                    }
                    if direct and row[2] == "consistent":
                        style["color"] = "#888888"
                    label = f"{row[1]}, {row[2]}" if direct else f"{row[1]} {row[3]}"
                    ax.plot(names, row[6 : 7 + len(bands)], marker=".", label=label, **style)
                ax.set(yscale="log", ylim=(3e-8, 3), title=f"{solids}, at {place}")
                ax.grid(color="#e3e3e3")
        for ax in axes[1]:
            ax.set_xlabel("wavelength (cells)")
        for ax in axes[:, 0]:
            ax.set_ylabel("divergence after / before")
        figure.legend(*axes[0, 1].get_legend_handles_labels(), fontsize=8, loc="outside right")
    return figure


def main():
    c = config(__file__)
    rng = np.random.default_rng(c["seed"])
    u = wind(c["cells"], c["spectrum"], rng)
    solid = houses(u.shape[1:], c["solid_share"], rng)
    blocked = np.where(solid, np.float32(0), u)
    rows = []
    for case in CASES:
        rows += measure(u, None, c["spacing"], case, c["bands"])
        if case[0] != "direct":
            rows += measure(blocked, solid, c["spacing"], case, c["bands"])
    edges = [*(f"over_{length:g}" for length in c["bands"]), f"under_{c['bands'][-1]:g}"]
    header = [
        "solids", "method", "discretisation", "iterations", "place", "left", *edges,
        *(f"before_{name}_per_s" for name in edges),
    ]  # fmt: skip
    here = folder(__file__)
    write_table(here / "result.csv", header, rows)
    save_plot(draw(rows, c["bands"]), here / "result.png")
    print(f"wrote {here / 'result.csv'} and result.png")


if __name__ == "__main__":
    main()
