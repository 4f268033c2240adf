"""Every database that there is: Tare's own, and those that other packages bring."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from tare.databases.declaration import DatabaseDeclaration
from tare.self_declared import SelfDeclared

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUP = "tare.databases"
"""entry points of packages that bring one, which speaks a protocol that `tare-load` knows"""
OWN = ("tare.databases.cassandra.declaration", "tare.databases.mongodb.declaration")
"""modules of Tare's own, in the order in which they are listed"""
USUAL = "cassandra"
"""The database that a study has where it names none."""
_ALL: SelfDeclared[DatabaseDeclaration] = SelfDeclared(
    "database", GROUP,
    DatabaseDeclaration,  # type: ignore[type-abstract] # only asked whether something is one
    OWN, re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*"), "begins with a letter",
)  # fmt: skip


@cache
def registered() -> Mapping[str, DatabaseDeclaration]:
    """Every database by its name.

    Raises:
        RuntimeUnavailableError: what another package brings cannot be used.
    """
    return _ALL.found()


def names() -> tuple[str, ...]:
    """The databases' names, as they are listed."""
    return tuple(registered())


def declared(name: str) -> DatabaseDeclaration:
    """What the database says of itself.

    Raises:
        RuntimeUnavailableError: there is none of this name here.
    """
    return _ALL.one(name, registered())
