"""The manifest of a trial: everything about it that is not a time series or a histogram."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT = 1
HIDDEN = "not seen from outside"
"""Value of a parity fact that a unit's platform hides from everyone else."""


class Record(BaseModel):
    """Base of all recorded models: unknown fields are refused, so that versions show."""

    model_config = ConfigDict(extra="forbid")


class OperationResult(Record):
    """One kind of operation as one load client saw it, over the measured part only."""

    operation: str = Field(description="READ, UPDATE, INSERT or WRITE")
    ok: int = Field(description="operations answered without error")
    errors: int = Field(description="operations that failed; never part of ok or of latencies")
    under_way: int = Field(
        default=0,
        description="operations without an answer at the end; means count them with their ages",
    )
    service_mean_us: float = Field(description="mean time from the actual send, microseconds")
    response_mean_us: float = Field(
        description="mean time from the intended send; equals service time in closed loop"
    )


class ClientResult(Record):
    """The final report of one load client. Latency distributions are in the .hlog file."""

    client: str = Field(description="unit name, c1, c2, ...")
    tool: str = Field(
        default="", description="the load generator, where it is another than Tare's own"
    )
    hlog: str = Field(description="file name of the interval histogram log in the trial directory")
    measured_s: float = Field(description="length of the measured part, seconds")
    start_unix: float = Field(description="start of the measured part, Unix time")
    ok: int
    errors: int
    throughput: float = Field(description="successful operations per second, measured part")
    operations: list[OperationResult]
    errors_by_kind: dict[str, int] = Field(
        description="timeout, unavailable, overloaded, connection, other"
    )
    retries_by_kind: dict[str, int] = Field(
        default_factory=dict,
        description="requests that were sent again, by what had failed; never part of errors",
    )
    cpu_us_per_op: float = Field(
        description="client CPU, user + system, per operation; in slices its unit's within them"
    )
    cpu_share: float = Field(description="busiest worker thread's CPU share, 0 to 1")
    run_delay_share: float | None = Field(
        default=None,
        description="share of the time that the busiest worker waited for a CPU; null: not seen",
    )
    throttled_share: float | None = Field(
        default=None, description="share of the time that a CPU quota stopped it; null: not seen"
    )
    undrained: int = Field(
        default=0, description="operations whose reply came after the drain of their slice"
    )
    under_way: int = Field(
        default=0,
        description="operations without an answer at the end: their ages are in the histograms, "
        "and they are in no other count",
    )
    longest_gap_s: float | None = Field(
        default=None,
        description="longest time without an answer, by the client's own clock of the measured "
        "part; exact from 0.1 s on; null: not known",
    )
    send_lateness_p99_us: float | None = Field(
        description="open loop: 99th percentile of actual minus intended send; closed loop: null"
    )
    rate_error: float | None = Field(description="open loop: achieved over asked, minus 1")
    saturated: bool = Field(description="the client, not the server, was probably the limit")
    saturation_reasons: list[str]
    version: str


class WarmUp(Record):
    """How the cluster's deployment was warmed up before its first trial."""

    flat: bool | None = Field(
        description="server CPU per operation and throughput became flat; null: no full load was "
        "asked for, in which they could"
    )
    seconds: float
    operations: int = Field(description="of which `windows` shows those under the full load")
    gentle_seconds: float = Field(
        default=0.0, description="of these, with few operations in flight, for the JIT compiler"
    )
    windows: list[dict[str, float]] = Field(
        description="per window under the full load: t (s), ops_per_s, server_cpu_us_per_op"
    )
    reason: str = Field(default="", description="why it is not flat, where it is not")


class UnitRecord(Record):
    """One process that took part in the trial."""

    name: str = Field(description="n1, n2, ... for database nodes, c1, ... for clients")
    role: Literal["database", "client", "engine"]
    cluster: int = Field(default=1, description="1-based number of the side-by-side cluster")
    runtime: str
    network: str
    storage: str
    endpoint: str = Field(description="address:port that clients use; empty for clients")
    path: str = Field(default="", description="what the packets pass, e.g. veth+bridge+DNAT")
    command: list[str]
    image: str = Field(default="", description="image id, empty for native")
    bits: str = Field(description="digest of the artifact tree, or the named image's digest")
    limits: dict[str, Any]
    machine: str = Field(
        default="", description="the host or the orchestrator's machine; empty: the local one"
    )
    hosts: str = Field(
        default="",
        description="the inventory's group that a node's host was taken from (platform.hosts); "
        "empty: none was named",
    )
    clock: dict[str, float] | None = Field(
        default=None,
        description="of a host that SSH reaches: ahead_s, seconds that its clock was ahead of the "
        "local one, which was taken off all times; uncertain_s, how far that may be off; rounds",
    )
    parity: dict[str, str] = Field(
        description="facts compared across conditions: cpus, memory, heap, open files, "
        "file system, clock source, transparent huge pages, kernel, JVM"
    )


class SourceFile(Record):
    """A file of another tool that a trial was imported from."""

    path: str = Field(description="as it was named; inside an archive: ARCHIVE::MEMBER")
    bytes: int
    sha256: str
    tool: str = Field(default="", description="the tool that wrote it")
    scope: str = Field(
        default="", description="of a machine's series: the machine, as samples name it"
    )


class ImportSource(Record):
    """Where an imported trial comes from."""

    tool: str = Field(description="ycsb, cassandra-stress, latte, hlog, sar, iostat, dstat, csv")
    files: list[SourceFile]
    told: dict[str, str] = Field(
        default_factory=dict,
        description="what the files tell of the tool and its load: tool, tool version, database "
        "binding, load, threads, consistency, and each setting that it prints of itself as "
        "`property NAME`, as far as printed",
    )


class Calls(Record):
    """System calls of a trial's units, counted in its slices of the warm-up."""

    slices: int
    operations: int = Field(description="successful ones in these slices")
    counts: dict[str, int] = Field(
        description="of servers' and clients' processes: server_calls and client_calls are all, "
        "server_futex_calls and so on those of a kind (futex, epoll, read, write, sendmsg, sync)"
    )
    demand_us: float = Field(
        description="service demand in these slices, microseconds: with what counting costs, which "
        "is in no measured slice"
    )


class Slices(Record):
    """How a trial was cut into slices, between which the other conditions of its block ran.

    Everything that the manifest counts is summed over the measured slices. One line a slice is in
    slices.jsonl.
    """

    count: int = Field(description="measured slices; those of load.warmup are not among them")
    length_s: float = Field(description="time in which operations are begun, of each")
    drain_s: float = Field(description="time for the last replies after that, of each")
    frozen: bool = Field(description="every server stood still while it was not driven")
    why_not_frozen: str = Field(default="", description="why not, where not")
    paced: bool = Field(
        default=False, description="the pace of the servers' CPUs was sampled in the slices"
    )
    why_not_paced: str = Field(default="", description="why not, where not")
    empty: int = Field(description="slices of the block in which nothing was driven")
    undrained: int = Field(
        default=0, description="operations whose reply came after the drain of their slice"
    )
    late: int = Field(
        default=0, description="slices whose servers were thawed or frozen more than 5 ms too late"
    )
    disturbed: int = Field(
        default=0,
        description="slices in which other work took more than 5% of the CPU time, of a short one "
        "more than 5% of that of 250 ms",
    )
    other_cpu_s: float = Field(
        default=0.0,
        description="CPU seconds of what is neither database, client, engine nor Tare",
    )
    counts: dict[str, float] = Field(
        default_factory=dict,
        description="what the kernel counted over the measured slices, less as much as in empty "
        "ones: switches (context switches) and net_rx (runs of the network's receive soft "
        "interrupt) of the machine, packets of the servers, and client_packets, which is absent "
        "where a server shares the clients' network namespace, and holds what an engine's proxy "
        "passes between nodes that reach each other by published ports; of the processes of "
        "servers and clients server_switches, server_faults (minor ones), server_read_bytes and "
        "server_written_bytes (of storage), client_switches and so on; empty where other machines "
        "took part",
    )
    calls: Calls | None = Field(default=None, description="null: none were counted")
    why_no_calls: str = Field(default="", description="why not, where not")
    client_packets_per_op: float | None = Field(
        default=None,
        description="packets between clients and servers per operation, counted by the clients' "
        "port on the servers' bridge in the slices of the warm-up: of nodes that reach each other "
        "by published ports, where client_packets holds other packets too; null: not counted so",
    )


class TrialManifest(Record):
    """Everything about one trial that is not a series. Written once, when it is complete."""

    format: int = FORMAT
    run: str
    trial: str = Field(description="directory name, e.g. D1-B03-docker-host")
    status: Literal["done", "failed"]
    reason: str = Field(default="", description="why it failed")
    condition: str
    levels: dict[str, str] = Field(description="factor name to level name")
    round: int = Field(description="1-based pass over deployments (design.deployments)")
    block: int = Field(description="1-based block within the round")
    position: int = Field(description="1-based position within the block")
    deployment: str = Field(description="id of the cluster life that served it, e.g. D1-native-1")
    attempt: int = Field(default=1, description="2 when this is the retry of a failed trial")
    started: str = Field(description="ISO 8601, UTC")
    ended: str
    measure_start: float = Field(description="Unix time at which the measured part started")
    measure_end: float
    setup: dict[str, Any] = Field(description="the condition's resolved study document")
    clients: list[ClientResult]
    warm_up: WarmUp | None
    units: list[UnitRecord]
    database: dict[str, Any] = Field(
        description="what the cluster says of itself: version, settings, peers, schema"
    )
    path: dict[str, Any] = Field(
        default_factory=dict,
        description="what an orchestrator's network is made of and what was seen of the way from "
        "the clients to the nodes, before the cluster was made; empty: the runtime has none",
    )
    caches_dropped: bool | None = Field(description="null: the study did not ask for it")
    server_cpu_s: float = Field(
        description="CPU seconds of all database units over the measured part, from accounting"
    )
    jit_cpu_s: float | None = Field(
        default=None,
        description="of server_cpu_s, CPU seconds of the servers' JIT compiler threads; null: "
        "none could be seen",
    )
    engine_cpu_s: float = Field(
        description="CPU seconds of the container engine and its proxies over the measured part"
    )
    machine_cpu_s: float = Field(
        description="busy CPU seconds of the whole machine over the measured part"
    )
    background_cpu_s: float = Field(
        default=0.0,
        description="of machine_cpu_s, what the measured operations did not cause: Tare's own "
        "watching, and in slices other programs and what the machines used in empty ones",
    )
    probe_cpu_s: float = Field(description="CPU seconds that tare-probe itself used")
    machine_modes_s: dict[str, float] = Field(
        default_factory=dict,
        description="machine_cpu_s by the kernel's modes: user, nice, system, irq, softirq; and "
        "steal, which is no part of it",
    )
    server: dict[str, float] = Field(
        default_factory=dict,
        description="growth of the database's own counters and of its threads' CPU time over the "
        "measured part, summed over nodes: cpu.gc_s, gc.pauses, requests.coordinated, ...",
    )
    source: ImportSource | None = Field(default=None, description="null: Tare measured it itself")
    reported: dict[str, float] | None = Field(
        default=None,
        description="imported: metric name to value as the other tool printed it, in Tare's units "
        "(us, operations/s); then `clients` is empty",
    )
    operations: int | None = Field(
        default=None, description="imported: operations that succeeded; null: not printed"
    )
    errors_by_kind: dict[str, int] = Field(
        default_factory=dict, description="imported: the tool's name of an error to its number"
    )
    histograms: list[str] = Field(
        default_factory=list, description="imported: file names of histogram logs beside this file"
    )
    histogram_tick_ns: int = Field(
        default=1, ge=1, description="imported: nanoseconds per unit of the histograms' values"
    )
    load_rests_on: str = Field(
        default="",
        description="where the study's load is a share of a maximum: what was found, and how well",
    )
    slices: Slices | None = Field(default=None, description="null: measured in one piece")
    notes: list[str] = Field(default_factory=list)

    @property
    def loaded_s(self) -> float:
        """Seconds under load: of a trial in slices those of its slices, without their drains."""
        if self.slices is not None:
            return self.slices.count * self.slices.length_s
        return self.measured_s

    @property
    def measured_s(self) -> float:
        """Seconds that were measured: of a trial in slices those in which it was driven and
        drained, while from `measure_start` to `measure_end` others had their turns too."""
        if self.slices is not None:
            return self.slices.count * (self.slices.length_s + self.slices.drain_s)
        return self.measure_end - self.measure_start


def unmeasured() -> dict[str, Any]:
    """The fields of a manifest that only Tare's own measuring fills, for trials without it."""
    return {
        "clients": [],
        "warm_up": None,
        "units": [],
        "database": {},
        "caches_dropped": None,
        "server_cpu_s": 0.0,
        "engine_cpu_s": 0.0,
        "machine_cpu_s": 0.0,
        "probe_cpu_s": 0.0,
    }
