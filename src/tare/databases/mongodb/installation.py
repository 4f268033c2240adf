"""What a member is run from: a mongod, or FerretDB in its stead, and what is said of the latter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tare.artifacts.digest import file_digest
from tare.databases.mongodb import configuration
from tare.errors import ArtifactError, StudyError
from tare.runtimes.unit import Bits, Site

_NATURE = "a functional stand-in and not MongoDB"
STAND_IN = f"FerretDB ({_NATURE})"
"""what every output calls it whose release is not known"""


@dataclass(frozen=True)
class Installation:
    """Where a runtime's units find the server's program."""

    program: str
    bits: Bits
    kind: Literal["mongod", "ferretdb"] = "mongod"

    @property
    def stands_in(self) -> bool:
        """Whether this only behaves like MongoDB: nothing that it measures says anything of it."""
        return self.kind == "ferretdb"

    def command(self, site: Site) -> list[str]:
        """A member's command line."""
        if self.stands_in:
            return configuration.ferretdb_command(self.program, site)
        return configuration.mongod_command(self.program, site)


def installed(home: Path) -> Installation:
    """The server in a directory of the user's: `bin/mongod`, `mongod` or `ferretdb`, or that file.

    Raises:
        ArtifactError: there is none.
    """
    places = [home / "bin" / "mongod", home / "mongod", home / "ferretdb", home]
    program = next((place for place in places if place.is_file()), None)
    if program is None:
        raise ArtifactError(
            "no mongod here",
            where=str(home),
            why="neither bin/mongod nor mongod is in this directory",
            remedy="unpack a release of MongoDB's server and set database.home to its directory",
        )
    kind: Literal["mongod", "ferretdb"] = "ferretdb" if "ferretdb" in program.name else "mongod"
    return Installation(str(program.resolve()), Bits(file_digest(program)), kind)


def stand_in(build: Mapping[str, Any]) -> str | None:
    """What answers in MongoDB's stead, by its own `buildInfo`; None: nothing says so.

    FerretDB 1.x has a field `ferretdbVersion` there, 2.x one `ferretdb`, which MongoDB has not.
    """
    own = build.get("ferretdb")
    version = own.get("version") if isinstance(own, Mapping) else build.get("ferretdbVersion")
    return None if version is None else f"FerretDB {version} ({_NATURE})"


def refuse_stand_in(name: str | None, *, forced: bool) -> None:
    """Do not let a stand-in pass for the database that a study compares.

    Args:
        name: what answers in MongoDB's stead; None: nothing does.
        forced: it was asked for in so many words.

    Raises:
        StudyError: there is one, and it was not asked for.
    """
    if name is not None and not forced:
        raise StudyError(
            f"{name} cannot be the target of a benchmark",
            where="database.home",
            why="its storage, its locks and its replication are others: a number from it would "
            "pass for one of MongoDB's",
            remedy="set database.home to the directory of a mongod, or database.stand_in: true to "
            "try the study out",
        )


def refuse_several(nodes: int) -> None:
    """A stand-in has no replica set: several would be databases of their own.

    Raises:
        StudyError: the study wants several nodes.
    """
    if nodes > 1:
        raise StudyError(
            f"{STAND_IN} knows no replica sets",
            where="database.nodes",
            why=f"{nodes} of them would be {nodes} databases of their own",
            remedy="set database.nodes and database.replication_factor to 1",
        )
