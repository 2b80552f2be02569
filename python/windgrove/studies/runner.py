"""Running chunks on any executor: through `submit` alone, a few at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from . import store
from .chunk import Chunk, ChunkResult, run_chunk

LEAST_WINDOW = 16


def run_all(
    chunks: Sequence[Chunk],
    *,
    executor: Executor | None,
    folder: str | None,
    done: Callable[[ChunkResult], None],
) -> None:
    """Runs chunks and hands each result to `done`, in the thread of the caller.

    With an executor of the caller's at most twice its workers are submitted at a time, and it is
    never shut down. Without one, threads of this process. An error or Ctrl-C cancels what has not
    begun; what was finished has been handed over, and lies in the folder.
    """
    if not chunks:
        return
    if executor is not None:
        window = max(LEAST_WINDOW, 2 * int(getattr(executor, "_max_workers", 0) or 0))
        _drive(chunks, executor, window, folder, done, None)
        return
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    workers = min(len(chunks), processors)
    shared = [replace(chunk, threads=max(1, processors // workers)) for chunk in chunks]
    stop = threading.Event()
    own = ThreadPoolExecutor(workers, thread_name_prefix="windgrove-sweep")
    try:
        _drive(shared, own, 2 * workers, folder, done, stop)
    finally:
        stop.set()
        own.shutdown(wait=True, cancel_futures=True)


def run_and_save(
    chunk: Chunk, folder: str | None, stop: threading.Event | None = None
) -> ChunkResult:
    """One task: the result is on disk before the future knows."""
    result = run_chunk(chunk, stop)
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
) -> None:
    waiting: Iterator[Chunk] = iter(chunks)
    running: dict[Future[Any], Chunk] = {}
    try:
        while True:
            while len(running) < window and (chunk := next(waiting, None)) is not None:
                arguments = (chunk, folder) if stop is None else (chunk, folder, stop)
                running[executor.submit(run_and_save, *arguments)] = chunk
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                del running[future]
                done(future.result())
    finally:
        for future in running:
            future.cancel()
