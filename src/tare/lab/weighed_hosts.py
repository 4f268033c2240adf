"""The servers of a weighing on a host over SSH, each reached from this machine over the wire."""

from __future__ import annotations

import contextlib
import ipaddress
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tare import scratch
from tare.analysis.prices import AGAIN
from tare.errors import InventoryError, QuietError, RuntimeUnavailableError, TareError
from tare.lab import on_hosts
from tare.lab.quiet_host import QuietHost, refuse_vague
from tare.lab.quiet_servers import PORT, Server, pinned_cpus
from tare.lab.weighed_servers import RUN, ServerPlace, message
from tare.machines import registry as machines
from tare.machines.addresses import AddressPool
from tare.machines.facts import local_facts
from tare.machines.inventory.host import NODES
from tare.machines.inventory.read import VARIABLE
from tare.records.kept_measurements import MeasuredMachine
from tare.records.prices import ServersHost
from tare.runtimes.key import of_group, on_ssh
from tare.runtimes.registry import BARE, declared, having
from tare.runtimes.ssh import leftovers
from tare.runtimes.ssh.hosts import Hosts
from tare.study.platform import Platform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tare.machines.inventory.host import Host, Inventory
    from tare.runtimes.ssh.host_machine import HostMachine
    from tare.runtimes.unit import Runtime

RUNTIMES = having(lambda one: one.on_hosts)
"""runtimes that hosts over SSH have"""
_NETWORKS = ("host", "published")
"""networks of containers there that this machine's clients reach"""


@dataclass(frozen=True)
class WeighedHost:
    """The one host of an inventory that servers run on.

    Attributes:
        inventory: it has no other host.
        group: as the user named it; empty: the hosts for database nodes.
    """

    inventory: Inventory
    group: str

    @property
    def host(self) -> Host:
        return self.inventory.hosts[0]

    @property
    def cleaning(self) -> str:
        """The command that looks for leftovers there."""
        return f"{VARIABLE}={shlex.quote(str(self.inventory.source))} tare clean"


def first_host(inventory: Inventory, group: str) -> WeighedHost:
    """The first host of a group.

    Raises:
        InventoryError: it has none.
    """
    found = inventory.nodes_of(group)
    if not found:
        raise InventoryError(
            f"no host is in a group {group or NODES}",
            where=str(inventory.source),
            remedy=inventory.instead_of(group),
        )
    return WeighedHost(replace(inventory, hosts=found[:1]), group)


def places(runtimes: Sequence[str]) -> list[ServerPlace]:
    """The servers of a round; native ones are always among them."""
    native = [
        ServerPlace(BARE, "host", ((BARE, "host"),)),
        ServerPlace(BARE, "host", ((AGAIN, "host"),), check=True),
    ]
    return native + [
        ServerPlace(name, network, ((f"{name}.{network}", network),))
        for name in RUNTIMES
        if name in runtimes and name != BARE
        for network in _NETWORKS
        if network in declared(name).networks
    ]


def measured_machine(name: str, facts: Mapping[str, str]) -> MeasuredMachine:
    """The host by its own facts.

    Args:
        name: its name in the inventory.
    """
    hypervisor = facts.get("hypervisor", "")
    return MeasuredMachine(
        hostname=facts.get("hostname") or name,
        cpus=int(facts.get("cpus") or 1),
        cpu_model=facts.get("CPU model", ""),
        virtualization="" if hypervisor == "none" else hypervisor,
        kernel=facts.get("kernel", ""),
    )


class HostServers:
    """What a host needs once, and its servers for each round.

    Like `tare.lab.weighed_servers.WeighedServers`, for one host.
    """

    def __init__(
        self,
        stack: contextlib.ExitStack,
        wanted: WeighedHost,
        runtimes: Sequence[str],
        say: Callable[[str], None],
    ) -> None:
        """Prepare the host and its runtimes; one that is not available is left out with a reason.

        Args:
            stack: ends what is prepared.
            say: told what takes time.

        Raises:
            RuntimeUnavailableError: the host cannot be used, or its clock is not known well enough.
        """
        self.left_out: dict[str, str] = {}
        """runtime to why it is not weighed"""
        self._wanted = wanted
        self._hosts = Hosts(wanted.inventory, RUN)
        self._hosts.use([wanted.group], clients=False)
        (self._machine,) = self._hosts.nodes
        stack.enter_context(_told_what_is_left(wanted, self._machine))
        stack.callback(self._hosts.close)
        for fault in leftovers.remove(leftovers.leftovers(wanted.inventory)):
            say(f"something was left: {fault}")
        self._hosts.prepare(say)
        self._refuse_unreadable()
        refuse_vague(self._machine)
        self._listen = _address(self._machine)
        self._programs: dict[str, tuple[str, str]] = {}
        for name in RUNTIMES:
            if name == BARE:
                self._programs[name] = self._provided(name, say)
            elif name in runtimes:
                try:
                    self._programs[name] = self._provided(name, say)
                except TareError as error:
                    self.left_out[name] = message(error)
        self.runtimes = list(self._programs)
        self._prove(say)
        self._uncertain_s = 0.0
        self._reading: QuietHost | None = None

    def placed(self, runtimes: Sequence[str]) -> list[ServerPlace]:
        """The servers of a round, with the ways in by which packets were seen to arrive."""
        return [
            one
            for one in places(runtimes)
            if not all(name in self.left_out for name, _ in one.ways)
        ]

    @property
    def cpus(self) -> list[int]:
        """The servers' CPU there and the clients' here; none if one of them is not available."""
        own = pinned_cpus()
        return [0, own[1]] if own and int(self._machine.facts.get("cpus") or 1) > 1 else []

    @property
    def machine(self) -> MeasuredMachine:
        """The host, which is none of this machine's prices."""
        return measured_machine(self._machine.name, self._machine.facts)

    @property
    def on_host(self) -> ServersHost:
        """What the document says of the host, once the rounds are over."""
        here = MeasuredMachine.of(local_facts())
        return ServersHost(
            name=self._machine.name,
            group=self._wanted.group,
            clients=here,
            one_kernel=self._reading is not None and self._reading.further_cpus == 0,
            clock_uncertain_s=self._uncertain_s,
        )

    def read(self) -> QuietHost:
        """Begin to read the CPU time of a round's servers."""
        self._reading = QuietHost(self._machine, RUN)
        self._uncertain_s = max(self._uncertain_s, self._machine.clock.uncertain_s)
        return self._reading

    def of_round(
        self,
        stack: contextlib.ExitStack,
        options: Sequence[str],
        told: Callable[[str], Sequence[str]],
    ) -> tuple[Runtime, list[Server]]:
        """The native runtime of this machine, which runs the clients, and the servers of one round.

        Args:
            stack: ends the round.
            options: of every server's program.
            told: further options of the server with the way of this name.
        """
        work = Path(stack.enter_context(scratch.directory(RUN)))
        clients = declared(BARE).make(RUN, work / "clients", AddressPool())
        stack.callback(clients.close)
        own = {name: self._runtime(name, work / name) for name in self.runtimes}
        for runtime in own.values():
            stack.callback(runtime.close)
        servers = []
        for place in self.placed(self.runtimes):
            words = [*options, *(word for name, _ in place.ways for word in told(name))]
            servers.append(self._server(own, place, words))
        return clients, servers

    def _server(
        self, own: Mapping[str, Runtime], place: ServerPlace, options: Sequence[str]
    ) -> Server:
        program, image = self._programs[place.runtime]
        listen = self._listen if place.network == "host" else ""
        return Server(
            own[place.runtime], place.network, options=options, program=program, image=image,
            listen=listen,
        )  # fmt: skip

    def _runtime(self, name: str, work: Path) -> Runtime:
        return declared(name).make_on_hosts(work, self._hosts, self._wanted.group)

    def _provided(self, runtime: str, say: Callable[[str], None]) -> tuple[str, str]:
        key = of_group(on_ssh(runtime), self._wanted.group)
        return on_hosts.program([self._machine], "stub", key, say)

    def _prove(self, say: Callable[[str], None]) -> None:
        """Check that packets get from here to each kind of server there.

        Ways into containers by which they do not are left out.

        Raises:
            RuntimeUnavailableError: packets do not get to the host.
        """
        say(f"asking {self._machine.host}")
        with scratch.directory(RUN) as work, contextlib.ExitStack() as stack:
            for place in places(self.runtimes):
                if place.check or (place.network == "host" and place.runtime != BARE):
                    continue
                there = self._runtime(place.runtime, Path(work))
                stack.callback(there.close)
                asked = {
                    "machines": machines.having(lambda one: one.from_inventory)[0],
                    "runtime": place.runtime,
                    "network": place.network,
                }
                try:
                    there.prove(Platform.model_validate(asked), 1, PORT, {BARE})
                except TareError as error:
                    if place.runtime == BARE:
                        raise
                    self.left_out |= {name: message(error) for name, _ in place.ways}

    def _refuse_unreadable(self) -> None:
        if not self._machine.groups:
            raise RuntimeUnavailableError(
                "the host cannot be weighed from here",
                where=str(self._machine.host),
                why="only root makes control groups there, by which a server's CPU time is read",
                remedy="log in as root or set sudo in the inventory (ansible_become), or "
                "`tare weigh` on that machine itself",
            )


def _address(machine: HostMachine) -> str:
    """Where the host's servers listen: its address for others, as a number.

    Raises:
        RuntimeUnavailableError: the address is a name that the host does not know.
    """
    name = machine.host.service_address
    with contextlib.suppress(ValueError):
        return str(ipaddress.IPv4Address(name))
    done = machine.connection.run("getent", "ahostsv4", name)
    if done.status != 0 or not done.text:
        raise RuntimeUnavailableError(
            "no server can listen where clients would look for it",
            where=str(machine.host),
            why=f"{name} is no name of an IPv4 address there (getent ahostsv4 {name})",
            remedy="name the address of one of its interfaces in the inventory (service)",
        )
    return done.text.split()[0]


@contextlib.contextmanager
def _told_what_is_left(wanted: WeighedHost, machine: HostMachine) -> Iterator[None]:
    """If a host is lost, raise the first error, with the command that removes what is left there.

    Later errors only say that nothing could be ended there.
    """
    try:
        yield
    except TareError as error:
        if not (machine.left or machine.left_containers):
            raise
        first = _first(error)
        raise QuietError(
            first.what,
            where=first.where or str(wanted.host),
            why=f"{first.why + '; ' if first.why else ''}what runs there still could not be ended",
            remedy=f"once {wanted.host} is back: {wanted.cleaning}",
        ) from error


def _first(error: TareError) -> TareError:
    """The first of errors that were raised while others were handled."""
    found, earlier = error, error.__context__
    while earlier is not None:
        if isinstance(earlier, TareError):
            found = earlier
        earlier = earlier.__context__
    return found
