"""All trials of a run are the same, whether one process reads them or several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.analysis.reading import read_trials
from tare.records.reader import read_run

if TYPE_CHECKING:
    from pathlib import Path


def test_workers_read_what_one_process_reads(quickstart_dir: Path) -> None:
    records = read_run(quickstart_dir).trials
    alone, together = read_trials(records, workers=1), read_trials(records, workers=2)
    assert together.trials == alone.trials
    assert together.pooled.keys() == alone.pooled.keys()
    for condition, histograms in alone.pooled.items():
        for key, part in histograms.items():
            other = together.pooled[condition][key]
            assert (other.first, other.counts.tolist()) == (part.first, part.counts.tolist())


def test_trials_come_in_the_order_in_which_they_were_measured(quickstart_dir: Path) -> None:
    found = read_trials(list(reversed(read_run(quickstart_dir).trials))).trials
    started = [trial.manifest.started for trial in found]
    assert started == sorted(started)


def test_histograms_are_pooled_and_let_go(quickstart_dir: Path) -> None:
    reading = read_trials(read_run(quickstart_dir).trials)
    assert not any(trial.latencies for trial in reading.trials)
    operations = sum(trial.operations for trial in reading.trials)
    counted = sum(
        part.total
        for histograms in reading.pooled.values()
        for (_, kind), part in histograms.items()
        if kind == "response"
    )
    assert counted == operations
