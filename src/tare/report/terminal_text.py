"""Text for terminals: without markup or control characters, in the colours of its meaning."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from tare.report import numbers
from tare.report.escaping import plain

TONES: Final = {"cost": "bold red", "gain": "bold cyan", "tie": "bold"}


def text(content: str, style: str = "") -> Text:
    """Text without markup or control characters; the minus is ASCII, for any terminal."""
    lines = "\n".join(plain(line) for line in content.split("\n"))
    return Text(lines.replace(numbers.MINUS, "-"), style)
