"""A console for tables: as wide as the terminal, and wide enough where there is none."""

from __future__ import annotations

from rich.console import Console

UNCUT = 170
"""Characters of a line in a file or a pipe, which has no width of its own."""


def table_console() -> Console:
    """Standard output, on which a table in a pipe is not cut to 80 characters."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, UNCUT))
