"""A runtime's declaration: data and small functions that everything else asks.

It imports nothing when it is imported, so that studies and the command line can ask at once.
Modules that run units are imported by the functions that need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.doctor_check import Seen as Seen
from tare.runtimes.obstacle import Obstacle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tare.machines.addresses import AddressPool
    from tare.runtimes.left import Left
    from tare.runtimes.ssh.hosts import Hosts
    from tare.runtimes.unit import Runtime
    from tare.study.platform import Platform
    from tare.study.schema import Setup

LAYER = "layer"
"""The container's own storage: a layer over its image, removed with the container."""


PLUGIN, NOT_RECOGNISED = "network plugin", "not recognised"
"""In a record of an orchestrator's cluster: the plugin's key, and what is there if none is known"""


@dataclass(frozen=True)
class Named:
    """An orchestrator that is named here. `facts` is None where it does not answer now."""

    facts: Any = None


class Declaration:
    """One runtime. A subclass declares what differs from most runtimes.

    The registry finds an instance, or a tuple of several, named DECLARED in its module.
    """

    name: str
    """as a study names it"""
    variant_of = ""
    """whose variant it is; `tare doctor` shows a variant if it or that runtime can run"""

    # where units run

    in_place = False
    """a unit is a process made of files where they lie; else it is made from an image"""
    orchestrator = False
    """it places units on machines of its own, and clients among them"""
    on_hosts = False
    """it runs units on the hosts of an inventory too, which SSH reaches"""

    # what the fields of a study's platform may be, the usual one first

    networks: tuple[str, ...] = ("host",)
    endpoints: tuple[str, ...] = ("",)
    storages: tuple[str, ...] = ("directory",)
    plugins: tuple[str, ...] = ("",)
    client_networks: tuple[str, ...] = ("host", "bridge")
    several_on = ""
    """the network of a unit that has several endpoints at once; empty: no unit has"""
    bridged_here = False
    """its containers are on bridges of this machine, and send by this machine's network stack"""
    inside_only: tuple[str, ...] = ()
    """networks that only its own containers are on"""

    weighed_by_plugin = False
    """a price of one of its endpoints belongs to the network plugin on the way, too"""

    passed_on: tuple[str, ...] = ()
    """endpoints by which packets to some nodes of a cluster, but not all, pass another machine
    first, so that the price of one node is not the cluster's"""

    # what they cost, roughly

    unit_s = 0.0
    """making and removing one unit with its network and volume, seconds"""
    local_images = False
    """an engine of this machine makes its images"""
    in_engine: tuple[str, ...] = ()
    """storages whose files lie where an engine of this machine keeps its own"""

    # what it cannot do

    unpaused_elsewhere = ""
    """why its units on other machines cannot stand still; empty: they can, or run none there"""
    limited_by_root = ""
    """why limits of its units need root on this machine; empty: they do not"""

    # words

    units = "units"
    """several of its units"""
    noun = ""
    """one of its units, where a sentence says what it has not; empty: its name"""
    title = ""
    """an orchestrator, in a sentence"""

    client_in_words = ""
    """how it runs a client, for the field of a study; empty: like any unit"""
    client_network_in_words = ""
    """what `client.network: bridge` is; empty: a network that its units have"""

    # what the knowledge base makes of it

    proposed = ("host", "directory")
    """network and storage of a study that it proposes, unless they are chosen"""
    near: tuple[tuple[str, float], ...] = ()
    """other runtimes to the distance of findings about them, 0 to 1; missing ones are at 1. One of
    a pair declares it (docs/advice.md has the table)"""

    @property
    def fitting(self) -> Mapping[str, tuple[str, ...]]:
        """What each field of the platform may be."""
        return {
            "network": self.networks,
            "endpoint": self.endpoints,
            "storage": self.storages,
            "plugin": self.plugins,
        }

    @property
    def named_endpoints(self) -> tuple[str, ...]:
        """Endpoints that one unit has at once."""
        return tuple(one for one in self.endpoints if one)

    @property
    def from_outside(self) -> str:
        """The first of its networks, except the machine's own, that others are on too."""
        own = (one for one in self.networks if one != "host" and one not in self.inside_only)
        return next(own, self.networks[0])

    @property
    def made_storages(self) -> tuple[str, ...]:
        """Storages in which a server finds its data directory ready, the usual one first."""
        return tuple(one for one in self.storages if one != LAYER)

    def engine_in_words(self, facts: Mapping[str, Any]) -> str:
        """What ran its units, for the methods of a report; empty: nothing is said.

        It is read from a run's records (`Runtime.environment`).
        """
        return ""

    # what runs its units

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        """The runtime of one run; nothing is asked or made yet.

        Args:
            run: the run's name, the label of everything that is made.
            work: directory for configuration, and for other files of units on this machine.
            pool: where addresses of this machine come from.
            routable: units take addresses that clients in containers reach.

        Raises:
            RuntimeUnavailableError: it is an orchestrator, and none is named here; or the
                declaration makes none.
        """
        from tare.errors import RuntimeUnavailableError  # this module imports nothing

        raise RuntimeUnavailableError(
            f"{self.name} runs no units",
            why=f"{type(self).__qualname__} declares no `make`",
            remedy="tell who wrote it; docs/add-a-runtime.md shows one",
        )

    def make_on_hosts(self, work: Path, hosts: Hosts, group: str) -> Runtime:
        """The same on hosts that SSH reaches, if it runs there.

        Args:
            group: group whose hosts take nodes; empty: the inventory's hosts for nodes.

        Raises:
            RuntimeUnavailableError: it does not run there.
        """
        from tare.errors import RuntimeUnavailableError  # this module imports nothing

        raise RuntimeUnavailableError(
            f"{self.name} runs no units on hosts that SSH reaches",
            where="platform.machines",
            remedy="set it to local, or name another runtime",
        )

    def dns_name(self, run: str, unit: str) -> str:
        """The name by which the DNS server of the runtime's own network finds a unit."""
        return unit

    # what hinders it here

    def fault(self) -> str | None:
        """Why it cannot be used here, with the remedy; None: it can."""
        return None

    def seen(self) -> Seen:
        """What `tare doctor` says of it."""
        why = self.fault()
        return Seen(why is None, why or "it can be used")

    def named(self) -> Named | None:
        """The orchestrator that is named here, with its facts; None: none is named.

        Raises:
            RuntimeUnavailableError: the file that names it cannot be read.
        """
        return None

    def elsewhere(self) -> bool:
        """Whether its units run on other machines than this one."""
        return False

    def store(self) -> Path | None:
        """Where its engine keeps images and volumes; None: elsewhere, or not known."""
        return None

    def obstacles(self, setup: Setup, named: Named | None) -> Iterator[Obstacle]:
        """What prevents a setup whose nodes or clients it runs.

        An engine or an orchestrator that does not answer now is no obstacle: `tare plan` refuses
        the study until it answers.

        Args:
            named: the orchestrator that is named here; None: none is.
        """
        yield from ()

    def left(self) -> Left | None:
        """Leftovers of dead runs, found by label; None: it leaves nothing.

        Call it with the lab held: all that is found then belongs to dead runs.
        """
        return None

    # what a study asks of it

    def needs_root(self, setup: Setup, part: str) -> Iterator[Obstacle]:
        """What this part of a setup, `platform` or `client`, needs root for on this machine."""
        yield from ()

    def data_out_of_reach(self, platform: Platform, *, here: bool) -> str:
        """Why nobody but the node itself can write its data directory; empty: it can be filled.

        Args:
            here: judge by what is named here, too.
        """
        return ""
