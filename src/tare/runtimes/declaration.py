"""What a runtime says of itself: data and small functions that everything else asks.

It imports nothing when it is imported, so that studies and the command line can ask at once; what
runs units is imported by the functions that need it.
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
"""The storage that is a container's own: of its image, and gone with it."""


@dataclass(frozen=True)
class Named:
    """An orchestrator that is named here. `facts` is None where it does not answer now."""

    facts: Any = None


class Declaration:
    """One runtime. A subclass says what is true of it; what it leaves out is true of most.

    An instance named DECLARED in its module is what the registry finds, or a tuple of several.
    """

    name: str
    """as a study names it"""
    variant_of = ""
    """whose variant it is: `tare doctor` tells a variant where one of both can run"""

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
    """a price of one of its endpoints is one of the network plugin that it led through, too"""

    passed_on: tuple[str, ...] = ()
    """endpoints by which packets to some nodes of a cluster pass another machine first, to others
    not, so that the price of one node is not a cluster's"""

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
    """as what it runs a client, for the field of a study; empty: as any unit"""
    client_network_in_words = ""
    """what `client.network: bridge` is; empty: a network that its units have"""

    # what the knowledge base makes of it

    proposed = ("host", "directory")
    """network and storage of a study that it proposes, where nobody says which"""
    near: tuple[tuple[str, float], ...] = ()
    """other runtimes to how far findings about them are from it, 0 to 1; others are at 1. A pair
    is said by one of both (docs/advice.md has the table)"""

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
        """The first of its networks, beside the machine's own, that others are on too."""
        own = (one for one in self.networks if one != "host" and one not in self.inside_only)
        return next(own, self.networks[0])

    @property
    def made_storages(self) -> tuple[str, ...]:
        """Storages of which a server finds its data directory made, the usual one first."""
        return tuple(one for one in self.storages if one != LAYER)

    def engine_in_words(self, facts: Mapping[str, Any]) -> str:
        """What ran its units, by a run's records (`Runtime.environment`), for the methods of a
        report; empty: nothing is said."""
        return ""

    # what runs its units

    def make(self, run: str, work: Path, pool: AddressPool, *, routable: bool = False) -> Runtime:
        """What runs units of one run; nothing is asked or made yet.

        Args:
            run: the run's name, the label of everything that is made.
            work: directory for configuration, and for what else units have on this machine.
            pool: where addresses of this machine come from.
            routable: units take addresses that clients in containers reach.

        Raises:
            RuntimeUnavailableError: an orchestrator, and none is named here; or the declaration
                says nothing of it.
        """
        from tare.errors import RuntimeUnavailableError  # this module imports nothing

        raise RuntimeUnavailableError(
            f"{self.name} runs no units",
            why=f"{type(self).__qualname__} declares no `make`",
            remedy="tell who wrote it; docs/add-a-runtime.md shows one",
        )

    def make_on_hosts(self, work: Path, hosts: Hosts, group: str) -> Runtime:
        """The same on hosts that SSH reaches, where it is for these.

        Args:
            group: whose hosts take nodes; empty: those that the inventory has for it.

        Raises:
            RuntimeUnavailableError: it is not.
        """
        from tare.errors import RuntimeUnavailableError  # this module imports nothing

        raise RuntimeUnavailableError(
            f"{self.name} runs no units on hosts that SSH reaches",
            where="platform.machines",
            remedy="set it to local, or name another runtime",
        )

    def dns_name(self, run: str, unit: str) -> str:
        """The name by which the DNS server of a network of its own finds a unit."""
        return unit

    # what hinders it here

    def fault(self) -> str | None:
        """Why it cannot be used here, with the remedy; None where it can."""
        return None

    def seen(self) -> Seen:
        """What `tare doctor` says of it."""
        why = self.fault()
        return Seen(why is None, why or "it can be used")

    def named(self) -> Named | None:
        """The orchestrator that is named here, asked what it is; None where none is named.

        Raises:
            RuntimeUnavailableError: what names it cannot be read.
        """
        return None

    def elsewhere(self) -> bool:
        """Whether its units run on other machines than this one."""
        return False

    def store(self) -> Path | None:
        """Where the engine that it uses keeps images and volumes; None: not on this machine, or
        not known."""
        return None

    def obstacles(self, setup: Setup, named: Named | None) -> Iterator[Obstacle]:
        """What hinders a setup whose nodes or clients it runs.

        An engine or an orchestrator that does not answer now is no obstacle: `tare plan` refuses
        the study until it answers.

        Args:
            named: the orchestrator that is named here; None: none is.
        """
        yield from ()

    def left(self) -> Left | None:
        """What dead runs left of it, found by label; None: it leaves nothing.

        Call it with the lab held, so that what is found belongs to the dead.
        """
        return None

    # what a study asks of it

    def needs_root(self, setup: Setup, part: str) -> Iterator[Obstacle]:
        """What only root can give this part of a setup, `platform` or `client`, on this machine."""
        yield from ()

    def data_out_of_reach(self, platform: Platform, *, here: bool) -> str:
        """Why nobody but the node itself can write its data directory; empty: it can be filled.

        Args:
            here: judge by what is named here, too.
        """
        return ""
