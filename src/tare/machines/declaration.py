"""The declaration of a kind of machines: their origin, their properties, their obstacles.

It imports nothing when it is imported, so that studies and the command line can ask at once.
Modules that make machines are imported by the functions that need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tare.doctor_check import Seen as Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tare.machines.inventory.host import Host, Inventory
    from tare.runtimes.left import Left
    from tare.runtimes.obstacle import Obstacle
    from tare.study.domains import Domains
    from tare.study.platform import Platform
    from tare.study.schema import Setup


@dataclass(frozen=True)
class Missing:
    """Why machines cannot be made here, and how they could."""

    why: str
    remedy: str


@dataclass(frozen=True)
class Wanted:
    """A part of a setup that needs machines of a kind, and the machines that are named here.

    Attributes:
        setup: one condition's.
        part: `platform` or `client`.
        inventory: the hosts that are named here; None: none are.
        missing: why machines of a kind, by its name, cannot be made here.
    """

    setup: Setup
    part: str
    inventory: Inventory | None
    missing: Callable[[str], Missing | None]


class MadeMachine(Protocol):
    """One machine that was made for a run, and lives on this one."""

    @property
    def host(self) -> Host:
        """The host as others reach it, `made`."""

    @property
    def emulated(self) -> bool:
        """A program emulates its processor, so that no measurement shows the hypervisor's cost."""

    @property
    def confined(self) -> bool:
        """It has only the CPUs of `platform.limits`."""

    def alive(self) -> bool:
        """Whether it is still there, suspended or not."""

    def resume(self) -> None:
        """Resume it, if it is suspended."""

    def suspend(self) -> None:
        """Suspend it, so that it uses no CPU time."""

    def restart(self) -> None:
        """Start it again with the disk that it has, once it was lost.

        Raises:
            RuntimeUnavailableError: it does not boot.
        """

    def as_dict(self) -> Mapping[str, object]:
        """What the records keep of it."""


class MadeMachines(Protocol):
    """The machines of one run."""

    @property
    def directory(self) -> Path:
        """Where their files lie."""

    @property
    def machines(self) -> Mapping[str, MadeMachine]:
        """Each by the name of its host."""

    def start(self, say: Callable[[str], None]) -> None:
        """Make them all, and come back when all can be reached.

        Raises:
            RuntimeUnavailableError: a machine cannot be made.
        """

    def close(self) -> None:
        """End them all, and remove what they had.

        Raises:
            TareError: something is left.
        """


class MachinesDeclaration:
    """One kind of machines. A subclass declares what differs from most kinds.

    The registry finds an instance, or a tuple of several, named DECLARED in its module.
    """

    name: str
    """as a study names it, in `platform.machines`"""
    title = ""
    """its name in a sentence, as its owners write it; empty: `name`"""
    in_words = ""
    """where they come from, for the field of a study"""

    # where units run

    here = False
    """units run on this machine itself"""
    from_inventory = False
    """they are hosts of the inventory that is named, by the group of `platform.hosts`"""
    made = False
    """they are made on this machine for a run, from its memory, CPUs and disk: one for each node of
    a cluster, as large as `platform.limits`"""
    for_clients = False
    """load clients may be on them"""

    # what cannot be done on them

    unsliced: tuple[str, str] | None = None
    """what cannot be driven in slices, and why; None: all can"""

    # what the knowledge base makes of them

    guest = False
    """They run on a hypervisor, which findings compare with bare machines: the name is a platform
    of `tare advise` and of findings, too."""
    makers: tuple[str, ...] = ()
    """the maker in their firmware (DMI sys_vendor), by which such hosts are recognised"""
    no_proposal = ""
    """why `tare advise` proposes no study of them, and what to do instead"""

    @property
    def over_ssh(self) -> bool:
        """Each node is on its own machine, which SSH reaches."""
        return self.from_inventory or self.made

    def group(self, platform: Platform) -> str:
        """The group whose hosts take a platform's nodes; empty: the usual hosts, or this machine.

        For machines that are made it describes them: other limits, disks or networks need other
        machines.
        """
        if not self.made:
            return platform.hosts
        limits, domain = platform.limits, platform.domain
        usual = type(domain)()
        parts = [self.name]
        parts += [f"{limits.cpus:g}cpus"] if limits.cpus is not None else []
        parts += [f"on{limits.cpuset.replace(',', '.')}"] if limits.cpuset is not None else []
        parts += [f"{limits.memory >> 20}MiB"] if limits.memory is not None else []
        parts += [domain.cache] if domain.cache != usual.cache else []
        parts += [domain.format] if domain.format != usual.format else []
        parts += [domain.network] if domain.network != usual.network else []
        return "-".join(parts)

    def obstacles(self, wanted: Wanted) -> Iterator[Obstacle]:
        """What hinders this part of a setup on such machines."""
        if self.made:
            from tare.machines.nodes_apart import on_made_machines

            yield from on_made_machines(self.name, wanted.setup, wanted.missing)

    # machines that are made

    def missing(self) -> Missing | None:
        """Why none can be made here; None where they can, as far as can be told without trying."""
        return None

    def seen_to_be(self) -> str:
        """Of which sort those are that are made here, where that was tried; empty: it was not."""
        return ""

    def seen(self) -> Seen | None:
        """What `tare doctor` says of it; None: nothing, as none is made."""
        if not self.made:
            return None
        gone = self.missing()
        if gone is not None:
            return Seen(False, gone.why, gone.remedy)
        return Seen(True, self.seen_to_be() or "can be made")

    def in_plan(self) -> Iterator[str]:
        """What a plan says of those that it will make, in lines."""
        yield from ()

    def make(self, run: str, wanted: Sequence[Domains], say: Callable[[str], None]) -> MadeMachines:
        """The machines for a run, of which nothing runs yet.

        Raises:
            RuntimeUnavailableError: this machine lacks what they need.
        """
        from tare.errors import RuntimeUnavailableError  # this module imports nothing

        raise RuntimeUnavailableError(
            f"{self.name} makes no machines",
            why=f"{type(self).__qualname__} declares no `make`",
            remedy="tell who wrote it; docs/add-a-kind-of-machines.md shows one",
        )

    def recorded(self, record: Mapping[str, Any]) -> bool:
        """Whether a record of a machine that was made for a run (`MadeMachine.as_dict`) is of
        this kind."""
        return False

    def made_in_words(self, record: Mapping[str, Any]) -> str:
        """How one was made, by its record, for the methods of a report."""
        return f"by {self.title or self.name}"

    def emulated(self, record: Mapping[str, Any]) -> bool:
        """Whether the processor of one was a program's, by its record."""
        return False

    def left(self) -> Left | None:
        """What dead runs left of them, found by label; None: nothing is left by this kind.

        Call it with the lab held, so that what is found belongs to the dead. Processes that carry
        Tare's labels are found without it.
        """
        return None
