"""A database's name, as a field of documents has it: one of those that are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from tare.databases.registry import names

if TYPE_CHECKING:
    DatabaseName: TypeAlias = str  # what is installed is known only when this runs
else:
    DatabaseName = Literal[names()]
