"""Terminal output of commands: every text is shown, and no escape sequence is obeyed."""

from __future__ import annotations

import contextlib
import json
import os
from typing import IO, TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text

from tare.report.escaping import escaped_json, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import ConsoleOptions, RenderableType
    from rich.segment import Segment

UNCUT = 170
"""Line width in characters for a file or a pipe, which has no width."""


class Terminal(Console):
    """A console that takes texts as they are: no markup, no escape sequences, no highlighting.

    Others write the studies, imports, inventories and run names. Styles come from `Text`
    with a style alone.
    """

    def __init__(
        self, *, stderr: bool = False, width: int | None = None, file: IO[str] | None = None
    ) -> None:
        super().__init__(
            stderr=stderr, width=width, file=file, markup=False, emoji=False, highlight=False
        )

    def render_str(self, text: str, **options: Any) -> Text:
        options |= {"markup": False, "emoji": False, "highlight": False}
        return super().render_str(shown(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        if isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = shown(renderable.plain)  # as long as before: styles stay in place
        return super().render(renderable, options)


def print_indented(console: Terminal, lines: Iterable[str]) -> None:
    """Print lines; a line that does not fit continues at its own indentation."""
    for line in lines:
        body = line.lstrip(" ")
        left = line[: len(line) - len(body)]
        for part in console.render_str(body).wrap(console, max(1, console.width - len(left))):
            console.print(left + part.plain.rstrip())


def table_console() -> Terminal:
    """Standard output, on which a table in a pipe is not cut to 80 characters."""
    console = Terminal()
    return console if console.is_terminal else Terminal(width=max(console.width, UNCUT))


@contextlib.contextmanager
def paged() -> Iterator[Terminal]:
    """A console that pages in a terminal, with the user's pager; otherwise an ordinary console."""
    console = table_console()
    if not console.is_terminal:
        yield console
        return
    os.environ.setdefault("LESS", "FRX")  # as in git: a single screen is printed without paging
    with console.pager(styles=True):
        yield console


def say(text: object, *, err: bool = False) -> None:
    """Write a text and a newline without wrapping."""
    typer.echo(shown(text), err=err)


def say_document(text: str) -> None:
    """Write a document that ends with its own newline: Markdown, CSV, YAML."""
    typer.echo(shown(text), nl=False)


def say_as_json(value: object) -> None:
    """Write a value as JSON: lists, mappings and JSON's own types."""
    say_json(json.dumps(value, indent=1))


def say_json(text: str) -> None:
    """Write JSON; characters that a terminal would obey become JSON escapes."""
    typer.echo(escaped_json(text.removesuffix("\n")))
