"""Running chunks on any executor: through `submit` alone, a few at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import replace
from typing import Any

from . import store
from .batch import Watch
from .chunk import Chunk, ChunkResult, run_chunk

LEAST_WINDOW = 16
_GLANCE = 0.2  # s between two looks at the progress


def run_all(
    chunks: Sequence[Chunk],
    *,
    executor: Executor | None,
    folder: str | None,
    done: Callable[[ChunkResult], None],
    going: Callable[[float], None] = lambda variants: None,
) -> None:
    """Runs chunks and hands each result to `done`, in the thread of the caller.

    With an executor of the caller's at most twice its workers are submitted at a time, and it is
    never shut down. Without one, threads of this process. An error or Ctrl-C cancels what has not
    begun; what was finished has been handed over, and lies in the folder. `going` hears how many
    variants' worth of steps unfinished chunks of this process have done.
    """
    if not chunks:
        return
    if executor is not None:
        window = max(LEAST_WINDOW, 2 * int(getattr(executor, "_max_workers", 0) or 0))
        _drive(chunks, executor, window, folder, done, None, going)
        return
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    workers = min(len(chunks), processors)
    shared = [replace(chunk, threads=max(1, processors // workers)) for chunk in chunks]
    stop = threading.Event()
    own = ThreadPoolExecutor(workers, thread_name_prefix="windgrove-sweep")
    try:
        _drive(shared, own, workers, folder, done, stop, going)
    finally:
        stop.set()
        own.shutdown(wait=True, cancel_futures=True)


def run_and_save(chunk: Chunk, folder: str | None, watch: Watch | None = None) -> ChunkResult:
    """One task: the result is on disk before the future knows."""
    result = run_chunk(chunk, watch)
    if folder is not None:
        store.save(folder, chunk.name, result)
    return result


def _drive(
    chunks: Sequence[Chunk],
    executor: Executor,
    window: int,
    folder: str | None,
    done: Callable[[ChunkResult], None],
    stop: threading.Event | None,
    going: Callable[[float], None],
) -> None:
    waiting: Iterator[Chunk] = iter(chunks)
    running: dict[Future[Any], tuple[Chunk, Watch | None]] = {}
    try:
        while True:
            while len(running) < window and (chunk := next(waiting, None)) is not None:
                watch = None if stop is None else Watch(stop)
                arguments = (chunk, folder) if watch is None else (chunk, folder, watch)
                running[executor.submit(run_and_save, *arguments)] = chunk, watch
            if not running:
                return
            finished, _ = wait(running, timeout=_GLANCE, return_when=FIRST_COMPLETED)
            for future in finished:
                del running[future]
                done(_result(future, folder))
            going(sum(len(c.keys) * w.share for c, w in running.values() if w is not None))
    finally:
        for future in running:
            future.cancel()


def _result(future: Future[Any], folder: str | None) -> Any:
    try:
        return future.result()
    except BrokenExecutor as error:
        kept = (
            f"finished parts are in {folder!r}, and the same call goes on from them"
            if folder is not None
            else "store=FOLDER would keep finished parts for another call"
        )
        raise BrokenExecutor(
            f"executor: a worker ended before its work was done ({error}). It was killed, ran out "
            "of memory, or was started by a script without if __name__ == '__main__' around its "
            f"calls; {kept}"
        ) from error
