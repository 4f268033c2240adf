"""Common part of all orchestrators' runtimes: groups of sites, and the ways to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from tare.runtimes.unit import Site, Way
from tare.study.platform import BETWEEN_NODES, OWN_LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tare.runtimes.images import Images, Say
    from tare.runtimes.path_check import PathCheck
    from tare.runtimes.replies import Reply
    from tare.runtimes.unit import Unit
    from tare.study.platform import Platform

_LOOPBACK = "127.0.0.1"
_NODES_TAKE = "container-dns"
"""endpoint by which nodes of a cluster reach each other, whatever endpoint their clients use"""


@dataclass(frozen=True)
class Endpoint:
    """Where clients reach one unit.

    Attributes:
        host: address for clients outside of the cluster.
        reached: port of the software to the port at that address, if these differ.
        inside: name for clients inside; empty: `host`.
        machine: the orchestrator's machine on which it runs.
        here: where this process reaches it; None: at `host`.
    """

    host: str
    reached: Mapping[int, int]
    inside: str
    machine: str
    here: tuple[str, int] | None = None

    def settle(self, site: Site) -> Site:
        """The site, with values that only the running unit has."""
        return replace(
            site,
            endpoint_host=self.host,
            reached=dict(self.reached),
            inside=self.inside,
            machine=self.machine,
            here=self.here,
        )


@dataclass
class Group:
    """One cluster: its number among the live ones, and its sites as they were settled.

    Attributes:
        network: the endpoint of its clients, as the study has it.
        several: clients will name endpoints: its units have all of them.
    """

    number: int
    network: str
    several: bool = False
    sites: list[Site] = field(default_factory=list, kw_only=True)


G = TypeVar("G", bound=Group)


class OrchestratorRuntime(ABC, Generic[G]):
    """A runtime whose units an orchestrator places on its machines.

    Attributes:
        noun: the name of one unit.
        endpoints: by which clients may reach a unit.
    """

    noun: str
    endpoints: Sequence[str]
    _connectivity_check: PathCheck | None = None
    """what was seen of the ways to units; None: nothing yet"""

    def __init__(
        self,
        run: str,
        work: Path,
        clock: Callable[[], float],
        wait: Callable[[float], None],
        ask: Callable[[Sequence[str], float], list[Reply]],
    ) -> None:
        """Prepare for one run; nothing is asked yet.

        Args:
            run: the run's name, the label of everything made.
            work: directory for configuration of units.
            clock, wait: monotonic seconds, and letting them pass.
            ask: asks units that answer from this machine.
        """
        self._run = run
        self._work = work
        self._clock = clock
        self._wait = wait
        self._ask = ask
        self._helper = ""
        self._groups: dict[str, G] = {}
        self._left: list[G] = []
        """released groups that may still be there: the cluster did not answer"""

    @abstractmethod
    def images(self) -> Images:
        """Where images of units come from."""

    def prepare(self, say: Say) -> None:
        self.use_helper(self.images().of_program("pod", "tare-pod", say))

    def use_helper(self, image: str) -> None:
        """The image of tare-pod, once it is provided."""
        self._helper = image

    def _new_site(self, name: str, path: str, conf: str, data: str) -> Site:
        """A site without addresses; what its unit sees is `conf` and `data`."""
        own = self._work / name / "conf"
        own.mkdir(parents=True, exist_ok=True)
        return Site(name, conf, own, data, None, "", "", "", path)

    def _free_number(self) -> int:
        taken = {one.number for one in [*self._groups.values(), *self._left]}
        return next(number for number in range(len(taken) + 1) if number not in taken)

    def _place(self, unit: Unit) -> tuple[str, G, int]:
        """The name of the unit's group, the group, and the unit's index there."""
        return next(
            (name, group, index)
            for name, group in self._groups.items()
            for index, site in enumerate(group.sites)
            if site.name == unit.site.name
        )

    def _words(self, endpoint: str) -> str:
        """The path of packets to such an endpoint, as far as it was seen."""
        return self._connectivity_check.words(endpoint) if self._connectivity_check else endpoint

    def _ways(
        self, reach: Callable[[str], Endpoint], own: str, missing: Mapping[str, str]
    ) -> dict[str, Way]:
        """Every way to a unit.

        Args:
            reach: where it is reached by an endpoint.
            own: its own address on the cluster's network; empty: that is not told.
            missing: endpoint that is not available to the reason.
        """
        found: dict[str, Way] = {}
        for name in self.endpoints:
            if name in missing:
                found[name] = Way("", "", fault=missing[name])
                continue
            one = reach(name)
            found[name] = Way(one.host, self._words(name), reached=one.reached, name=one.inside)
        found[OWN_LOOPBACK] = Way(_LOOPBACK, f"loopback of the {self.noun}", inside=True)
        path = f"{self._words(_NODES_TAKE)}, from another node's {self.noun}"
        fault = "" if own else f"the orchestrator does not tell the {self.noun}'s address"
        found[BETWEEN_NODES] = Way(own, path, beside=True, fault=fault)
        return found


def usual(platform: Platform) -> Platform:
    """The platform whose network is checked as the path: that of the clients' endpoint."""
    return platform.model_copy(update={"network": platform.way, "endpoint": ""})
