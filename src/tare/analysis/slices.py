"""A block's slices taken together: the cost of each condition, apart from the machine's moods.

Other guests of a hypervisor make all work dearer for seconds at a time, and some slices threefold.
The slices of one pass over a block are neighbours in time. And a server that follows another one
finds its caches cold: that cost 1% on one machine, and depends on the server before it. So
log cost = pass + condition + server before + slope times the CPU's pace, fitted by Huber's
M-estimator, in which bursts count less. Half the standard error that ratios of sums have is worth
four times the machine time (docs/resolution.md). The pace is the time that the same arithmetic took
in the slice (docs/decisions/0024-pace.md). Source: P. J. Huber, Robust Estimation of a Location
Parameter, Annals of Mathematical Statistics 35 (1964), with k = 1.345 and the scale 1.4826 times
the median absolute residual.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tare.analysis.metrics import mean_latencies
from tare.study.metric_names import SERVER_UTIL

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from tare.analysis.trials import Trial
    from tare.records.layout import TrialFiles

TUNING = 1.345
"""Huber's k: 95% of the mean's precision where all residuals are normal."""
_NORMAL = 1.4826
"""standard deviation of a normal distribution over its median absolute deviation"""
_ROUNDS = 2000
"""Terms for switches settle slowly: after 100, a block in a hundred of 26 slices was 0.9% off."""
_SETTLED = 1e-8
_PACE_ROUNDS = 50
_LEAST_VARYING = 1e-4
"""sd of the log pace from which there is something to fit"""
LEAST_SHARE = 0.1
LEAST_AFTER = 20
"""Slices after a server, in a block, from which that server's effect is fitted by itself."""
LEAST_USABLE = 0.9
"""share of a condition's slices"""
LEAST_TIMED = 10
"""Fewer response times of an operation in a slice give no mean of it."""
LEAST_PASSES = 8
"""With fewer passes bursts cannot be told from the rest."""


class SliceRow(NamedTuple):
    """One slice.

    Attributes:
        unix: when it began, Unix time.
        ops: successful operations, with those of its drain.
        seconds: from its first reading of CPU time to its last.
        demand_s: CPU seconds of demand.
        turn: which turn of a server in its block it belongs to; None: one of its own.
        late: its CPU time was read too late, or its server was thawed or frozen too late.
        pace: mean log of the nanoseconds that the pace's arithmetic took; None: not sampled.
        means: mean response times in microseconds by metric, where there are enough.
        clients_s: the clients' CPU seconds, a part of the demand.
        per_s: operations answered within it, without those of its drain, per second; NaN: not
            recorded, as in older records.
    """

    unix: float
    ops: float
    seconds: float
    demand_s: float
    turn: int | None = None
    late: bool = False
    pace: float | None = None
    means: Mapping[str, float] = MappingProxyType({})
    clients_s: float = 0.0
    per_s: float = math.nan


def read_slices(
    files: TrialFiles, background_s: float, clients: Collection[str] = ()
) -> list[SliceRow]:
    """A trial's measured slices in their order; empty where none can be read.

    Args:
        background_s: CPU seconds of all its slices together that the operations did not cause.
        clients: the names of its clients' units.
    """
    try:
        lines = files.slices.read_text("utf-8").splitlines()
        told = json.loads(f"[{','.join(lines)}]")  # one call for all takes half the time
        if len(told) != len(lines):
            return []
        machine_s = [float(one["machine_cpu_s"]) for one in told]
        part_s = [_part(one) for one in told]
        idle_s = (sum(part_s) - sum(machine_s) + background_s) / max(len(told), 1)
        return [
            SliceRow(
                float(one["unix"]),
                float(one["ops"]),
                float(one["seconds"]),
                used - idle_s,
                one.get("turn"),
                bool(one.get("late")),
                one.get("pace"),
                mean_latencies(_replies(one.get("responses", {})), LEAST_TIMED),
                sum(one.get("units_cpu_s", {}).get(name, 0.0) for name in clients),
                float(one.get("ops_per_s", math.nan)),
            )
            for one, used in zip(told, part_s, strict=True)
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []


def _replies(responses: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, float, float]]:
    """Operation, replies and their mean, from a slice's responses by operation."""
    for operation, (replies, mean_us) in responses.items():
        yield operation, replies, mean_us


def _part(one: Mapping[str, Any]) -> float:
    """CPU seconds of everything that took part in a slice (CpuReading.part): units, engine and
    kernel."""
    return float(one["machine_cpu_s"]) - float(one["tare_cpu_s"]) - float(one["other_cpu_s"])


def fit_blocks(trials: Sequence[Trial]) -> None:
    """Put the fitted ratios between a block's conditions into its trials' values.

    The geometric mean over the conditions of a block stays that of the sums, so that absolute
    numbers are as counted. Blocks with a trial of unusable slices keep their sums.
    """
    blocks: dict[tuple[int, int], list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.done and trial.manifest.slices is not None:
            blocks[trial.cell].append(trial)
    for block in blocks.values():
        if not all(trial.slices for trial in block):
            continue
        driven = in_turn(block)
        if driven is None:
            continue
        timed = {name for trial in block for row in trial.slices for name in row.means}
        means = {name: _mean_of(name) for name in sorted(timed)}
        for metric, cost in {**COSTS, SERVER_UTIL: _server_util, **means}.items():
            if all(metric in trial.values for trial in block):
                _fit(block, driven, metric, cost)


def _fit(
    block: Sequence[Trial], driven: DrivenBlock, metric: str, cost: Callable[[SliceRow], float]
) -> None:
    observed = costs_of(driven, cost)
    if observed is None:
        return
    terms = terms_of(observed)
    values = fitted(terms, [trial.values[metric] for trial in block])
    for trial, value, error in zip(block, values, terms.errors, strict=True):
        trial.values[metric] = float(value)
        trial.slice_noise[metric] = float(error)


def fitted(terms: Terms, sums: Sequence[float]) -> np.ndarray:
    """Each condition's cost: ratios as fitted, around the geometric mean of the sums' costs."""
    effects = terms.effects
    return np.asarray(np.exp(effects - effects.mean() + np.log(sums).mean()))


class SliceArrays(NamedTuple):
    """A block's slices in the order in which they were driven; all arrays of shape (slices,).

    Attributes:
        logs: log costs, all finite.
        passes: the pass of each slice, from 0.
        conditions: the condition that each drove, from 0.
        switches: the other server that the slice before drove, from 1; 0: the same one, or unknown.
        turns: the turn of a server that each belongs to.
        pace: mean log of the nanoseconds of the pace's arithmetic; None: too many lack a sample.
    """

    logs: np.ndarray
    passes: np.ndarray
    conditions: np.ndarray
    switches: np.ndarray
    turns: np.ndarray
    pace: np.ndarray | None = None


class DrivenBlock(NamedTuple):
    """A block's slices in the order in which they were driven, and the place of each.

    Attributes:
        rows: the slices.
        places: as `SliceArrays`, without costs.
    """

    rows: list[SliceRow]
    places: SliceArrays


def observe(block: Sequence[Trial], cost: Callable[[SliceRow], float]) -> SliceArrays | None:
    """The slices of a block's trials with their costs; None where they cannot be fitted."""
    driven = in_turn(block)
    return None if driven is None else costs_of(driven, cost)


def in_turn(block: Sequence[Trial]) -> DrivenBlock | None:
    """The slices of a block's trials; None where they are few.

    Also None where one trial had its slices after another's, as a trial measured anew alone does:
    the slices were never neighbours.
    """
    if len(block) < 2 or min(len(trial.slices) for trial in block) < LEAST_PASSES:
        return None
    spans = [sorted(row.unix for row in trial.slices) for trial in block]
    if max(own[0] for own in spans) > min(own[-1] for own in spans):
        return None
    driven = sorted(
        (row.unix, number, row) for number, trial in enumerate(block) for row in trial.slices
    )
    rows = [row for _, _, row in driven]
    names = sorted({_server(trial) for trial in block})
    servers = [names.index(_server(trial)) for trial in block]
    known = [row.turn for row in rows if row.turn is not None]
    places = arrange(
        np.zeros(len(rows)),
        [number for _, number, _ in driven],
        servers,
        known if len(known) == len(rows) else (),
    )
    return DrivenBlock(rows, places)


def costs_of(driven: DrivenBlock, cost: Callable[[SliceRow], float]) -> SliceArrays | None:
    """The slices with their log costs; None where too many have no cost."""
    costs = np.array([cost(row) for row in driven.rows])
    costed = np.isfinite(costs) & (costs > 0)
    logs = np.log(np.where(costed, costs, 1.0))
    return fitted_slices(driven.places._replace(logs=logs), costed, driven.rows)


def fitted_slices(
    observed: SliceArrays, costed: np.ndarray, rows: Sequence[SliceRow]
) -> SliceArrays | None:
    """The slices that are fitted, with their pace where few lack it; None: too many lack a cost.

    Args:
        costed: they have a cost.
        rows: in the order of `observed`.
    """
    late = np.array([row.late for row in rows])
    paces = np.array([math.nan if row.pace is None else row.pace for row in rows])
    paced = _usable(observed.conditions, costed & np.isfinite(paces), late)
    if paced is not None:
        return only(observed._replace(pace=paces), paced)
    usable = _usable(observed.conditions, costed, late)
    return None if usable is None else only(observed, usable)


def _usable(conditions: np.ndarray, costed: np.ndarray, late: np.ndarray) -> np.ndarray | None:
    """The slices that are fitted; None where too many of a condition have no cost.

    A late slice shares CPU time with its neighbours. Late slices are left out where they are few.

    Args:
        costed: they have a cost, and whatever else is required of them.
    """
    often = np.bincount(conditions)
    for usable in (costed & ~late, costed):
        if np.all(np.bincount(conditions, usable) >= LEAST_USABLE * often):
            return usable
    return None


def only(observed: SliceArrays, usable: np.ndarray) -> SliceArrays:
    """Some of the slices, their passes and turns numbered without gaps."""
    logs, passes, conditions, switches, turns = (one[usable] for one in observed[:5])
    passes, turns = (np.unique(one, return_inverse=True)[1] for one in (passes, turns))
    pace = None if observed.pace is None else observed.pace[usable]
    return SliceArrays(logs, passes, conditions, switches, turns, pace)


def arrange(
    logs: np.ndarray,
    conditions: Sequence[int],
    servers: Sequence[int],
    turns: Sequence[int] = (),
) -> SliceArrays:
    """Slices with the pass of each, and the server before it.

    A condition on a server with fewer conditions than another has several slices in every pass.

    Args:
        logs: log costs, in the order in which the slices were driven.
        conditions: which condition each drove.
        servers: condition to its server, from 0.
        turns: number of each slice's turn; empty: each slice is one.
    """
    often = np.bincount(conditions).tolist()
    least, done = min(often), [0] * len(often)
    passes, switches, before = [], [], -1
    for one in conditions:
        passes.append(done[one] * least // often[one])
        done[one] += 1
        switches.append(before + 1 if servers[one] != before else 0)
        before = servers[one]
    _, numbers = np.unique(turns if len(turns) else np.arange(len(logs)), return_inverse=True)
    return SliceArrays(logs, np.array(passes), np.array(conditions), np.array(switches), numbers)


def _server(trial: Trial) -> str:
    return trial.manifest.deployment


def logs_of(
    slices: Sequence[Sequence[SliceRow]], cost: Callable[[SliceRow], float]
) -> np.ndarray | None:
    """Passes by conditions that have a slice in each; None: too few, or one has no cost."""
    passes = min(len(rows) for rows in slices)
    if len(slices) < 2 or passes < LEAST_PASSES:
        return None
    costs = np.array([[cost(row) for row in rows[:passes]] for rows in slices]).T
    return np.log(costs) if np.all(np.isfinite(costs)) and np.all(costs > 0) else None


def conditions_of(logs: np.ndarray, switches: np.ndarray | None = None) -> np.ndarray:
    """The conditions' effects in a table of passes by conditions, as `terms_of` fits them.

    Args:
        switches: of the same shape, as in `SliceArrays`; None: all slices are alike in it.
    """
    passes, conditions = (places.ravel() for places in np.indices(logs.shape))
    before = np.zeros_like(passes) if switches is None else switches.ravel()
    turns = np.arange(logs.size)
    return terms_of(SliceArrays(logs.ravel(), passes, conditions, before, turns)).effects


class Terms(NamedTuple):
    """The components of log costs.

    Attributes:
        effects: of the conditions; they sum to 0.
        switch: mean over the conditions for a slice after another server's.
        residuals: the rest, slice by slice.
        slope: by how much the log cost grows with the log of the pace's time; 0: not known.
        errors: standard error that the noise of slices leaves each condition's effect. The order is
            drawn anew in each pass, so that the correlation of passes is in the residuals alone.
    """

    effects: np.ndarray
    switch: float
    residuals: np.ndarray
    errors: np.ndarray
    slope: float = 0.0


def terms_of(observed: SliceArrays) -> Terms:
    """Fit the terms.

    The extra cost of a slice after another server has a term for each such server, if it comes
    before `LEAST_AFTER` slices and can be told from the conditions. Otherwise one term serves all,
    if 10 to 90% of the slices follow another server.
    """
    passes, conditions = observed.passes, observed.conditions
    weights = np.ones_like(observed.logs)
    effects = np.zeros(conditions.max() + 1)
    masks = [np.flatnonzero(mask) for mask in _masks(observed)]
    pace, varying = _paces(observed)
    varied = np.zeros_like(pace) if varying is None else np.square(varying)
    carried, residuals, slope = np.zeros_like(observed.logs), observed.logs, 0.0
    for _ in range(_ROUNDS):
        logs = observed.logs - slope * pace
        free = logs - carried
        moods = _means(free - effects[conditions], passes, weights)
        new = _means(free - moods[passes], conditions, weights)
        new -= new.mean()
        rest = logs - moods[passes] - new[conditions]
        for mask in masks:
            carried[mask] = _mean(rest[mask], weights[mask])
        residuals = rest - carried
        sizes = np.abs(residuals)
        scale = _NORMAL * _median(sizes)
        moved = float(np.abs(new - effects).max())
        effects = new
        if varying is not None:
            more = _mean(varying * residuals, weights) / _mean(varied, weights)
            slope, moved = slope + more, max(moved, abs(more) * float(np.abs(pace).max()))
        if moved < _SETTLED or scale == 0.0:
            break
        weights = np.minimum(1.0, TUNING * scale / np.maximum(sizes, 1e-300))
    switched = observed.switches > 0
    mixed = masks and switched.any() and not switched.all()
    switch = float(carried[switched].mean() - carried[~switched].mean()) if mixed else 0.0
    terms = len(masks) + (varying is not None)
    return Terms(effects, switch, residuals, _errors(residuals, weights, observed, terms), slope)


def _paces(observed: SliceArrays) -> tuple[np.ndarray, np.ndarray | None]:
    """The pace around its mean, and the part of it that varies within passes and conditions.

    The slope is fitted from the second, which tells it from moods and conditions. The first removes
    what the pace was in a condition's slices by chance. Without a pace: zeros, None.
    """
    if observed.pace is None:
        return np.zeros_like(observed.logs), None
    pace = observed.pace - observed.pace.mean()
    varying, one = pace, np.ones_like(pace)
    for _ in range(_PACE_ROUNDS):
        for group in (observed.passes, observed.conditions):
            varying = varying - _means(varying, group, one)[group]
    if np.std(varying) < _LEAST_VARYING:
        return np.zeros_like(pace), None
    return pace, varying


def _errors(
    residuals: np.ndarray, weights: np.ndarray, observed: SliceArrays, terms: int
) -> np.ndarray:
    """Of an M-estimate: root of the sum of squares of psi over the sum of its derivative, times K.

    Slices of one turn share its mood, so their psi are added up before they are squared. Where a
    pass is a single turn, its own term has removed that mood. Of m sums in a pass, and k of a
    condition, the terms for both leave (m - 1)/m and (k - 1)/k of the squares. Sources: P. J.
    Huber, Robust Regression, Annals of Statistics 1 (1973), with its correction K for many terms;
    psi is linear inside of TUNING and constant outside. K.-Y. Liang and S. L. Zeger, Longitudinal
    Data Analysis, Biometrika 73 (1986), for sums over clusters. Where a tenth of the slices are
    bursts it is an eighth too small (tests/analysis/test_slices.py).
    """
    conditions, turns = observed.conditions, observed.turns
    if not conditions.any():
        return np.zeros(1)  # of one condition alone the effect is 0, whatever its slices are
    passes = int(observed.passes.max()) + 1
    if turns.max() + 1 <= passes:
        turns = np.arange(len(residuals))
    fitted_terms = passes + int(conditions.max()) + terms
    inside = float(np.mean(weights == 1.0))
    often = np.bincount(conditions)
    if not inside:
        return np.full(len(often), math.inf)
    sums = np.zeros((len(often), turns.max() + 1))
    np.add.at(sums, (conditions, turns), weights * residuals)
    own = np.count_nonzero(sums, axis=1)
    a_pass = (turns.max() + 1) / passes
    spare = a_pass / (a_pass - 1) * own / np.maximum(own - 1, 1)
    correction = 1 + fitted_terms / len(residuals) * (1 - inside) / inside
    return np.asarray(correction * np.sqrt(spare * np.square(sums).sum(axis=1)) / (often * inside))


def _means(values: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted mean of each group, by its number."""
    return np.bincount(groups, weights * values) / np.bincount(groups, weights)


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    """np.average without its argument checks, which take longer than the sum."""
    return float((values * weights).sum() / weights.sum())


def _median(values: np.ndarray) -> float:
    """np.median, likewise."""
    middle = len(values) // 2
    ordered = np.partition(values, (middle - 1, middle))
    return float(
        ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    )


def _masks(observed: SliceArrays) -> list[np.ndarray]:
    """The slices of each term for the server before, with those of the same server."""
    switches = observed.switches
    before, often = np.unique(switches, return_counts=True)
    apart = [switches == one for one in before]
    table = np.column_stack([np.eye(observed.conditions.max() + 1)[observed.conditions], *apart])
    rare = bool(np.any(often[before > 0] < LEAST_AFTER))
    # the columns of conditions, and those of terms, each sum to 1: the rank is one less
    if not rare and np.linalg.matrix_rank(table) == table.shape[1] - 1:
        return apart
    either = LEAST_SHARE <= (switches > 0).mean() <= 1 - LEAST_SHARE
    return [switches > 0] if either else []


def _demand(row: SliceRow) -> float:
    return row.demand_s / row.ops if row.ops else math.inf


def _throughput(row: SliceRow) -> float:
    return row.per_s


def _server_util(row: SliceRow) -> float:
    """CPU seconds: all slices get equal time, but the first of a turn is read for longer."""
    return row.demand_s - row.clients_s


def _mean_of(metric: str) -> Callable[[SliceRow], float]:
    return lambda row: row.means.get(metric, math.inf)


COSTS: Mapping[str, Callable[[SliceRow], float]] = {
    "service_demand": _demand,
    "throughput": _throughput,
}
"""How to get each metric that every slice gives."""
