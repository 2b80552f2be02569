"""How much slower, and how far, is the wind behind a row of trees that take momentum from it?"""

import sys
from pathlib import Path

import numpy as np

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = (
    "row", "total_drag_kg_s", "distance_in_heights", "height_in_heights", "wind_m_s",
    "relative_wind",
)  # fmt: skip
HEIGHTS = (0.3, 0.6, 1.2)


def row_of_trees(settings, *, leaves):
    """The row's sink and the mean height of its trees."""
    middle = 0.5 * (settings["count"] - 1)
    total, heights = None, []
    for number in range(settings["count"]):
        seed = settings["seeds"][number % len(settings["seeds"])]
        tree = wg.grow_tree(settings["species"], seed=seed)
        species = wg.load_species(settings["species"])
        if not leaves:
            species = species.replace(foliage={"gamma": 1e-6})
        place = (settings["row_at"], settings["distance"] * (number - middle), 0.0)
        shelter = wg.Shelter.of_tree(tree, species, at=place)
        total = shelter if total is None else total + shelter
        heights.append(tree.height)
    return total, float(np.mean(heights))


def mean_wind(settings, shelter, points):
    """Mean of the velocity along x at points over the averaging time (m/s)."""
    wind = wg.Wind(
        (settings["wind"], 0, 0),
        cells=tuple(settings["cells"]),
        levels=settings["levels"],
        cell_size=settings["cell_size"],
        profile="log",
        floor=0.0,
        turbulence=settings["turbulence"],
        projection="quality",
        shelter=shelter,
        seed=1,
    )
    while wind.time < settings["settle"]:
        wind.step()
    total, count = np.zeros(len(points)), 0
    while wind.time < settings["settle"] + settings["average"]:
        wind.step()
        total += wind.sample(points)[:, 0]
        count += 1
    return total / count


def table(settings):
    leafy, height = row_of_trees(settings, leaves=True)
    bare, _ = row_of_trees(settings, leaves=False)
    # The coarsest grid's half width, less its last cell, where it fades into the wind outside.
    coarsest = settings["cell_size"] * 2 ** (settings["levels"] - 1)
    half = (0.5 * settings["cells"][0] - 1) * coarsest
    x = np.arange(settings["row_at"] - 1.5 * height, half, height / 4)
    grid = [(float(at), 0.0, float(z * height)) for z in HEIGHTS for at in x]
    free = mean_wind(settings, None, grid)
    for name, shelter in (("in leaf", leafy), ("bare", bare)):
        slowed = mean_wind(settings, shelter, grid)
        for point, with_it, without in zip(grid, slowed, free, strict=True):
            yield (
                name,
                shelter.total_drag,
                (point[0] - settings["row_at"]) / height,
                point[2] / height,
                float(with_it),
                float(with_it / without),
            )


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
        for ax, name in zip(axes, ("in leaf", "bare"), strict=True):
            mine = [row for row in rows if row[0] == name]
            for z, colour in zip(HEIGHTS, ("#D55E00", "#0072B2", "#009E73"), strict=True):
                line = [row for row in mine if abs(row[3] - z) < 1e-6]
                ax.plot([r[2] for r in line], [r[5] for r in line], color=colour, label=f"{z:g} H")
            ax.axvline(0, color="#888888", lw=1, ls=":")
            ax.set(
                title=f"row {name}: {mine[0][1]:.0f} kg/s",
                xlabel="distance behind the row (tree heights H)",
            )
            ax.grid(color="#e3e3e3")
        axes[0].set_ylabel("mean wind / mean wind without the row")
        axes[1].legend(title="height", fontsize=8, loc="lower right")
    return figure


def main():
    settings = config(__file__)
    out = folder(__file__)
    rows = list(table(settings))
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")
    print(out / "result.csv")


if __name__ == "__main__":
    main()
