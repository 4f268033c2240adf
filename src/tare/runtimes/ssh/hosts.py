"""The hosts of a run: which host takes which unit, and what all their runtimes share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.all_steps import faults_of, raise_first
from tare.errors import RuntimeUnavailableError
from tare.machines.inventory.host import NODES
from tare.machines.ssh import HostGoneError
from tare.runtimes.ssh.host_machine import HostMachine
from tare.runtimes.unit import PORT_STEP
from tare.starter import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tare.machines.declaration import MadeMachines
    from tare.machines.inventory.host import Inventory

_SYNC_S = 120.0
"""longest wait for a virtual machine's disk"""


@dataclass
class ClusterHosts:
    """One cluster: its number among the live ones on hosts of its group, and its hosts."""

    number: int
    of: str = ""
    nodes: list[HostMachine] = field(default_factory=list)

    @property
    def shift(self) -> int:
        """Added to each port of its nodes."""
        return PORT_STEP * self.number


class Hosts:
    """All hosts of an inventory, for one run."""

    def __init__(
        self,
        inventory: Inventory,
        run: str,
        machines: dict[str, HostMachine] | None = None,
        made: MadeMachines | None = None,
    ) -> None:
        """Nothing is asked yet.

        Args:
            inventory: which hosts there are.
            run: the run's name.
            machines: of the hosts, by name; None: made here.
            made: virtual machines of the run, which the inventory has as made; None: none.
        """
        labelled = labels(run)
        self.inventory = inventory
        self.made = made
        own = made.machines if made is not None else {}
        self.machines = machines or {
            one.name: HostMachine(one, run, environment=labelled, domain=own.get(one.name))
            for one in (*inventory.hosts, *inventory.made)
        }
        self._nodes = {"": [self.machines[one.name] for one in inventory.nodes]}
        self.clients = [self.machines[one.name] for one in inventory.clients]
        self._clusters: dict[str, ClusterHosts] = {}
        self._missing: set[str] = set()
        self.say: Callable[[str], None] = lambda _: None
        """told what takes long, and of hosts that go missing"""

    def use(self, groups: Iterable[str], *, clients: bool) -> None:
        """Leave alone the hosts that no setup of the run needs.

        Args:
            groups: the groups whose hosts take nodes, as a study names them.
            clients: whether hosts take load clients.

        Raises:
            RuntimeUnavailableError: a group has no host.
        """
        taken = {name: self.inventory.nodes_of(name) for name in groups}
        for name, hosts in taken.items():
            if not hosts:
                raise RuntimeUnavailableError(
                    f"no host of the inventory is in a group {name or NODES}",
                    where=str(self.inventory.source),
                    remedy="put hosts into it, or name another group in platform.hosts",
                )
        self._nodes = {
            name: [self.machines[one.name] for one in own] for name, own in taken.items()
        }
        self.clients = self.clients if clients else []

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups whose hosts take nodes, as the study names them."""
        return tuple(self._nodes)

    @property
    def nodes(self) -> list[HostMachine]:
        """All hosts that take nodes, each once."""
        return list(dict.fromkeys(one for own in self._nodes.values() for one in own))

    def nodes_of(self, group: str) -> list[HostMachine]:
        """The hosts of a group that take nodes."""
        return self._nodes.get(group, [])

    @property
    def used(self) -> list[HostMachine]:
        """All hosts that take part, each once."""
        return list(dict.fromkeys([*self.nodes, *self.clients]))

    def prepare(self, say: Callable[[str], None]) -> None:
        """Connect to all hosts at once and bring what is needed to run and watch units.

        Args:
            say: told what takes long, and of hosts that go missing later.

        Raises:
            RuntimeUnavailableError: a host cannot be used.
        """
        self.say = say
        if self.made is not None:
            self.made.start(say)
        with ThreadPoolExecutor(max_workers=len(self.used) or 1) as pool:
            list(pool.map(lambda machine: machine.prepare(say), self.used))
        for machine in self.used:  # again, now that all of them are at rest
            machine.read_clock()

    def keep(self) -> None:
        """Have virtual machines of the run write brought files to their disks.

        A lost one is started again with its disk alone.

        Raises:
            HostGoneError: one does not answer.
        """
        for machine in self.used:
            if machine.host.made:
                machine.connection.run("sync", within_s=_SYNC_S)

    def as_dict(self) -> dict[str, object]:
        """Facts of the hosts for the records, each with its group's name in the study."""
        named = {one: group for group, own in self._nodes.items() if group for one in own}
        return {
            one.name: one.as_dict() | ({"group": named[one]} if one in named else {})
            for one in self.used
        }

    def cluster(self, name: str, group: str = "") -> ClusterHosts:
        """The cluster of this name on hosts of a group, numbered there at first use."""
        if name not in self._clusters:
            taken = {one.number for one in self._clusters.values() if one.of == group}
            free = next(number for number in range(len(taken) + 1) if number not in taken)
            self._clusters[name] = ClusterHosts(free, group)
        return self._clusters[name]

    def release(self, name: str) -> None:
        """Forget a cluster that is gone."""
        self._clusters.pop(name, None)

    def node(self, cluster: str, group: str = "") -> HostMachine:
        """The host for a cluster's next node: a host of the group without its nodes that answers.

        A host out of turn is reported once: from then on machines are compared, too.

        Raises:
            RuntimeUnavailableError: there is none left.
        """
        members = self.cluster(cluster, group)
        gone: list[HostGoneError] = []
        for machine in self.nodes_of(group):
            if machine in members.nodes:
                continue
            try:
                machine.connection.run("true")
            except HostGoneError as error:
                if not self._revived(machine, error):
                    gone.append(error)
                    self._missed(machine, error)
                    continue
            self._missing.discard(machine.name)
            members.nodes.append(machine)
            return machine
        if gone:
            raise gone[0]
        raise self.too_few(len(members.nodes) + 1, group)

    def _revived(self, machine: HostMachine, error: HostGoneError) -> bool:
        """Whether it is a virtual machine of the run's, which was started again."""
        if not machine.host.made:
            return False
        self.say(f"{machine.host} is not reached ({error.why}): it is started again")
        return machine.revive()

    def _missed(self, machine: HostMachine, error: HostGoneError) -> None:
        if machine.name not in self._missing:
            self._missing.add(machine.name)
            self.say(
                f"{machine.host} is not reached ({error.why}): until it is back its nodes go on "
                "their group's next host, if there is one; what is compared may then have run on "
                "different machines, which each trial's record names"
            )

    def too_few(self, wanted: int, group: str = "") -> RuntimeUnavailableError:
        """The error for a cluster with more nodes than there are hosts."""
        return RuntimeUnavailableError(
            f"no host is left for node {wanted} of the cluster",
            where=str(self.inventory.source),
            why=f"{len(self.nodes_of(group))} hosts take database nodes, one each",
            remedy=f"add hosts to the group {group or NODES} of the inventory, or lower "
            "database.nodes",
        )

    def client(self, name: str) -> HostMachine:
        """The host for a load client by its name, which ends in its number: they take turns.

        Raises:
            RuntimeUnavailableError: the inventory has no host for clients.
        """
        if not self.clients:
            raise RuntimeUnavailableError(
                "no host takes load clients",
                where=str(self.inventory.source),
                remedy="put hosts into the group clients of the inventory, or set "
                "client.machines to local",
            )
        number = name.rpartition("-c")[2]
        return self.clients[(int(number) - 1 if number.isdigit() else 0) % len(self.clients)]

    def close(self) -> None:
        """End all connections.

        Raises:
            TareError: something was left on a host.
        """
        ends = [machine.close for machine in self.machines.values()]
        raise_first(faults_of([*ends, self.made.close] if self.made is not None else ends))
