"""Checks whether the hosts of an inventory can be used, all at the same time."""

from __future__ import annotations

import platform
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.doctor_check import DoctorCheck
from tare.errors import TareError
from tare.machines.clocks import (
    MOST_UNCERTAIN_IN_SLICES_S,
    MOST_UNCERTAIN_S,
    Offset,
    clock_offset,
)
from tare.machines.ssh import Connection
from tare.machines.survey import HostFacts, printable, survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tare.machines.inventory.host import Host, Inventory

_AT_ONCE = 32
_GIB = 2**30
LEAST_DISK = 2 * _GIB
"""A node's files, its programs and some data; a study needs at least this."""
MOST_STEAL = 0.01
PREPARE = "tare machines prepare, which says what it would change"
_WORDS = (
    (
        ("host key verification failed", "remote host identification has changed"),
        "the host's key is not the known one: {by_hand} once, by hand, and compare the "
        "fingerprint with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub)",
    ),
    (("is no file here",), "correct the key in the inventory"),
    (
        ("permission denied",),
        "{by_hand} must work without a question: ssh-copy-id, or user and key in the inventory",
    ),
    (
        ("a password is required", "a terminal is required", "sudo: not found", "sudo: command"),
        "sudo must be there and work without a password (NOPASSWD), or log in as root",
    ),
    (
        ("could not resolve", "name or service not known"),
        "correct the address in the inventory; getent hosts {address} says what it is here",
    ),
    (
        ("connection refused", "timed out", "no route", "unreachable"),
        "ping {address}; is it up, does its firewall let port {port} in?",
    ),
)
"""message of ssh to its remedy"""


@dataclass(frozen=True)
class Checked:
    """What was found of one host."""

    host: Host
    takes: str
    """what the inventory has it for (`Inventory.takes`)"""
    points: tuple[DoctorCheck, ...]
    facts: HostFacts | None = None
    clock: Offset | None = None

    @property
    def ready(self) -> bool:
        """Whether units run there."""
        return all(one.ok for one in self.points if one.needed)

    @property
    def next(self) -> str:
        """What to do first; empty: nothing."""
        failed = [one for one in self.points if not one.ok and one.remedy]
        first = sorted(failed, key=lambda one: not one.needed)
        return first[0].remedy if first else ""


def check_hosts(
    inventory: Inventory, connect: Callable[[Host], Connection] = Connection
) -> list[Checked]:
    """Ask every host; those that do not answer take some ten seconds, all together.

    Args:
        inventory: the hosts.
        connect: makes a connection that is not open yet.
    """

    def one(host: Host) -> Checked:
        return _check(host, inventory.takes(host), connect(host))

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        found = list(pool.map(one, inventory.hosts))
    return _with_shared(found)


def _check(host: Host, takes: str, connection: Connection) -> Checked:
    try:
        facts = survey(connection)
        clock, fault = _clock(connection)
    except TareError as error:
        remedy = what_helps(connection, error)
        says = printable(error.why or error.what)
        point = DoctorCheck("connection", False, says, remedy)
        return Checked(host, takes, (point,))
    finally:
        connection.close()
    points = (*_needed(host, facts), _daemon(facts), _clock_point(clock, fault), *_wished(facts))
    return Checked(host, takes, points, facts, clock)


def _clock(connection: Connection) -> tuple[Offset | None, TareError | None]:
    try:
        return clock_offset(connection), None
    except TareError as error:
        if not connection.alive():
            raise
        return None, error


def what_helps(connection: Connection, error: TareError) -> str:
    """The next thing to try if a host is not reached, by ssh's message."""
    host, said = connection.host, f"{error.what} {error.why}".lower()
    for words, remedy in _WORDS:
        if any(word in said for word in words):
            return remedy.format(by_hand=connection.by_hand(), address=host.address, port=host.port)
    return error.remedy


def _needed(host: Host, facts: HostFacts) -> Iterator[DoctorCheck]:
    login = f"{facts.user}{' by sudo' if host.sudo else ''}, host key known"
    yield DoctorCheck("connection", True, login)
    own = platform.machine()
    system = (
        f"{facts.os or 'Linux'}, kernel {facts.kernel}, {facts.architecture}, {facts.cpus} CPUs, "
        f"{facts.memory_available / _GIB:.1f} of {facts.memory / _GIB:.1f} GiB of memory free"
    )
    remedy = f"run Tare on a {facts.architecture} machine, since it brings its own programs"
    yield DoctorCheck("system", facts.architecture == own, system, remedy)
    room = f"{facts.disk_free / _GIB:.0f} GiB free for {host.directory}"
    if not facts.writable:
        yield DoctorCheck(
            "directory",
            False,
            f"{host.directory} cannot be written by {facts.user}",
            f"{PREPARE}; or name another one in the inventory (directory)",
        )
    else:
        remedy = "name a directory on a larger disk in the inventory (directory)"
        yield DoctorCheck("directory", facts.disk_free >= LEAST_DISK, room, remedy)
    if facts.missing:
        says = f"missing: {', '.join(facts.missing)}"
        yield DoctorCheck("programs", False, says, PREPARE)


def _wished(facts: HostFacts) -> Iterator[DoctorCheck]:
    can = "root"
    if not facts.root:
        can = "no root: no limits, no pausing, no dropped page cache"
    remedy = "log in as root, or set sudo (ansible_become) in the inventory"
    if not facts.root and facts.sudo:
        can += "; sudo would work"
    yield DoctorCheck("rights", facts.root, can, remedy, needed=False)
    says = facts.docker or facts.docker_fault or "none"
    remedy = "tare machines prepare --with docker (only for platform.runtime docker)"
    yield DoctorCheck("docker", bool(facts.docker), says, remedy, needed=False)
    steal = f"{facts.steal:.1%} of its CPU time went to others"
    remedy = "its hypervisor is shared: results will vary; use machines of your own"
    yield DoctorCheck("steal", facts.steal <= MOST_STEAL, steal, remedy, needed=False)
    java = facts.java or "none; Tare brings its own with the database"
    yield DoctorCheck("java", True, java, needed=False)


def _clock_point(clock: Offset | None, fault: TareError | None) -> DoctorCheck:
    if clock is None:
        why, remedy = (fault.why, fault.remedy) if fault else ("", "")
        return DoctorCheck("clock", False, why, remedy, needed=False)
    hindered = []
    if not clock.sure_in_slices:
        hindered.append(f"no slices, which need ± {MOST_UNCERTAIN_IN_SLICES_S * 1e3:.0f} ms")
    if not clock.sure:
        hindered.append(
            f"no load clients on several hosts, which need ± {MOST_UNCERTAIN_S * 1e3:.0f} ms to "
            "start at one instant"
        )
    remedy = "run Tare nearer to the hosts, or write design.slice: off"
    remedy += "" if clock.sure else " and client.machines: local"
    return DoctorCheck(
        "clock", not hindered, "; ".join([str(clock), *hindered]), remedy, needed=False
    )


def _daemon(facts: HostFacts) -> DoctorCheck:
    says = facts.synchronised_by or "nothing keeps its clock; it will drift during a run"
    return DoctorCheck(
        "time synchronisation", bool(facts.synchronised_by), says, PREPARE, needed=False
    )


def _with_shared(found: list[Checked]) -> list[Checked]:
    """Reports hosts that share a kernel, and with it CPUs and memory."""
    first: dict[str, Host] = {}
    told = []
    for one in found:
        boot = one.facts.boot if one.facts else ""
        twin = first.setdefault(boot, one.host) if boot else one.host
        points = one.points
        if twin != one.host:
            remedy = "use one machine for each host; else results say nothing of networks"
            says = f"is the machine that {twin.name} is"
            if twin.groups.isdisjoint(one.host.groups) and twin.groups and one.host.groups:
                groups = (", ".join(sorted(each.groups)) for each in (twin, one.host))
                remedy += ", nor of groups"
                says += f"; of one machine the groups {' and '.join(groups)} cannot be compared"
            points += (DoctorCheck("machine", False, says, remedy, needed=False),)
        told.append(Checked(one.host, one.takes, points, one.facts, one.clock))
    return told
