"""The catalogue of metrics: name, title, unit, what is better, and the order of reports.

Metrics of a trial are compared and judged. Counts per operation (`BESIDE`) may explain an effect:
they are compared, and no verdict is passed on them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tare.analysis.model import Metric
from tare.study.metric_names import SERVER_UTIL, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    Better = Literal["higher", "lower"]

ALL = "all"
"""Over all operations together: all.mean, all.p99; else the operation's name: read.mean."""
ERRORS = "errors"
"""A count, often 0: shown, and never a ratio."""

NO_RATIO = frozenset({ERRORS, "disk.write_kbps"})
"""Often 0, and the kernel writes to disk when it likes: a ratio over the trials that happen to
have some would mislead. What was written is compared per operation, as a difference (why.py)."""

SERVICE_DEMAND = "service_demand"
"""CPU time per operation of everything that takes part: database, client, engine and kernel, on
all machines. netperf's word; in operational analysis utilisation = throughput x service demand
(Denning and Buzen, The operational analysis of queueing network models, 1978)."""
OTHERS = "cpu.others_per_op"
"""The part of service demand that nobody who is watched by name used, the kernel foremost."""
OWNERS = ("cpu.server_per_op", "cpu.engine_per_op", "cpu.client_per_op")
"""The parts of service demand whose owner is known; `OTHERS` is what remains."""

_US, _BYTES = "us/operation", "bytes/operation"
_MILLION = "per million operations"
BESIDE = {
    name: Metric(name=name, title=title, unit=unit, better="lower")
    for name, title, unit in (
        ("cpu.user_per_op", "CPU in user code", _US),
        ("cpu.system_per_op", "CPU in the kernel, on behalf of processes", _US),
        ("cpu.softirq_per_op", "CPU in interrupts and soft interrupts (network path)", _US),
        ("cpu.background_per_op", "Taken off: what was used without any operation", _US),
        ("cpu.steal_per_op", "CPU time that a hypervisor took", _US),
        ("cpu.server_per_op", "Database CPU per operation", _US),
        ("cpu.engine_per_op", "Container engine CPU per operation", _US),
        ("cpu.client_per_op", "Load client CPU per operation", _US),
        ("cpu.others_per_op", "Other CPU per operation, the kernel's among it", _US),
        ("cpu.requests_per_op", "Database: requests and the rest", _US),
        ("cpu.network_per_op", "Database: network event loops", _US),
        ("cpu.gc_per_op", "Database: garbage collection", _US),
        ("cpu.compaction_per_op", "Database: compaction", _US),
        ("cpu.flush_per_op", "Database: memtable flushes, commit log", _US),
        ("cpu.jit_per_op", "Database: JIT compiler", _US),
        ("os.context_switches_per_op", "Context switches", "/operation"),
        ("os.server_switches_per_op", "Context switches of the servers", "/operation"),
        ("os.client_switches_per_op", "Context switches of the clients", "/operation"),
        ("os.server_faults_per_op", "Page faults of the servers, without a disk", "/operation"),
        ("os.client_faults_per_op", "Page faults of the clients, without a disk", "/operation"),
        ("os.server_calls_per_op", "System calls of the servers", "/operation"),
        ("os.client_calls_per_op", "System calls of the clients", "/operation"),
        ("os.interrupts_per_op", "Interrupts", "/operation"),
        ("net.packets_per_op", "Packets over network devices, loopback apart", "/operation"),
        ("net.server_packets_per_op", "Packets of the servers", "/operation"),
        ("net.client_packets_per_op", "Packets between clients and servers", "/operation"),
        ("net.rx_softirqs_per_op", "Runs of the network's receive soft interrupt", "/operation"),
        ("net.bytes_per_op", "Bytes over network devices, loopback apart", _BYTES),
        ("net.loopback_bytes_per_op", "Bytes over the loopback device", _BYTES),
        ("disk.write_bytes_per_op", "Written to disk", _BYTES),
        ("disk.read_bytes_per_op", "Read from disk", _BYTES),
        ("disk.writes_per_op", "Disk writes", "/operation"),
        ("disk.server_written_bytes_per_op", "Written to storage by the servers", _BYTES),
        ("disk.server_read_bytes_per_op", "Read from storage by the servers", _BYTES),
        ("gc.pause_per_op", "Pauses for garbage collection", _US),
        ("gc.pauses_per_million", "Garbage collections", _MILLION),
        ("gc.allocated_bytes_per_op", "Allocated on the Java heap", _BYTES),
        ("flush.tasks_per_million", "Memtable flushes", _MILLION),
        ("requests.blocked_per_million", "Requests that waited for a full stage", _MILLION),
        ("internode.messages_per_op", "Messages between nodes", "/operation"),
        ("internode.bytes_per_op", "Bytes between nodes", _BYTES),
    )
}
"""Counts per operation that are shown beside an effect."""

_TITLES = {
    "mean": "Mean latency",
    "p50": "Median latency",
    "p95": "95th percentile latency",
    "p99": "99th percentile latency",
    "p999": "99.9th percentile latency",
    "max": "Longest latency",
}
_SHAPES = {"skewness": "Skewness of latency", "kurtosis": "Kurtosis of latency (normal: 3)"}


def _metric(name: str, title: str, unit: str, better: Better = "lower") -> Metric:
    return Metric(name=name, title=title, unit=unit, better=better)


_FIRST = [
    _metric(SERVICE_DEMAND, "Service demand", _US),
    _metric("throughput", "Throughput", "operations/s", "higher"),
    *(_metric(f"{ALL}.{kind}", title, "us") for kind, title in _TITLES.items()),
]
_LAST = [
    *(BESIDE[name] for name in OWNERS),
    _metric(SERVER_UTIL, "CPU in use of the servers' CPUs, without the clients'", "%"),
    _metric("cpu.util", "CPU in use, whole machine", "%"),
    _metric("cpu.softirq", "CPU in soft interrupts, whole machine", "%"),
    _metric("disk.write_kbps", "Written to disk, whole machine", "kB/s"),
    _metric(ERRORS, "Operations that failed", "operations"),
]
_FIXED = {metric.name: metric for metric in [*_FIRST, *_LAST]}
_PLACE = {
    **{metric.name: (0, place) for place, metric in enumerate(_FIRST)},
    **{metric.name: (2, place) for place, metric in enumerate(_LAST)},
}
_BESIDE_PLACE = {name: place for place, name in enumerate(BESIDE)}


def describe(name: str) -> Metric:
    """The metric of this name: a fixed one, a count, OPERATION.KIND, or one of imported files.

    Of a cache: cache.NAME.requests_per_op, cache.NAME.misses_per_op.
    """
    if name in _FIXED:
        return _FIXED[name]
    if name in BESIDE:
        return BESIDE[name]
    operation, _, kind = name.rpartition(".")
    if operation and kind in _TITLES:
        return _metric(name, f"{_TITLES[kind]}, {operation}", "us")
    if operation and kind in _SHAPES:
        return _metric(name, f"{_SHAPES[kind]}, {operation}", "")
    if operation.startswith("cache.") and kind in ("requests_per_op", "misses_per_op"):
        what = f"{operation.removeprefix('cache.')}, {kind.removesuffix('_per_op')}"
        return _metric(name, f"Cache of {what}", "/operation")
    return _metric(name, name, "")


@cache
def has_ratio(name: str) -> bool:
    """Whether a treatment's value over a baseline's says anything."""
    return name not in NO_RATIO and name.rpartition(".")[2] not in SHAPES


def in_order(names: Iterable[str]) -> list[str]:
    """Metric names as reports list them: service demand, throughput, latencies, CPU, others."""

    def rank(name: str) -> tuple[int, int, str]:
        group, place = _PLACE.get(name, (1 if _is_latency(name) else 3, 0))
        return group, place, name

    return sorted(set(names), key=rank)


def _is_latency(name: str) -> bool:
    operation, _, kind = name.rpartition(".")
    return bool(operation) and kind in (*_TITLES, *SHAPES)


def in_beside_order(names: set[str]) -> list[str]:
    """Names of counts as reports list them."""
    return sorted(names, key=lambda name: (_BESIDE_PLACE.get(name, len(BESIDE)), name))
