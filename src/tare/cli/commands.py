"""Which commands there are, and the module of each; only those that are asked for are imported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import tare

COMMANDS = {
    "doctor": "doctor",
    "machines": "machines",
    "plan": "plan",
    "run": "run",
    "replicate": "replicate",
    "report": "report",
    "compare": "compare",
    "import": "imports",
    "load": "load",
    "notebook": "notebook",
    "findings": "findings",
    "advise": "advise",
    "weigh": "weigh",
    "clean": "clean",
    "schema": "schema",
}
"""Command to its module in this package, in the order of the help."""


class InOrder(TyperGroup):
    """The help lists commands in the order of COMMANDS, those with commands of their own too."""

    def list_commands(self, ctx: Any) -> list[str]:  # typer keeps the class of ctx to itself
        return [name for name in COMMANDS if name in self.commands]


def wanted(arguments: Sequence[str]) -> list[str]:
    """The command that a command line calls; all of them where it calls none that there is.

    Analysis takes seconds to import, which `tare plan` should not wait for.
    """
    if list(arguments) == ["--version"]:
        return []
    first = next((word for word in arguments if not word.startswith("-")), "")
    return [first] if first in COMMANDS else list(COMMANDS)


def build(names: Iterable[str]) -> typer.Typer:
    """The command line with these commands."""
    app = typer.Typer(
        name="tare",
        cls=InOrder,
        epilog="Exit status: 0 done, 1 failed, 2 wrong usage, 3 done, but not valid.",
        help="Measures what the platform under a NoSQL database cluster costs.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in names:
        module = import_module(f"tare.cli.{COMMANDS[name]}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            settings = getattr(module, "CONTEXT", None)
            app.command(name=name, context_settings=settings)(module.command)
    return app


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"tare {tare.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of tare itself."""
