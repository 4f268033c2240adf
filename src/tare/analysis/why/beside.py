"""Titles and units of the counts per operation that are shown beside an effect."""

from __future__ import annotations

from tare.analysis.model import Metric

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
        ("os.interrupts_per_op", "Interrupts", "/operation"),
        ("net.packets_per_op", "Packets over network devices, loopback apart", "/operation"),
        ("net.server_packets_per_op", "Packets of the servers", "/operation"),
        ("net.client_packets_per_op", "Of these, between clients and servers", "/operation"),
        ("net.rx_softirqs_per_op", "Runs of the network's receive soft interrupt", "/operation"),
        ("net.bytes_per_op", "Bytes over network devices, loopback apart", _BYTES),
        ("net.loopback_bytes_per_op", "Bytes over the loopback device", _BYTES),
        ("disk.write_bytes_per_op", "Written to disk", _BYTES),
        ("disk.read_bytes_per_op", "Read from disk", _BYTES),
        ("disk.writes_per_op", "Disk writes", "/operation"),
        ("gc.pause_per_op", "Pauses for garbage collection", _US),
        ("gc.pauses_per_million", "Garbage collections", _MILLION),
        ("gc.allocated_bytes_per_op", "Allocated on the Java heap", _BYTES),
        ("flush.tasks_per_million", "Memtable flushes", _MILLION),
        ("requests.blocked_per_million", "Requests that waited for a full stage", _MILLION),
        ("internode.messages_per_op", "Messages between nodes", "/operation"),
        ("internode.bytes_per_op", "Bytes between nodes", _BYTES),
    )
}
_PLACE = {name: place for place, name in enumerate(BESIDE)}


def describe_beside(name: str) -> Metric:
    """The count of this name; of a cache: cache.NAME.requests_per_op, cache.NAME.misses_per_op."""
    if name in BESIDE:
        return BESIDE[name]
    first, _, rest = name.partition(".")
    cache, _, what = rest.rpartition(".")
    if first == "cache" and what in ("requests_per_op", "misses_per_op"):
        title = f"Cache of {cache}, {what.removesuffix('_per_op')}"
        return Metric(name=name, title=title, unit="/operation", better="lower")
    return Metric(name=name, title=name, unit="", better="lower")


def in_beside_order(names: set[str]) -> list[str]:
    """Names as the report lists them."""
    return sorted(names, key=lambda name: (_PLACE.get(name, len(_PLACE)), name))
