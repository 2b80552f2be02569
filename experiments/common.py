"""What every experiment does: read its configuration, write its table and its plot, take times."""

from __future__ import annotations

import csv
import os
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

SMALL = bool(os.environ.get("WINDGROVE_SMALL"))


def config(script: str) -> dict[str, Any]:
    """`config.toml` beside the script; its table ``[small]`` replaces values where asked for."""
    settings = tomllib.loads((Path(script).parent / "config.toml").read_text(encoding="utf-8"))
    small = settings.pop("small", {})
    return settings | small if SMALL else settings


def folder(script: str) -> Path:
    """Where results go: beside the script, or a temporary folder for a small run."""
    return Path(tempfile.mkdtemp(prefix="windgrove-")) if SMALL else Path(script).parent


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV with five significant digits, so that a change of a bit is no change of the file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        for row in rows:
            table.writerow([f"{v:.5g}" if isinstance(v, float) else v for v in row])


def save_plot(figure: Any, path: Path) -> None:
    """PNG without dates or versions inside."""
    figure.savefig(path, dpi=130, metadata={"Software": None})


def speed_plot(rows: Iterable[Sequence[Any]], title: str) -> Any:
    """Median times as bars, a panel for each task; rows begin (task, implementation, median ms)."""
    import matplotlib.pyplot as plt

    import windgrove as wg

    rows = list(rows)
    tasks = list(dict.fromkeys(row[0] for row in rows))
    with wg.plot.style("notebook"):
        figure, axes = plt.subplots(1, len(tasks), figsize=(4 * len(tasks), 3.2), squeeze=False)
        for ax, task in zip(axes[0], tasks, strict=True):
            chosen = [row for row in rows if row[0] == task]
            ours = ["#D55E00" if "windgrove" in row[1] else "#999999" for row in chosen]
            ax.barh([row[1] for row in chosen], [row[2] for row in chosen], color=ours)
            ax.set(xscale="log", xlabel="median time (ms)", title=task)
            ax.invert_yaxis()
        figure.suptitle(title)
    return figure


def interleaved_rounds(
    functions: Mapping[str, Callable[[], Any]], rounds: int, *, row_ms: float = 4.0
) -> dict[str, list[float]]:
    """Milliseconds a call of each function, round by round, in turn.

    A round calls a function once without the clock, so that all begin with their own arrays in the
    caches, then in a row until ``row_ms`` have passed; its figure is their mean.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            function()
            calls, begin = 0, time.perf_counter()
            while (passed := 1e3 * (time.perf_counter() - begin)) < row_ms:
                function()
                calls += 1
            times[name].append(passed / calls)
    return times
