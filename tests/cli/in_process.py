"""Runs the tare command in this process to its end: output and exit status."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tare.cli.app import main
from tare.cli.signals import ENDING

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """A result like that of `subprocess.run`."""

    returncode: int
    stdout: str
    stderr: str


def tare(
    *words: str | Path, cwd: Path = CHECKOUT, environment: Mapping[str, str] | None = None
) -> Ended:
    """Run it.

    Args:
        environment: all of its environment variables; None: those of this process.
    """
    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    with (
        signals_kept(),
        patch.object(sys, "argv", ["tare", *map(str, words)]),
        patch.dict(os.environ, environment or {}, clear=environment is not None),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    return Ended(int(status or 0), out.getvalue(), err.getvalue())


@contextlib.contextmanager
def signals_kept() -> Iterator[None]:
    """A finished command ignores the signals that end it; this process goes on."""
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
