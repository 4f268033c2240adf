"""Whether the clusters had settled when they were measured."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tare.analysis.checks.evidence import Evidence, check, count, percent
from tare.analysis.checks.short_trials import change_within
from tare.analysis.inference.twoway import fit_two_way

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from tare.analysis.model import Check
    from tare.analysis.trials import Trial

DRIFT_ALPHA = 0.01
DRIFT_NOTED = 0.025
"""Least change from the first to the last block that is mentioned, if it is significant."""
LEAST_BLOCKS = 3
LEAST_SHARING = 3
"""From so many conditions on, a change is called common to all of them."""
_ALL = "all conditions together"
COMPILING_NOTED = 0.1
"""Share of server CPU in the JIT compiler: Cassandra's falls below it after some millions of
operations, or half a minute of a gentle load."""


def warm_up(evidence: Evidence) -> Check:
    """Deployments whose warm-up never became flat."""
    seen: dict[str, str] = {}
    warmed = gentle = 0
    lives = {trial.manifest.deployment: trial.manifest.warm_up for trial in evidence.done}
    for deployment, warm in lives.items():
        if warm is not None and warm.flat is None:
            gentle += 1
        elif warm is not None:
            warmed += 1
            if not warm.flat:
                seen[deployment] = warm.reason or f"not flat after {warm.seconds:.0f} s"
    if gentle and not warmed:
        return check(
            "warm-up",
            "ok",
            f"{count(gentle, 'deployment')} warmed up under a gentle load only, beyond each "
            "trial's own warm-up",
        )
    if not warmed:
        return check("warm-up", "ok", "no deployment was warmed up beyond each trial's own warm-up")
    if not seen:
        return check("warm-up", "ok", f"{count(warmed, 'deployment')} warmed up until flat")
    return check(
        "warm-up",
        "warning",
        f"{len(seen)} of {count(warmed, 'deployment')} never became flat; "
        "raise design.warm.at_most",
        [f"{deployment}: {reason}" for deployment, reason in seen.items()],
    )


def compiler(evidence: Evidence) -> Check | None:
    """Server CPU that still went into just-in-time compilation while it was measured."""
    shares: dict[str, list[float]] = {}
    for trial in evidence.done:
        jit, server = trial.manifest.jit_cpu_s, trial.manifest.server_cpu_s
        if jit is not None and server > 0:
            shares.setdefault(trial.condition, []).append(jit / server)
    if not shares:
        return None
    means = {name: sum(own) / len(own) for name, own in shares.items()}
    low, high = min(means.values()), max(means.values())
    details = [f"{name}: {percent(mean)} of server CPU" for name, mean in means.items()]
    words = f"the servers' JIT compiler used {percent(low)} to {percent(high)} of their CPU time"
    if high <= COMPILING_NOTED:
        return check("compiler", "ok", words, details)
    return check(
        "compiler",
        "warning",
        f"{words} while measured: colder than in production, where the platform's share of an "
        "operation is larger; raise design.warm",
        details,
    )


def steady(evidence: Evidence) -> Check:
    """Trials that do not settle, alone or all together, and trials that drift between blocks."""
    restless = [trial.name for trial in evidence.done if trial.steady is False]
    judged = sum(trial.steady is not None for trial in evidence.done)
    shared = _common_drift(evidence) if evidence.by_deployment else []
    drifts = _drifts(evidence) if evidence.by_deployment else []
    details = [*shared, *drifts, *(f"{n}: throughput did not settle (MSER-5)" for n in restless)]
    who = [_ALL] if shared else [count(len(drifts), "condition")] if drifts else []
    parts = [f"{name} still changing over the blocks" for name in who]
    details += [
        f"{trial.name}: throughput changes its level after {_seconds(trial.change_points)} (PELT)"
        for trial in evidence.done
        if trial.change_points
    ]
    # the rule itself calls up to one in ten flat series unsettled
    many = judged and len(restless) > max(1, judged * 0.2)
    if many:
        parts.append(f"{len(restless)} of {count(judged, 'trial')} not steady")
    within = change_within(evidence)
    if within:
        parts.append(within)
    if parts:
        return check("steady", "warning", " and ".join(parts), details)
    if evidence.imported and not judged:
        return check("steady", "ok", "not known, imported: no series is long enough for MSER-5")
    words = f"{judged - len(restless)} of {count(judged, 'trial')} steady"
    sliced = all(trial.manifest.slices is not None for trial in evidence.done)
    why = "trials in slices have no series" if sliced else "trials too short"
    summary = words if judged else f"no drift over the blocks; {why} for MSER-5"
    return check("steady", "ok", summary, details)


def _seconds(points: Sequence[float]) -> str:
    return ", ".join(f"{point:g}" for point in points) + " s"


def _drifts(evidence: Evidence) -> list[str]:
    found = []
    conditions = [condition.name for condition in evidence.conditions]
    for name in conditions:
        own = [t for t in evidence.done if t.condition == name and "throughput" in t.values]
        slope, p = within_slope(own)
        change = math.expm1(slope * (evidence.design.blocks - 1))
        # one test per condition: the level is shared among them
        if p < DRIFT_ALPHA / len(conditions) and abs(change) > DRIFT_NOTED:
            found.append(
                f"{name}: throughput changes by {percent(change)} from a deployment's first block "
                f"to its last (p = {p:.2g})"
            )
    return found


def _common_drift(evidence: Evidence) -> list[str]:
    """A change that all conditions share: of the machine, or of clusters that still warm up.

    One condition has too few blocks to show it. The change leaves ratios inside the blocks alone,
    but the clusters were not measured in the state that they would reach.
    """
    measured = [trial for trial in evidence.done if "throughput" in trial.values]
    slope, p = shared_slope(measured)
    change = math.expm1(slope * (evidence.design.blocks - 1))
    if len(evidence.conditions) < LEAST_SHARING or p >= DRIFT_ALPHA or abs(change) <= DRIFT_NOTED:
        return []
    return [
        f"{_ALL}: throughput changes by {percent(change)} from a deployment's "
        f"first block to its last (p = {p:.2g})"
    ]


def within_slope(trials: Sequence[Trial]) -> tuple[float, float]:
    """Slope of one condition's log throughput per block inside deployments, and its p value.

    (0, 1) with too few blocks to tell.
    """
    lives: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for trial in trials:
        point = trial.manifest.block, math.log(trial.values["throughput"])
        lives[trial.manifest.deployment].append(point)
    return _slope(lives.values())


def shared_slope(trials: Sequence[Trial]) -> tuple[float, float]:
    """As `within_slope`, for what all conditions have in common.

    Conditions of a block share its mood, so that a block is one observation, however many
    conditions it has. Inside a round, life of a condition + block is fitted: where nothing is
    missing, a block's level is the mean over its conditions. Blocks without a life in common, such
    as after an interruption of the round, have an intercept of their own.
    """
    rounds: dict[int, dict[tuple[str, Hashable], float]] = defaultdict(dict)
    for trial in trials:
        life = trial.manifest.deployment, trial.condition
        log = math.log(trial.values["throughput"])
        rounds[trial.manifest.round][str(trial.manifest.block), life] = log
    groups = []
    for table in rounds.values():
        while table:
            first = next(iter(table))[0]
            levels = {first: 0.0} | fit_two_way(table, first).effects
            groups.append([(int(block), level) for block, level in levels.items()])
            table = {key: log for key, log in table.items() if key[0] not in levels}
    return _slope(groups)


def _slope(groups: Iterable[Sequence[tuple[int, float]]]) -> tuple[float, float]:
    """Slope of points (block, log value), one intercept per group, and its p value.

    (0, 1) with too few blocks to tell.
    """
    long = [np.array(points, dtype=float) for points in groups if len(points) > 1]
    if max((len(points) for points in long), default=0) < LEAST_BLOCKS:
        return 0.0, 1.0
    centred = np.concatenate([points - points.mean(axis=0) for points in long])
    x, y = centred[:, 0], centred[:, 1]
    df = len(centred) - len(long) - 1
    slope = float(x @ y / (x @ x))
    residual = float(((y - slope * x) ** 2).sum())
    if df < 1 or residual <= 0:
        return slope, 1.0
    t = slope / math.sqrt(residual / df / float(x @ x))
    return slope, 2 * float(special.stdtr(df, -abs(t)))
