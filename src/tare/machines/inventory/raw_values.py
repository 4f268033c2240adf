"""Raw values of an inventory, each with its line, before validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tare.errors import InventoryError
from tare.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_HOSTS = 1000
"""more hosts than this come from a wrong range"""
FLATTEN = "ansible-inventory -i FILE --list --yaml writes a plain inventory, which Tare reads"


@dataclass(frozen=True)
class RawValue:
    """One value and its place ("file:line")."""

    value: Any
    where: str

    @property
    def text(self) -> str:
        """The value as text, as it would be written in an INI file."""
        return self.value if isinstance(self.value, str) else str(self.value)


Variables = dict[str, RawValue]


@dataclass
class Entry:
    """One host of a file: its fields or variables, and where it was first named."""

    where: str
    variables: Variables = field(default_factory=dict)
    port: int | None = None
    """from `host:port`"""


SEE = "see docs/machines.md for what an inventory holds"


def refused(what: str, where: str, why: str = "", remedy: str = SEE) -> InventoryError:
    """The error for what cannot be used; long pieces of hostile text are cut by who quotes them."""
    return InventoryError(what, where=where, why=why, remedy=remedy)


def quoted(text: object) -> str:
    """The text for an error: without control characters, and short."""
    words = repr(str(text))
    return words if len(words) <= 60 else f"{words[:56]}...'"


def unknown(name: str, kind: str, valid: Iterable[str], where: str) -> InventoryError:
    """The error for a word that nothing has."""
    known = list(valid)
    remedy = did_you_mean(name, known, f"there are {', '.join(known)}")
    return refused(f"{quoted(name)} is no {kind}", where, remedy=remedy)
