"""How do leaves change a tree's frequency and the load on it?"""

import sys
from pathlib import Path

import numpy as np

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = (
    "species", "leaf_fraction", "trees", "frequency_hz_mean", "bare_over_this_frequency",
    "load_over_bare_mean", "static_angle_deg_at_8_m_s",
)  # fmt: skip


def of_trunk(species, seed, fraction):
    """Frequency (Hz), drag (kg/s... times m/s is the torque per mass) and static angle (deg)."""
    tree = wg.grow_tree(species, seed=seed, leaf_fraction=fraction, foliage=fraction > 0)
    p = wg.branch_parameters(tree, species)
    ratio = 8.0 * p.drag[0] / p.stiffness[0]
    theta = ratio
    for _ in range(50):
        theta -= (theta - ratio * np.cos(theta)) / (1 + ratio * np.sin(theta))
    return float(p.frequency[0]), float(p.drag[0]), float(np.degrees(theta))


def rows_of(species, seeds, fractions):
    bare = np.array([of_trunk(species, seed, 0.0) for seed in seeds])
    for fraction in fractions:
        now = np.array([of_trunk(species, seed, fraction) for seed in seeds])
        yield (
            species, fraction, len(seeds), float(now[:, 0].mean()),
            float((bare[:, 0] / now[:, 0]).mean()), float((now[:, 1] / bare[:, 1]).mean()),
            float(now[:, 2].mean()),
        )  # fmt: skip


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharex=True)
        for name in dict.fromkeys(row[0] for row in rows):
            chosen = [row for row in rows if row[0] == name]
            for ax, column in zip(axes, (4, 5), strict=True):
                ax.plot([r[1] for r in chosen], [r[column] for r in chosen], marker="o", label=name)
        axes[0].axhspan(1.18, 1.19, color="#999999", label="measured (18 to 19 %)")
        axes[1].axhspan(2.0, 3.0, color="#dddddd", zorder=0, label="measured (2 to 3)")
        axes[0].set(title="frequency, bare over in leaf", ylabel="f bare / f")
        axes[1].set(title="load on the trunk, in leaf over bare", ylabel="drag / drag bare")
        for ax in axes:
            ax.set(xlabel="leaf fraction (1: full leaf)")
            ax.grid(color="#e3e3e3")
        axes[0].legend(fontsize=8)
    return figure


def main():
    settings = config(__file__)
    out = folder(__file__)
    rows = [
        row
        for name in settings["species"]
        for row in rows_of(name, settings["seeds"], settings["leaf_fractions"])
    ]
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")
    print(out / "result.csv")


if __name__ == "__main__":
    main()
