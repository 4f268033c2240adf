"""All trials of a run, read at once: by worker processes where there are many."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from tare.analysis.trials import Trial, read_trial
from tare.errors import RecordError
from tare.records.hlog import Latencies
from tare.records.reader import read_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tare.analysis.metrics import LatencyKey
    from tare.records.layout import TrialFiles
    from tare.records.reader import TrialRecord

ENOUGH_FOR_WORKERS = 500
"""With fewer trials, starting processes takes longer than it saves."""
MOST_WORKERS = 8
CHUNK = 50

Pooled = dict[str, "dict[LatencyKey, Latencies]"]
"""Condition to its histograms, merged over its trials."""


@dataclass(frozen=True)
class Reading:
    """What a run's trials hold.

    Attributes:
        trials: in the order in which they were measured, without their histograms, which would
            fill the memory where there are thousands.
        pooled: these histograms, merged per condition.
    """

    trials: list[Trial]
    pooled: Pooled


def read_trials(records: Sequence[TrialRecord], workers: int | None = None) -> Reading:
    """Read everything of all trials; damage is named in the trial, never raised.

    Args:
        workers: processes; None: one per core where there are many trials, else none.
    """
    if workers is None:
        workers = _workers(len(records))
    parts = _in_workers(records, workers) if workers > 1 else [_read(records)]
    pooled: Pooled = {}
    trials: list[Trial] = []
    for part in parts:
        trials += part.trials
        for condition, histograms in part.pooled.items():
            _pool(pooled.setdefault(condition, {}), histograms)
    return Reading(sorted(trials, key=lambda t: (t.manifest.started, t.name)), pooled)


def _workers(trials: int) -> int:
    if trials < ENOUGH_FOR_WORKERS or multiprocessing.current_process().daemon:
        return 1
    return min(MOST_WORKERS, len(os.sched_getaffinity(0)))


def _in_workers(records: Sequence[TrialRecord], workers: int) -> Iterable[Reading]:
    """Read chunks of trials in processes of their own; here, should these not come up."""
    chunks = [records[i : i + CHUNK] for i in range(0, len(records), CHUNK)]
    # forked, a child would wait for ever for the threads of the data frame library
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            found = list(pool.map(_read_apart, [[r.files for r in chunk] for chunk in chunks]))
    except (BrokenProcessPool, OSError):
        return (_read(chunk) for chunk in chunks)
    return (
        Reading(
            [Trial(manifest=r.manifest, **values) for r, values in zip(chunk, rows, strict=True)],
            pooled,
        )
        for chunk, (rows, pooled) in zip(chunks, found, strict=True)
    )


def _read_apart(places: Sequence[TrialFiles]) -> tuple[list[dict[str, Any]], Pooled]:
    """In a worker: everything but the manifests, which the other side has."""
    part = _read([read_record(place) for place in places])
    names = [field.name for field in fields(Trial) if field.name != "manifest"]
    return [{name: getattr(trial, name) for name in names} for trial in part.trials], part.pooled


def _read(records: Iterable[TrialRecord]) -> Reading:
    found = Reading([], {})
    for trial in map(read_trial, records):
        try:
            _pool(found.pooled.setdefault(trial.condition, {}), trial.latencies)
        except RecordError as error:
            trial.damage.append(f"{error.what}: {error.why}")
        trial.latencies = {}
        found.trials.append(trial)
    return found


def _pool(whole: dict[LatencyKey, Latencies], parts: dict[LatencyKey, Latencies]) -> None:
    for key, part in parts.items():
        whole.setdefault(key, Latencies()).add(part)
