"""How far do realised frequency and damping leave the set ones, over the time step?"""

import sys
from pathlib import Path

import numpy as np

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = (
    "clamp", "rate_hz", "level", "branches", "clamped_share", "no_frequency_share",
    "frequency_error_median", "frequency_error_p90", "damping_error_median", "damping_error_p90",
)  # fmt: skip


def errors(tree, species, rate, clamp):
    """One row a level: shares and relative errors of what the discrete map realises."""
    table = wg.realised(tree, species, dt=1 / rate, clamp=clamp)
    set_f, set_z = table["frequency"].to_numpy(), table["damping_ratio"].to_numpy()
    got_f = table["realised_frequency"].to_numpy()
    got_z = table["realised_damping_ratio"].to_numpy()
    for kind, level in enumerate(("trunk", "branch", "foliage")):
        here = np.asarray(tree.kind) == kind
        kept = here & np.isfinite(got_f)
        f = np.abs(got_f[kept] / set_f[kept] - 1)
        z = np.abs(got_z[kept] / set_z[kept] - 1)
        quantiles = [
            float(np.quantile(x, q)) if x.size else np.nan for x in (f, z) for q in (0.5, 0.9)
        ]
        clamped = float(table["clamped"].to_numpy()[here].mean())
        lost = float(1 - kept.sum() / here.sum())
        yield (clamp, rate, level, int(here.sum()), clamped, lost, *quantiles)


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True)
        colours = {"trunk": "#D55E00", "branch": "#0072B2", "foliage": "#009E73"}
        dashes = {"source": "-", "none": ":", "exponential": "--"}
        for clamp, dash in dashes.items():
            for level, colour in colours.items():
                chosen = [r for r in rows if r[0] == clamp and r[2] == level]
                rate = [r[1] for r in chosen]
                for ax, column in zip(axes, (6, 8, 4), strict=True):
                    value = np.array([r[column] for r in chosen], float)
                    value = np.where(value < 1e-12, np.nan, value) if column != 4 else value
                    if np.isfinite(value).any() and not (column == 4 and clamp != "source"):
                        ax.plot(rate, value, dash, color=colour, label=f"{level}, {clamp}")
        for ax, title in zip(axes[:2], ("frequency", "damping ratio"), strict=True):
            ax.set(xscale="log", yscale="log", title=f"error of the {title} (median)")
            ax.set_ylabel("|realised / set - 1|")
        axes[2].set(title="clamped branches", ylabel="share", ylim=(-0.02, 1.02))
        for ax in axes:
            ax.set_xlabel("steps a second (Hz)")
            ax.set_xticks([10, 30, 60, 120, 240, 480], ["10", "30", "60", "120", "240", "480"])
            ax.minorticks_off()
            ax.grid(color="#e3e3e3")
        axes[0].legend(fontsize=7)
    return figure


def main():
    settings = config(__file__)
    out = folder(__file__)
    tree = wg.grow_tree(settings["species"], seed=settings["seed"])
    species = wg.load_species(settings["species"])
    rows = [
        row
        for clamp in settings["clamps"]
        for rate in settings["rates"]
        for row in errors(tree, species, rate, clamp)
    ]
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")
    print(out / "result.csv")


if __name__ == "__main__":
    main()
