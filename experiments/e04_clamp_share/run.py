"""Which share of a tree's branches does the time step clamp, over the step?"""

import os
import sys
from pathlib import Path

import numpy as np

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = ("tree", "preset", "rate_hz", "trunk", "branch", "foliage", "all", "clamped_mass_share")


def specimens(settings):
    """Name, tree and preset: each grown species, then the scans that are there."""
    for name in settings["species"]:
        yield name, wg.grow_tree(name, seed=settings["seed"]), wg.load_species(name)
    parents = Path(__file__).resolve().parents
    found = [p / "shared" / "data" for p in parents if (p / "shared" / "data").is_dir()]
    data = Path(os.environ.get("WINDGROVE_DATA", found[0] if found else "."))
    for scan in settings["scans"]:
        if (data / scan).exists():
            tree = wg.read_tree(data / scan, foliage="bundles")
            yield f"scan {tree.name}", tree, wg.load_species("oak")


def shares(tree, species, rate):
    clamped = wg.realised(tree, species, dt=1 / rate)["clamped"].to_numpy()
    kind = np.asarray(tree.kind)
    own = wg.branch_parameters(tree, species).own_mass
    levels = [float(clamped[kind == k].mean()) for k in range(3)]
    return (*levels, float(clamped.mean()), float(own[clamped].sum() / own.sum()))


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True, sharey=True)
        for name in dict.fromkeys(row[0] for row in rows):
            chosen = [row for row in rows if row[0] == name]
            rate = [row[2] for row in chosen]
            dash = "--" if name.startswith("scan") else "-"
            for ax, column in zip(axes, (6, 7), strict=True):
                ax.plot(rate, [100 * row[column] for row in chosen], dash, marker="o", label=name)
        axes[0].set(title="of the branches", ylabel="clamped (%)", ylim=(-3, 103))
        axes[1].set(title="of the tree's own mass")
        for ax in axes:
            ax.set(xscale="log", xlabel="steps a second (Hz)")
            ax.set_xticks(sorted({row[2] for row in rows}))
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            ax.minorticks_off()
            ax.grid(color="#e3e3e3")
        axes[1].legend(fontsize=8)
    return figure


def main():
    settings = config(__file__)
    out = folder(__file__)
    rows = [
        (name, species.name, rate, *shares(tree, species, rate))
        for name, tree, species in specimens(settings)
        for rate in settings["rates"]
    ]
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")
    print(out / "result.csv")


if __name__ == "__main__":
    main()
