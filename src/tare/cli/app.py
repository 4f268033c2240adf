"""The tare command: its exit status, and how errors are shown.

What takes long to import is imported once signals are caught: a command may be interrupted then.
"""

from __future__ import annotations

import errno
import sys

from tare.cli import signals

INTERRUPTED = 130
"""exit status after Ctrl-C, as shells use it (128 + SIGINT)"""
_LET_IN = "let this user read and write it, or name another place"
_REMEDIES = {
    errno.ENOSPC: "free the disk",
    errno.EDQUOT: "free the disk, or raise your quota",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: _LET_IN,
    errno.EPERM: _LET_IN,
    errno.EMFILE: "raise the limit of open files: ulimit -n",
}
"""Remedies for system errors; for any other error, another path."""
_AGAIN = "the same command again: a run goes on where it stopped, all else begins anew"


def main() -> None:
    """Run the command line; the exit status is 0 done, 1 failed, 2 wrong usage, 3 not valid."""
    signals.take_over()
    try:
        _run()
    except KeyboardInterrupt:  # outside a command: inside one, typer makes it an exit status
        sys.stderr.write("tare: interrupted\n")
        sys.exit(INTERRUPTED)
    finally:
        signals.hold_back()


def _run() -> None:
    from tare.cli import commands
    from tare.errors import TareError

    try:
        commands.build()()
    except TareError as error:
        _complain(f"tare: {error}")
        sys.exit(error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        remedy = _REMEDIES.get(error.errno or 0, "correct the path")
        _complain(
            f"tare: {where}{error.strerror or error}",
            f"  try: {remedy}; then {_AGAIN}",
        )
        sys.exit(1)
    except MemoryError:
        _complain(
            "tare: there is no memory left",
            f"  try: stop what else runs here; then {_AGAIN}",
        )
        sys.exit(1)
    except SystemExit as done:  # typer turns Ctrl-C into this status
        if done.code == INTERRUPTED:
            _complain(
                "tare: interrupted; everything was stopped",
                f"  try: {_AGAIN}",
            )
        raise


def _complain(*lines: str) -> None:
    from tare.cli.console import Terminal

    errors = Terminal(stderr=True)
    for line in lines:
        errors.print(line, soft_wrap=True)
