"""The words of every runtime: a unit, the site where it will run, a running one, a runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from tare.machines.cgroups import Accounting, LimitValues

Role = Literal["database", "client"]


@dataclass(frozen=True)
class Bits:
    """The files that a unit is made of, as its runtime will show them to it."""

    digest: str
    """SHA-256 of the artifact tree, or the digest of a named image"""
    image: str = ""
    """container image id; empty for a unit that runs from the tree in place"""
    named: str = ""
    """the official image that the study named, where it did: different bits"""


@dataclass(frozen=True)
class Site:
    """Where one unit will run, settled before its configuration is written."""

    name: str
    """unit name, unique within the run: letters, digits and dashes"""
    conf: str
    """configuration directory as the unit sees it"""
    conf_on_host: Path
    """the same directory as this process sees it; files are written here before launch"""
    data: str
    """data directory as the unit sees it"""
    data_on_host: Path | None
    """the same directory as this process sees it; None where it is a volume or a layer"""
    listen: str
    """address that the unit binds"""
    peers: str
    """address under which other units reach it"""
    endpoint_host: str
    """address under which clients reach it"""
    path: str
    """what packets from a client on this host pass through"""
    network: str = ""
    """name of the container network that it joins; empty on the host's network"""


@dataclass(frozen=True)
class Unit:
    """One process to run at a site."""

    site: Site
    role: Role
    command: list[str]
    environment: Mapping[str, str]
    limits: LimitValues
    bits: Bits
    storage: str = "directory"
    ports: tuple[int, ...] = ()
    """TCP ports that clients and peers use; published where the network is `published`"""
    grace_s: float = 5.0
    """how long a stop may take before the unit is killed, seconds"""
    mounts: Mapping[Path, str] = field(default_factory=dict)
    """further host directories (containers only), host path to path inside, writable"""


@dataclass(frozen=True)
class Exit:
    """How a unit ended."""

    status: int
    detail: str


class Running(Protocol):
    """A launched unit."""

    @property
    def unit(self) -> Unit: ...
    def accounting(self) -> Accounting:
        """Where its resource use can be read."""
        ...

    def exited(self) -> Exit | None:
        """None while it runs.

        Raises:
            RuntimeUnavailableError: the engine that runs it no longer answers.
        """
        ...

    def lines(self) -> Iterator[str]:
        """Its standard output, line by line, until it ends."""
        ...

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def confine(self, cpuset: str) -> None:
        """Let it run on these CPUs only, from now on."""
        ...

    def terminate(self) -> None:
        """Ask it to end (SIGTERM) and return at once."""
        ...

    def stop(self) -> None:
        """End it and take away everything that was made for it. Never raises twice."""
        ...

    def collect_logs(self, into: Path) -> None:
        """Copy what it wrote, log files and standard error, into a directory."""
        ...


class Runtime(Protocol):
    """A way to run units on this machine."""

    name: str

    def probe(self) -> str | None:
        """None when it can run here; else why not, with the command that would mend it."""
        ...

    def site(self, name: str, *, role: Role, network: str, storage: str, group: str) -> Site:
        """Settle addresses and paths for a unit; units of one `group` share a network.

        A client gets no address of its own: nothing calls it.
        """
        ...

    def release_group(self, group: str) -> None:
        """Take away what the units of a group shared. They must have been stopped."""
        ...

    def launch(self, unit: Unit) -> Running: ...
    def close(self) -> None:
        """Take away networks and addresses. Units must have been stopped."""
        ...
