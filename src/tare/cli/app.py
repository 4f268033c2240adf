"""The tare command: its commands, its exit status, how errors are shown."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console

import tare
from tare.cli import clean, doctor, plan, report, run, schema
from tare.errors import TareError

INTERRUPTED = 130
"""exit status after Ctrl-C, as shells use it (128 + SIGINT)"""

app = typer.Typer(
    name="tare",
    help="Measures what the platform under a NoSQL database cluster costs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (doctor, plan, run, report, clean, schema):
    app.command(name=module.__name__.rpartition(".")[2])(module.command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tare {tare.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of tare itself."""


def _terminated(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; the exit status is 0 done, 1 failed, 2 wrong usage, 3 not valid."""
    signal.signal(signal.SIGTERM, _terminated)  # so that kill cleans up as Ctrl-C does
    errors = Console(stderr=True, highlight=False)
    try:
        app()
    except TareError as error:
        errors.print(f"tare: {error}", markup=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        errors.print(f"tare: {where}{error.strerror or error}", markup=False, soft_wrap=True)
        errors.print("  try: free the disk or mend the path; the same command goes on from here")
        sys.exit(1)
    except SystemExit as done:  # typer turns Ctrl-C into this status
        if done.code == INTERRUPTED:
            errors.print("tare: interrupted; everything was stopped", markup=False)
            errors.print("  try: the same command goes on from here", markup=False)
        raise
