"""The hosts of an inventory, and which of them take nodes and which take load clients."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tare.nearest import did_you_mean

NODES = "nodes"
"""group whose hosts take database nodes"""
CLIENTS = "clients"
"""group whose hosts take load clients"""
NONE_NAMED = "no inventory of hosts is named here"
DIRECTORY = PurePosixPath("/var/tmp/tare")  # noqa: S108 - made for its owner alone
"""default directory on a host for files that Tare brings and nodes write"""


@dataclass(frozen=True)
class Host:
    """One machine that SSH reaches. It holds no secret: a key is a path.

    Attributes:
        name: as the inventory calls it; unique in it. Trials and records use it.
        address: where ssh connects to: a host name or an IP address.
        port: the SSH server's.
        user: login; empty: as ssh itself chooses.
        key: private key file; None: what the agent or ssh's own configuration offers.
        known_hosts: file of host keys; None: the user's own (~/.ssh/known_hosts).
        sudo: whether commands that need root are run through `sudo -n`.
        service: address at which the other machines reach its database nodes; empty: `address`.
        directory: where everything of Tare's on it lies.
        groups: names of the groups that it is in, and of groups above them.
        made: Tare made it for a run, and may suspend it: silence does not mean that it is gone.
    """

    name: str
    address: str
    port: int = 22
    user: str = ""
    key: Path | None = None
    known_hosts: Path | None = None
    sudo: bool = False
    service: str = ""
    directory: PurePosixPath = DIRECTORY
    groups: frozenset[str] = field(default_factory=frozenset)
    made: bool = False

    @property
    def service_address(self) -> str:
        """Where the other machines reach what it serves."""
        return self.service or self.address

    def __str__(self) -> str:
        return self.name if self.name == self.address else f"{self.name} ({self.address})"


@dataclass(frozen=True)
class Inventory:
    """All hosts of one file, in its order.

    Database nodes go on the group `nodes`, load clients on the group `clients`. If one of the two
    is missing, its hosts are those that are not in the other. If both are missing, every host takes
    nodes and none takes clients: they would load the machines that they measure. A study may name
    any other group for its nodes.
    """

    source: Path
    hosts: tuple[Host, ...]
    notes: tuple[str, ...] = ()
    """what the file says that Tare does not use, each with its line"""
    made: tuple[Host, ...] = ()
    """virtual machines that Tare made for a run: in their own groups only"""

    @property
    def nodes(self) -> tuple[Host, ...]:
        """Hosts for database nodes."""
        own = self._of(NODES)
        return own or tuple(one for one in self.hosts if CLIENTS not in one.groups)

    @property
    def clients(self) -> tuple[Host, ...]:
        """Hosts for load clients."""
        own = self._of(CLIENTS)
        if own or not self._of(NODES):
            return own
        return tuple(one for one in self.hosts if NODES not in one.groups)

    def nodes_of(self, group: str) -> tuple[Host, ...]:
        """Hosts for database nodes of a group by its name; empty: those that `nodes` says."""
        return self._of(group) if group else self.nodes

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of all groups that have hosts."""
        return tuple(sorted({name for one in self.hosts for name in one.groups}))

    def instead_of(self, group: str) -> str:
        """The remedy for a group that no host is in; empty: none was named."""
        known = self.groups
        there = f"name one of its groups: {', '.join(known)}" if known else "it has no groups"
        return did_you_mean(group, known, there) if group else there

    def takes(self, host: Host) -> str:
        """What a host is for, in words: nodes, load, both; and which other groups it is in."""
        parts = [
            word for word, own in (("nodes", self.nodes), ("load", self.clients)) if host in own
        ]
        named = " and ".join(sorted(host.groups - {NODES, CLIENTS}))
        if not parts and named:
            return f"nodes where a study names {named}"
        return (" and ".join(parts) or "nothing") + (f"; of {named}" if named else "")

    def host(self, name: str) -> Host:
        """The host of this name.

        Raises:
            KeyError: there is none.
        """
        for one in self.hosts:
            if one.name == name:
                return one
        raise KeyError(name)

    def _of(self, group: str) -> tuple[Host, ...]:
        return tuple(one for one in (*self.hosts, *self.made) if group in one.groups)
