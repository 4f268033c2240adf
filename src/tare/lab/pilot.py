"""A pilot: identical servers without a database, driven in slices as a study's conditions are.

The servers are the scripted CQL server that the load generator is tested against. They are frozen,
pinned and read as those of a study are, so that the slices are as noisy as a study's, but for what
a database adds.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tare import scratch
from tare.analysis.slices import Row
from tare.artifacts.binaries import find
from tare.errors import LoadError, TareError
from tare.lab.conductor import Conductor, Part
from tare.lab.hold import Hold
from tare.lab.slice_records import measured_slices, summed
from tare.load.client import ClientInstallation, LoadClient, progress, result_of
from tare.load.specification import specification
from tare.machines import cgroups
from tare.machines.addresses import AddressPool
from tare.machines.awake import awake
from tare.monitor.meter import Meter
from tare.runtimes.native import NativeRuntime
from tare.runtimes.unit import Bits, Unit
from tare.study.conditions import expand
from tare.study.design import USUAL_SLICE_S
from tare.study.schema import Study
from tare.study.slices import block_seconds, make_schedule

if TYPE_CHECKING:
    from tare.lab.conductor import Driven
    from tare.runtimes.native import NativeRunning
    from tare.study.schema import Setup
    from tare.study.slices import Schedule

SERVERS = 3
_RUN = "noise"
_PORT = 9042
_UP_S = 10.0
"""how long a server may take until it takes connections"""
_READY_S = 0.2
_HEAD_START_S = 0.5
"""for each client, from its launch until all begin together"""
_GRACE_S = 30.0
# One operation in flight: of more, some slices are answered in batches, at a third of the cost.
_STUDY = {
    "study": _RUN,
    "database": {"nodes": 1, "replication_factor": 1},
    "load": {"workload": "ycsb-c", "records": 20_000, "threads": 1, "warmup": "500ms"},
    "design": {"slice": f"{USUAL_SLICE_S * 1000:.0f}ms"},
}


@dataclass(frozen=True)
class Piloted:
    """What a pilot measured.

    Attributes:
        rows: condition to its measured slices, in their order.
        order: (place among its condition's, condition) of every measured slice, as driven.
        seconds: from the first slice's load to the end of the last one's drain.
        pinned: servers and clients had a CPU each.
        frozen: servers stood still between their slices.
        idle_cpus: poll; or halt, and why.
        late: measured slices that began or ended too late.
        steal: share of the machine's CPU time that a hypervisor took.
        other_cores: CPU time of other programs, in cores.
    """

    rows: list[list[Row]]
    order: list[tuple[int, int]]
    seconds: float
    slice_s: float
    drain_s: float
    pinned: bool
    frozen: bool
    idle_cpus: str
    late: int
    steal: float
    other_cores: float


@dataclass
class _Told:
    """What the clients told so far."""

    operations: dict[str, list[int]] = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)
    fault: Exception | None = None


def pilot(
    seconds: float,
    servers: int = SERVERS,
    *,
    driven: Sequence[int] = (),
    options: Sequence[Sequence[str]] = (),
) -> Piloted:
    """Measure the noise of this machine's slices for so long.

    Args:
        driven: which server each condition drives; empty: each its own.
        options: of each server's program; empty: none.

    Raises:
        LabBusyError: a run holds this machine.
        RuntimeUnavailableError: a program is missing, or a control group cannot be made.
        LoadError: a server or a client failed.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(Hold(_RUN))
        work = Path(stack.enter_context(scratch.directory("noise")))
        why_not = stack.enter_context(awake())
        idle_cpus = f"halt ({why_not})" if why_not else "poll"
        runtime = NativeRuntime(_RUN, work, AddressPool())
        stack.callback(runtime.close)
        conditions = list(driven) or list(range(servers))
        commands = [list(own) for own in options] or [[] for _ in range(servers)]
        return _Bench(runtime, stack).measure(seconds, conditions, commands, idle_cpus)


class _Bench:
    """Servers and clients of one pilot."""

    def __init__(self, runtime: NativeRuntime, stack: contextlib.ExitStack) -> None:
        """Nothing is started yet; `stack` ends what will be."""
        self._runtime = runtime
        self._stack = stack
        cpus = sorted(os.sched_getaffinity(0))
        self._pins = cpus[:2] if len(cpus) > 1 and os.geteuid() == 0 else []

    def measure(
        self, seconds: float, conditions: list[int], commands: list[list[str]], idle_cpus: str
    ) -> Piloted:
        number = len(conditions)
        setup, drain_s = self._setup()
        schedule = _schedule(setup, seconds, conditions, drain_s)
        made = [self._serve(setup, place, own) for place, own in enumerate(commands, start=1)]
        servers = [made[server] for server in conditions]
        clients = [self._client(setup, place + 1) for place in range(number)]
        begins = time.time() + self._runtime.head_start_s + _HEAD_START_S * number
        for place, (server, client) in enumerate(zip(servers, clients, strict=True)):
            target = server.unit.site.target(_PORT)
            self._launch(setup, client, target, begins, schedule, place)
        told = _Told(operations={client.name: [] for client in clients})
        listener = threading.Thread(
            target=_listen, args=(clients, told, begins - time.time() + _GRACE_S), daemon=True
        )
        listener.start()
        _await_ready(told, clients, begins)
        driven, frozen = self._conduct(schedule, servers, clients, told, begins)
        listener.join(_GRACE_S)
        _refuse(told, servers, clients, schedule)
        return _piloted(
            driven,
            [told.operations[client.name] for client in clients],
            schedule,
            pinned=bool(self._pins),
            frozen=frozen,
            idle_cpus=idle_cpus,
        )

    def _setup(self) -> tuple[Setup, float]:
        pins = [str(cpu) for cpu in self._pins]
        limits = [{"limits": {"cpuset": cpu}} for cpu in pins] or [{}, {}]
        study = Study.model_validate({**_STUDY, "platform": limits[0], "client": limits[1]})
        (condition,) = expand(study)
        return condition.setup, study.design.drain

    def _serve(self, setup: Setup, number: int, options: list[str]) -> NativeRunning:
        site = self._runtime.site(
            f"server{number}",
            role="database",
            network="host",
            storage="directory",
            group=f"g{number}",
        )
        unit = Unit(
            site=site,
            role="database",
            command=[str(find("tare-stub")), "--listen", f"{site.listen}:{_PORT}", *options],
            environment={},
            limits=setup.platform.limits,
            bits=Bits(""),
        )
        _refuse_taken(site.listen)
        running = self._runtime.launch(unit)
        self._stack.callback(running.stop)
        _await_port(running)
        return running

    def _client(self, setup: Setup, number: int) -> LoadClient:
        client = LoadClient(
            f"c{number}",
            f"client{number}",
            self._runtime,
            ClientInstallation(str(find("tare-load")), Bits("")),
            setup.client,
            group=f"g{number}",
        )
        self._stack.callback(client.discard)
        return client

    def _launch(
        self,
        setup: Setup,
        client: LoadClient,
        target: str,
        begins: float,
        schedule: Schedule,
        place: int,
    ) -> None:
        made = specification(
            setup,
            name=_RUN,
            client=client.name,
            targets=[target],
            phase="measure",
            seed=place,
            hlog=PurePath(client.hlog),
            start_at=begins + schedule.of(place)[0].at,
        )
        client.launch(made | {"slices": schedule.told(place)})

    def _conduct(
        self,
        schedule: Schedule,
        servers: Sequence[NativeRunning],
        clients: Sequence[LoadClient],
        told: _Told,
        begins: float,
    ) -> tuple[list[Driven], bool]:
        """Drive all slices; and whether the servers stood still in between."""
        nodes = [server.accounting() for server in servers]
        freezes = all(cgroups.freezable(node.paths) for node in nodes)
        parts = [
            Part([node], {"server": [node], "client": [client.running.accounting()]})
            for node, client in zip(nodes, clients, strict=True)
            if client.running is not None
        ]

        def look() -> None:
            if told.fault is not None:
                raise told.fault

        meter = Meter()
        conductor = Conductor(schedule, parts, meter, freezes=freezes, look=look)
        try:
            return conductor.conduct(begins), freezes
        finally:
            conductor.release()
            meter.close()
            for part in parts:
                if part.fault and told.fault is None:
                    told.fault = LoadError("a slice could not be driven", why=part.fault)


def _schedule(setup: Setup, seconds: float, servers: Sequence[int], drain_s: float) -> Schedule:
    """As many slices as the time holds, of conditions that each drive one of the servers."""

    def lasts(measure_s: float) -> float:
        warmup_s = setup.load.warmup
        return block_seconds(sharing, warmup_s, measure_s, USUAL_SLICE_S, drain_s)

    sharing = Counter(servers).values()
    slices = 1
    while lasts((slices + 1) * USUAL_SLICE_S) <= seconds:
        slices += 1
    return make_schedule(
        [f"condition{place + 1}" for place in range(len(servers))],
        deployments=[f"server{server + 1}" for server in servers],
        warmup_s=setup.load.warmup,
        measure_s=slices * USUAL_SLICE_S,
        length_s=USUAL_SLICE_S,
        drain_s=drain_s,
        seed=7,
    )


def _refuse_taken(host: str) -> None:
    """Raise where another program listens: a pilot that was killed leaves its servers behind."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, _PORT))
        except OSError as error:
            raise LoadError(
                "the pilot's server cannot listen",
                where=f"{host}:{_PORT}",
                why=error.strerror or str(error),
                remedy="`tare clean` ends what an earlier pilot left",
            ) from error


def _await_port(server: NativeRunning) -> None:
    """Wait until a server takes connections.

    Raises:
        LoadError: it ended, or takes none.
    """
    door, ends = server.unit.site.door(_PORT), time.monotonic() + _UP_S
    while server.exited() is None and time.monotonic() < ends:
        with contextlib.suppress(OSError), socket.create_connection(door, timeout=1):
            return
        time.sleep(0.02)
    log = server.unit.site.conf_on_host / "stderr.log"
    raise LoadError(
        "the pilot's server did not start",
        where=f"{door[0]}:{door[1]}",
        why=log.read_text("utf-8", errors="replace").strip() or "it takes no connections",
    )


def _listen(clients: list[LoadClient], told: _Told, silence_s: float) -> None:
    try:
        for line in progress(clients, lambda: None, silence_s=silence_s):
            if line.event is None:
                continue
            kind = line.event["event"]
            if kind == "ready":
                told.ready.add(line.client.name)
            elif kind == "interval" and line.event["phase"] == "measure":
                told.operations[line.client.name].append(int(line.event["ops"]))
            elif kind == "result" and (errors := result_of(line.client, line.event).errors):
                told.fault = LoadError(f"{errors} operations of the pilot failed")
    except (TareError, OSError, ValueError, KeyError) as error:
        told.fault = error


def _await_ready(told: _Told, clients: Sequence[LoadClient], begins: float) -> None:
    while len(told.ready) < len(clients) and told.fault is None:
        if time.time() > begins - _READY_S:
            told.fault = LoadError(
                "a load client of the pilot was not connected in time",
                remedy="run `tare doctor --noise` again while the machine has less to do",
            )
        time.sleep(0.02)
    if told.fault is not None:
        raise told.fault


def _refuse(
    told: _Told,
    servers: Sequence[NativeRunning],
    clients: Sequence[LoadClient],
    schedule: Schedule,
) -> None:
    """Raise what went wrong, a server's end first."""
    for server in servers:
        if (ended := server.exited()) is not None:
            raise LoadError("a server of the pilot died", why=ended.detail)
    if told.fault is not None:
        raise told.fault
    if any(
        len(told.operations[client.name]) < schedule.measured(place)
        for place, client in enumerate(clients)
    ):
        raise LoadError("slices of the pilot are missing", why="a client ended early")


def _piloted(
    driven: list[Driven],
    operations: list[list[int]],
    schedule: Schedule,
    *,
    pinned: bool,
    frozen: bool,
    idle_cpus: str,
) -> Piloted:
    counted = [one for one in driven if one.slot.trial is not None and one.slot.counts]
    lasted = sum(one.seconds for one in driven)
    cpus = os.cpu_count() or 1
    return Piloted(
        rows=[list(_rows(driven, number, ops)) for number, ops in enumerate(operations)],
        order=_order(counted, len(operations)),
        seconds=schedule.seconds,
        slice_s=schedule.length_s,
        drain_s=schedule.drain_s,
        pinned=pinned,
        frozen=frozen,
        idle_cpus=idle_cpus,
        late=sum(one.late for one in counted),
        steal=sum(one.used.modes["steal"] for one in driven) / (lasted * cpus),
        other_cores=sum(one.used.others for one in driven) / lasted,
    )


def _rows(driven: Sequence[Driven], number: int, operations: Sequence[int]) -> Iterator[Row]:
    """A server's measured slices, as the analysis of a study takes them."""
    own = measured_slices(driven, number)
    idle_s = summed(driven, number).idle_s
    for one, ops in zip(own, operations, strict=True):
        yield Row(one.unix, ops, one.seconds, one.used.part - idle_s)


def _order(counted: Sequence[Driven], servers: int) -> list[tuple[int, int]]:
    passed = [0] * servers
    order = []
    for one in counted:
        if one.slot.trial is not None:
            order.append((passed[one.slot.trial], one.slot.trial))
            passed[one.slot.trial] += 1
    return order
