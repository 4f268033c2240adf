"""The tare command: its exit status, and how errors are shown."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from types import FrameType

from tare.cli.commands import build, wanted
from tare.cli.console import Terminal
from tare.errors import TareError

INTERRUPTED = 130
"""exit status after Ctrl-C, as shells use it (128 + SIGINT)"""


def _terminated(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _hung_up(number: int, frame: FrameType | None) -> None:
    """The terminal is gone: end as after Ctrl-C, without a word to it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # shell and kernel both send it
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
                os.dup2(nowhere, descriptor)
    os.close(nowhere)
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; the exit status is 0 done, 1 failed, 2 wrong usage, 3 not valid."""
    signal.signal(signal.SIGTERM, _terminated)  # so that kill cleans up as Ctrl-C does
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # nohup has it ignored
        signal.signal(signal.SIGHUP, _hung_up)
    errors = Terminal(stderr=True)
    try:
        build(wanted(sys.argv[1:]))()
    except TareError as error:
        errors.print(f"tare: {error}", soft_wrap=True)
        sys.exit(error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        errors.print(f"tare: {where}{error.strerror or error}", soft_wrap=True)
        errors.print("  try: free the disk or mend the path; the same command goes on from here")
        sys.exit(1)
    except SystemExit as done:  # typer turns Ctrl-C into this status
        if done.code == INTERRUPTED:
            errors.print("tare: interrupted; everything was stopped")
            errors.print("  try: the same command goes on from here")
        raise
