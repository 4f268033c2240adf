"""Checks in some ten seconds whether a mongod can be used here.

It checks the release, the licence, the CPU that the program needs, and that it starts and answers.
"""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from docker.errors import DockerException

from tare import scratch, starter
from tare.databases.mongodb.configuration import PORT
from tare.databases.mongodb.installation import OLDEST, STAND_IN, STUB, installed, release_of
from tare.databases.mongodb.installation import stand_in as stand_in_of
from tare.databases.mongodb.session import connect
from tare.doctor_check import DoctorCheck
from tare.errors import ArtifactError, ClusterError, TareError

RUN = "doctor"
"""label of a server that is started, by which `tare clean` finds it"""
PATIENCE_S = 10.0
"""how long a server may take from its start to its first answer"""
_AGAIN_S, _STOP_S, _SHOWN, _LINES = 0.1, 5.0, 300, 20
_ILLEGAL = (-4, 132)
"""exit status of a program if the CPU lacks one of its instructions: as a child, in a shell"""
_SSPL = (4, 0, 4)
"""The first release of its series under the Server Side Public License. Source: MongoDB, Licensing:
it covers all releases after 16 October 2018, of older series too."""
_NEEDS: dict[str, tuple[tuple[int, ...], str, str]] = {
    "x86_64": ((5, 0), "avx", "AVX"),
    "aarch64": ((5, 0), "atomics", "ARMv8.2-A"),
}
"""machine to the first release that needs this word in /proc/cpuinfo, and the word's meaning.
Source: MongoDB manual, Production Notes, Platform Support Notes."""
_BY_HAND = "start it by hand: see its own words"
_ANOTHER_CPU = "take a release before 5.0, or a machine (or a virtual one's CPU model) that has it"

Place = tuple[str, int]
"""host and port of a server that is starting"""
Died = Callable[[], str]
"""what ended a server that was started; empty while it runs"""


def how_to_get_one(system: Mapping[str, str], machine: str) -> DoctorCheck:
    """How to get a mongod here.

    Args:
        system: /etc/os-release.
        machine: as `uname -m` names it.
    """
    kinds = {system.get("ID", ""), *system.get("ID_LIKE", "").split()}
    ways = {
        "debian": "apt-get install mongodb-org, from MongoDB's own repository: "
        "https://www.mongodb.com/docs/manual/administration/install-on-linux/",
        "fedora": "dnf install mongodb-org, from MongoDB's own repository: "
        "https://www.mongodb.com/docs/manual/administration/install-on-linux/",
        "arch": "mongodb-bin of the AUR",
    }
    aliases = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora"}
    known = [ways[name] for kind in sorted(kinds) if (name := aliases.get(kind, kind)) in ways]
    own = f"{known[0]}; or " if known else ""
    name = system.get("PRETTY_NAME", "this system")
    return DoctorCheck(
        "mongod",
        False,
        f"none is named, and no public registry has a current one that Tare could fetch for {name}",
        f"{own}unpack a release for {machine} from "
        "https://www.mongodb.com/try/download/community; or docker pull mongo:7.0; or, of 2018, "
        "setup/mongod.sh in a checkout of Tare. Then tare doctor --database mongodb with --home "
        "DIRECTORY or --image NAME",
    )


def check_home(home: Path, machine: str, features: Collection[str]) -> Iterator[DoctorCheck]:
    """Look at a directory with a server, and start it for a moment.

    Args:
        home: as `database.home`.
        machine: as `uname -m` names it.
        features: flags of the CPU, as /proc/cpuinfo has them.
    """
    try:
        server = installed(home)
        if server.stands_in:
            name = STUB if server.kind == "tare-stub" else STAND_IN
            yield DoctorCheck("mongod", False, f"{server.program} is {name}", "name a mongod")
            return
        release = release_of(server.program)
    except ArtifactError as error:
        yield DoctorCheck(
            "mongod", False, f"{error.what} ({error.where}): {error.why}", error.remedy
        )
        return
    yield DoctorCheck("mongod", True, server.program)
    cpu = _cpu(release, machine, features)
    yield cpu
    if cpu.ok:
        yield from check_started(_program(server.program))


def check_started(starting: AbstractContextManager[tuple[Place, Died]]) -> Iterator[DoctorCheck]:
    """Wait for a server's first answers, and report them."""
    try:
        with starting as (place, died):
            begun = time.monotonic()
            build = _first_answer(place, died)
            seconds = time.monotonic() - begun
    except TareError as error:
        why = f"{error.what}: {error.why}" if error.why else error.what
        yield DoctorCheck("start", False, why, error.remedy)
        return
    yield DoctorCheck("start", True, f"it answers {seconds:.1f} s after its start")
    other = stand_in_of(build)
    if other is not None:
        yield DoctorCheck("release", False, f"it says that it is {other}", "name a mongod")
        return
    release = str(build.get("version", ""))
    old = _numbers(release) < OLDEST
    yield DoctorCheck(
        "release",
        not old,
        f"MongoDB {release}",
        "take 3.6 or newer: older ones do not speak OP_MSG" if old else "",
    )
    yield DoctorCheck("licence", True, _licence(release, build))


def _first_answer(place: Place, died: Died) -> dict[str, Any]:
    """A server's description of its build, once it answers; every release has one."""
    end, last = time.monotonic() + PATIENCE_S, ""
    while time.monotonic() < end:
        if ended := died():
            raise ClusterError(
                "it ended before it answered", where=_named(place), why=ended, remedy=_BY_HAND
            )
        try:
            with connect(*place, timeout_s=1.0) as session:
                return session.command({"buildInfo": 1})
        except ClusterError as error:
            last = error.why
            time.sleep(_AGAIN_S)
    raise ClusterError(
        f"no answer in {PATIENCE_S:g} s", where=_named(place), why=last, remedy=_BY_HAND
    )


def _named(place: Place) -> str:
    return f"{place[0]}:{place[1]}"


@contextmanager
def _program(program: str) -> Iterator[tuple[Place, Died]]:
    """A mongod with its data in a directory that is removed afterwards."""
    with scratch.directory(RUN) as where:
        place = ("127.0.0.1", _free_port())
        words = [program, "--dbpath", where, "--bind_ip", place[0], "--port", str(place[1])]
        log = Path(where) / "said"
        with log.open("wb") as out:
            child = subprocess.Popen(
                [*words, "--nounixsocket"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**os.environ, **starter.labels(RUN)},
            )
        try:
            yield place, lambda: _ended(child.poll(), log.read_text(errors="replace"))
        finally:
            child.terminate()
            try:
                child.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _ended(status: int | None, said: str) -> str:
    """Why a server ended, by its status and its last words; empty while it runs."""
    if status is None:
        return ""
    if status in _ILLEGAL:
        return f"this CPU lacks an instruction that it needs (exit status {status})"
    last = said.strip().rpartition("\n")[2][-_SHOWN:]
    return f"exit status {status}: {last or 'it said nothing'}"


@contextmanager
def image(client: Any, identity: str, labels: Mapping[str, str]) -> Iterator[tuple[Place, Died]]:
    """A mongod of an image, on Docker's own bridge.

    Args:
        client: of Docker's engine.
        identity: the image.
        labels: labels by which leftovers are found.
    """
    try:
        container = client.containers.create(
            identity, ["mongod", "--bind_ip_all"], labels=dict(labels)
        )
        try:
            container.start()

            def died() -> str:
                container.reload()
                state = container.attrs["State"]
                if state["Running"]:
                    return ""
                said = container.logs(tail=_LINES).decode(errors="replace")
                return _ended(int(state["ExitCode"]), said)

            ended = died()
            networks = container.attrs["NetworkSettings"]["Networks"].values()
            address = next((str(it["IPAddress"]) for it in networks if it.get("IPAddress")), "")
            if not (address or ended):
                raise ArtifactError(
                    "the container has no address",
                    where=identity,
                    why="Docker gives it none on its own bridge",
                    remedy="docker network inspect bridge",
                )
            yield (address, PORT), died
        finally:
            container.remove(force=True, v=True)
    except (DockerException, OSError) as error:
        raise ArtifactError(
            "the engine does not run the image", where=identity, why=str(error)
        ) from error


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _cpu(release: str, machine: str, features: Collection[str]) -> DoctorCheck:
    since, flag, name = _NEEDS.get(machine, ((99,), "", ""))
    if _numbers(release) < since:
        return DoctorCheck(
            "CPU", True, f"MongoDB {release} needs nothing particular of a {machine}"
        )
    if flag in features:
        return DoctorCheck("CPU", True, f"it has {name}, which MongoDB {release} needs")
    return DoctorCheck("CPU", False, f"MongoDB {release} needs {name}: it has not", _ANOTHER_CPU)


def _licence(release: str, build: Mapping[str, Any]) -> str:
    if "enterprise" in build.get("modules", ()):
        return "MongoDB Enterprise: of your contract with MongoDB, Inc."
    if _numbers(release) < _SSPL:
        return "AGPL-3.0, or SSPL-1.0 if it was released after 16 October 2018"
    return "Server Side Public License, version 1 (SSPL-1.0)"


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.partition("-")[0].split(".") if part.isdigit())


def features_here() -> set[str]:
    """The flags of this machine's CPU; empty where they cannot be read."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    for line in lines:
        name, _, words = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return set(words.split())
    return set()


def system_here() -> dict[str, str]:
    """/etc/os-release; empty where there is none."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}
