"""A database's name in a document's field: one of the installed databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from tare.databases.registry import names

if TYPE_CHECKING:
    DatabaseName: TypeAlias = str  # the installed databases are known only when this runs
else:
    DatabaseName = Literal[names()]
