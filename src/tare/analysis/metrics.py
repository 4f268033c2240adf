"""What is measured per trial, and how it follows from the trial's records.

A metric that a trial cannot give is absent, never 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.analysis.model import Metric
from tare.records.hlog import merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tare.records.hlog import Latencies
    from tare.records.manifest import ClientResult, TrialManifest

LatencyKey = tuple[str, str]
"""(operation such as READ, "service" or "response")."""

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
PER_OPERATION = ("mean", "p99")

LEAST_BEYOND = 10
"""A percentile is given only where this many observations lie beyond it: with fewer it is the
accident of a handful of requests. So p99 needs 1,000 operations, p99.9 needs 10,000."""

US = 1e6

_TITLES = {
    "mean": "Mean latency",
    "p50": "Median latency",
    "p95": "95th percentile latency",
    "p99": "99th percentile latency",
    "p999": "99.9th percentile latency",
}
_FIXED = {
    "throughput": Metric(
        name="throughput", title="Throughput", unit="operations/s", better="higher"
    ),
    **{name: Metric(name=name, title=t, unit="us", better="lower") for name, t in _TITLES.items()},
    **{
        f"{who}_cpu_per_op": Metric(
            name=f"{who}_cpu_per_op", title=title, unit="us/operation", better="lower"
        )
        for who, title in (
            ("server", "Database CPU per operation"),
            ("engine", "Container engine CPU per operation"),
            ("machine", "Whole machine's CPU per operation"),
            ("client", "Load client CPU per operation"),
        )
    },
}


def describe(name: str) -> Metric:
    """The metric of this name, one of the fixed ones or OPERATION_mean and OPERATION_p99."""
    if name in _FIXED:
        return _FIXED[name]
    operation, _, what = name.rpartition("_")
    title = f"{_TITLES[what]}, {operation}"
    return Metric(name=name, title=title, unit="us", better="lower")


def in_order(names: Iterable[str]) -> list[str]:
    """Metric names as reports list them: throughput, latencies, per operation, CPU."""
    fixed = list(_FIXED)
    latency_end = fixed.index("p999")

    def rank(name: str) -> tuple[int, str]:
        if name not in _FIXED:
            return latency_end + 1, name
        place = fixed.index(name)
        return (place, "") if place <= latency_end else (place + 2, "")

    return sorted(set(names), key=rank)


def margin_of(name: str, margins: Mapping[str, float]) -> float | None:
    """The declared margin, a fraction: the metric's own, else that of its kind (read_p99: p99)."""
    if name in margins:
        return margins[name]
    kind = name.rpartition("_")[2]
    return margins.get(kind) if kind in PER_OPERATION else None


def trial_values(
    manifest: TrialManifest, latencies: Mapping[LatencyKey, Latencies]
) -> dict[str, float]:
    """All metrics of one trial that was done.

    Args:
        latencies: merged over the trial's clients; empty where the logs are damaged, which leaves
            the percentiles out.
    """
    values = _counted(manifest) | _percentiles(latencies)
    return {name: value for name, value in values.items() if 0 < value < math.inf}


def _counted(manifest: TrialManifest) -> dict[str, float]:
    """Throughput, means and CPU per operation: exact sums, not from histograms."""
    clients = manifest.clients
    ok = sum(client.ok for client in clients)
    if not ok:
        return {}
    values = {
        "throughput": sum(client.throughput for client in clients),
        "server_cpu_per_op": manifest.server_cpu_s * US / ok,
        "engine_cpu_per_op": manifest.engine_cpu_s * US / ok,
        "machine_cpu_per_op": manifest.machine_cpu_s * US / ok,
        "client_cpu_per_op": sum(client.cpu_us_per_op * client.ok for client in clients) / ok,
    }
    return values | _means(clients)


def _means(clients: list[ClientResult]) -> dict[str, float]:
    sums: dict[str, tuple[int, float]] = {}
    for client in clients:
        for op in client.operations:
            for name in ("mean", f"{op.operation.lower()}_mean"):
                n, total = sums.get(name, (0, 0.0))
                sums[name] = (n + op.ok, total + op.ok * op.response_mean_us)
    return {name: total / n for name, (n, total) in sums.items() if n}


def _percentiles(latencies: Mapping[LatencyKey, Latencies]) -> dict[str, float]:
    response = {op: part for (op, kind), part in latencies.items() if kind == "response"}
    values = _ladder("", merged(response.values()), PERCENTILES)
    for operation, part in response.items():
        values |= _ladder(f"{operation.lower()}_", part, {"p99": 99.0})
    return values


def _ladder(prefix: str, part: Latencies, wanted: Mapping[str, float]) -> dict[str, float]:
    enough = {
        name: p for name, p in wanted.items() if part.total * (1 - p / 100) >= LEAST_BEYOND - 1e-6
    }
    found = part.quantiles_us(list(enough.values())) if enough else []
    return {f"{prefix}{name}": value for name, value in zip(enough, found, strict=True)}
