"""The interfaces of every runtime: a unit, its future site, a running unit, and the runtime."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from signal import Signals
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Protocol, Self, TypedDict, Unpack

from tare.errors import RuntimeUnavailableError
from tare.machines.cgroups import Accounting, LimitValues
from tare.machines.clocks import SAME, Offset

if TYPE_CHECKING:
    from tare.artifacts.snapshot import NodeSnapshot
    from tare.runtimes.images import Images, Say
    from tare.study.platform import Placement, Platform

Role = Literal["database", "client"]
PORT_STEP = 100
"""distance between the ports that successive clusters use on a machine"""


@dataclass(frozen=True)
class Bits:
    """The files of a unit, as its runtime will show them to it."""

    digest: str
    """SHA-256 of the artifact tree, or the digest of a named image"""
    image: str = ""
    """container image id; empty for a unit that runs from the tree in place"""
    named: str = ""
    """the official image that the study named, if it did: its bits differ"""


@dataclass(frozen=True)
class Way:
    """One of several ways by which clients reach a unit."""

    host: str
    """address for clients"""
    path: str
    """path of a client's packets"""
    inside: bool = False
    """clients must run in the unit's own network namespace"""
    beside: bool = False
    """clients must run in the network namespace of another unit of its group, as its peers do"""
    reached: Mapping[int, int] = field(default_factory=dict)
    """port of the software to the port at `host`, if these differ"""
    name: str = ""
    """the unit's own name, for clients inside the orchestrator; empty: `host`"""
    fault: str = ""
    """why it cannot be used here; empty: it can"""


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
    """path of packets from a client on this host"""
    network: str = ""
    """name of the container network that it joins; empty on the host's network"""
    seed: str = ""
    """name by which other units find it before its address is known; empty: `peers`"""
    inside: str = ""
    """address under which clients inside the orchestrator reach it; empty: `endpoint_host`"""
    here: tuple[str, int] | None = None
    """where this process reaches the unit's first port, if that is not the endpoint"""
    shift: int = 0
    """added to every port that the software binds, if others have its own ports already"""
    reached: Mapping[int, int] = field(default_factory=dict)
    """port of the software to the port at the endpoint, if these differ"""
    everywhere: bool = False
    """published ports give it further addresses: it serves clients on all of them"""
    ways: Mapping[str, Way] = field(default_factory=dict)
    """endpoint, as a study names it, or `BETWEEN_NODES`, to the way there; empty: `endpoint_host`
    is the only one"""
    machine: str = ""
    """the host or the orchestrator's machine that it runs on, once that is known"""
    patience: float = 1.0
    """factor by which waits for it are longer than usual: an emulated machine is slow"""
    clock: Offset = SAME
    """by how much the clock there was ahead of this machine's when the site was settled"""

    @classmethod
    def in_place(cls, name: str, home: Path, address: str, path: str) -> Self:
        """A site whose unit sees the paths of this process: `conf` and `data` of a directory."""
        conf, data = home / "conf", home / "data"
        for directory in (conf, data):
            directory.mkdir(parents=True, exist_ok=True)
        return cls(name, str(conf), conf, str(data), data, address, address, address, path)

    def files(self) -> dict[str, str]:
        """The text files of its configuration directory, by name."""
        return {
            file.name: file.read_text(encoding="utf-8")
            for file in sorted(self.conf_on_host.iterdir())
            if file.is_file()
        }

    def binds(self, port: int) -> int:
        """The port that the software must use instead of `port`."""
        return port + self.shift

    def door(self, port: int) -> tuple[str, int]:
        """Host and port where this process reaches the software's `port`."""
        return self.here or (self.endpoint_host, self.reached.get(port, port))

    def way(self, endpoint: str) -> Way:
        """The way to this endpoint.

        Raises:
            RuntimeUnavailableError: it is not available here.
        """
        found = self.ways.get(endpoint, Way("", "", fault="nothing was made for it"))
        if found.fault:
            raise RuntimeUnavailableError(
                f"platform.endpoint: {endpoint} is not to be had here",
                where=self.name,
                why=found.fault,
                remedy="set platform.endpoint to another, such as bridge",
            )
        return found

    def target(self, port: int, *, inside: bool = False, endpoint: str = "") -> str:
        """host:port for load clients, outside or inside the orchestrator.

        Args:
            endpoint: one of several; empty: the network's usual one.
        """
        way = Way(self.endpoint_host, self.path, reached=self.reached, name=self.inside)
        if endpoint:
            way = self.way(endpoint)
        if inside and way.name:  # of the unit itself: nothing maps its ports
            return f"{way.name}:{self.binds(port)}"
        own = self.binds(port) if endpoint else port
        return f"{way.host}:{way.reached.get(port, own)}"


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
    """TCP ports that clients and peers use, the clients' first; all are published if the network is
    `published`, and the first if a site has `ways`"""
    log: str = ""
    """the software's own log file, within its data directory; empty: it has none"""
    grace_s: float = 5.0
    """how long a stop may take before the unit is killed, seconds"""
    placement: Placement | None = None
    """where an orchestrator may put it; None: anywhere"""
    netns: str = ""
    """path of the network namespace that it joins (native only); empty: the machine's own"""
    snapshot: NodeSnapshot | None = None
    """what its data directory holds when it starts; None: nothing"""
    shown: Mapping[str, Path] = field(default_factory=dict)
    """files of this machine that it sees in its configuration directory and cannot write, by name
    (units that this machine starts only)"""
    mounts: Mapping[Path, str] = field(default_factory=dict)
    """further host directories (containers only), host path to path inside, writable"""

    @property
    def log_copy(self) -> str:
        """Name of the copy of its own log file, among copies of other units."""
        return f"{self.site.name}-{PurePosixPath(self.log).name}"


@dataclass(frozen=True)
class Exit:
    """How a unit ended."""

    status: int
    detail: str

    @classmethod
    def of(cls, status: int, *, killed_by: int = 0, out_of_memory: bool = False) -> Exit:
        """A process's end in words.

        Args:
            status: the exit status.
            killed_by: number of the signal that ended it; any other number: no signal did.
            out_of_memory: it was killed because it used more memory than its limit.
        """
        detail = f"exit status {status}"
        with contextlib.suppress(ValueError):
            detail = f"killed by {Signals(killed_by).name}"
        if out_of_memory:
            detail += ", killed because it used more memory than its limit"
        return cls(status, detail)


class Running(Protocol):
    """A launched unit."""

    @property
    def unit(self) -> Unit:
        """The unit; with its settled site, if its start settled it."""
        ...

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

    def packet_path(self) -> str:
        """The path of packets from a client, as far as it can be seen."""
        ...

    def facts(self) -> dict[str, str]:
        """Facts of the running unit that only the runtime knows, beside the kernel's."""
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
        """End it and remove everything that was made for it. Never raises twice."""
        ...

    def collect_logs(self, into: Path) -> None:
        """Copy its output, log files and standard error, into a directory."""
        ...


class SiteOptions(TypedDict):
    """What a unit asks of its site."""

    role: Role
    network: str
    storage: str
    group: str
    """units of one group share a network"""
    several: NotRequired[bool]
    """clients will name endpoints: it has all `ways` that the network gives"""


class Runtime(Protocol):
    """A way to run units, here or elsewhere."""

    name: str
    engine_processes: tuple[str, ...]
    """names of the processes that work for units outside of their control groups"""
    head_start_s: float
    """how long clients may take from their launch until they can begin together, seconds"""

    def probe(self) -> str | None:
        """None: it can run here; else why not, with the command that remedies it."""
        ...

    def images(self) -> Images | None:
        """The source of its images; None: its units are made of files where they lie.

        Raises:
            RuntimeUnavailableError: the source does not answer.
        """
        ...

    def prepare(self, say: Say) -> None:
        """Get ready, once, before the first unit.

        Raises:
            ArtifactError: a program that it needs is missing.
            RuntimeUnavailableError: the engine or orchestrator does not answer.
        """
        ...

    def environment(self) -> dict[str, Any]:
        """What runs its units, for the records; empty: only the machine."""
        ...

    def site(self, name: str, **wanted: Unpack[SiteOptions]) -> Site:
        """Settle addresses and paths for a unit. A client gets no address: nothing calls it."""
        ...

    def release_group(self, group: str) -> None:
        """Remove what the units of a group shared. They must have been stopped."""
        ...

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str]
    ) -> dict[str, Any]:
        """Check that packets reach units of such a platform, before a cluster is made of it.

        Args:
            platform: network and placement as the study has them.
            nodes: units of the cluster.
            port: on which its software will serve clients.
            clients: the runtimes of the clients that will ask it.

        Returns:
            What was seen of the path, for the records; empty: the runtime needs no check.

        Raises:
            RuntimeUnavailableError: packets do not get there; with the reason and the remedy.
        """
        ...

    def launch(self, unit: Unit) -> Running:
        """Start a unit. Files below `conf_on_host` of all sites of its group are written."""
        ...

    def close(self) -> None:
        """Remove networks and addresses. Units must have been stopped."""
        ...
