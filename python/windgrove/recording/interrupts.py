"""Ctrl-C that is answered between two blocks, so that state, clock and file agree."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

try:
    # The functions below those of `signal`, which look up an enumeration in every call: four times
    # as dear, a third of a step of one tree.
    from _signal import getsignal as _handler  # type: ignore[import-not-found]
    from _signal import signal as _handle
except ImportError:
    from signal import getsignal as _handler
    from signal import signal as _handle

_SIGINT = int(signal.SIGINT)


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
        and _handler(_SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield check
        return
    _handle(_SIGINT, remember)
    try:
        yield check
    finally:
        _handle(_SIGINT, signal.default_int_handler)
        check()
