"""A block's slices taken together: what each condition costs, apart from the machine's moods.

A hypervisor's other guests make all work dearer for seconds at a time, and some slices threefold.
The slices of one pass over a block are neighbours in time. And a server that follows another one
finds its caches cold: that cost 1% on one machine, and a server of several conditions pays it less
often than one of a single condition. So log cost = pass + condition + switch, where a slice is a
switch if the slice driven before it was another server's, and what it costs depends on which. That
is fitted by Huber's M-estimator, in which bursts count less: a standard error of half that of
ratios of sums is worth four times the machine time (docs/resolution.md). Source: P. J. Huber,
Robust Estimation of a Location Parameter, Annals of Mathematical Statistics 35 (1964), with
k = 1.345 and the scale 1.4826 times the median absolute residual.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tare.analysis.trials import Trial
    from tare.records.layout import TrialFiles

TUNING = 1.345
"""Huber's k: 95% of the mean's precision where all residuals are normal."""
_NORMAL = 1.4826
"""standard deviation of a normal distribution over its median absolute deviation"""
_ROUNDS = 2000
"""Terms for switches settle slowly: after 100, a block in a hundred of 26 slices was 0.9% off."""
_SETTLED = 1e-8
LEAST_SHARE = 0.1
LEAST_PASSES = 8
"""With fewer passes there is no telling bursts from the rest."""


class Row(NamedTuple):
    """One slice: when it began (Unix time), successful operations, its length in seconds, and the
    CPU seconds of demand."""

    unix: float
    ops: float
    seconds: float
    demand_s: float


def read_slices(files: TrialFiles, background_s: float) -> list[Row]:
    """A trial's measured slices in their order; empty where there are none to be read.

    Args:
        background_s: CPU seconds of all its slices together that the operations did not cause.
    """
    try:
        told = [json.loads(line) for line in files.slices.read_text("utf-8").splitlines()]
        machine_s = [float(one["machine_cpu_s"]) for one in told]
        part_s = [_part(one) for one in told]
        idle_s = (sum(part_s) - sum(machine_s) + background_s) / max(len(told), 1)
        return [
            Row(float(one["unix"]), float(one["ops"]), float(one["seconds"]), used - idle_s)
            for one, used in zip(told, part_s, strict=True)
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _part(one: Mapping[str, Any]) -> float:
    """CPU seconds of everything that took part in a slice: units, engine and kernel.

    Records of before these were told apart have the machine's alone.
    """
    if "kernel_cpu_s" not in one:
        return float(one["machine_cpu_s"])
    return float(one["machine_cpu_s"]) - float(one["tare_cpu_s"]) - float(one["other_cpu_s"])


def fit_blocks(trials: Sequence[Trial]) -> None:
    """Put the fitted ratios between a block's conditions into its trials' values.

    The geometric mean over the conditions of a block stays that of the sums, so that absolute
    numbers are as counted. Blocks of which a trial's slices cannot be used keep their sums.
    """
    blocks: dict[tuple[int, int], list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.done and trial.slices:
            blocks[trial.cell].append(trial)
    for block in blocks.values():
        for metric, cost in COSTS.items():
            if all(metric in trial.values for trial in block):
                _fit(block, metric, cost)


def _fit(block: Sequence[Trial], metric: str, cost: Callable[[Row], float]) -> None:
    logs = logs_of([trial.slices for trial in block], cost)
    if logs is None:
        return
    effects = conditions_of(logs, switches_of(block, len(logs)))
    sums = np.log([trial.values[metric] for trial in block])
    values = np.exp(effects - effects.mean() + sums.mean())
    for trial, value in zip(block, values, strict=True):
        trial.values[metric] = float(value)


def switches_of(block: Sequence[Trial], passes: int) -> np.ndarray:
    """Passes by conditions: which server the slice before drove, counted from 1; 0: the same."""
    servers = {name: one for one, name in enumerate(sorted({_server(t) for t in block}), start=1)}
    found = np.zeros((passes, len(block)), dtype=int)
    driven = sorted(
        (row.unix, place, number)
        for number, trial in enumerate(block)
        for place, row in enumerate(trial.slices[:passes])
    )
    for (_, _, before), (_, place, number) in itertools.pairwise(driven):
        last = _server(block[before])
        found[place, number] = 0 if last == _server(block[number]) else servers[last]
    return found


def _server(trial: Trial) -> str:
    return trial.manifest.deployment


def logs_of(slices: Sequence[Sequence[Row]], cost: Callable[[Row], float]) -> np.ndarray | None:
    """Passes by conditions; None where there is nothing to compare, or a slice has no cost."""
    passes = min(len(rows) for rows in slices)
    if len(slices) < 2 or passes < LEAST_PASSES:
        return None
    costs = np.array([[cost(row) for row in rows[:passes]] for rows in slices]).T
    return np.log(costs) if np.all(np.isfinite(costs)) and np.all(costs > 0) else None


class Terms(NamedTuple):
    """What log costs are made of.

    Attributes:
        effects: of the conditions; they sum to 0.
        switch: of a slice after another server's, in the mean over them.
        residuals: what is left, of the table's shape.
    """

    effects: np.ndarray
    switch: float
    residuals: np.ndarray


def conditions_of(logs: np.ndarray, switches: np.ndarray | None = None) -> np.ndarray:
    """The conditions' effects alone, as `terms_of` fits them."""
    return terms_of(logs, switches).effects


def terms_of(logs: np.ndarray, switches: np.ndarray | None = None) -> Terms:
    """The terms of a table of passes by conditions.

    Args:
        logs: shape (passes, conditions), all finite.
        switches: of the same shape, which other server the slice before drove, from 1; 0: the same;
            None: all alike. What a switch costs is fitted where both happen to a tenth of the
            slices at least, and for each server apart where that can be told from the conditions.
    """
    weights = np.ones_like(logs)
    effects = np.zeros(logs.shape[1])
    masks = _masks(logs, switches)
    carried, residuals = np.zeros_like(logs), logs
    for _ in range(_ROUNDS):
        free = logs - carried
        passes = np.average(free - effects, axis=1, weights=weights)
        new = np.average(free - passes[:, None], axis=0, weights=weights)
        new -= new.mean()
        rest = logs - passes[:, None] - new
        for mask in masks:
            carried[mask] = np.average(rest[mask], weights=weights[mask])
        residuals = rest - carried
        scale = _NORMAL * float(np.median(np.abs(residuals)))
        moved = float(np.abs(new - effects).max())
        effects = new
        if moved < _SETTLED or scale == 0.0:
            break
        weights = np.minimum(1.0, TUNING * scale / np.maximum(np.abs(residuals), 1e-300))
    anywhere = carried[np.logical_or.reduce(masks)] if masks else np.zeros(1)
    return Terms(effects, float(anywhere.mean()), residuals)


def _masks(logs: np.ndarray, switches: np.ndarray | None) -> list[np.ndarray]:
    """The slices of each term for a switch."""
    if switches is None or not LEAST_SHARE <= (switches > 0).mean() <= 1 - LEAST_SHARE:
        return []
    apart = [switches == one for one in np.unique(switches[switches > 0])]
    conditions = np.broadcast_to(np.eye(logs.shape[1]), (*logs.shape, logs.shape[1]))
    columns = np.concatenate([conditions, np.stack(apart, axis=-1)], axis=-1)
    table = columns.reshape(logs.size, -1)
    rare = min(mask.sum() for mask in apart) < LEAST_SHARE / 2 * logs.size
    confounded = np.linalg.matrix_rank(table) < table.shape[1]
    return [switches > 0] if rare or confounded else apart


def _demand(row: Row) -> float:
    return row.demand_s / row.ops if row.ops else math.inf


def _throughput(row: Row) -> float:
    return row.ops / row.seconds


COSTS: Mapping[str, Callable[[Row], float]] = {
    "service_demand": _demand,
    "throughput": _throughput,
}
"""Metrics that every slice gives: how, of one."""
