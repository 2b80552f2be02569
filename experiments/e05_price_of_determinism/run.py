"""What do equal bits on every machine and thread count cost?"""

import csv
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import windgrove as wg

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import config, folder, save_plot, write_table

HEADER = ("case", "deterministic_ns", "contracted_ns", "price_percent", "lower_quartile", "upper")
ROOT = Path(__file__).resolve().parents[2]


def build(contract, where):
    """The C benchmarks alone, with or without contraction of products and sums."""
    options = ["-Dbench=true", "-Dbinding=false", "-Dtests=false", f"-Dcontract={contract}"]
    for command in (
        ["meson", "setup", str(where), *options],
        ["meson", "compile", "-C", str(where)],
    ):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return where / "csrc" / "bench"


def times(program, rounds):
    """{case: ns an item} of one run, in processor time of the calling thread."""
    command = [program, "--rounds", str(rounds), "--csv", "--cpu-time"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # A case's name may hold commas; the item and seven numbers follow it, the median first.
    rows = [(",".join(row[:-8]), float(row[-7])) for row in csv.reader(text.splitlines())]
    return {name: value for name, value in rows if "plain" not in name and "thread" not in name}


def collect(settings, folders):
    """Runs of both builds in turn; the ratio is taken pair by pair."""
    seen = {}
    for _ in range(settings["repeats"]):
        for program in settings["programs"]:
            pair = [times(folders[kind] / program, settings["rounds"]) for kind in ("off", "fast")]
            for case in pair[0]:
                seen.setdefault(case, []).append((pair[0][case], pair[1][case]))
    for case, pairs in seen.items():
        price = [100 * (off / fast - 1) for off, fast in pairs]
        low, middle, high = quartiles(price)
        off, fast = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        yield (case, off, fast, middle, low, high)


def quartiles(values):
    if len(values) < 2:
        return (values[0],) * 3
    return statistics.quantiles(values, n=4)


def draw(rows):
    import matplotlib.pyplot as plt

    with wg.plot.style("notebook"):
        figure, ax = plt.subplots(figsize=(7, 0.34 * len(rows) + 1))
        names = [row[0] for row in rows]
        middle = [row[3] for row in rows]
        spread = [[row[3] - row[4] for row in rows], [row[5] - row[3] for row in rows]]
        ax.barh(names, middle, xerr=spread, color="#0072B2", ecolor="0.4")
        ax.axvline(15, color="#D55E00", linestyle="--")
        ax.annotate("limit, 15 %", (15, -0.4), color="#D55E00", fontsize=8)
        ax.set(xlabel="extra time of equal bits (%)")
        ax.invert_yaxis()
    return figure


def main():
    settings = config(__file__)
    for tool in ("meson", "ninja"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed; run this inside the environment of `make test`")
    with tempfile.TemporaryDirectory() as scratch:
        folders = {kind: build(kind, Path(scratch) / kind) for kind in ("off", "fast")}
        rows = list(collect(settings, folders))
    out = folder(__file__)
    write_table(out / "result.csv", HEADER, rows)
    save_plot(draw(rows), out / "result.png")
    for row in rows:
        print(f"{row[0]:<36}{row[1]:9.2f} ns {row[2]:9.2f} ns {row[3]:+6.1f} %")


if __name__ == "__main__":
    main()
