"""Starts of a unit, one after another: from the order to its first answer.

The unit is the server without a database (tare-stub). It answers as soon as it runs, so that the
measured time is the runtime's. Networks are made before. Each start has its own unit, which is
stopped before the next one.
"""

from __future__ import annotations

import contextlib
import random
import socket
import time
from typing import TYPE_CHECKING

from tare.analysis.part_prices import PASSES, Turn
from tare.artifacts.binaries import find
from tare.artifacts.image import STUB
from tare.errors import LoadError, TareError
from tare.lab.weighed_servers import ORCHESTRATORS, message
from tare.runtimes.unit import Bits, Unit
from tare.study.platform import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.part_prices import WeighedUnit
    from tare.runtimes.unit import Running, Runtime, Site

PIECE = "start"
PORT = 9042
_OPTIONS = bytes([4, 0, 0, 0, 5, 0, 0, 0, 0])
"""a request OPTIONS of CQL's native protocol v4, section 2 of its specification: version, flags,
stream, opcode, length of the body"""
_POLL_S = 0.0005
_ANSWER_S = 20.0


def start_all(
    units: Sequence[WeighedUnit],
    runtimes: Mapping[str, Runtime],
    images: Mapping[str, str],
    seed: int,
    refused: dict[str, str],
) -> list[Turn]:
    """Start each unit as often as a piece has turns; in the second pass in the opposite order.

    Args:
        runtimes: by name.
        images: of the server by runtime, for containers.
        seed: of the order.
        refused: gets the units that an orchestrator does not start, with the reason.

    Raises:
        LoadError: another unit does not answer.
        RuntimeUnavailableError: another unit cannot be started.
    """
    order = random.Random(seed).sample(units, len(units))  # noqa: S311 - an order, no secret
    again = [unit for number in range(PASSES) for unit in order[:: -1 if number % 2 else 1]]
    turns = []
    for place, unit in enumerate(again):
        if unit.name in refused:
            continue
        runtime, image = runtimes[unit.runtime], images.get(unit.runtime, "")
        try:
            turns.append(_start(f"start{place}", unit, runtime, image))
        except TareError as error:
            if not orchestrated(unit):
                raise
            refused[unit.name] = message(error)
    return turns


def orchestrated(unit: WeighedUnit) -> bool:
    """Whether it is a pod or a task."""
    return unit.runtime in ORCHESTRATORS


def _start(name: str, unit: WeighedUnit, runtime: Runtime, image: str) -> Turn:
    with contextlib.ExitStack() as stack:
        site = runtime.site(
            name, role="database", network=unit.network, storage=unit.storage, group=name
        )
        stack.callback(runtime.release_group, name)
        own = unit.network not in ("host", "")
        listen = "0.0.0.0" if own else site.listen  # noqa: S104 - of a container's own network
        program = STUB if image else str(find("tare-stub"))
        asked = Unit(
            site=site,
            role="database",
            command=[program, "--listen", f"{listen}:{PORT}"],
            environment={},
            limits=Limits(),
            bits=Bits("", image=image),
            ports=(PORT,),
            grace_s=0,  # it has nothing to save
        )
        began, since = time.time(), time.perf_counter()
        running = runtime.launch(asked)
        stack.callback(running.stop)
        _await_answer(running, _door(unit, running.unit.site))
        took = time.perf_counter() - since
        return Turn(
            piece=PIECE,
            unit=unit.name,
            at=began,
            began=began,
            ended=began + took,
            cpu_ns=running.accounting().cpu_seconds() * 1e9,
            wall_ns=took * 1e9,
        )


def _door(unit: WeighedUnit, site: Site) -> tuple[str, int]:
    """The unit's address; for a pod or task the clients' one, not the orchestrator's API."""
    if not orchestrated(unit):
        return site.door(PORT)
    host, port = site.target(PORT).rsplit(":", 1)
    return host, int(port)


def _await_answer(running: Running, door: tuple[str, int]) -> None:
    """Ask until there is an answer.

    Raises:
        LoadError: there is none.
    """
    ends = time.monotonic() + _ANSWER_S
    while not _answers(door):
        if time.monotonic() > ends:
            ended = running.exited()
            raise LoadError(
                "a server without a database was started and does not answer",
                where=f"{door[0]}:{door[1]}",
                why=ended.detail if ended else f"nothing came in {_ANSWER_S:.0f} s",
                remedy="give the same command again; tare doctor says what can run here",
            )
        time.sleep(_POLL_S)


def _answers(door: tuple[str, int]) -> bool:
    """Whether a request is answered; a relay may take it for a server that is not there yet."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection(door, timeout=1) as connection,
    ):
        connection.sendall(_OPTIONS)
        return bool(connection.recv(1))
    return False
