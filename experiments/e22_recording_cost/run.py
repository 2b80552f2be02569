"""What does recording cost a run of a thousand trees, and how fast does it write?"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = (
    "task", "ms_a_frame", "over_bare", "caller_cpu_ms", "cpu_ms",
    "raw_MB", "MB_a_s", "size_over_raw",
)  # fmt: skip
RUNS = {
    "no recording": None,
    "ten branches a tree, 30 Hz": dict(branches=np.arange(10)),
    "all branches, 3 Hz": dict(every=10),
    "all branches, 30 Hz": dict(),
}


def forest(species, count):
    tree = wg.grow_tree(species, seed=7)
    at = np.random.default_rng(0).uniform(0, 10 * count**0.5, (count, 3)) * (1, 1, 0)
    return wg.Sway(tree, species, at=at)


def timed(task):
    """Wall time, processor time of this thread and of all threads [s]."""
    clocks = (time.perf_counter, time.thread_time, time.process_time)
    start = [clock() for clock in clocks]
    task()
    return [clock() - then for clock, then in zip(clocks, start, strict=True)]


def simulated(sway, frames, path, options):
    wind = wg.UniformWind((6, 0, 0))
    if options is None:
        sway.step(wind, steps=frames)
    else:
        wg.simulate(
            sway, wind, duration=frames / 30, progress=False, record=path, **options
        ).close()


def raw_file(path, block, count):
    """Bytes to a new file, waited for: what the disk and the system's cache take."""
    with open(path, "wb", buffering=0) as file:
        for _ in range(count):
            file.write(block)
        os.fsync(file.fileno())


def raw_dataset(path, block, count):
    """The same through h5py: whole chunks, no filters."""
    with h5py.File(path, "w") as file:
        shape = (0, *block.shape[1:])
        data = file.create_dataset(
            "x", shape, "f4", maxshape=(None, *shape[1:]), chunks=block.shape
        )
        for i in range(count):
            data.resize(i + 1, axis=0)
            data[i : i + 1] = block
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def one_round(sway, frames, place, times, sizes):
    for name, options in RUNS.items():
        path = place / "run.h5"
        times.setdefault(name, []).append(
            timed(lambda o=options, p=path: simulated(sway, frames, p, o))
        )
        if options is not None:
            branches = len(options.get("branches", sway.tree.length))
            recorded = 1 + frames // options.get("every", 1)
            sizes[name] = (12e-6 * len(sway) * branches * recorded, 1e-6 * path.stat().st_size)
            path.unlink()
    block = sway.rotation[None]
    raw = 1e-6 * block.nbytes * frames
    for name, write in {"h5py, no filters": raw_dataset, "raw file": raw_file}.items():
        path = place / "raw"
        times.setdefault(name, []).append(timed(lambda w=write, p=path: w(p, block, frames)))
        sizes[name] = (raw, 1e-6 * path.stat().st_size)
        path.unlink()


def table(times, sizes, frames):
    bare = times["no recording"]
    for name, rounds in times.items():
        wall, caller, cpu = (statistics.median(r[k] for r in rounds) for k in range(3))
        # Ratios inside a round: the machine changes its speed between rounds.
        over = statistics.median(r[0] / b[0] for r, b in zip(rounds, bare, strict=True))
        raw, size = sizes.get(name, (0.0, 0.0))
        ms = 1e3 / frames
        yield (
            name, wall * ms, over, caller * ms, cpu * ms,
            raw, raw / wall, size / raw if raw else 0.0,
        )  # fmt: skip


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, ax = plt.subplots(figsize=(7, 3))
        names = [row[0] for row in rows]
        ax.barh(names, [row[1] for row in rows], color="0.75", label="wall")
        ax.barh(
            names, [row[4] for row in rows], height=0.35, color="#0072B2", label="CPU, all threads"
        )
        ax.set(xlabel="time a frame (ms)")
        ax.invert_yaxis()
        ax.legend(fontsize=8)
    return figure


def main():
    settings = config(__file__)
    sway = forest(settings["species"], settings["trees"])
    frames = settings["frames"]
    times, sizes = {}, {}
    with tempfile.TemporaryDirectory() as place:
        simulated(sway, 2, None, None)
        for _ in range(settings["rounds"]):
            one_round(sway, frames, Path(place), times, sizes)
    rows = list(table(times, sizes, frames))
    for r in rows:
        print(
            f"{r[0]:<28}{r[1]:7.2f} ms  x{r[2]:.3f}  caller {r[3]:6.2f}  "
            f"cpu {r[4]:6.2f}  {r[6]:6.0f} MB/s"
        )
    out = folder(__file__)
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")


if __name__ == "__main__":
    main()
