"""Use of the machine and the database per operation, beside each metric of a trial.

Two kinds. `usage_values` are metrics of their own, shown like throughput: how busy CPU and disk
were. `beside_values` are counts per operation that may explain an effect: they are compared
(analysis/why/why.py) but get no verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.metrics import US, demand_by_owner_s, on_hosts
from tare.study.metric_names import SERVER_UTIL
from tare.study.platform import published_between

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tare.records.manifest import TrialManifest
    from tare.records.samples import Samples

MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
BUSY = ("user", "nice", "system", "irq", "softirq")
LEAST_COVERED = 0.5
"""Share of the measured part that samples must cover for a total to be given."""

CLIENT_PACKETS = "net.client_packets_per_op"
_SUMS = {
    "os.context_switches_per_op": ("ctxt_per_s",),
    "os.interrupts_per_op": ("intr_per_s",),
    "net.packets_per_op": ("net_rx_packets_per_s", "net_tx_packets_per_s"),
    "net.bytes_per_op": ("net_rx_bytes_per_s", "net_tx_bytes_per_s"),
    "net.loopback_bytes_per_op": ("lo_rx_bytes_per_s",),
    "disk.write_bytes_per_op": ("disk_write_bytes_per_s",),
    "disk.read_bytes_per_op": ("disk_read_bytes_per_s",),
    "disk.writes_per_op": ("disk_writes_per_s",),
}
"""Metric to the sampler's rates that are added up for it."""
_COUNTED = {
    "os.context_switches_per_op": "switches",
    "net.server_packets_per_op": "packets",
    CLIENT_PACKETS: "client_packets",
    "net.rx_softirqs_per_op": "net_rx",
    "os.server_switches_per_op": "server_switches",
    "os.client_switches_per_op": "client_switches",
    "os.server_faults_per_op": "server_faults",
    "os.client_faults_per_op": "client_faults",
    "disk.server_written_bytes_per_op": "server_written_bytes",
    "disk.server_read_bytes_per_op": "server_read_bytes",
}
"""Metric to what was counted at the ends of slices."""
_CALLED = {
    "os.server_calls_per_op": "server_calls",
    "os.client_calls_per_op": "client_calls",
}
"""Metric to system calls. Calls of each kind are for bills alone: listed beside an effect, they
would widen every other interval there (Bonferroni)."""
_SERVER_CPU = {
    "cpu.gc_per_op": "cpu.gc_s",
    "cpu.jit_per_op": "cpu.jit_s",
    "cpu.compaction_per_op": "cpu.compaction_s",
    "cpu.flush_per_op": "cpu.flush_s",
    "cpu.network_per_op": "cpu.network_s",
}
"""Metric to the CPU seconds of the database's threads, as the manifest has them."""
_PER_MILLION = {
    "gc.pauses": "gc.pauses_per_million",
    "flush.tasks": "flush.tasks_per_million",
    "requests.blocked": "requests.blocked_per_million",
}
MILLION = 1e6


def machine_totals(
    samples: Samples, manifest: TrialManifest, scopes: Collection[str] | None = None
) -> dict[str, float]:
    """Sampled metric of the machines to its integral over the measured part, summed over them.

    A sample is a mean over the time since the sample before it. A sample across an end of the
    measured part counts by the share inside. If the samples cover half of the measured part, the
    rest is taken to have been alike; else the metric is left out.

    Args:
        scopes: the machines, as samples name them; None: all.
    """
    chosen = samples.rows(samples.of_machines() & np.isfinite(samples.value))
    weights: dict[bytes, np.ndarray | None] = {}  # most metrics share their times
    totals: dict[str, float] = {}
    partly: set[str] = set()  # without a value from one machine there is no sum
    for (scope, metric), own in chosen:
        if scopes is not None and scope not in scopes:
            continue
        t = samples.t[own]
        key = t.tobytes()
        if key not in weights:
            weights[key] = _weights(t, manifest.measure_start, manifest.measure_end)
        weight = weights[key]
        if weight is None:
            partly.add(metric)
        else:
            totals[metric] = totals.get(metric, 0.0) + float(np.dot(weight, samples.value[own]))
    return {metric: total for metric, total in totals.items() if metric not in partly}


def _weights(t: np.ndarray, start: float, end: float) -> np.ndarray | None:
    """Seconds that each sample, taken at `t`, stands for; None where samples cover too little."""
    if len(t) < 2 or end <= start or np.any(np.diff(t) <= 0):
        return None
    begun = np.concatenate([[2 * t[0] - t[1]], t[:-1]])
    inside = np.clip(np.minimum(t, end) - np.maximum(begun, start), 0.0, None)
    covered = float(inside.sum())
    if covered < LEAST_COVERED * (end - start):
        return None
    scaled: np.ndarray = inside * ((end - start) / covered)
    return scaled


def usage_values(totals: Mapping[str, float], manifest: TrialManifest) -> dict[str, float]:
    """cpu.util and cpu.softirq in % of the machine's CPU time, disk.write_kbps in kB/s."""
    found: dict[str, float] = {}
    if cpu := _cpu(totals):
        busy, whole = cpu
        found["cpu.util"] = 100 * busy / whole
        if "cpu_softirq" in totals:
            found["cpu.softirq"] = 100 * totals["cpu_softirq"] / whole
    if "disk_write_bytes_per_s" in totals:
        seconds = manifest.measured_s
        found["disk.write_kbps"] = totals["disk_write_bytes_per_s"] / seconds / 1e3
    return found


def host_values(samples: Samples, manifest: TrialManifest) -> dict[str, float]:
    """`SERVER_UTIL` of servers on hosts of an inventory: the busy share of these hosts' CPU time,
    less what clients on them used."""
    if not on_hosts(manifest):
        return {}
    hosts = {f"machine@{one.machine}" for one in manifest.units if one.role == "database"}
    if hosts - {scope for scope, _ in samples.parts}:
        return {}
    cpu = _cpu(machine_totals(samples, manifest, hosts))
    if cpu is None:
        return {}
    busy, whole = cpu
    near = {one.name for one in manifest.units if f"machine@{one.machine}" in hosts}
    own = sum(c.cpu_us_per_op * c.ok for c in manifest.clients if c.client in near) / US
    # sums of samples are in CPU seconds, as the kernel's counters are
    return {SERVER_UTIL: 100 * (busy - own) / whole}


def _cpu(totals: Mapping[str, float]) -> tuple[float, float] | None:
    """CPU seconds in use, and of all modes; None where idle time is not known."""
    modes = {mode: totals[f"cpu_{mode}"] for mode in MODES if f"cpu_{mode}" in totals}
    whole = sum(modes.values())
    if whole <= 0 or "idle" not in modes:
        return None
    return sum(modes.get(mode, 0.0) for mode in BUSY), whole


def operations_of(manifest: TrialManifest) -> float:
    """Successful operations; without them in an imported trial, throughput x length."""
    if manifest.reported is None:
        return float(sum(client.ok for client in manifest.clients))
    if manifest.operations is not None:
        return float(manifest.operations)
    seconds = manifest.measured_s
    return max(manifest.reported.get("throughput", 0.0) * seconds, 0.0)


def beside_values(totals: Mapping[str, float], manifest: TrialManifest) -> dict[str, float]:
    """Every count per operation that the records allow; others are absent."""
    operations = operations_of(manifest)
    if operations <= 0:
        return {}
    found = {
        name: sum(totals[part] for part in parts) / operations
        for name, parts in _SUMS.items()
        if all(part in totals for part in parts)
    }
    found |= _by_mode(totals, manifest, operations)
    if manifest.reported is None:
        found |= _by_unit(manifest, operations)
    if manifest.slices is not None:
        counts = manifest.slices.counts
        found |= {name: counts[key] / operations for name, key in _COUNTED.items() if key in counts}
        found = _clients_alone(found, manifest)
        calls = calls_per_operation(manifest)
        found |= {name: calls[key] for name, key in _CALLED.items() if key in calls}
    return found | _server(manifest, operations)


def _clients_alone(found: dict[str, float], manifest: TrialManifest) -> dict[str, float]:
    """With the packets of clients alone, or without any: where nodes reach each other by published
    ports, the kernel's count includes packets that their proxy sends and receives."""
    platform, database = (manifest.setup.get(part, {}) for part in ("platform", "database"))
    if not published_between(platform.get("network", ""), database.get("nodes", 1)):
        return found
    told = manifest.slices.client_packets_per_op if manifest.slices is not None else None
    rest = {name: value for name, value in found.items() if name != CLIENT_PACKETS}
    return rest if told is None else rest | {CLIENT_PACKETS: told}


def calls_per_operation(manifest: TrialManifest) -> dict[str, float]:
    """System calls by name (tare.lab.counted_calls), from the slices of the warm-up."""
    calls = manifest.slices.calls if manifest.slices is not None else None
    if calls is None or calls.operations <= 0:
        return {}
    return {name: number / calls.operations for name, number in calls.counts.items()}


def _by_mode(
    totals: Mapping[str, float], manifest: TrialManifest, operations: float
) -> dict[str, float]:
    """Service demand in the kernel's modes, microseconds, and the correction to their sum.

    The kernel does not say in which modes the background was spent, so it is a part of its own,
    below 0. Values are from the counters read at both ends of the measured part, or from the
    samples where these were not kept.
    """
    seconds = dict(manifest.machine_modes_s)
    if not seconds:
        seconds = {m: totals[f"cpu_{m}"] for m in MODES if f"cpu_{m}" in totals}
    if not {"user", "system", "softirq"} <= seconds.keys():
        return {}
    each = {
        "cpu.user_per_op": seconds["user"] + seconds.get("nice", 0.0),
        "cpu.system_per_op": seconds["system"],
        "cpu.softirq_per_op": seconds["softirq"] + seconds.get("irq", 0.0),
    }
    each["cpu.background_per_op"] = -manifest.background_cpu_s
    if "steal" in seconds:
        each["cpu.steal_per_op"] = seconds["steal"]
    return {name: value * US / operations for name, value in each.items()}


def _by_unit(manifest: TrialManifest, operations: float) -> dict[str, float]:
    """Service demand by who used it, microseconds."""
    owned = demand_by_owner_s(manifest)
    return {name: value * US / operations for name, value in owned.items()}


def _server(manifest: TrialManifest, operations: float) -> dict[str, float]:
    """Counts of the database itself, per operation."""
    counted = manifest.server
    found = {
        name: counted[key] * US / operations for name, key in _SERVER_CPU.items() if key in counted
    }
    if manifest.jit_cpu_s is not None:
        found.setdefault("cpu.jit_per_op", manifest.jit_cpu_s * US / operations)
    if len(found) == len(_SERVER_CPU):
        known = sum(found.values())
        found["cpu.requests_per_op"] = manifest.server_cpu_s * US / operations - known
    if "gc.pause_s" in counted:
        found["gc.pause_per_op"] = counted["gc.pause_s"] * US / operations
    # not for slices: between two pauses lay time in which nothing was measured
    if "gc.allocated_bytes_per_s" in counted and manifest.slices is None:
        seconds = manifest.measured_s
        found["gc.allocated_bytes_per_op"] = (
            counted["gc.allocated_bytes_per_s"] * seconds / operations
        )
    for key, name in _PER_MILLION.items():
        if key in counted:
            found[name] = counted[key] * MILLION / operations
    for key, value in counted.items():
        if key.startswith(("cache.", "internode.")):
            found[f"{key}_per_op"] = value / operations
    return found
