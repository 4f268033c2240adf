"""Checks that packets get from the clients' hosts to the nodes', before any unit is made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from tare.all_steps import faults_of, raise_first
from tare.errors import RuntimeUnavailableError, TareError
from tare.machines.survey import printable
from tare.runtimes.replies import Reply, ask_from_here, replies_inside
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
_LAST_WORDS = 'tail -c 400 "$1/conf/stderr.log"'
_ANSWER = """
supervise=$1 home=$2
shift 2
mkdir -p "$home/conf" &&
setsid /bin/sh "$supervise" "$home" log "$@" </dev/null >/dev/null 2>&1 &
"""


class Answering(Protocol):
    """Programs that answer on hosts instead of nodes, and are reached like these."""

    def begin(self, machine: HostMachine, ports: list[int]) -> None:
        """Let a host answer at these ports."""
        ...

    def fault(self, machine: HostMachine) -> str:
        """Why a host does not answer; empty: nothing is known."""
        ...

    def end(self, machine: HostMachine) -> None:
        """Remove the program, if it is there."""
        ...


@dataclass(frozen=True)
class Query:
    """One machine's query to one target, and the reply."""

    origin: str
    reply: Reply
    expected: HostMachine
    """that should reply"""


def prove(
    hosts: Hosts,
    nodes: int,
    port: int,
    clients: Collection[str],
    ports: Sequence[int] = (),
    group: str = "",
    answering: Answering | None = None,
) -> dict[str, Any]:
    """Let the hosts of the next cluster answer, and ask them from the clients and each other.

    Args:
        hosts: of the run.
        nodes: of the cluster.
        port: on which clients reach its software.
        clients: runtimes of the clients.
        ports: further ports that nodes use among themselves; none: Cassandra's.
        group: whose hosts take the nodes.
        answering: what answers there; None: a process on the host's own network.

    Returns:
        For the records: the group and the hosts, their clocks, and what was seen of each way.

    Raises:
        RuntimeUnavailableError: a host is gone, no database can listen there, packets do not get
            there, or this process does not reach a port.
    """
    name = "the next cluster"
    try:
        for _ in range(nodes):
            hosts.node(name, group)
        members = hosts.cluster(name)
        between = list(ports or (_STORAGE_PORT,))
        asking = _asking(hosts, clients)
        for machine in {one.name: one for one in [*members.nodes, *asking]}.values():
            machine.settle()
            machine.read_clock()
        numbers = [one + members.shift for one in (port, *between)]
        queries = _query(members.nodes, asking, numbers, clients, answering or _OnHost())
        used = {one.name: one.as_dict() for one in [*members.nodes, *asking]}
    finally:
        hosts.release(name)
    return ({"group": group} if group else {}) | {
        "hosts": used,
        "asked": [{"from": one.origin or "here", **one.reply.as_dict()} for one in queries],
    }


def _asking(hosts: Hosts, clients: Collection[str]) -> list[HostMachine]:
    return list(hosts.clients) if any(one.startswith(PREFIX) for one in clients) else []


def _query(
    nodes: list[HostMachine],
    asking: list[HostMachine],
    ports: list[int],
    clients: Collection[str],
    answering: Answering,
) -> list[Query]:
    """Args: ports: the clients' first, then those that nodes use among themselves."""
    port, *between = ports
    try:
        for machine in nodes:
            answering.begin(machine, ports)
        queries: list[Query] = []
        for machine in asking:
            queries += _from_host(machine, nodes, [port])
        if any(not one.startswith(PREFIX) for one in clients):
            targets = [f"{one.host.service_address}:{port}" for one in nodes]
            replies = ask_from_here(targets, _WITHIN_S)
            queries += [Query("", one, node) for one, node in zip(replies, nodes, strict=True)]
        for machine in nodes:
            others = [one for one in nodes if one is not machine]
            queries += _from_host(machine, others, between)
        for one in queries:
            _refuse(one, answering)
        for machine in nodes:
            _see_forwarded(machine, port)
    finally:
        faults = faults_of(partial(answering.end, machine) for machine in nodes)
    raise_first(faults)
    return queries


class _OnHost:
    """A process at the address that the node will listen at, resolved where it will be."""

    def begin(self, machine: HostMachine, ports: list[int]) -> None:
        home = str(machine.home(_UNIT))
        words = [
            f"{MARK_VARIABLE}={machine.mark}",
            # in no unit's groups: by joining, the supervisor learns that it can be ended
            *("/bin/sh", machine.script("join.sh"), home, str(machine.open_files), "--"),
            *(str(machine.programs["tare-pod"]), "answer", "--name", machine.name),
            *("--at", machine.host.service_address, *map(str, ports)),
        ]
        machine.connection.script(_ANSWER, machine.script("supervise.sh"), home, *words)

    def fault(self, machine: HostMachine) -> str:
        """The last line of its error output."""
        try:
            text = machine.connection.script(_LAST_WORDS, str(machine.home(_UNIT))).text
        except TareError:
            return ""
        return printable(text.rpartition("\n")[2])

    def end(self, machine: HostMachine) -> None:
        machine.end(str(machine.home(_UNIT)), 0.0)


def _from_host(machine: HostMachine, nodes: list[HostMachine], ports: list[int]) -> list[Query]:
    pairs = [(f"{one.host.service_address}:{port}", one) for one in nodes for port in ports]
    if not pairs:
        return []
    targets = [target for target, _ in pairs]
    done = machine.connection.run(
        machine.programs["tare-pod"], "ask", "--within", str(_WITHIN_S), *targets
    )
    replies = replies_inside(done.out.decode(errors="replace"))
    if len(replies) != len(targets):
        raise machine.connection.failed("tare-pod", done)
    return [Query(machine.name, one, own) for one, (_, own) in zip(replies, pairs, strict=True)]


def _refuse(one: Query, answering: Answering) -> None:
    reply, expected = one.reply, one.expected
    if reply.name == expected.name:
        return
    if reply.name:
        raise RuntimeUnavailableError(
            f"{reply.name} answers {one.origin or 'this machine'} where {expected.name} should",
            where=reply.target,
            why="both have this address for others, or something between translates it",
            remedy="name the address of each host's own interface in the inventory (service)",
        )
    fault = answering.fault(expected)
    if fault:
        raise RuntimeUnavailableError(
            "no database can listen where the others would look for it",
            where=str(expected.host),
            why=fault,
            remedy="name the address of one of its interfaces in the inventory (service), and "
            "see that nothing else has the port there (ss -ltnp)",
        )
    raise RuntimeUnavailableError(
        f"packets do not get from {one.origin or 'here'} to {reply.target}",
        why=reply.why or "nobody answered",
        remedy="open the port in the host's firewall, or name the address at which others "
        "reach the host in the inventory (service)",
    )


def _see_forwarded(machine: HostMachine, port: int) -> None:
    """Check once in a connection's life that the host's server forwards to a port.

    The server grants a forward at once, even if it later refuses what is sent through it.
    """
    connection = machine.connection
    if machine.forwarded_in == connection.lives:
        return
    address = machine.host.service_address
    door = connection.forward_port(address, port)
    try:
        (reply,) = ask_from_here([f"127.0.0.1:{door}"], _WITHIN_S)
    finally:
        connection.cancel_port(door, address, port)
    if reply.name != machine.name:
        raise RuntimeUnavailableError(
            "the host's SSH server forwards no port to here",
            where=str(machine.host),
            why=reply.why or f"{reply.name} answers",
            remedy="allow it in its sshd_config: AllowTcpForwarding yes, and no PermitOpen that "
            "leaves its own ports out",
        )
    machine.forwarded_in = connection.lives
