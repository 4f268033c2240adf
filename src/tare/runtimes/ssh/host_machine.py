"""One host of the inventory as a machine: its facts, its readings, its files."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import docker
from docker.errors import DockerException

from tare.artifacts.binaries import Binary, find
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines.clocks import SAME, clock_offset
from tare.machines.facts import hardware
from tare.machines.ssh import Connection, HostError, HostGoneError
from tare.machines.survey import printable
from tare.runtimes.open_files import WANTED_OPEN_FILES
from tare.runtimes.ssh.names import MARK_VARIABLE, mark_of
from tare.runtimes.ssh.transfer import bring

if TYPE_CHECKING:
    from tare.machines.declaration import MadeMachine
    from tare.machines.inventory.host import Host

ENGINE_SOCKET = "/var/run/docker.sock"
_SCRIPTS = (
    *("supervise.sh", "join.sh", "group.sh", "stop.sh", "freeze.sh", "find.sh"),
    *("process.sh", "state.sh", "terminate.sh", "container.sh"),
)
_OWN_DIRECTORY = """
umask 077
mkdir -p "$1" && [ ! -L "$1" ] && [ -O "$1" ] && mkdir -p "$1/runs" "$1/files"
"""
_ENGINE_UP_S = 180.0
"""longest wait for the engine of a virtual machine; emulated, half a minute is usual"""
_PATIENCE = 8.0
"""An emulated processor is five to thirty times slower, a JVM that starts the slowest."""
_REMOVE_S = 60.0
"""longest wait for the removal of a container, whose files may be many"""
_READ = 'exec grep -sH "" $* </dev/null'
_OWN_FACTS = ("kernel", "clock source", "transparent huge pages", "disk")


class HostMachine:
    """A host, connected at first use."""

    def __init__(
        self,
        host: Host,
        run: str,
        connection: Connection | None = None,
        environment: Mapping[str, str] | None = None,
        domain: MadeMachine | None = None,
    ) -> None:
        """Nothing is asked yet.

        Args:
            host: of the inventory.
            run: the run's name.
            connection: to it; None: a new one.
            environment: added to the environment of ssh's processes here.
            domain: the host as a virtual machine of the run; None: it is no such machine.
        """
        self.host = host
        self.domain = domain
        self.run = run
        self.mark = mark_of(run)
        self.connection = connection or Connection(host, environment)
        if domain is not None:
            self.connection.wake = self._wake
            self.connection.patience = self.patience
        self._moving: set[str] = set()
        """units that are not paused"""
        self.clock = SAME
        self.programs: dict[Binary, PurePosixPath] = {}
        self.left: list[str] = []
        """directories of units whose end was not seen, because the host was gone"""
        self.left_containers: dict[str, str] = {}
        """likewise containers, each with its volume, which may be none"""
        self._facts: dict[str, str] = {}
        self._scripts: PurePosixPath | None = None
        self._engine: docker.DockerClient | None = None
        self._engine_of = 0
        """the life of the connection in which the engine's socket was made"""
        self.forwarded_in = 0
        """the life of the connection in which a port was seen to be forwarded to here"""

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def directory(self) -> PurePosixPath:
        return self.host.directory

    @property
    def files(self) -> PurePosixPath:
        """Where brought files lie."""
        return self.directory / "files"

    def home(self, unit: str) -> PurePosixPath:
        """Where everything of a unit of this run lies."""
        return self.directory / "runs" / self.mark / unit

    @property
    def facts(self) -> Mapping[str, str]:
        """The host's facts, asked once."""
        if not self._facts:
            script = (files(__package__) / "facts.sh").read_text(encoding="ascii")
            told = self.connection.script(script, str(self.directory)).text
            lines = map(printable, told.splitlines())
            self._facts = dict(line.split("=", 1) for line in lines if "=" in line)
        return self._facts

    @property
    def inside_here(self) -> bool:
        """Whether it is a virtual machine made here: its use is part of this machine's."""
        return self.domain is not None

    @property
    def patience(self) -> float:
        """The factor by which waits for its units are longer than usual."""
        emulated = self.domain is not None and self.domain.emulated
        return _PATIENCE if emulated else 1.0

    def cpuset(self, wanted: str | None) -> str | None:
        """The numbers of the CPUs to which a unit there is bound; None: all.

        A virtual machine of the run has only the CPUs that the unit may use.
        """
        return None if self.domain is not None and self.domain.confined else wanted

    def moves(self, unit: str) -> None:
        """Resume a virtual machine before a unit there runs or is asked."""
        self._moving.add(unit)
        if self.domain is not None:
            self.domain.resume()

    def stands_still(self, unit: str) -> None:
        """Note that a unit there is paused, or gone.

        After the last unit a virtual machine is suspended, so that nothing of it runs while others
        are measured.
        """
        self._moving.discard(unit)
        if self.domain is not None and not self._moving:
            self.domain.suspend()

    def _wake(self) -> None:
        """Resume a virtual machine before it is asked; do not wait for one that has ended."""
        if self.domain is None:
            return
        if not self.domain.alive():
            raise HostGoneError(
                "the virtual machine is gone", where=str(self.host), why="its QEMU has ended"
            )
        self.domain.resume()

    def revive(self) -> bool:
        """Start a lost virtual machine of the run again; whether the host is one.

        Raises:
            RuntimeUnavailableError: it does not boot.
        """
        if self.domain is None:
            return False
        self.connection.forget()
        self.domain.restart()
        self._facts = {}
        return True

    @property
    def traits(self) -> Mapping[str, str]:
        own = {name: self.facts.get(name, "") for name in _OWN_FACTS}
        memory = self.facts.get("memory", "")
        return own | hardware(
            self.facts.get("CPU model", ""),
            self.facts.get("cpus", ""),
            int(memory) * 1024 if memory.isdecimal() else 0,
            self.facts.get("hypervisor", ""),
        )

    @property
    def ahead_s(self) -> float:
        """By how much its clock is ahead of this machine's, seconds."""
        return self.clock.ahead_s

    @property
    def boot(self) -> str:
        """Identifier of its kernel's start; hosts that are one machine share it."""
        return self.facts.get("boot", "")

    @property
    def ticks(self) -> int:
        """The kernel's ticks per second, in which it counts CPU time."""
        return int(self.facts.get("ticks") or 100)

    @property
    def open_files(self) -> int:
        """Open files that units get there, as here."""
        hard = self.facts.get("open files", "")
        return min(WANTED_OPEN_FILES, int(hard)) if hard.isdigit() else WANTED_OPEN_FILES

    @property
    def locked_memory(self) -> tuple[int, int] | None:
        """Bytes that units may lock in memory there, soft and hard, -1: any; None: not known."""
        words = self.facts.get("locked memory", "").split()
        if len(words) != 2 or not all(one == "unlimited" or one.isdecimal() for one in words):
            return None
        soft, hard = (-1 if one == "unlimited" else int(one) * 1024 for one in words)
        return soft, hard

    @property
    def root(self) -> bool:
        """Whether Tare is root there."""
        return self.facts.get("user") == "0"

    @property
    def groups(self) -> bool:
        """Whether units get control groups of their own there."""
        return self.root and self.facts.get("cgroups") in ("1", "2")

    def read_clock(self) -> None:
        """Compare its clock with this machine's.

        Raises:
            RuntimeUnavailableError: it cannot be read.
        """
        self.clock = clock_offset(self.connection)

    def engine(self) -> docker.DockerClient:
        """Its Docker engine, over a socket that is forwarded to here.

        Raises:
            RuntimeUnavailableError: it has no engine that answers.
        """
        self.connection.wake()
        stands = self._engine_of == self.connection.lives and self.connection.alive()
        if self._engine is None or not stands:
            # in a virtual machine that has just booted, it starts after the SSH server
            deadline = time.monotonic() + (0.0 if self.domain is None else _ENGINE_UP_S)
            while (client := self._reached(last=time.monotonic() >= deadline)) is None:
                time.sleep(1.0)
            self._engine, self._engine_of = client, self.connection.lives
        return self._engine

    def _reached(self, *, last: bool) -> docker.DockerClient | None:
        """A client of its engine; None: none answers, which is an error the last time."""
        try:
            socket = self.connection.forward(ENGINE_SOCKET)
            client = docker.DockerClient(base_url=f"unix://{socket}", timeout=60)
            client.ping()
        except (DockerException, OSError) as error:
            if not last:
                return None
            raise RuntimeUnavailableError(
                "no Docker engine answers there",
                where=str(self.host),
                why=str(error),
                remedy=f"{self.connection.by_hand()} docker info",
            ) from error
        return client

    def prepare(self, say: Callable[[str], None]) -> None:
        """Make its directory, and bring what is needed to run and watch units.

        Raises:
            HostError: it cannot be reached, or its directory is another user's.
            RuntimeUnavailableError: Tare's programs do not run there, or its clock cannot be read.
        """
        done = self.connection.script(_OWN_DIRECTORY, str(self.directory))
        if done.status != 0:
            raise HostError(
                f"{self.directory} cannot be Tare's directory",
                where=str(self.host),
                why=done.why if done.err else "it is a link, or another user's",
                remedy="name another one in the inventory (directory), or remove it there",
            )
        here = files(__package__)
        scripts = [(name, Path(str(here / name))) for name in _SCRIPTS]
        self._scripts = bring(self.connection, scripts, self.files, "scripts", lambda _: None)
        self.provide("tare-probe", say)
        self.provide("tare-pod", say)
        self.read_clock()

    def provide(self, program: Binary, say: Callable[[str], None]) -> PurePosixPath:
        """Bring one of Tare's programs, and check that it runs there.

        Raises:
            RuntimeUnavailableError: it does not.
        """
        if program not in self.programs:
            held = bring(self.connection, [(program, find(program))], self.files, program, say)
            done = self.connection.run(held / program, "--version")
            if done.status != 0:
                architecture = self.facts.get("architecture", "")
                raise RuntimeUnavailableError(
                    f"{program} does not run there",
                    where=str(self.host),
                    why=f"{done.why} (the host is {architecture})",
                    remedy="build Tare on a machine of the same architecture with a C library "
                    "that is no newer than the host's",
                )
            self.programs[program] = held / program
        return self.programs[program]

    def script(self, name: str) -> str:
        """Path of one of the scripts there."""
        if self._scripts is None:
            self.prepare(lambda _: None)
        return str((self._scripts or self.files) / name)

    def call(self, script: str, *words: str, within_s: float = 30.0) -> str:
        """What one of the scripts prints.

        Raises:
            HostError: it failed.
        """
        done = self.connection.run("/bin/sh", self.script(script), *words, within_s=within_s)
        if done.status != 0:
            raise self.connection.failed(script, done)
        return done.text

    def settle(self) -> None:
        """End what could not be ended while the host was gone.

        Raises:
            HostError: the host is still gone.
        """
        for container, volume in list(self.left_containers.items()):
            self.remove_container(container, volume)
        while self.left:
            self.call("stop.sh", self.left[-1], "0")
            self.left.pop()

    def remove_container(self, container: str, volume: str) -> None:
        """Remove a container and its volume by the host's own command.

        That needs no socket forwarded to here. If the host or its engine is gone, the container and
        volume are remembered.

        Args:
            container: its name or id; it may be gone already. One without this run's mark stays.
            volume: its name; empty: none.

        Raises:
            HostError: it could not be done.
        """
        self.left_containers[container] = volume
        self.call("container.sh", container, volume, self.mark, within_s=_REMOVE_S)
        del self.left_containers[container]

    def end(self, home: str, grace_s: float) -> None:
        """End a unit and remove all of it; if the host is gone, the unit is remembered.

        Raises:
            HostError: it could not be done.
        """
        try:
            self.call("stop.sh", home, str(round(grace_s)), within_s=grace_s + 30.0)
        except TareError:
            self.left.append(home)
            raise

    def read(self, *patterns: str) -> dict[str, str]:
        text = self.connection.script(_READ, *patterns).out.decode(errors="replace")
        found: dict[str, list[str]] = {}
        for line in text.splitlines():
            name, colon, content = line.partition(":")
            if colon:
                found.setdefault(name, []).append(content)
        return {name: "\n".join(lines) + "\n" for name, lines in found.items()}

    def probe(self, run: str) -> subprocess.Popen[bytes]:
        del run  # it ends with its input, whatever becomes of the run
        program = self.provide("tare-probe", lambda _: None)
        return self.connection.start(
            *("env", f"{MARK_VARIABLE}={self.mark}", str(program), "--config", "-"),
            stdin=subprocess.PIPE,
        )

    def as_dict(self) -> dict[str, object]:
        """The host's facts for the records."""
        made = {} if self.domain is None else {"domain": self.domain.as_dict()}
        return {
            "address": self.host.address,
            **self.facts,
            "clock": asdict(self.clock),
            **made,
        }

    def close(self) -> None:
        """End the connection; first end what is left there, if possible.

        Raises:
            HostError: something was left.
        """
        try:
            if self.domain is None:  # else all of it goes
                self.settle()
        finally:
            self.connection.close()
