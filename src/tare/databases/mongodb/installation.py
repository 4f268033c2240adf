"""The program of a member: a mongod, or as its stand-in FerretDB or the stub; records name it."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tare.artifacts.digest import file_digest
from tare.databases.mongodb import configuration
from tare.databases.mongodb.declaration import OF_A_SET
from tare.errors import ArtifactError, StudyError
from tare.runtimes.obstacle import Obstacle
from tare.runtimes.registry import declared
from tare.runtimes.unit import Bits, Site

if TYPE_CHECKING:
    from tare.study.schema import Database

Kind = Literal["mongod", "ferretdb", "tare-stub"]
UNPACK = "unpack a release of MongoDB's server and set database.home to its directory"
_NATURE = "a functional stand-in and not MongoDB"
_KEEPS_NOTHING = "a server that keeps nothing, and not MongoDB"
STAND_IN = f"FerretDB ({_NATURE})"
"""its name in every output, if its release is not known"""
STUB = f"tare-stub ({_KEEPS_NOTHING})"
"""the same for the stub: it measures only the price of the platform"""
_NO_TARGET = "cannot be the target of a benchmark"
_OTHERWISE_MADE = (
    "its storage, its locks and its replication are others: a number from it would pass for one of "
    "MongoDB's"
)
_OTHER_SERVER = (
    "set database.home to the directory of a mongod, or database.stand_in: true to try the study "
    "out"
)
_HOME = ("database", "home")
OLDEST = (3, 6)
"""The first release that speaks OP_MSG. Source: MongoDB manual, MongoDB Wire Protocol."""
_VERSION = re.compile(r"^db version v(\S+)", re.MULTILINE)
"""Source: MongoDB manual, mongod --version."""
_VERSION_S, _SHOWN = 20.0, 200
_BAD_OPTIONS = 2
"""Exit status of a mongod that refuses its options. Source: MongoDB manual, Exit Codes."""


@dataclass(frozen=True)
class Installation:
    """Where a runtime's units find the server's program."""

    program: str
    bits: Bits
    kind: Kind = "mongod"

    @property
    def stands_in(self) -> bool:
        """Whether this only behaves like MongoDB; then no measurement says anything of MongoDB."""
        return self.kind != "mongod"

    @property
    def knows_sets(self) -> bool:
        """Whether members form a replica set, which a client names."""
        return self.kind != "ferretdb"

    @property
    def unsnapshotted(self) -> str:
        """Why no member starts from a copy of such a server's data; empty: it can."""
        return OF_A_SET if self.knows_sets else ""

    def command(self, site: Site) -> list[str]:
        """A member's command line."""
        if self.kind == "ferretdb":
            return configuration.ferretdb_command(self.program, site)
        if self.kind == "tare-stub":
            return configuration.stub_command(self.program, site)
        return configuration.mongod_command(self.program, site)


def installed(home: Path) -> Installation:
    """The server in a user's directory: `bin/mongod`, `mongod` or `ferretdb`, or that file itself.

    Raises:
        ArtifactError: there is no server.
    """
    program = _program(home)
    return Installation(str(program.resolve()), Bits(file_digest(program)), _kind(program))


def release_of(program: str) -> str:
    """The release that a mongod reports, such as 7.0.14; it is run for that, and starts nothing.

    Raises:
        ArtifactError: it cannot be run, or is no mongod.
    """
    status, said = _reply(program, "--version")
    return release_in(said, program, status)


def _reply(program: str, *options: str) -> tuple[int, str]:
    """Exit status and output of a program that only answers a question."""
    try:
        done = subprocess.run(
            [program, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _no_mongod(program, str(error)) from error
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace").strip()


def release_in(said: str, program: str, status: int = 0) -> str:
    """The release in a mongod's answer to --version, from any machine.

    Raises:
        ArtifactError: it names no release.
    """
    found = _VERSION.search(said)
    if found is None:
        first = said.partition("\n")[0][:_SHOWN]
        raise _no_mongod(program, f"its --version says {first!r} (exit status {status})")
    return found[1]


def _no_mongod(program: str, why: str) -> ArtifactError:
    return ArtifactError("this is no mongod", where=program, why=why, remedy=_OTHER_SERVER)


def _program(home: Path) -> Path:
    places = [home / "bin" / "mongod", home / "mongod", home / "ferretdb", home]
    program = next((place for place in places if place.is_file()), None)
    if program is None:
        raise ArtifactError(
            "no mongod here",
            where=str(home),
            why="neither bin/mongod nor mongod is in this directory",
            remedy=UNPACK,
        )
    return program


def named_kind(database: Database) -> Kind:
    """The server in a study's files, by their names; a mongod if the names tell nothing."""
    if database.home is None:
        return "tare-stub" if database.stubbed else "mongod"
    home = Path(database.home)
    try:
        return _kind(_program(home))
    except ArtifactError:
        return _kind(home)  # of another machine


def _kind(program: Path) -> Kind:
    others: tuple[Kind, ...] = ("ferretdb", "tare-stub")
    return next((kind for kind in others if kind in program.name), "mongod")


def stand_in(build: Mapping[str, Any]) -> str | None:
    """The stand-in that answers instead of MongoDB, by its `buildInfo`; None: a mongod answers.

    FerretDB 1.x has a field `ferretdbVersion` there, 2.x has `ferretdb`, and the stub `tareStub`;
    MongoDB has none of them. A mongod names the commit of its build; mongo-java-server does not.
    """
    stub = build.get("tareStub")
    if stub is not None:
        return f"tare-stub {stub} ({_KEEPS_NOTHING})"
    own = build.get("ferretdb")
    version = own.get("version") if isinstance(own, Mapping) else build.get("ferretdbVersion")
    if version is not None:
        return f"FerretDB {version} ({_NATURE})"
    return None if build.get("gitVersion") else f"a server without gitVersion ({_NATURE})"


def refuse_stand_in(name: str | None, *, forced: bool) -> None:
    """Do not let a stand-in pass for the database that a study compares.

    Args:
        name: the stand-in that answers instead of MongoDB; None: there is none.
        forced: it was asked for explicitly.

    Raises:
        StudyError: there is a stand-in that was not asked for.
    """
    if name is not None and not forced:
        raise StudyError(
            f"{name} {_NO_TARGET}",
            where="database.home",
            why=_OTHERWISE_MADE,
            remedy=_OTHER_SERVER,
        )


def refuse_other_release(declared: str, build: Mapping[str, Any]) -> None:
    """Refuse a server whose release is not the study's, because the report names the study's.

    Args:
        declared: `database.version`; 7.0 is any 7.0.x.
        build: the server's answer to `buildInfo`.

    Raises:
        StudyError: the server has another release.
    """
    told = str(build.get("version", ""))
    if told != declared and not told.startswith(f"{declared}."):
        raise StudyError(
            f"the server is MongoDB {told}, and not {declared}",
            where="database.version",
            why="the report would name a release that was not measured",
            remedy=f'set database.version to "{told}", or name the files of {declared}',
        )


def unfit(database: Database, runtime: str) -> list[Obstacle]:
    """Obstacles found in the named files before anything starts; empty: none.

    A server's own description is known only once it runs, so `refuse_stand_in` is called again
    then.

    Args:
        database: of a setup.
        runtime: the runtime of the setup's servers.
    """
    if not declared(runtime).in_place and database.image is not None:
        return _unfit_image(database.image) or _unfit_release(database)
    if database.home is None:
        return []
    try:
        program = _program(Path(database.home))
    except ArtifactError as error:
        return [Obstacle(_HOME, f"{error.what} ({error.where}): {error.why}", error.remedy)]
    kind = _kind(program)
    if kind != "mongod":
        return _unfit_stand_in(database, kind)
    return (
        _unfit_release(database)
        or _other_release(database, str(program))
        or _refused_settings(database, str(program))
    )


def _unfit_release(database: Database) -> list[Obstacle]:
    if tuple(map(int, database.version.split(".")[:2])) >= OLDEST:
        return []
    why = f"MongoDB {database.version} is older than 3.6, and does not speak OP_MSG"
    remedy = "name a newer release and its files"
    return [Obstacle(("database", "version"), why, remedy)]


def _other_release(database: Database, program: str) -> list[Obstacle]:
    """The program here has another release; not checked if it only runs on other machines."""
    try:
        refuse_other_release(database.version, {"version": _release_here(program)})
    except ArtifactError:
        return []
    except StudyError as error:
        return [Obstacle(("database", "version"), error.what, error.remedy)]
    return []


def _refused_settings(database: Database, program: str) -> list[Obstacle]:
    """The program here does not know a setting, or does not accept its value."""
    if not database.settings:
        return []
    refusal = _refusal(program, configuration.yaml_text(database.settings))
    if not refusal:
        return []
    remedy = "write it as in mongod.conf of that release (MongoDB manual, Configuration File "
    remedy += "Options), or remove it"
    return [Obstacle(("database", "settings"), f"{program} refuses them: {refusal}", remedy)]


@functools.cache
def _refusal(program: str, settings: str) -> str:
    """Why a mongod refuses this mongod.conf; empty: it accepts it, or cannot be run here.

    With --version it reads the file and starts nothing.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".conf", encoding="utf-8") as conf:
        conf.write(settings)
        conf.flush()
        try:
            status, said = _reply(program, "--config", conf.name, "--version")
        except ArtifactError:
            return ""
    return said.partition("\n")[0][:_SHOWN] if status == _BAD_OPTIONS else ""


@functools.cache
def _release_here(program: str) -> str:
    """The program's release, asked once for all conditions of a study."""
    return release_of(program)


def _unfit_image(name: str) -> list[Obstacle]:
    """Obstacles by the image's name: nothing else is known of it until it runs."""
    if "ferretdb" not in name.lower():
        return []
    why = f"{name} is an image of {STAND_IN}: there is no mongod in it"
    remedy = (
        'set database.image to an image of MongoDB, such as "mongo:7"; FerretDB runs from '
        "database.home, of which Tare makes an image for containers"
    )
    return [Obstacle(("database", "image"), why, remedy)]


def _unfit_stand_in(database: Database, kind: Kind) -> list[Obstacle]:
    """A stand-in must have been asked for; several FerretDBs are separate databases, no set."""
    found: list[Obstacle] = []
    name = STUB if kind == "tare-stub" else STAND_IN
    if not database.stand_in:
        found.append(Obstacle(_HOME, f"{name} {_NO_TARGET}: {_OTHERWISE_MADE}", _OTHER_SERVER))
    if database.nodes > 1 and kind == "ferretdb":
        why = (
            f"{STAND_IN} knows no replica sets: {database.nodes} of them would be "
            f"{database.nodes} databases of their own"
        )
        remedy = "set database.nodes and database.replication_factor to 1"
        found.append(Obstacle(("database", "nodes"), why, remedy))
    return found
