"""One trial, read once: its values, histograms and series, and any damage."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.analysis.catalogue import ALL
from tare.analysis.distributions import LOST_SHARE, add_log
from tare.analysis.imported import imported_latencies, imported_series, whole
from tare.analysis.metrics import LatencyKey, trial_values
from tare.analysis.series import (
    client_series,
    drawn_events,
    machine_means,
    progress_of,
    sampled_series,
)
from tare.analysis.slices import SliceRow, read_slices
from tare.analysis.steady import change_points, mser5
from tare.analysis.why.resources import (
    MODES,
    beside_values,
    host_values,
    machine_totals,
    usage_values,
)
from tare.errors import RecordError
from tare.records.events import read_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.records.hlog import HistogramLog, Latencies
    from tare.records.manifest import TrialManifest
    from tare.records.reader import TrialRecord
    from tare.records.samples import Samples

CPU_MODES = frozenset(f"cpu_{mode}" for mode in MODES)


@dataclass
class Trial:
    """The data of one trial that the analysis needs.

    Attributes:
        name: its directory's; that of a failed attempt ends in .failed-N.
        latencies: (operation, service or response) to the histogram over all clients; dropped once
            merged per condition.
        curves: (operation, service or response) to its latencies at the ladder's percentiles, which
            are kept; see tare.analysis.distributions.
        values: metric to value; empty for a failed trial.
        grid: ends of the one-second intervals, seconds after the start of the measured part; empty,
            as is series, for a trial in slices.
        series: name to one value per second, None where nothing was recorded.
        beside: counts per operation that may explain an effect.
        events: (from, to, what) in seconds after the start of the measured part.
        slices: its measured slices, in their order; empty where it was measured in one piece.
        slice_noise: metric to the standard error that the noise of its slices leaves its log value.
        steady: None where the series is too short to tell.
        change_points: seconds of the measured part at which the level of throughput changes.
        steal: share of the machine's CPU time that a hypervisor took; None if not sampled.
        damage: what could not be read, one sentence each.
        files: the record files, as paths inside the run directory.
    """

    name: str
    manifest: TrialManifest
    latencies: dict[LatencyKey, Latencies] = field(default_factory=dict)
    curves: dict[LatencyKey, list[float]] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    grid: list[float] = field(default_factory=list)
    series: dict[str, list[float | None]] = field(default_factory=dict)
    beside: dict[str, float] = field(default_factory=dict)
    events: list[tuple[float, float, str]] = field(default_factory=list)
    slices: list[SliceRow] = field(default_factory=list)
    slice_noise: dict[str, float] = field(default_factory=dict)
    steady: bool | None = None
    change_points: list[float] = field(default_factory=list)
    steal: float | None = None
    damage: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def note_damage(self, error: RecordError) -> None:
        self.damage.append(f"{error.what}: {error.why}")

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
    def imported(self) -> bool:
        """Another tool measured it; facts that it did not print are unknown."""
        return self.manifest.source is not None

    @property
    def operations(self) -> int:
        """Operations that succeeded; 0 where an imported file does not say."""
        if self.imported:
            return self.manifest.operations or 0
        return sum(client.ok for client in self.manifest.clients)

    @property
    def errors(self) -> int:
        if self.imported:
            return int((self.manifest.reported or {}).get("errors", 0))
        return sum(client.errors for client in self.manifest.clients)

    @property
    def under_way(self) -> int:
        """Operations without an answer at the end; latencies hold their ages."""
        return sum(client.under_way for client in self.manifest.clients)

    @property
    def saturated(self) -> bool:
        return any(client.saturated for client in self.manifest.clients)


def read_trial(record: TrialRecord) -> Trial:
    """Read everything of one trial; damage is named, never raised."""
    trial = Trial(record.name, record.manifest, files=record.files.present())
    if not trial.done:
        return trial
    if trial.imported:
        _read_imported(record, trial)
        return trial
    logs = _histograms(record, trial)
    trial.values = trial_values(record.manifest, trial.latencies)
    if record.manifest.slices is not None:
        clients = {client.client for client in record.manifest.clients}
        trial.slices = read_slices(record.files, record.manifest.background_cpu_s, clients)
        if not trial.slices and record.files.slices.exists():
            trial.damage.append("slices.jsonl cannot be read: its block is not fitted over slices")
        # the trial's seconds lie scattered over the block's: they are summed, and no series
        trial.beside = beside_values({}, record.manifest)
        return trial
    seconds = math.ceil(record.manifest.measured_s - 0.5)
    trial.grid = [float(second) for second in range(1, seconds + 1)]
    _add_progress(record, trial, logs)
    samples = _samples(record, trial)
    if samples is not None:
        trial.series |= sampled_series(samples, record.manifest, len(trial.grid))
        trial.steal = _steal(samples, record.manifest)
    _add_resources(record, trial, samples)
    _judge_steady(trial, trial.series.get("throughput", []))
    return trial


def _read_imported(record: TrialRecord, trial: Trial) -> None:
    """`read_trial` for files of another tool: every part may be missing."""
    imported_latencies(record, trial)
    reported = trial_values(record.manifest, {})
    trial.values = reported | trial_values(record.manifest, trial.latencies)
    if not whole(trial):  # of some operations only: nothing follows for all operations
        trial.values |= {n: v for n, v in reported.items() if n.startswith(f"{ALL}.")}
    samples = _samples(record, trial) if record.files.samples.is_file() else None
    if samples is not None:
        seconds = math.ceil(record.manifest.measured_s - 0.5)
        trial.grid = [float(second) for second in range(1, seconds + 1)]
        trial.steal = _steal(samples, record.manifest)
    imported_series(record, trial, samples)
    _add_resources(record, trial, samples)
    _judge_steady(trial, trial.series.get("throughput", []) if samples is None else [])


def _judge_steady(trial: Trial, throughput: Sequence[float | None]) -> None:
    seen = [(t, v) for t, v in zip(trial.grid, throughput, strict=False) if v is not None]
    cut = mser5([v for _, v in seen])
    trial.steady = None if cut is None else cut.steady
    trial.change_points = [seen[i - 1][0] for i in change_points([v for _, v in seen])]


def _histograms(record: TrialRecord, trial: Trial) -> list[HistogramLog]:
    """All clients' logs; the trial keeps their sum only if it is whole."""
    logs = []
    found: dict[LatencyKey, Latencies] = {}
    try:
        for client in record.manifest.clients:
            log = record.histograms(client)
            logs.append(log)
            trial.damage += log.damage
            add_log(found, log)
    except RecordError as error:
        trial.note_damage(error)
    counted = sum(part.total for (_, kind), part in found.items() if kind == "response")
    timed = trial.operations + trial.under_way
    if abs(counted - timed) > LOST_SHARE * timed:
        trial.damage.append(
            f"the histograms hold {counted:,} of {timed:,} operations; "
            "percentiles of this trial are left out"
        )
    elif not trial.damage:
        trial.latencies = found
        return logs
    return []


def _add_progress(record: TrialRecord, trial: Trial, logs: list[HistogramLog]) -> None:
    intervals = progress_of(record, trial)
    if intervals is None:
        return
    clients = [client.client for client in record.manifest.clients]
    trial.series |= client_series(intervals, clients, logs, len(trial.grid))


def _add_resources(record: TrialRecord, trial: Trial, samples: Samples | None) -> None:
    manifest = record.manifest
    totals = {} if samples is None else machine_totals(samples, manifest)
    trial.values = usage_values(totals, manifest) | trial.values
    if samples is not None:
        trial.values |= host_values(samples, manifest)
    trial.beside = beside_values(totals, manifest)
    events, damage = read_events(record.files.events)
    trial.damage += damage
    trial.events = drawn_events(events, manifest)


def _samples(record: TrialRecord, trial: Trial) -> Samples | None:
    try:
        return record.samples()
    except RecordError as error:
        trial.note_damage(error)
        return None


def _steal(samples: Samples, manifest: TrialManifest) -> float | None:
    """Share of the CPU time that a hypervisor took, from the machine that lost most."""
    found = []
    for means in machine_means(samples, manifest).values():
        total = sum(value for metric, value in means.items() if metric in CPU_MODES)
        if total and "cpu_steal" in means:
            found.append(means["cpu_steal"] / total)
    return max(found, default=None)
