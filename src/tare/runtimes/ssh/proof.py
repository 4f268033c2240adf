"""Sees that packets get from where clients will be to where nodes will be, before any is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError
from tare.runtimes.asking import Told, ask_from_here, told_inside
from tare.runtimes.ssh.names import MARK_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tare.runtimes.ssh.host_machine import HostMachine
    from tare.runtimes.ssh.hosts import Hosts

PREFIX = "ssh-"
"""how the names of runtimes on hosts begin"""
_STORAGE_PORT = 7000
_WITHIN_S = 5.0
_UNIT = "proof"
_ANSWER = """
supervise=$1 home=$2
shift 2
mkdir -p "$home/conf" &&
setsid /bin/sh "$supervise" "$home" log "$@" </dev/null >/dev/null 2>&1 &
"""


@dataclass(frozen=True)
class Asked:
    """What one machine was told by one target."""

    origin: str
    told: Told


def prove(
    hosts: Hosts, nodes: int, port: int, clients: Collection[str], ports: Sequence[int] = ()
) -> dict[str, Any]:
    """Let the hosts of the next cluster answer, and ask them from the clients and each other.

    Args:
        hosts: of the run.
        nodes: of the cluster.
        port: on which clients reach its software.
        clients: runtimes of the clients.
        ports: further ports that nodes use among themselves; none: Cassandra's.

    Returns:
        For the records: the hosts, their clocks, and what was seen of each way.

    Raises:
        RuntimeUnavailableError: a host is gone, or packets do not get there.
    """
    name = "the next cluster"
    try:
        for _ in range(nodes):
            hosts.node(name)
        members = hosts.group(name)
        between = list(ports or (_STORAGE_PORT,))
        asking = _asking(hosts, clients)
        for machine in {one.name: one for one in [*members.nodes, *asking]}.values():
            machine.settle()
            machine.read_clock()
        asked = _asked(members.nodes, asking, port, between, members.shift, clients)
        used = {one.name: one.as_dict() for one in [*members.nodes, *asking]}
    finally:
        hosts.release(name)
    return {
        "hosts": used,
        "asked": [{"from": one.origin or "here", **one.told.as_dict()} for one in asked],
    }


def _asking(hosts: Hosts, clients: Collection[str]) -> list[HostMachine]:
    return list(hosts.clients) if any(one.startswith(PREFIX) for one in clients) else []


def _asked(
    nodes: list[HostMachine],
    asking: list[HostMachine],
    port: int,
    between: list[int],
    shift: int,
    clients: Collection[str],
) -> list[Asked]:
    ports = [str(one + shift) for one in [port, *between]]
    homes = [one.home(_UNIT) for one in nodes]
    asked: list[Asked] = []
    try:
        for machine, home in zip(nodes, homes, strict=True):
            words = [
                f"{MARK_VARIABLE}={machine.mark}",
                *(str(machine.programs["tare-pod"]), "answer", "--name", machine.name, *ports),
            ]
            machine.connection.script(_ANSWER, machine.script("supervise.sh"), str(home), *words)
        targets = [f"{one.host.service_address}:{port + shift}" for one in nodes]
        for machine in asking:
            asked += _from_host(machine, targets)
        if any(not one.startswith(PREFIX) for one in clients):
            asked += [Asked("", told) for told in ask_from_here(targets, _WITHIN_S)]
        for machine in nodes:
            others = [
                f"{one.host.service_address}:{inner + shift}"
                for one in nodes if one is not machine for inner in between
            ]  # fmt: skip
            asked += _from_host(machine, others) if others else []
    finally:
        for machine, home in zip(nodes, homes, strict=True):
            machine.end(str(home), 0.0)
    for one in asked:
        _refuse(one)
    return asked


def _from_host(machine: HostMachine, targets: list[str]) -> list[Asked]:
    done = machine.connection.run(
        machine.programs["tare-pod"], "ask", "--within", str(_WITHIN_S), *targets
    )
    told = told_inside(done.out.decode(errors="replace"))
    if len(told) != len(targets):
        raise machine.connection.failed("tare-pod", done)
    return [Asked(machine.name, one) for one in told]


def _refuse(one: Asked) -> None:
    if not one.told.name:
        raise RuntimeUnavailableError(
            f"packets do not get from {one.origin or 'here'} to {one.told.target}",
            why=one.told.why or "nobody answered",
            remedy="open the port in the host's firewall, or name the address at which others "
            "reach the host in the inventory (service)",
        )
