"""Servers without a database, driven in slices as a study's conditions are.

The servers are the scripted CQL server that the load generator is tested against. They are frozen,
pinned and read as a study's servers are. So the results hold for a study's slices, except for what
a database adds.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tare import scratch
from tare.artifacts.binaries import find
from tare.databases.registry import USUAL, declared
from tare.errors import QuietError, TareError
from tare.lab.client_reports import ClientReports
from tare.lab.conductor import Conductor, TrialHere
from tare.lab.counted_calls import begin_counting
from tare.lab.drive_outcome import DriveOutcome
from tare.lab.host_slices import until_read_s
from tare.lab.quiet_host import HEAD_START_S
from tare.lab.slice_records import of_all_operations
from tare.load.client import ClientInstallation, LoadClient
from tare.load.specification import specification
from tare.machines import cgroups
from tare.machines.machine import Here
from tare.monitor.calls import CallCounters
from tare.monitor.meter import Meter, processes_named
from tare.monitor.pace import NO_SAMPLES
from tare.monitor.process_counts import CLIENT, SERVER
from tare.runtimes.unit import Bits, Unit
from tare.study.conditions import expand
from tare.study.platform import Placement
from tare.study.schema import Study

if TYPE_CHECKING:
    from tare.lab.conductor import Driven
    from tare.lab.quiet_host import QuietHost
    from tare.machines.cgroups import Accounting
    from tare.monitor.pace import Pace, PaceSamples
    from tare.runtimes.unit import Running, Runtime, Site
    from tare.study.schema import Setup
    from tare.study.slice_schedule import Schedule

PORT = 9042
"""of all servers, whatever protocol they speak"""
OP_MSG = "mongodb"
"""the protocol that has a connection string"""
_UP_S = 10.0
"""how long a server may take until it accepts connections"""
_CERTIFICATE = "server.pem"
_GRACE_S = 30.0
_NO_ROOT = "only root enters a container's network namespace"
_LAUNCH_S, _CLIENT_S, _CONNECTION_S = 0.6, 0.03, 0.001


@dataclass(frozen=True)
class Server:
    """One scripted server.

    Attributes:
        runtime: how it runs.
        network: as a study names it.
        several: it is reached by every endpoint of its network.
        options: of its program.
        beside: there is a second server beside it, on another machine if its runtime has several;
            ways between nodes begin in the second one's network namespace.
        program: where its runtime shows the program; empty: this machine's.
        image: of a container.
        listen: the address, where its host's name is no address; empty: its site's address.
        begins_in: index of the server in whose unit's network namespace its clients begin; None:
            the way decides.
    """

    runtime: Runtime
    network: str = "host"
    several: bool = False
    options: Sequence[str] = ()
    beside: bool = False
    program: str = ""
    image: str = ""
    listen: str = ""
    begins_in: int | None = None


@dataclass(frozen=True)
class DrivenWay:
    """A condition: the index of the server that it drives, by which endpoint, and how hard.

    Attributes:
        in_flight: operations at once; 0: as many as the setup says.
        connections: most connections of a slice in which each operation opens its own, one at a
            time; 0: connections last.
        tls: connections use TLS, and trust the server's own certificate.
        table: which of the server's YCSB-like tables is read; empty: the usual one.
    """

    server: int
    endpoint: str = ""
    in_flight: int = 0
    connections: int = 0
    table: str = ""
    tls: bool = False


def launch_seconds(in_flight: Sequence[int]) -> float:
    """Seconds from the launch of clients with these operations in flight until all begin.

    Fourteen are ready after 0.1 s where nothing else runs. Each may open a connection for every
    operation.
    """
    return _LAUNCH_S + _CLIENT_S * len(in_flight) + _CONNECTION_S * sum(in_flight)


def pinned_cpus() -> list[int]:
    """The servers' CPU and the clients' CPU; none if they cannot have one each."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[:2] if len(cpus) > 1 and os.geteuid() == 0 and cgroups.can_be_made() else []


def quiet_setup(
    load: dict[str, object],
    slice_s: float,
    database: str = USUAL,
    cpus: Sequence[int] | None = None,
) -> Setup:
    """The setup of servers and clients as a study resolves it.

    Args:
        database: whose protocol they speak; the stub stands in for one whose server is not
            fetched.
        cpus: the servers' and the clients'; empty: any; None: as `pinned_cpus` says.
    """
    kind = {"kind": database} | ({} if declared(database).locked else {"stand_in": True})
    own = pinned_cpus() if cpus is None else cpus
    pins = [{"limits": {"cpuset": str(cpu)}} for cpu in own] or [{}, {}]
    study = Study.model_validate(
        {
            "study": "quiet",
            "database": {"nodes": 1, "replication_factor": 1, **kind},
            "load": {"workload": "ycsb-c", "records": 20_000, **load},
            "design": {"slice": f"{slice_s * 1000:.0f}ms"},
            "platform": pins[0],
            "client": pins[1],
        }
    )
    (condition,) = expand(study)
    return condition.setup


class QuietServers:
    """Starts servers and their clients, and drives them once."""

    def __init__(
        self,
        stack: contextlib.ExitStack,
        clients: Runtime,
        setup: Setup,
        command: str,
        *,
        freezes: bool = True,
        pace: Callable[[], Pace] | None = None,
        calls: bool = False,
        host: Callable[[], QuietHost] | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            stack: ends what will be started.
            clients: how load clients run.
            command: the user's command, to be given again where something is only busy.
            freezes: servers stand still between their turns, where they can.
            pace: begins to sample the pace of the CPUs; None: it is not sampled.
            calls: system calls are counted in the slices of the warm-up, where that is possible.
            host: begins to read CPU time on the servers' host over SSH; None: they run on this
                machine.
        """
        self._stack = stack
        self._runtime = clients
        self._setup = setup
        self._command = command
        self._freezes = freezes
        self._pace = pace
        self._calls = calls
        self._host = host

    def drive(
        self,
        servers: Sequence[Server],
        ways: Sequence[DrivenWay],
        planned: Callable[[Sequence[DrivenWay]], Schedule],
    ) -> DriveOutcome:
        """Drive every way in its slices.

        Args:
            planned: the schedule of the ways that are available.

        Raises:
            QuietError: a server or a client failed.
            RuntimeUnavailableError: a program is missing.
        """
        host = self._host() if self._host else None
        if host is not None:
            self._stack.callback(host.close)
        started = [self._serve(number, one) for number, one in enumerate(servers, start=1)]
        running = [one[0] for one in started]
        inside = [None if one.begins_in is None else running[one.begins_in] for one in servers]
        faults = [_fault(*started[way.server], way.endpoint, inside[way.server]) for way in ways]
        missing = {place: why for place, why in enumerate(faults) if why}
        ways = [way for place, way in enumerate(ways) if place not in missing]
        schedule = planned(ways)
        nodes = [running[way.server] for way in ways]
        counting = self._begin_counting(running, schedule)
        clients = [
            self._client(number, inside[way.server] or _entered(*started[way.server], way.endpoint))
            for number, way in enumerate(ways, start=1)
        ]
        self._stack.callback(_terminate, clients)
        begins = time.time() + launch_seconds([way.in_flight for way in ways])
        begins += HEAD_START_S if host else 0.0
        for place, (node, client, way) in enumerate(zip(nodes, clients, ways, strict=True)):
            target = node.unit.site.target(PORT, endpoint=way.endpoint)
            door = node.unit.site.door(PORT)
            self._launch(client, target, begins, schedule, place, way, door)
        reports = ClientReports()
        silence_s = begins - time.time() + _GRACE_S
        listener = threading.Thread(target=reports.listen, args=(clients, silence_s), daemon=True)
        listener.start()
        reports.await_ready(clients, begins, self._command)
        read_s = until_read_s(schedule, [host.machine] if host else [])
        driven, frozen, samples = _conduct(
            schedule, nodes, clients, reports, begins, set() if host else _engine(servers),
            self._pace, counting if isinstance(counting, CallCounters) else None, host,
            freezes=self._freezes, read_s=read_s,
        )  # fmt: skip
        listener.join(_GRACE_S)
        _refuse_dead(one for both in started for one in both if one)
        reports.refuse_missing(clients, schedule)
        names = [client.name for client in clients]
        if read_s == schedule.length_s:
            for place, name in enumerate(names):
                driven = of_all_operations(driven, place, reports.answered[name])
        paths = [
            _path(node, way.endpoint, inside[way.server])
            for node, way in zip(nodes, ways, strict=True)
        ]
        return DriveOutcome(
            driven,
            [reports.operations[name] for name in names],
            [reports.per_s[name] for name in names],
            [reports.waited_s[name] for name in names],
            frozen, reports.gap_s, paths, missing,
            schedule.length_s, samples,
            [reports.warming[name] for name in names],
            counting if isinstance(counting, str) else counting.why_not,
            host.further_cpus if host else 0, host is not None,
        )  # fmt: skip

    def _begin_counting(self, running: Sequence[Running], schedule: Schedule) -> CallCounters | str:
        if not self._calls:
            return "nobody asked for it"
        counting = begin_counting([one.accounting() for one in running], schedule)
        if isinstance(counting, CallCounters):
            self._stack.callback(counting.close)
        return counting

    def _serve(self, number: int, server: Server) -> tuple[Running, Running | None]:
        """A server, and the second one beside it, if there is one."""
        group = f"g{number}"
        wanted = {f"server{number}": server.several}
        if server.beside:
            wanted[f"beside{number}"] = False  # nobody calls it
        sites = [
            server.runtime.site(
                name,
                role="database",
                network=server.network,
                storage="directory",
                group=group,
                several=several,
            )
            for name, several in wanted.items()
        ]
        self._stack.callback(server.runtime.release_group, group)
        first, *others = [self._start(server, site) for site in sites]
        return first, others[0] if others else None

    def _start(self, server: Server, site: Site) -> Running:
        # a container serves on all its addresses: some of them come with its start
        listen = "0.0.0.0" if server.image and server.network != "host" else site.listen  # noqa: S104
        listen = server.listen or listen
        program = server.program or str(find("tare-stub"))
        unit = Unit(
            site=site,
            role="database",
            command=[program, "--listen", f"{listen}:{site.binds(PORT)}", *server.options],
            environment={},
            limits=self._setup.platform.limits,
            bits=Bits("", image=server.image),
            ports=(PORT,),
            placement=Placement(spread="required") if server.beside else None,
        )
        # in a network of its own nobody else listens, and this machine cannot try its address
        if not server.image and not site.network and self._host is None:
            _refuse_taken(site.listen)
        running = server.runtime.launch(unit)
        self._stack.callback(running.stop)
        _await_port(running)
        return running

    def _client(self, number: int, entered: Running | None) -> LoadClient:
        """A client in the network namespace of a unit, or in this machine's."""
        client = LoadClient(
            f"c{number}",
            f"client{number}",
            self._runtime,
            ClientInstallation(str(find("tare-load")), Bits("")),
            self._setup.client,
            group=f"c{number}",
            netns=f"/proc/{entered.accounting().pid}/ns/net" if entered else "",
        )
        self._stack.callback(client.discard)
        return client

    def _launch(
        self,
        client: LoadClient,
        target: str,
        begins: float,
        schedule: Schedule,
        place: int,
        way: DrivenWay,
        door: tuple[str, int],
    ) -> None:
        load = self._setup.load
        threads = way.in_flight or load.threads
        url = f"mongodb://{target}/?directConnection=true&maxPoolSize={threads}"
        made = specification(
            self._setup.model_copy(update={"load": load.model_copy(update={"threads": threads})}),
            name="quiet",
            client=client.name,
            targets=[target],
            mongodb=url if declared(self._setup.database.kind).protocol == OP_MSG else None,
            phase="measure",
            seed=place,
            hlog=PurePath(client.hlog),
            start_at=begins + schedule.of(place)[0].at,
        )
        driven: dict[str, object] = {"slices": schedule.told(place)}
        if way.connections:
            driven["connections_per_slice"] = way.connections
        if way.table:
            driven["table"] = way.table
        if way.tls:
            driven["tls"] = _trusted(client, door)
        client.launch(made | driven)


def _terminate(clients: Sequence[LoadClient]) -> None:
    """Ask all running clients to end before waiting for any.

    Between slices a client looks up only twice a second.
    """
    for client in clients:
        if client.running is not None:
            with contextlib.suppress(TareError):
                client.running.terminate()


def _entered(node: Running, beside: Running | None, endpoint: str) -> Running | None:
    """The unit in whose network namespace a way begins; None: it begins on this machine."""
    if not endpoint:
        return None
    way = node.unit.site.way(endpoint)
    return node if way.inside else beside if way.beside else None


def _trusted(client: LoadClient, door: tuple[str, int]) -> dict[str, str]:
    """What the client's specification says of TLS.

    The server has made its own certificate. It is fetched and kept beside the specification; the
    key is in the server alone.

    Raises:
        QuietError: the server gives no certificate.
    """
    try:
        certificate = ssl.get_server_certificate(door, timeout=_UP_S)
    except (OSError, ValueError) as error:
        raise QuietError(
            "a server without a database gives no certificate",
            where=f"{door[0]}:{door[1]}",
            why=str(error),
        ) from error
    (client.site.conf_on_host / _CERTIFICATE).write_text(certificate, "ascii")
    return {
        "authorities": f"{client.site.conf}/{_CERTIFICATE}",
        "server_name": "tare-stub",
    }


def _fault(
    node: Running, beside: Running | None, endpoint: str, inside: Running | None = None
) -> str:
    """Why this way to a server is not available here; empty: it is."""
    if inside is not None and os.geteuid() != 0:
        return _NO_ROOT
    if not node.accounting().pid:
        return "its server runs on another machine, whose CPU time is not read in slices"
    way = node.unit.site.ways.get(endpoint)
    if way is None:
        return "its runtime makes no such way" if endpoint else ""
    if (way.inside or way.beside) and os.geteuid() != 0:
        return _NO_ROOT
    return way.fault or (_not_apart(node, beside) if way.beside else "")


def _not_apart(node: Running, beside: Running | None) -> str:
    """Why a way does not begin at a second unit; empty: it does.

    Where there are several machines, the second unit must have its own.
    """
    if beside is None or not beside.accounting().pid:
        return "no second unit runs on this machine, from which it could begin"
    machine = node.unit.site.machine
    if machine and machine == beside.unit.site.machine:
        return f"both units came to run on {machine}: there is no way between two nodes"
    return ""


def _path(node: Running, endpoint: str, inside: Running | None) -> str:
    if inside is not None:
        return f"{inside.packet_path()}, from a container to the host"
    return node.unit.site.way(endpoint).path if endpoint else node.packet_path()


def _engine(servers: Sequence[Server]) -> set[str]:
    return {name for server in servers for name in server.runtime.engine_processes}


def _conduct(
    schedule: Schedule,
    nodes: Sequence[Running],
    clients: Sequence[LoadClient],
    reports: ClientReports,
    begins: float,
    engine: set[str],
    pace: Callable[[], Pace] | None,
    counting: CallCounters | None,
    host: QuietHost | None,
    *,
    freezes: bool,
    read_s: float,
) -> tuple[list[Driven], bool, PaceSamples]:
    """Drive all slices.

    Besides the slices, returns whether the servers stood still in between, which they do where
    they can if `freezes`, and the pace of the CPUs, which `pace` begins to sample. CPU time of
    servers on a host is read there.
    """
    groups = [node.accounting() for node in nodes]
    freezes = freezes and host is None and all(cgroups.freezable(one.paths) for one in groups)
    ways = [
        _way_here(None if host else group, client.running.accounting())
        for group, client in zip(groups, clients, strict=True)
        if client.running is not None
    ]
    poll = reports.refuse_fault
    if host is not None:
        host.begin(schedule, begins, groups, read_s)
        poll = _both(reports.refuse_fault, host.refuse_fault)

    sampling = pace() if pace else None
    meter = Meter(processes_named(engine) if engine else (), tare=sampling.pids if sampling else ())
    if counting is not None:
        counting.add([unit for way in ways for own in way.units.values() for unit in own])
    conductor = Conductor(schedule, ways, meter, freezes, poll, counting, read_s)
    try:
        driven = conductor.conduct(begins)
        if host is not None:
            host.close()
            reports.refuse_fault()
            driven = host.joined(driven, schedule, len(ways))
    finally:
        conductor.release()
        meter.close()
        samples = sampling.stop() if sampling else NO_SAMPLES
        for way in ways:
            if way.fault and reports.fault is None:
                reports.fault = QuietError("a slice could not be driven", why=way.fault)
    return driven, freezes, samples


def _way_here(server: Accounting | None, client: Accounting) -> TrialHere:
    """The part of a way that runs on this machine; `server` None: only the client does."""
    if server is None:
        return TrialHere([], {CLIENT: [client]})
    return TrialHere([server], {SERVER: [server], CLIENT: [client]})


def _both(first: Callable[[], None], then: Callable[[], None]) -> Callable[[], None]:
    def each() -> None:
        first()
        then()

    return each


def _refuse_taken(host: str) -> None:
    """Raise if another program listens: a killed command leaves its servers behind."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, PORT))
        except OSError as error:
            raise QuietError(
                "the server without a database cannot listen",
                where=f"{host}:{PORT}",
                why=error.strerror or str(error),
                remedy="`tare clean` ends what an earlier command left",
            ) from error


def _await_port(server: Running) -> None:
    """Wait until a server accepts connections where clients reach it.

    SSH's own way to it is open before it listens.

    Raises:
        QuietError: it ended, or accepts none.
    """
    door, ends = _door(server), time.monotonic() + _UP_S
    while server.exited() is None and time.monotonic() < ends:
        with contextlib.suppress(OSError), socket.create_connection(door, timeout=1):
            return
        time.sleep(0.02)
    raise QuietError(
        "the server without a database did not start",
        where=f"{door[0]}:{door[1]}",
        why=_last_words(server) or "it takes no connections",
        remedy=""
        if isinstance(server.accounting().machine, Here)
        else f"open the ports from {PORT} on, a hundred apart, in the host's firewall",
    )


def _door(server: Running) -> tuple[str, int]:
    """Where this machine's clients reach the server; this process uses the same address."""
    if isinstance(server.accounting().machine, Here):
        return server.unit.site.door(PORT)
    address, _, port = server.unit.site.target(PORT).rpartition(":")
    return address, int(port)


def _last_words(server: Running) -> str:
    """The server's last words on standard error; empty: none, or not available."""
    log = server.unit.site.conf_on_host / "stderr.log"
    if log.exists():
        return log.read_text("utf-8", errors="replace").strip()
    with scratch.directory("weigh-logs") as directory, contextlib.suppress(TareError, OSError):
        server.collect_logs(Path(directory))
        texts = (one.read_text("utf-8", errors="replace") for one in Path(directory).iterdir())
        return " ".join(text.strip() for text in texts if text.strip())
    return ""


def _refuse_dead(servers: Iterable[Running]) -> None:
    """Raise if a server has ended: that is the reason for whatever else went wrong."""
    for server in servers:
        if (ended := server.exited()) is not None:
            raise QuietError("a server without a database died", why=ended.detail)
