"""The metrics of a trial, computed from its records; their names: catalogue.py.

A metric that a trial cannot give is absent, never 0. In a trial in slices, the metrics that each
slice gives (`COSTS` in slices.py) are replaced by the result of their block's fit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.analysis.catalogue import ALL, ERRORS, OTHERS, OWNERS, SERVICE_DEMAND, has_ratio
from tare.machines.registry import of_record
from tare.study.metric_names import SERVER_UTIL, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.records.hlog import Latencies
    from tare.records.manifest import TrialManifest

LatencyKey = tuple[str, str]
"""(operation such as READ, "service" or "response")."""

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}

MOST_CPUS = 8192
"""CPUs that a kernel may be built for. Source: NR_CPUS of Linux, arch/x86/Kconfig."""

LEAST_FOR_SHAPE = 1000
"""With fewer operations, a moment of the third or fourth order is the accident of the longest."""

LEAST_BEYOND = 10
"""A percentile is given only where this many observations lie beyond it: with fewer it is the
accident of a handful of requests. So p99 needs 1,000 operations, p99.9 needs 10,000."""

US = 1e6
_SHORT = {"READ-MODIFY-WRITE": "rmw"}


def trial_values(
    manifest: TrialManifest, latencies: Mapping[LatencyKey, Latencies]
) -> dict[str, float]:
    """All metrics of one completed trial.

    Args:
        latencies: merged over the trial's clients; empty where the logs are damaged, which leaves
            the percentiles out.
    """
    if manifest.reported is not None:
        reported = {n: v for n, v in manifest.reported.items() if 0 <= v < math.inf}
        return reported | _percentiles(latencies)
    values = _counted(manifest) | server_util(manifest) | _percentiles(latencies)
    values = {
        name: value
        for name, value in values.items()
        if math.isfinite(value) and (value > 0 or not has_ratio(name))
    }
    return values | {ERRORS: float(sum(client.errors for client in manifest.clients))}


def _counted(manifest: TrialManifest) -> dict[str, float]:
    """Service demand and its parts, throughput, means: exact sums, not from histograms."""
    clients = manifest.clients
    ok = sum(client.ok for client in clients)
    if not ok:
        return {}
    values = {
        SERVICE_DEMAND: demand_s(manifest) * US / ok,
        "throughput": sum(client.throughput for client in clients),
    }
    owned = demand_by_owner_s(manifest)
    values |= {name: owned[name] * US / ok for name in OWNERS}
    of_clients = [op for client in clients for op in client.operations]
    return values | mean_latencies((op.operation, op.ok, op.response_mean_us) for op in of_clients)


def demand_s(manifest: TrialManifest) -> float:
    """CPU seconds that the measured operations cost, of everything that takes part.

    CPU time without operations (Tare's watching, empty slices) is not included.
    """
    return manifest.machine_cpu_s - manifest.background_cpu_s


def server_util(manifest: TrialManifest) -> dict[str, float]:
    """`SERVER_UTIL` of servers on this machine, which is alone or shared with the clients.

    CPU time of everything that took part except the clients, over that of the CPUs that the servers
    may use. It exceeds 100% where the engine or the kernel worked for them on other CPUs. Absent
    for servers on hosts of an inventory, whose own samples give it (why/resources.py), and where
    the servers' CPUs are not recorded.
    """
    cpus = server_cpus(manifest)
    if not cpus or manifest.loaded_s <= 0 or on_hosts(manifest):
        return {}
    busy = demand_s(manifest) - demand_by_owner_s(manifest)["cpu.client_per_op"]
    return {SERVER_UTIL: 100 * busy / (manifest.loaded_s * cpus)}


def on_hosts(manifest: TrialManifest) -> bool:
    """Whether the servers ran on hosts of an inventory."""
    kind = of_record(manifest.setup)
    return kind is not None and kind.from_inventory


def server_cpus(manifest: TrialManifest) -> float:
    """How many CPUs the database's units may use together; 0 where a unit's are not known."""
    allowed: set[int] = set()
    quotas: list[float] = []
    for unit in manifest.units:
        if unit.role == "database":
            own = _cpu_numbers(unit.parity.get("cpus allowed", ""))
            if not own:
                return 0.0
            allowed |= own
            quotas.append(_quota(unit.parity.get("cpu quota", "none")))
    return min(float(len(allowed)), sum(quotas))


def _cpu_numbers(listed: str) -> set[int]:
    """The CPUs of a list such as 0-2,5, cpuset(7); empty for any other text."""
    found: set[int] = set()
    for part in listed.split(","):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            return set()
        found.update(range(int(first), min(int(last or first), MOST_CPUS) + 1))
    return found


def _quota(told: str) -> float:
    """CPUs of a quota, such as `1.5 CPUs`; for `none` or any other text, all."""
    try:
        return float(told.removesuffix(" CPUs"))
    except ValueError:
        return math.inf


def demand_by_owner_s(manifest: TrialManifest) -> dict[str, float]:
    """The CPU seconds of `demand_s` by who used them, which add up to it: `OWNERS` and `OTHERS`.

    `OTHERS` is a difference of counters that the kernel keeps in different ways (ticks and
    nanoseconds), so that it can come out a little below 0.
    """
    known = {
        "cpu.server_per_op": manifest.server_cpu_s,
        "cpu.engine_per_op": manifest.engine_cpu_s,
        "cpu.client_per_op": sum(c.cpu_us_per_op * c.ok for c in manifest.clients) / US,
    }
    return known | {OTHERS: demand_s(manifest) - sum(known.values())}


def operation_of(recorded: str) -> str:
    """The operation's name in metrics, from the name under which a client recorded it."""
    return _SHORT.get(recorded, recorded.lower())


def mean_latencies(parts: Iterable[tuple[str, float, float]], least: int = 1) -> dict[str, float]:
    """Mean response time, microseconds, by metric: of each operation and of all together.

    Args:
        parts: operation as a client recorded it, number of replies, and their mean.
        least: with fewer replies there is no mean.
    """
    sums: dict[str, tuple[float, float]] = {}
    for recorded, replies, mean_us in parts:
        for name in (f"{ALL}.mean", f"{operation_of(recorded)}.mean"):
            n, total = sums.get(name, (0.0, 0.0))
            sums[name] = (n + replies, total + replies * mean_us)
    return {name: total / n for name, (n, total) in sums.items() if n >= least}


def _percentiles(latencies: Mapping[LatencyKey, Latencies]) -> dict[str, float]:
    from tare.records.hlog import merged  # numpy, for which a plan does not wait

    response = {op: part for (op, kind), part in latencies.items() if kind == "response"}
    values = _ladder(ALL, merged(response.values()))
    for operation, part in response.items():
        values |= _ladder(operation_of(operation), part)
    return values


def _ladder(operation: str, part: Latencies) -> dict[str, float]:
    """The percentiles that enough observations lie beyond, and the maximum."""
    enough = {
        name: p
        for name, p in PERCENTILES.items()
        if part.total * (1 - p / 100) >= LEAST_BEYOND - 1e-6
    }
    wanted = {**enough, "max": 100.0} if part.total else {}
    found = part.quantiles_us(list(wanted.values())) if wanted else []
    values = {f"{operation}.{name}": value for name, value in zip(wanted, found, strict=True)}
    shape = part.shape() if part.total >= LEAST_FOR_SHAPE else None
    if shape is not None:
        values |= {f"{operation}.{name}": one for name, one in zip(SHAPES, shape, strict=True)}
    return values
