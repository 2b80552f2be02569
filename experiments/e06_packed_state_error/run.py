"""How far does the packed state stray from the unpacked one, and is 16 bits enough?"""

import sys
from pathlib import Path

import numpy as np

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = (
    "species", "wind_m_s", "branches", "bytes_per_branch", "rms_deg", "max_deg",
    "leaf_rms_deg", "leaf_max_deg", "tip_rms_mm", "tip_max_mm", "nudged_leaf_rms_deg",
)  # fmt: skip


def row(name, speed, duration):
    tree = wg.grow_tree(name, seed=1)
    wind = wg.GustWind(
        (speed, 0, 0), shape="periodic", amplitude=(0.25 * speed, 0.1 * speed, 0), frequency=0.25
    )
    e = wg.packing_error(tree, name, wind, duration=duration)
    return (
        name, speed, len(tree), e.bytes_per_branch, e.rms_deg, e.max_deg,
        e.leaf_rms_deg, e.leaf_max_deg, e.rms_mm, e.max_mm, nudged(tree, name, wind, duration),
    )  # fmt: skip


def nudged(tree, name, wind, duration, nudge=1e-5):
    """What the unpacked state itself makes of a first pose that is off by 1e-5 rad [deg rms]."""
    runs = []
    for size in (0.0, nudge):
        sway = wg.Sway(tree, name, torsion=False)
        first = np.random.default_rng(0).normal(0, 1, (len(tree), 3)) * size
        sway.set_state(rotation=first.astype(np.float32))
        runs.append(wg.simulate(sway, wind, duration=duration, progress=False).rotation[:, 0])
    apart = np.linalg.norm((runs[1] - runs[0]).to_numpy(), axis=-1)[:, np.asarray(tree.kind) == 2]
    return float(np.degrees(np.sqrt((apart**2).mean())))


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
        for name, colour, marker in zip(
            dict.fromkeys(r[0] for r in rows),
            ("#D55E00", "#0072B2", "#009E73"),
            "osD",
            strict=False,
        ):
            own = [r for r in rows if r[0] == name]
            speed = [r[1] for r in own]
            label = name.replace("_", " ")
            axes[0].plot(speed, [r[6] for r in own], marker=marker, color=colour, label=label)
            axes[0].plot(speed, [r[10] for r in own], linestyle=":", color=colour)
            axes[1].plot(speed, [r[8] for r in own], marker=marker, color=colour)
        limit = np.degrees(1e-3)
        axes[0].axhline(limit, color="0.5", linestyle="--", linewidth=1)
        axes[0].annotate("goal, 1e-3 rad", (speed[0], limit), va="bottom", fontsize=8)
        axes[0].set(
            yscale="log", xlabel="mean wind (m/s)", ylabel="leaf angle error, rms (degrees)"
        )
        axes[1].set(yscale="log", xlabel="mean wind (m/s)", ylabel="tip position error, rms (mm)")
        axes[0].plot([], [], linestyle=":", color="0.3", label="unpacked, nudged by 1e-5 rad")
        axes[0].legend(fontsize=8)
    return figure


def main():
    settings = config(__file__)
    rows = [
        row(name, speed, settings["duration"])
        for name in settings["species"]
        for speed in settings["speeds"]
    ]
    for r in rows:
        print(
            f"{r[0]:<14}{r[1]:>5g} m/s  {r[3]:.1f} B/branch  leaf {r[6]:.2g} deg  tip {r[8]:.2g} mm"
        )
    out = folder(__file__)
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")


if __name__ == "__main__":
    main()
