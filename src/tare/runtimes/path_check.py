"""Checks of the path to an orchestrator's units: when a path is refused, and what is reported.

Units that answer stand in for a database, and are asked where clients will ask. Packets vanish
without an error if a service proxy lacks its kernel module, a plugin lacks host ports, or a route
is missing. So nothing is measured on a path that was not seen to work. Both ends of a connection
report where addresses were translated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError
from tare.runtimes.replies import wrong_replies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tare.runtimes.replies import Reply
    from tare.study.platform import Platform


@dataclass(frozen=True)
class Connectivity:
    """What was seen of the way to units of one platform.

    Attributes:
        endpoint: as the study has it.
        outside, inside: replies to this machine, and inside the cluster.
        words: the path of packets.
        more: further observations, for the records.
    """

    endpoint: str
    outside: Sequence[Reply]
    inside: Sequence[Reply]
    words: str
    more: Mapping[str, Any]

    @property
    def from_here(self) -> bool:
        """Whether this machine gets through."""
        return bool(self.outside) and all(one.name for one in self.outside)

    def as_dict(self) -> dict[str, Any]:
        return {
            "endpoint": self.endpoint,
            "path": self.words,
            "seen from this machine": [one.as_dict() for one in self.outside],
            "seen inside the cluster": [one.as_dict() for one in self.inside],
            **self.more,
        }


def refuse_broken(
    endpoint: str,
    expected: Mapping[str, str],
    found: Iterable[Reply],
    units: str,
    place: str,
    *,
    remedy: str,
    because: str = "",
) -> None:
    """Refuse a path unless every target was answered by its own unit.

    Args:
        endpoint: as in the study.
        expected: target to the unit that must answer there.
        found: the replies.
        units: the units' name: pods, units.
        place: where they were asked, in words.
        remedy: what to do if it is broken.
        because: a reason that is known beforehand; empty: none is.

    Raises:
        RuntimeUnavailableError: a target did not answer, or another unit did.
    """
    faults = wrong_replies(expected, found)
    if faults:
        raise RuntimeUnavailableError(
            f"network: {endpoint} is not runnable here: packets from {place} do not reach the "
            f"{units}",
            where="platform.network",
            why="; ".join([*faults, because] if because else faults),
            remedy=remedy,
        )


def refuse_few_nodes(
    able: int, platform: Platform, nodes: int, unit: str, *, why: str, remedy: str
) -> None:
    """Refuse a platform if too few nodes can take a unit of it.

    Args:
        able: number of nodes that can.
        nodes: number of the cluster's units.
        unit: the name of one unit.
        why: why the other nodes cannot.
        remedy: shows the nodes.

    Raises:
        RuntimeUnavailableError: too few can.
    """
    needed = nodes if platform.placement.spread == "required" else 1
    if able < needed:
        raise RuntimeUnavailableError(
            f"the cluster has too few nodes: {able} can take a {unit}, {needed} are needed",
            where="platform.placement",
            why=why,
            remedy=f"{remedy}; or set platform.placement.spread to preferred",
        )


def seen_in_words(found: Sequence[Reply]) -> list[str]:
    """The path as both ends of the connections report it."""
    sizes = sorted({size for one in found for size in one.mtu.values()})
    told = {
        "destination translated": any(one.destination_translated for one in found),
        "source translated": any(one.source_translated for one in found),
        f"MTU {' or '.join(map(str, sizes))}": bool(sizes),
    }
    return [words for words, was_seen in told.items() if was_seen]


@dataclass
class PathCheck(ABC):
    """Checks each kind of path once in a run; one that failed fails again without a try."""

    _results: dict[tuple[Any, ...], Connectivity | RuntimeUnavailableError] = field(
        default_factory=dict, init=False
    )
    """by platform, size, port and clients"""
    _latest: dict[str, Connectivity] = field(default_factory=dict, init=False)

    @abstractmethod
    def _refuse_unfit(self, platform: Platform, nodes: int, clients: Collection[str]) -> None:
        """Raise if the cluster, as it is now, cannot have this platform."""

    @abstractmethod
    def _check(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str], number: int
    ) -> Connectivity:
        """Make units that answer, ask them, and remove them; arguments as in `prove`."""

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str], number: int
    ) -> Connectivity:
        """Check that clients reach units of this platform; earlier results hold.

        Args:
            platform: network and placement.
            nodes: units of the cluster.
            port: on which they will serve.
            clients: runtimes of the clients.
            number: of the cluster among the live ones, for its node ports.

        Raises:
            RuntimeUnavailableError: they do not get there, or the cluster is not as the study says.
        """
        self._refuse_unfit(platform, nodes, clients)
        placed = platform.placement.model_dump_json()
        key = (platform.network, placed, nodes, port, tuple(sorted(clients)))
        if key not in self._results:
            try:
                self._results[key] = self._check(platform, nodes, port, clients, number)
            except RuntimeUnavailableError as error:
                if error.where == "platform.network":  # of the path; what else failed may pass
                    self._results[key] = error
                raise
        found = self._results[key]
        if isinstance(found, RuntimeUnavailableError):
            raise found
        self._latest[platform.network] = found
        return found

    def reachable_from_here(self, network: str) -> bool:
        """Whether this machine was seen to get through to such an endpoint."""
        found = self._latest.get(network)
        return found is not None and found.from_here

    def words(self, network: str) -> str:
        """The path of packets to such an endpoint; its name alone if nothing was seen."""
        found = self._latest.get(network)
        return found.words if found else network
