"""Ctrl-C that is answered between two blocks, so that state, clock and file agree."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def patient_interrupts() -> Iterator[Callable[[], None]]:
    """Yields a function that raises KeyboardInterrupt if Ctrl-C was pressed meanwhile.

    A second Ctrl-C is not held back. Outside the main thread, and where another handler than
    Python's own is set, nothing is changed.
    """
    pressed: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        if pressed:
            pressed.clear()
            raise KeyboardInterrupt
        pressed.append(number)

    def check() -> None:
        if pressed:
            pressed.clear()
            raise KeyboardInterrupt

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield check
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        check()
