"""All trials of a run, read at once: by worker processes where there are many."""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tare.analysis.distributions import curves
from tare.analysis.trials import Trial, read_trial
from tare.errors import RecordError
from tare.records.hlog import Latencies
from tare.records.reader import read_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tare.analysis.metrics import LatencyKey
    from tare.records.layout import TrialFiles
    from tare.records.reader import TrialRecord

ENOUGH_FOR_WORKERS = 500
"""With fewer trials, starting processes takes longer than it saves."""
MOST_WORKERS = 8
CHUNK = 50

APART = ("manifest", "grid", "series")

Packed = tuple[dict[str, Any], NDArray[np.float64], dict[str, NDArray[np.float64]]]
"""A trial as sent between processes: everything else, its grid, its series."""

Pooled = dict[str, "dict[LatencyKey, Latencies]"]
"""Condition to its histograms, merged over its trials."""


@dataclass(frozen=True)
class RunReading:
    """What a run's trials hold.

    Attributes:
        trials: in the order in which they were measured, without their histograms, which would
            fill the memory where there are thousands.
        pooled: these histograms, merged per condition.
    """

    trials: list[Trial]
    pooled: Pooled


def read_trials(records: Sequence[TrialRecord], workers: int | None = None) -> RunReading:
    """Read everything of all trials; damage is named in the trial, never raised.

    Args:
        workers: processes; None: one per core where there are many trials, else none.
    """
    if workers is None:
        workers = workers_for(len(records))
    # trials of one condition together: then few histograms have to come back from the workers
    ordered = sorted(records, key=lambda record: record.manifest.condition)
    parts = _in_workers(ordered, workers) if workers > 1 else [_read(ordered)]
    pooled: Pooled = {}
    trials: list[Trial] = []
    for part in parts:
        trials += part.trials
        for condition, histograms in part.pooled.items():
            try:
                _pool(pooled.setdefault(condition, {}), histograms)
            except RecordError as error:
                for trial in part.trials:
                    if trial.condition == condition:
                        trial.note_damage(error)
    return RunReading(sorted(trials, key=lambda t: (t.manifest.started, t.name)), pooled)


def workers_for(trials: int) -> int:
    """Processes that read so many trials; 1: this one alone."""
    if trials < ENOUGH_FOR_WORKERS or multiprocessing.current_process().daemon:
        return 1
    return min(MOST_WORKERS, len(os.sched_getaffinity(0)))


def _in_workers(records: Sequence[TrialRecord], workers: int) -> Iterator[RunReading]:
    """Read chunks of trials in processes of their own; in this one if they do not start.

    Each chunk is handed on when it is read: all chunks together would fill the memory.
    """
    chunks = [records[i : i + CHUNK] for i in range(0, len(records), CHUNK)]
    # forked, a child would wait for ever for the threads of the data frame library
    context = multiprocessing.get_context("spawn")
    done = 0
    grids: dict[bytes, list[float]] = {}
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=gc.disable) as pool:
            found = pool.map(_read_apart, [[r.files for r in chunk] for chunk in chunks])
            for chunk, (packed, pooled) in zip(chunks, found, strict=True):
                trials = [_unpacked(r, one, grids) for r, one in zip(chunk, packed, strict=True)]
                yield RunReading(trials, pooled)
                done += 1
    except (BrokenProcessPool, OSError):
        yield from map(_read, chunks[done:])


def _read_apart(places: Sequence[TrialFiles]) -> tuple[list[Packed], Pooled]:
    """In a worker: everything but the manifests, which the parent process has."""
    part = _read([read_record(place) for place in places])
    found = [_packed(trial) for trial in part.trials], part.pooled
    gc.collect()  # once a chunk is often enough
    return found


def _packed(trial: Trial) -> Packed:
    """A trial without its manifest, its series as arrays with NaN for None: none holds a NaN."""
    rest = {f.name: getattr(trial, f.name) for f in fields(Trial) if f.name not in APART}
    series = {name: np.array(v, dtype=np.float64) for name, v in trial.series.items()}
    return rest, np.array(trial.grid, dtype=np.float64), series


def _unpacked(record: TrialRecord, packed: Packed, grids: dict[bytes, list[float]]) -> Trial:
    """The trial; trials on the same grid share it."""
    rest, grid, series = packed
    own = grids.setdefault(grid.tobytes(), grid.tolist())
    values = {name: _with_gaps(array) for name, array in series.items()}
    return Trial(manifest=record.manifest, grid=own, series=values, **rest)


def _with_gaps(array: NDArray[np.float64]) -> list[float | None]:
    """As a list with None for NaN."""
    values: list[float | None] = array.tolist()
    if np.isnan(array).any():
        return [None if value is None or math.isnan(value) else value for value in values]
    return values


def _read(records: Iterable[TrialRecord]) -> RunReading:
    found = RunReading([], {})
    for trial in map(read_trial, records):
        try:
            _pool(found.pooled.setdefault(trial.condition, {}), trial.latencies)
        except RecordError as error:
            trial.note_damage(error)
        trial.curves = curves(trial.latencies)
        trial.latencies = {}
        found.trials.append(trial)
    return found


def _pool(whole: dict[LatencyKey, Latencies], parts: dict[LatencyKey, Latencies]) -> None:
    for key, part in parts.items():
        whole.setdefault(key, Latencies()).add(part)
