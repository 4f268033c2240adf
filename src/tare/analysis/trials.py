"""One trial, read once: its values, histograms and series, and whatever was wrong with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.analysis.metrics import LatencyKey, trial_values
from tare.analysis.series import client_series, sampled_series, total_mean
from tare.analysis.steady import mser5
from tare.errors import RecordError
from tare.records.hlog import HistogramLog, Latencies

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from tare.records.manifest import TrialManifest
    from tare.records.reader import TrialRecord

KINDS = {"st": "service", "rt": "response"}
LOST_SHARE = 0.01
"""Share of the operations that may be missing from the histograms: the last interval of a client
may end a moment before its final count."""


@dataclass
class Trial:
    """What the analysis needs of one trial.

    Attributes:
        name: its directory's; that of a failed attempt ends in .failed-N.
        latencies: (operation, service or response) to the histogram over all clients.
        values: metric to value; empty for a failed trial.
        grid: ends of the one-second intervals, seconds after the start of the measured part.
        series: name to one value per second, None where nothing was recorded.
        steady: None where the series is too short to tell.
        steal: share of the machine's CPU time that a hypervisor took; None if not sampled.
        damage: what could not be read, one sentence each.
    """

    name: str
    manifest: TrialManifest
    latencies: dict[LatencyKey, Latencies] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    grid: list[float] = field(default_factory=list)
    series: dict[str, list[float | None]] = field(default_factory=dict)
    steady: bool | None = None
    steal: float | None = None
    damage: list[str] = field(default_factory=list)

    @property
    def condition(self) -> str:
        return self.manifest.condition

    @property
    def cell(self) -> tuple[int, int]:
        """(round, block)."""
        return self.manifest.round, self.manifest.block

    @property
    def done(self) -> bool:
        return self.manifest.status == "done"

    @property
    def operations(self) -> int:
        return sum(client.ok for client in self.manifest.clients)

    @property
    def errors(self) -> int:
        return sum(client.errors for client in self.manifest.clients)

    @property
    def saturated(self) -> bool:
        return any(client.saturated for client in self.manifest.clients)


def read_trial(record: TrialRecord) -> Trial:
    """Read everything of one trial; damage is named, never raised."""
    trial = Trial(record.name, record.manifest)
    if not trial.done:
        return trial
    logs = _histograms(record, trial)
    trial.values = trial_values(record.manifest, trial.latencies)
    seconds = math.ceil(record.manifest.measure_end - record.manifest.measure_start - 0.5)
    trial.grid = [float(second) for second in range(1, seconds + 1)]
    _add_progress(record, trial, logs)
    samples = _samples(record, trial)
    if samples is not None:
        trial.series |= sampled_series(samples, record.manifest, len(trial.grid))
        trial.steal = _steal(samples, record.manifest)
    throughput = [v for v in trial.series.get("throughput", []) if v is not None]
    cut = mser5(throughput)
    trial.steady = None if cut is None else cut.steady
    return trial


def _histograms(record: TrialRecord, trial: Trial) -> list[HistogramLog]:
    """All clients' logs; the trial keeps their sum only if it is whole."""
    logs = []
    found: dict[LatencyKey, Latencies] = {}
    try:
        for client in record.manifest.clients:
            log = record.histograms(client)
            logs.append(log)
            trial.damage += log.damage
            for tag, part in log.totals.items():
                operation, _, kind = tag.rpartition("-")
                if operation and kind in KINDS:
                    found.setdefault((operation, KINDS[kind]), Latencies()).add(part)
    except RecordError as error:
        trial.damage.append(f"{error.what}: {error.why}")
    counted = sum(part.total for (_, kind), part in found.items() if kind == "response")
    if abs(counted - trial.operations) > LOST_SHARE * trial.operations:
        trial.damage.append(
            f"the histograms hold {counted:,} of {trial.operations:,} operations; "
            "percentiles of this trial are left out"
        )
    elif not trial.damage:
        trial.latencies = found
        return logs
    return []


def _add_progress(record: TrialRecord, trial: Trial, logs: list[HistogramLog]) -> None:
    try:
        intervals, damage = record.progress()
    except RecordError as error:
        trial.damage.append(f"{error.what}: {error.why}")
        return
    trial.damage += damage
    clients = [client.client for client in record.manifest.clients]
    trial.series |= client_series(intervals, clients, logs, len(trial.grid))


def _samples(record: TrialRecord, trial: Trial) -> pl.DataFrame | None:
    try:
        return record.samples()
    except RecordError as error:
        trial.damage.append(f"{error.what}: {error.why}")
        return None


def _steal(samples: pl.DataFrame, manifest: TrialManifest) -> float | None:
    stolen = total_mean(samples, manifest, ["cpu_steal"])
    modes = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"]
    total = total_mean(samples, manifest, [f"cpu_{mode}" for mode in modes])
    return stolen / total if stolen is not None and total else None


def read_trials(records: Iterable[TrialRecord]) -> list[Trial]:
    """Read all trials, in the order in which they were measured."""
    return sorted((read_trial(r) for r in records), key=lambda t: (t.manifest.started, t.name))
