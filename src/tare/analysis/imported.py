"""Histograms and series that an imported trial adds, where another tool left any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.distributions import LOST_SHARE, add_log
from tare.analysis.series import progress_of, sampled_series
from tare.errors import RecordError
from tare.records.hlog import read_hlog

if TYPE_CHECKING:
    from tare.analysis.trials import Trial
    from tare.records.reader import ProgressInterval, TrialRecord
    from tare.records.samples import Samples

LONGEST_HOLD = 60
"""A value over an interval of up to this many seconds is drawn over all of it."""


def imported_latencies(record: TrialRecord, trial: Trial) -> None:
    """The sum of the trial's histogram logs; damage is named, and then no histogram is used."""
    manifest = record.manifest
    try:
        for name in manifest.histograms:
            log = read_hlog(record.files.hlog(name))
            trial.damage += log.damage
            for part in log.totals.values():
                part.tick_ns = manifest.histogram_tick_ns
            add_log(trial.latencies, log)
    except RecordError as error:
        trial.note_damage(error)
    if trial.damage:
        trial.latencies = {}


def whole(trial: Trial) -> bool:
    """Whether the histograms hold all operations that the tool counted, if it counted them."""
    operations = trial.manifest.operations
    counted = sum(part.total for (_, kind), part in trial.latencies.items() if kind == "response")
    return operations is None or abs(counted - operations) <= LOST_SHARE * operations


def imported_series(record: TrialRecord, trial: Trial, samples: Samples | None) -> None:
    """The client's intervals and the machine's samples, on one grid.

    Without samples the grid is the client's own intervals. With samples it is one of seconds, and a
    value over a longer interval holds for all of its seconds.
    """
    intervals: list[ProgressInterval] = []
    if record.files.progress.is_file():
        told = progress_of(record, trial)
        if told is None:
            return
        intervals = told
    if samples is None:
        trial.grid = [one.t for one in intervals]
        if intervals:
            trial.series["throughput"] = [one.ops_per_s for one in intervals]
            trial.series["p99"] = [one.p99_us for one in intervals]
        return
    seconds = len(trial.grid)
    rates = {round(one.t): one.ops_per_s for one in reversed(intervals)}
    p99 = {round(one.t): one.p99_us for one in reversed(intervals)}
    if intervals:
        trial.series["throughput"] = _held([rates.get(s) for s in range(1, seconds + 1)])
        trial.series["p99"] = _held([p99.get(s) for s in range(1, seconds + 1)])
    found = sampled_series(samples, record.manifest, seconds)
    trial.series |= {name: _held(values) for name, values in found.items()}


def _held(values: list[float | None]) -> list[float | None]:
    """Each value also over the empty seconds before it, which its interval covers."""
    held: list[float | None] = []
    gap = 0
    for value in values:
        if value is None:
            gap += 1
            continue
        filler = value if gap < LONGEST_HOLD else None
        held += [filler] * gap + [value]
        gap = 0
    return held + [None] * gap
