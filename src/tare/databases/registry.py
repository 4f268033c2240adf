"""All databases: Tare's own, and those of other packages."""

from __future__ import annotations

import re

from tare.databases.declaration import DatabaseDeclaration
from tare.self_declared import SelfDeclared

GROUP = "tare.databases"
"""entry points of packages with a database, which speaks a protocol that `tare-load` knows"""
OWN = ("tare.databases.cassandra.declaration", "tare.databases.mongodb.declaration")
"""modules of Tare's own databases, in the order in which they are listed"""
USUAL = "cassandra"
"""The database of a study that names none."""
ALL: SelfDeclared[DatabaseDeclaration] = SelfDeclared(
    "database", GROUP,
    DatabaseDeclaration,  # type: ignore[type-abstract] # only asked whether something is one
    OWN, re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*"), "begins with a letter",
)  # fmt: skip

registered, names, declared = ALL.registered, ALL.names, ALL.declared
