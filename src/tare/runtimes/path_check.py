"""Checks of the path to an orchestrator's units: when one is refused, and what is told of it.

Units that answer stand in for a database, and are asked where clients will ask. A service proxy
without its kernel module, a plugin without host ports, a route that is missing: all let packets
vanish without a word. So nothing is measured on a path that was not seen to work, and both ends of
a connection tell where addresses were translated.
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
        outside, inside: what came of asking from this machine, and inside the cluster.
        words: what packets pass through.
        more: what else was seen, for the records.
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
    """Nothing where every target was answered by its own unit.

    Args:
        endpoint: as the study has it.
        expected: target to the unit that must answer there.
        found: what came of asking.
        units: what they are called: pods, units.
        place: where they were asked, in words.
        remedy: where it is broken.
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
    """Nothing where enough nodes can take a unit of this platform.

    Args:
        able: how many can.
        nodes: units of the cluster.
        unit: what one of them is called.
        why: why the others cannot.
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
    """What both ends of the connections tell of the path."""
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
        """Raise where the cluster, as it is now, is not one for this platform."""

    @abstractmethod
    def _check(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str], number: int
    ) -> Connectivity:
        """Make units that answer, ask them, and take them away; arguments as `prove` has them."""

    def prove(
        self, platform: Platform, nodes: int, port: int, clients: Collection[str], number: int
    ) -> Connectivity:
        """See that clients reach units of this platform; what was seen before holds.

        Args:
            platform: network and placement.
            nodes: units of the cluster.
            port: on which they will serve.
            clients: runtimes of the clients.
            number: of the cluster among those that live, for its ports of nodes.

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
        """What packets to such an endpoint pass through; its name alone where nothing was seen."""
        found = self._latest.get(network)
        return found.words if found else network
