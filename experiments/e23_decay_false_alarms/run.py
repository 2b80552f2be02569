"""How often does `fit_decay` take for a decay what is none, and refuse what is one?"""

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from scipy import signal

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = ("records", "count", "answered", "share_percent", "within_10_percent")


def coloured(rng, count, share):
    """Noise of variance 1 with a lag-one correlation."""
    white = rng.normal(size=count + 500)
    return signal.lfilter([np.sqrt(1 - share**2)], [1, -share], white)[500:]


def no_decay(kind, seed, count):
    rng = np.random.default_rng([seed, 7])
    time = np.arange(count) / 10
    if kind == "random walk":
        return time, np.cumsum(rng.normal(size=count))
    if kind == "white noise":
        return time, rng.normal(size=count)
    if kind == "coloured noise":
        return time, coloured(rng, count, (0.5, 0.8, 0.9, 0.95, 0.98)[seed % 5])
    if kind == "sum of a random walk":
        return time, np.cumsum(np.cumsum(rng.normal(size=count)))
    curve = (seed % 3) * 0.01 * rng.normal() * time**2 / 30
    return time, rng.normal() * time / 10 + curve + 0.1 * rng.normal(size=count)


def a_decay(seed):
    """1 Hz, zeta 0.01 to 0.3, 3 to 30 cycles, noise of 1 to 5 % white to 0.8, offset, drift."""
    rng = np.random.default_rng([seed, 8])
    zeta = np.exp(rng.uniform(np.log(0.01), np.log(0.3)))
    cycles = min(rng.uniform(3, 30), max(3, 1.2 / zeta))
    time = np.arange(int(cycles * 12)) / 12
    wave = np.exp(-zeta * 2 * np.pi * time) * np.cos(
        2 * np.pi * np.sqrt(1 - zeta**2) * time + rng.uniform(0, 2 * np.pi)
    )
    noise = rng.choice([0.01, 0.03, 0.05]) * coloured(rng, len(time), (0, 0.5, 0.8)[seed % 3])
    drift = (seed % 2) * 0.02 * rng.normal() * time
    return time, wave + noise + drift + rng.normal()


KINDS = ("random walk", "white noise", "coloured noise", "drift", "sum of a random walk", "decay")


def answer(kind, count, seed):
    """Whether a fit was given, and whether its frequency is right to a tenth."""
    try:
        fit = wg.fit_decay(*(a_decay(seed) if kind == "decay" else no_decay(kind, seed, count)))
    except ValueError:
        return False, False
    return True, kind == "decay" and abs(fit.frequency - 1) < 0.1


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, ax = plt.subplots(figsize=(6.5, 2.8))
        wrong = [100 - r[3] if r[0] == "decay" else r[3] for r in rows]
        ax.barh([r[0] for r in rows], wrong, color="#0072B2")
        ax.axvline(1, color="0.4", linestyle="--")
        ax.set(xlabel="answered, of decays refused (%)")
        ax.invert_yaxis()
    return figure


def main():
    settings = config(__file__)
    rows = []
    with ProcessPoolExecutor(settings["workers"]) as pool:
        for kind in KINDS:
            task = partial(answer, kind, settings["samples"])
            found = np.array(list(pool.map(task, range(settings["records"]), chunksize=10)))
            answered, right = int(found[:, 0].sum()), int(found[:, 1].sum())
            rows.append((kind, len(found), answered, 100 * answered / len(found), right))
            print(*rows[-1], sep="  ", flush=True)
    out = folder(__file__)
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")


if __name__ == "__main__":
    main()
