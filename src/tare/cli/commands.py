"""The commands: each is imported when it is called, and none to list them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import tare
from tare.cli.examples import FIRST_STEPS, examples

COMMANDS = {
    "doctor": "Say what can run here, or on hosts, and how to get what cannot.",
    "machines": "List the hosts of TARE_INVENTORY, and give them what they need.",
    "plan": "Show what a study will do, tell and take; start nothing.",
    "run": "Run a study, or go on with one that was interrupted.",
    "replicate": "Run a published study, and put its findings beside your own.",
    "report": "Make an offline HTML page, Markdown, JSON and tables of a run.",
    "compare": "Compare two runs: another version, machine or platform.",
    "import": "Make a run from files of YCSB, cassandra-stress and others.",
    "load": "Send load to a cluster, also as YCSB or cassandra-stress.",
    "notebook": "Write a Jupyter notebook of a run.",
    "findings": "What others found, and your own: list, show, check, add.",
    "advise": "Say what others found under the nearest conditions.",
    "weigh": "Weigh the ways to a server: CPU time of an operation.",
    "clean": "Remove what dead runs left here, on clusters and on hosts.",
    "schema": "Print the JSON Schema of study files, or of Tare's files.",
}
"""Each command's line in the list of commands, in that order."""
_MODULES = {"import": "imports"}
"""Commands whose module in this package has another name."""
NOT_VALID = 3
EXIT_STATUS = "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done, but not valid."


class Commands(TyperGroup):
    """The commands; only the called one is imported.

    Some imports take seconds. Neither the list of commands, nor a typing error, nor another
    command should wait for them.
    """

    def resolve_command(
        self, ctx: Any, args: list[str]
    ) -> tuple[str | None, Any, list[str]]:  # typer keeps the class of ctx to itself
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in COMMANDS else command, rest

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain_flags(super().get_params(ctx))


def load(name: str) -> Any:
    """The command with its options and examples, as typer runs it."""
    module = import_module(f"tare.cli.{_MODULES.get(name, name)}")
    if hasattr(module, "app"):
        found: Any = typer.main.get_group(module.app)
    else:
        alone = typer.Typer(
            add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
        )
        alone.command(context_settings=getattr(module, "CONTEXT", None))(module.command)
        found = typer.main.get_command(alone)
    found.name = name
    _dress(found, name)
    for inner, command in getattr(found, "commands", {}).items():
        _dress(command, f"{name} {inner}")
    return found


def _dress(command: Any, words: str) -> None:
    """Put examples below the help, and show flags without a type: they take no value."""
    command.epilog = examples(words)
    _plain_flags(command.get_params(typer.Context(command)))


def _plain_flags(parameters: list[Any]) -> list[Any]:
    """Show flags without a type in the help; flags without a default are false.

    typer converts None, but not False, with a library that takes a tenth of a second to import.
    """
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = one.metavar or ""
            one.default = False if one.default is None else one.default
    return parameters


def build(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands."""
    app = typer.Typer(
        name="tare",
        cls=Commands,
        epilog=f"{FIRST_STEPS}\n\n{EXIT_STATUS}",
        help="Measures what the platform under a NoSQL database cluster costs.",
        no_args_is_help=True,
        rich_markup_mode=None,  # boxes take a quarter of a second to import
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in names:
        app.command(name=name, help=COMMANDS[name])(_in_the_list)
    return app


def _in_the_list() -> None:
    """Stands for a command until it is called."""


def _version(asked: bool) -> None:
    if asked:
        from tare.commit import commit

        of = commit()
        typer.echo(f"tare {tare.__version__}" + (f" ({of})" if of else ""))
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of tare itself."""
