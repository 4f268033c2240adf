"""Signals to a command: the first ends it in order, later ones change nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GOING_ON = b"\ntare: still stopping what was begun; kill -9 leaves it to `tare clean`\n"


def take_over() -> None:
    """Ctrl-C, kill and a closed terminal raise KeyboardInterrupt, once.

    Ignored signals stay ignored: a hangup under nohup, Ctrl-C in a shell's background job.
    """
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _first)


def hold_back() -> None:
    """No signal changes the exit status from now on: everything is done, the interpreter ends.

    At its end the interpreter resets handled signals to the default, but not ignored ones.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _first(number: int, frame: FrameType | None) -> None:
    """End the command; later signals must not interrupt its clean-up."""
    for one in ENDING:
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, _later)
    if number == signal.SIGHUP:
        _leave_terminal()
    raise KeyboardInterrupt


def _later(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGHUP:
        _leave_terminal()
    else:
        with contextlib.suppress(OSError):
            os.write(2, _GOING_ON)


def _leave_terminal() -> None:
    """Discard all output to the terminal, which is gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
                os.dup2(nowhere, descriptor)
    os.close(nowhere)
