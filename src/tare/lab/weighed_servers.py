"""The servers of a weighing and the ways to them: native processes, containers, pods and tasks."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tare import scratch
from tare.analysis.prices import AGAIN, WeighedWay
from tare.artifacts.image import STUB
from tare.enumeration import listing
from tare.errors import RuntimeUnavailableError, TareError, UsageError
from tare.lab.quiet_servers import PORT, Server, pinned_cpus
from tare.machines import registry as machines
from tare.machines.addresses import AddressPool
from tare.runtimes.registry import BARE, CONTAINER, declared, having, names
from tare.study.platform import (
    BETWEEN_NODES,
    BETWEEN_PUBLISHED,
    OWN_LOOPBACK,
    TO_HOST,
    Platform,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tare.runtimes.declaration import Declaration
    from tare.runtimes.unit import Runtime

RUN = "weigh"
RUNTIMES = names()
ORCHESTRATORS = having(lambda one: one.orchestrator)


def refuse_unweighable(runtimes: Iterable[str], known: Sequence[str]) -> None:
    """Refuse runtimes that cannot be weighed.

    Args:
        known: runtimes that can be weighed.

    Raises:
        UsageError: a runtime cannot be weighed.
    """
    unknown = [one for one in runtimes if one not in known]
    elsewhere = [one for one in unknown if one in machines.having(lambda each: not each.here)]
    if elsewhere:
        weigh = f"tare weigh {BARE} {CONTAINER} --json"
        raise UsageError(
            f"{listing(elsewhere)} cannot be weighed by name",
            why="these are machines, and no runtimes of this one",
            remedy="a host over SSH: tare weigh --hosts FILE; in a virtual machine: "
            f"{weigh} >there.json, here: {weigh} >here.json, then "
            "tare compare here.json there.json (docs/weigh.md)",
        )
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} cannot be weighed",
            why=f"only {listing(known)} can, so far",
            remedy=f"tare weigh {BARE} {CONTAINER}",
        )


@dataclass(frozen=True)
class ServerPlace:
    """One server of every round.

    Attributes:
        ways: name of each way to it, and the endpoint that it takes.
        several: clients name endpoints.
        check: it only shows that no difference is found where there is none.
        begins_in: the runtime in whose unit's network namespace its clients begin; empty: the way
            decides.
    """

    runtime: str
    network: str
    ways: tuple[tuple[str, str], ...]
    several: bool = False
    check: bool = False
    begins_in: str = ""


def _several(runtime: Declaration) -> ServerPlace:
    """With its loopback device, and with the ways between nodes: by their own address, and by
    published ports if there are."""
    published = (BETWEEN_PUBLISHED,) if "published" in runtime.networks else ()
    every = dict.fromkeys((OWN_LOOPBACK, *runtime.named_endpoints, BETWEEN_NODES, *published))
    ways = tuple((f"{runtime.name}.{one}", one) for one in every)
    return ServerPlace(runtime.name, runtime.several_on, ways, several=True)


def _places_of(name: str, *, to_host: bool) -> Iterator[ServerPlace]:
    """The servers of one runtime.

    - One on the machine's network, if the runtime has no machines of its own.
    - One with every endpoint at once, beside which the ways between two nodes are weighed.
    """
    if name == BARE:
        yield ServerPlace(BARE, "host", ((BARE, "host"),))
        yield ServerPlace(BARE, "host", ((AGAIN, "host"),), check=True)
        return
    runtime = declared(name)
    if "host" in runtime.networks and not runtime.orchestrator:
        yield ServerPlace(name, "host", ((f"{name}.host", "host"),), check=True)
    if runtime.several_on:
        yield _several(runtime)
    if to_host and runtime.bridged_here:
        way = (f"{name}.{TO_HOST}", TO_HOST)
        yield ServerPlace(BARE, "host", (way,), begins_in=name)


def places(runtimes: Sequence[str], *, to_host: bool = False) -> list[ServerPlace]:
    """The servers of a round; native ones are always among them.

    Args:
        to_host: also a native one for clients in each engine's containers.
    """
    return [
        place
        for name in RUNTIMES
        if name == BARE or name in runtimes
        for place in _places_of(name, to_host=to_host)
    ]


def ways(
    runtimes: Sequence[str],
    in_flight: Sequence[int],
    without: Sequence[str] = (),
    placed: Callable[[Sequence[str]], list[ServerPlace]] = places,
) -> list[WeighedWay]:
    """Every way with every number in flight; checks only with the least number.

    Args:
        without: names of ways that are not available here.
        placed: the servers of these runtimes, where they are not on this machine.
    """
    least = min(in_flight)
    return [
        WeighedWay(name, place.begins_in or place.runtime, endpoint, server, in_flight=number)
        for number in in_flight
        for server, place in enumerate(placed(runtimes))
        for name, endpoint in place.ways
        if name not in without and (number == least or not place.check)
    ]


class WeighedServers:
    """What the runtimes need once, and their servers for each round."""

    machine = on_host = read = None
    """servers run on this machine, and not on a host over SSH"""

    def __init__(
        self,
        stack: contextlib.ExitStack,
        runtimes: Sequence[str],
        say: Callable[[str], None],
        *,
        to_host: bool = False,
    ) -> None:
        """Prepare every runtime; one that is not available is left out, with its reason.

        Args:
            stack: ends what is prepared.
            say: told what takes time.
            to_host: clients in containers reach a native server, too.
        """
        self.placed = partial(places, to_host=to_host)
        self._to_host = to_host
        self.left_out: dict[str, str] = {}
        """runtime, or way, to why it is not weighed"""
        self._stack = stack
        self._say = say
        self._images: dict[str, str] = {}
        self._lasting: dict[str, Runtime] = {}
        for name in RUNTIMES:
            if name in runtimes and name != BARE:
                try:
                    self._make_ready(name)
                except TareError as error:
                    self.left_out[name] = message(error)
        self.runtimes = [name for name in RUNTIMES if name == BARE or name in self._images]
        self.cpus = pinned_cpus()
        """the servers' CPU and the clients'; none if they cannot have one each"""

    def of_round(
        self,
        stack: contextlib.ExitStack,
        options: Sequence[str],
        told: Callable[[str], Sequence[str]],
    ) -> tuple[Runtime, list[Server]]:
        """The native runtime, which runs the clients too, and the servers of one round.

        Args:
            stack: ends the round.
            options: of every server's program.
            told: further options of the server with the way of this name.
        """
        work = Path(stack.enter_context(scratch.directory(RUN)))
        pool = AddressPool()
        own = dict(self._lasting)
        for name in self.runtimes:
            if name not in own:
                own[name] = declared(name).make(RUN, work, pool, routable=self._to_host)
                stack.callback(own[name].close)
        servers: list[Server] = []
        for place in self.placed(self.runtimes):
            between = place.several and f"{place.runtime}.{BETWEEN_NODES}" not in self.left_out
            words = [*options, *(word for name, _ in place.ways for word in told(name))]
            server = Server(own[place.runtime], place.network, place.several, words, between)
            if image := self._images.get(place.runtime):
                server = replace(server, program=STUB, image=image)
            if place.begins_in:  # the runtime's own server with several ways comes right before
                server = replace(server, begins_in=len(servers) - 1)
            servers.append(server)
        return own[BARE], servers

    def _make_ready(self, name: str) -> None:
        runtime = declared(name).make(RUN, self._work(), AddressPool())
        self._stack.callback(runtime.close)
        runtime.prepare(self._say)
        images = runtime.images()
        if images is None and (fault := declared(name).fault()) is not None:
            raise RuntimeUnavailableError(f"{name} cannot run here", why=fault)
        image = images.of_program("stub", "tare-stub", self._say) if images else ""
        if declared(name).orchestrator:
            self._take(name, runtime, image)
        else:
            self._images[name] = image

    def _work(self) -> Path:
        return Path(self._stack.enter_context(scratch.directory(RUN)))

    def _take(self, name: str, runtime: Runtime, image: str) -> None:
        """Keep an orchestrator, and check by which of its endpoints packets arrive.

        Raises:
            RuntimeUnavailableError: packets arrive by none.
        """
        faults = {}
        own = declared(name)
        for endpoint in own.named_endpoints:
            platform = {"runtime": name, "network": own.several_on, "endpoint": endpoint}
            if fault := self._tried(runtime, endpoint, platform, 1, BARE):
                faults[f"{name}.{endpoint}"] = fault
        if len(faults) == len(own.named_endpoints):
            raise RuntimeUnavailableError(
                f"no way leads into {name}", why=next(iter(faults.values()))
            )
        apart = {"runtime": name, "network": own.several_on, "placement": {"spread": "required"}}
        if fault := self._tried(runtime, BETWEEN_NODES, apart, 2, name):
            faults[f"{name}.{BETWEEN_NODES}"] = fault
        self.left_out |= faults
        self._lasting[name] = runtime
        self._images[name] = image

    def _tried(
        self, runtime: Runtime, way: str, platform: Mapping[str, object], units: int, client: str
    ) -> str:
        """Why packets of a runtime's clients do not reach this many units; empty: they do."""
        self._say(f"trying {runtime.name}.{way}")
        try:
            runtime.prove(Platform.model_validate(platform), units, PORT, {client})
        except TareError as error:
            if error.where == "platform.placement":  # no unit asks for anything but room
                return f"there is no second node: {error.what}"
            return message(error)
        return ""


def message(error: TareError) -> str:
    """An error on one line, as the reason why something is left out."""
    text = f"{error.what}: {error.why}" if error.why else error.what
    return f"{text} ({error.remedy})" if error.remedy else text
