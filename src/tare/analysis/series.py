"""One-second series of a trial on one grid; second k is the one that ends at k."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from tare.records.hlog import Latencies

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tare.records.hlog import HistogramLog
    from tare.records.manifest import TrialManifest
    from tare.records.reader import ProgressInterval

Values = list[float | None]

BUSY = ("cpu_user", "cpu_nice", "cpu_system", "cpu_irq", "cpu_softirq")
MACHINE_SERIES = {
    "machine_cpu": BUSY,
    "disk_write": ("disk_write_bytes_per_s",),
    "disk_read": ("disk_read_bytes_per_s",),
    "network": ("net_rx_bytes_per_s", "net_tx_bytes_per_s"),
}
UNIT_SERIES = {"server_cpu": "database", "client_cpu": "client"}


def client_series(
    intervals: Sequence[ProgressInterval],
    clients: Sequence[str],
    logs: Sequence[HistogramLog],
    seconds: int,
) -> dict[str, Values]:
    """Throughput and p99 of response time, over all clients.

    Throughput is the sum of the clients', where every one of them reported. The p99 is that of
    the merged histograms, for a p99 cannot be had from several p99s; with one client and no
    readable log, it is the one that the client reported.
    """
    rates: dict[int, dict[str, float]] = {}
    reported: dict[int, float | None] = {}
    for interval in intervals:
        second = round(interval.t)
        # a client's short last interval may fall into the same second: the full one counts
        rates.setdefault(second, {}).setdefault(interval.client, interval.ops_per_s)
        reported.setdefault(second, interval.p99_us)
    whole = {s: sum(by.values()) for s, by in rates.items() if set(clients) <= by.keys()}
    p99: Mapping[int, float | None] = _merged_p99(logs)
    if not p99 and len(clients) == 1:
        p99 = reported
    grid = range(1, seconds + 1)
    return {
        "throughput": [_finite(whole.get(second)) for second in grid],
        "p99": [_finite(p99.get(second)) for second in grid],
    }


def _merged_p99(logs: Sequence[HistogramLog]) -> dict[int, float]:
    seconds: dict[int, Latencies] = {}
    for log in logs:
        first = min((interval.start_s for interval in log.intervals), default=0.0)
        for interval in log.intervals:
            if interval.tag.endswith("-rt"):
                second = round(interval.start_s - first + interval.length_s)
                seconds.setdefault(second, Latencies()).add(interval.latencies)
    return {s: part.quantiles_us([99.0])[0] for s, part in seconds.items() if part.total}


def sampled_series(
    samples: pl.DataFrame, manifest: TrialManifest, seconds: int
) -> dict[str, Values]:
    """CPU of the database and of the clients, and the machine's CPU, disk and network.

    Several samples that fall into one second are averaged.
    """
    wanted = {name: ("machine", metrics) for name, metrics in MACHINE_SERIES.items()}
    found = {
        name: _summed(samples, manifest, [scope], metrics, seconds)
        for name, (scope, metrics) in wanted.items()
    }
    for name, role in UNIT_SERIES.items():
        scopes = [unit.name for unit in manifest.units if unit.role == role]
        found[name] = _summed(samples, manifest, scopes, ["cpu"], seconds)
    return {name: values for name, values in found.items() if any(v is not None for v in values)}


def _summed(
    samples: pl.DataFrame,
    manifest: TrialManifest,
    scopes: Collection[str],
    metrics: Collection[str],
    seconds: int,
) -> Values:
    """Per second: the sum over scopes and metrics, where all of those that exist are there.

    In the order of the file throughout, for sums of floats depend on their order.
    """
    chosen = samples.filter(pl.col("scope").is_in(scopes) & pl.col("metric").is_in(metrics))
    parts = chosen.select("scope", "metric").unique().height
    table = (
        chosen.filter(pl.col("value").is_finite())
        .with_columns((pl.col("t") - manifest.measure_start).round().cast(pl.Int64).alias("s"))
        .filter(pl.col("s").is_between(1, seconds))
        .group_by("s", "scope", "metric", maintain_order=True)
        .agg(pl.col("value").mean())
        .group_by("s", maintain_order=True)
        .agg(pl.col("value").sum(), pl.len().alias("n"))
        .filter(pl.col("n") == parts)
    )
    by_second = dict(zip(table["s"].to_list(), table["value"].to_list(), strict=True))
    return [by_second.get(second) for second in range(1, seconds + 1)]


def total_mean(
    samples: pl.DataFrame, manifest: TrialManifest, metrics: Collection[str]
) -> float | None:
    """Mean over the measured part of the sum of these machine metrics; None if not sampled."""
    means = (
        samples.filter(
            (pl.col("scope") == "machine")
            & pl.col("metric").is_in(metrics)
            & pl.col("value").is_finite()
            & pl.col("t").is_between(manifest.measure_start, manifest.measure_end)
        )
        .group_by("metric", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    return float(means["value"].sum()) if means.height else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
