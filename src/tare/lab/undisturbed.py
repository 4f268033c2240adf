"""Cleaning that Ctrl-C, kill and a closed terminal do not interrupt."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Signals are handled at once; the KeyboardInterrupt of a handler is raised at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    interrupted = False
    before: dict[int, Callable[[int, FrameType | None], Any]] = {
        number: handler
        for number in signal.valid_signals()
        if callable(handler := signal.getsignal(number))
    }

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        try:
            before[number](number, frame)
        except KeyboardInterrupt:
            interrupted = True

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is handle:  # a handler may have put another one there
                signal.signal(number, handler)
        if interrupted:
            raise KeyboardInterrupt
