"""What dead runs left on this machine, found by label, and its removal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tare import scratch
from tare.errors import RuntimeUnavailableError, TareError
from tare.lab import marked
from tare.lab.undisturbed import undisturbed
from tare.machines import addresses, cgroups, neighbours
from tare.records.layout import RunFiles
from tare.runtimes import docker_engine, native
from tare.runtimes.kubernetes import namespaces
from tare.runtimes.kubernetes.namespaces import Namespace
from tare.runtimes.ssh import leftovers as ssh
from tare.runtimes.ssh.leftovers import HostLeftovers
from tare.runtimes.swarm import leftovers as swarm
from tare.runtimes.swarm.leftovers import SwarmLeftovers


@dataclass
class Leftovers:
    """Everything that carries Tare's labels and belongs to no live run."""

    processes: dict[psutil.Process, str] = field(default_factory=dict)
    docker: dict[str, list[Any]] = field(default_factory=dict)
    namespaces: list[Namespace] = field(default_factory=list)
    """of Kubernetes clusters that this machine noted"""
    swarm: SwarmLeftovers = field(default_factory=SwarmLeftovers)
    """of the Docker Swarm that is named here"""
    hosts: HostLeftovers = field(default_factory=HostLeftovers)
    """of the inventory that is named here"""
    addresses: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    """those that keep neighbours from them"""
    groups: list[Path] = field(default_factory=list)
    directories: list[Path] = field(default_factory=list)
    """working directories and half-written trials of runs under the given directory, by mark"""
    temporary: list[Path] = field(default_factory=list)
    """temporary directories of dead commands, by mark"""
    unanswered: list[str] = field(default_factory=list)
    """the engine, clusters and hosts that could not be asked what they hold, and why"""

    def __bool__(self) -> bool:
        return bool(self.words())

    def words(self) -> list[str]:
        """A line per kind, for people."""
        kinds: dict[str, list[str]] = {
            "processes": [str(one.pid) for one in self.processes],
            **self.swarm.words(),
            **self.hosts.words(),
            **{kind: [str(i.name) for i in items] for kind, items in self.docker.items()},
            "namespaces": [f"{one.name} ({one.api.server})" for one in self.namespaces],
            "addresses": self.addresses,
            "firewall rules": self.rules,
            "control groups": [str(g) for g in self.groups],
            "directories": [str(d) for d in self.directories],
            "temporary directories": [str(d) for d in self.temporary],
        }
        return [
            f"{len(items)} {kind}: {', '.join(items)}" for kind, items in kinds.items() if items
        ]


def find(runs: Path, *, hosts: bool = True, directories: bool = True) -> Leftovers:
    """Look for leftovers. Call it with the lab held, so that what is found belongs to the dead.

    Args:
        runs: directory that holds all runs.
        hosts: look on the inventory's hosts too, where one is named.
        directories: look into the directories of runs, too.

    Raises:
        InventoryError: the inventory that is named cannot be read.
    """
    noted, unanswered = namespaces.leftovers()
    in_swarm = swarm.leftovers()
    on_hosts = ssh.leftovers() if hosts else HostLeftovers()
    in_docker, silent = docker_engine.leftovers()
    return Leftovers(
        processes=native.leftovers(),
        docker=in_docker,
        namespaces=noted,
        swarm=in_swarm,
        hosts=on_hosts,
        addresses=addresses.leftovers(),
        rules=neighbours.kept_out(),
        groups=cgroups.leftovers(),
        directories=marked.leftovers(runs) if directories else [],
        temporary=scratch.leftovers(),
        unanswered=[
            *unanswered,
            *([f"the Docker engine: {silent}"] if silent else []),
            *filter(None, [in_swarm.unanswered]),
            *(f"{one.where}: {one.why}" for one in on_hosts.unseen),
        ],
    )


@contextmanager
def swept(say: Callable[[str], None]) -> Iterator[None]:
    """Removes beforehand what a command that was killed left, and in the end what this one leaves
    that is stopped while its servers start. Directories of runs are not looked into; call it with
    the lab held.

    Args:
        say: told what could not be looked into, and what could not be removed.
    """

    def sweep() -> list[str]:
        found = find(Path(), hosts=False, directories=False)
        for fault in remove(found):
            say(f"something was left: {fault}")
        return found.unanswered

    for line in sweep():
        say(f"could not look into {line}")
    try:
        yield
    finally:
        with undisturbed():
            sweep()


@undisturbed()
def remove(found: Leftovers) -> list[TareError]:
    """Remove what was found: containers first, because they hold networks and volumes. All of it:
    an interruption comes afterwards.

    Returns:
        What could not be removed, and why.
    """
    faults: list[TareError] = []
    for namespace in found.namespaces:
        try:
            namespaces.remove(namespace)
        except TareError as error:
            faults.append(error)
    try:
        swarm.remove(found.swarm)
    except TareError as error:
        faults.append(error)
    faults += ssh.remove(found.hosts)
    faults += docker_engine.remove(found.docker)
    native.remove(found.processes)
    addresses.remove(found.addresses)
    if found.rules:
        neighbours.let_in()
    for directory in found.directories:
        marked.remove(directory, RunFiles(_run_of(directory)))
    for place in found.temporary:
        scratch.remove(place)
    return faults + _still_here(found)


def _still_here(found: Leftovers) -> list[TareError]:
    """What of this machine's own was to go and did not."""
    left = {
        "processes": [str(one.pid) for one in found.processes if native.runs(one)],
        "addresses": [one for one in found.addresses if one in addresses.leftovers()],
        "firewall rules": neighbours.kept_out() if found.rules else [],
        "control groups": [str(one) for one in found.groups if one.exists()],
        "directories": [str(one) for one in found.directories if one.exists()],
        "temporary directories": [str(one) for one in found.temporary if one.exists()],
    }
    return [
        RuntimeUnavailableError(
            f"{kind} of a dead run could not be removed",
            where=", ".join(items),
            why="this user may not, or something holds them",
            remedy="tare clean, as the user who ran it",
        )
        for kind, items in left.items()
        if items
    ]


def _run_of(directory: Path) -> Path:
    """The run that a working directory or a half-written trial lies in."""
    return directory.parent if directory.name == marked.WORK else directory.parent.parent
