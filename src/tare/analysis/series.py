"""One-second series of a trial on one grid; second k is the second that ends at k."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tare.errors import RecordError
from tare.records.hlog import P99, merged
from tare.records.samples import is_machine

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from tare.analysis.trials import Trial
    from tare.records.events import Event
    from tare.records.hlog import HistogramLog, Responses
    from tare.records.manifest import TrialManifest
    from tare.records.reader import ProgressInterval, TrialRecord
    from tare.records.samples import Samples, SeriesKey

Values = list[float | None]

BUSY = ("cpu_user", "cpu_nice", "cpu_system", "cpu_irq", "cpu_softirq")
MACHINE_SERIES = {
    "machine_cpu": BUSY,
    "disk_write": ("disk_write_bytes_per_s",),
    "disk_read": ("disk_read_bytes_per_s",),
    "network": ("net_rx_bytes_per_s", "net_tx_bytes_per_s"),
}
LONG_PAUSE_S = 0.2
UNIT_SERIES = {"server_cpu": "database", "client_cpu": "client"}


def progress_of(record: TrialRecord, trial: Trial) -> list[ProgressInterval] | None:
    """The clients' reports of every second; None where a file is damaged."""
    try:
        intervals, damage = record.progress()
    except RecordError as error:
        trial.note_damage(error)
        return None
    trial.damage += damage
    return intervals


def client_series(
    intervals: Sequence[ProgressInterval],
    clients: Sequence[str],
    logs: Sequence[HistogramLog],
    seconds: int,
) -> dict[str, Values]:
    """Throughput and p99 of response time, over all clients.

    Throughput is the sum over the clients, where every one of them reported. The p99 is that of
    the merged histograms, because several p99s give no p99. With one client and no readable log, it
    is the p99 that the client reported.
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
    seconds: dict[int, list[Responses]] = {}
    for log in logs:
        for part in log.responses:
            second = round(part.start_s - log.start_s + part.length_s)
            seconds.setdefault(second, []).append(part)
    return {second: _p99(parts) for second, parts in seconds.items()}


def _p99(parts: Sequence[Responses]) -> float:
    if len(parts) == 1:
        return parts[0].p99_us
    return merged(part.latencies for part in parts).quantiles_us([P99])[0]


def sampled_series(samples: Samples, manifest: TrialManifest, seconds: int) -> dict[str, Values]:
    """CPU of the database and of the clients, and CPU, disk and network of the machines, summed.

    Several samples that fall into one second are averaged.
    """
    machines = {scope for scope, _ in samples.parts if is_machine(scope)}
    parts = {
        name: {(machine, metric) for machine in machines for metric in metrics}
        for name, metrics in MACHINE_SERIES.items()
    }
    for name, role in UNIT_SERIES.items():
        parts[name] = {(unit.name, "cpu") for unit in manifest.units if unit.role == role}
    order, means = _per_second(samples, manifest, set().union(*parts.values()), seconds)
    found = {
        name: _summed(means, [i for i, part in enumerate(order) if part in own])
        for name, own in parts.items()
    }
    return {name: values for name, values in found.items() if any(v is not None for v in values)}


def _per_second(
    samples: Samples, manifest: TrialManifest, wanted: Collection[SeriesKey], seconds: int
) -> tuple[list[SeriesKey], NDArray[np.float64]]:
    """The parts that were sampled, in the order of the file, and their means per second.

    Returns:
        Parts, and an array (parts, seconds) with NaN where there is no sample.
    """
    chosen = [place for place, part in enumerate(samples.parts) if part in wanted]
    order = [samples.parts[place] for place in chosen]
    rows = np.full(len(samples.parts), -1, dtype=np.intp)
    rows[chosen] = np.arange(len(chosen))
    row, value = rows[samples.part], samples.value
    second = np.floor(samples.t - manifest.measure_start + 0.5)
    kept = (row >= 0) & np.isfinite(value) & (second >= 1) & (second <= seconds)
    place = row[kept] * seconds + second[kept].astype(np.intp) - 1
    counts = np.bincount(place, minlength=len(order) * seconds)
    sums = np.bincount(place, weights=value[kept], minlength=len(order) * seconds)
    with np.errstate(invalid="ignore"):
        means = sums / counts
    return order, means.reshape(len(order), seconds)


def _summed(means: NDArray[np.float64], rows: Sequence[int]) -> Values:
    """Per second: the sum over these rows, where all of them are there.

    Rows are summed in the order of the file, because sums of floats depend on their order.
    """
    if not rows:
        return []
    total = np.zeros(means.shape[1])
    for row in rows:
        total += means[row]
    return [None if math.isnan(value) else value for value in total.tolist()]


def machine_means(samples: Samples, manifest: TrialManifest) -> dict[str, dict[str, float]]:
    """Each machine's metrics to their means over the samples of the measured part."""
    t, value = samples.t, samples.value
    inside = (t >= manifest.measure_start) & (t <= manifest.measure_end) & np.isfinite(value)
    means: dict[str, dict[str, float]] = {}
    for (machine, metric), own in samples.rows(inside & samples.of_machines()):
        means.setdefault(machine, {})[metric] = float(value[own].sum()) / len(own)
    return means


def drawn_events(
    events: Sequence[Event], manifest: TrialManifest
) -> list[tuple[float, float, str]]:
    """Events to show beside the series: (from, to, what), inside the measured part.

    Compactions of the study's tables, and pauses that Cassandra itself would log
    (`gc_log_threshold`, 200 ms).
    """
    start, length = manifest.measure_start, manifest.measured_s
    found = []
    for event in events:
        lasted = event.end - event.start
        if event.what == "compaction":
            table = str(event.detail.get("table", ""))
            shown = not table.startswith("system")
        else:
            shown = event.what == "gc pause" and lasted >= LONG_PAUSE_S
        begin, end = max(event.start - start, 0.0), min(event.end - start, length)
        if shown and begin <= end:
            found.append((begin, end, event.what))
    return found


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
