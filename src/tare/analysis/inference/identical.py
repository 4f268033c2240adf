"""How far identical deployments differ: the sd behind a study's intervals, per stratum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from tare.analysis.catalogue import SERVICE_DEMAND, in_order
from tare.analysis.inference.contrast_estimates import apart, logs_of, samples_of, slice_noise_of
from tare.analysis.inference.estimates import by_unit, make_stratum
from tare.analysis.model import IdenticalSpread
from tare.study.metric_names import margin_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tare.analysis.inference.contrast_estimates import Rules, Samples
    from tare.analysis.inference.contrasts import Contrasts
    from tare.analysis.inference.estimates import Cell, Logs
    from tare.analysis.trials import Trial

USUAL = (SERVICE_DEMAND, "throughput")
"""Listed whether or not the study declares a margin for them."""


def identical_spreads(
    trials: Sequence[Trial],
    contrasts: Contrasts,
    margins: Mapping[str, float],
    primary: Collection[str],
    rules: Rules,
) -> list[IdenticalSpread]:
    """Every stratum on every metric that is asked for and has more than one unit a condition."""
    baselines = list(dict.fromkeys(c.baseline for c in contrasts.of if not c.rows))
    samples = samples_of(trials) if rules.independent else {}
    logs = {} if rules.independent else logs_of(trials)
    noise = slice_noise_of(trials)
    imported = any(trial.imported for trial in trials)
    found = []
    for metric in in_order([*samples, *logs]):
        if metric not in (*USUAL, *primary) and margin_of(metric, margins) is None:
            continue
        for baseline in baselines:
            # ways into one deployment would hide how far deployments differ
            of = contrasts.stratum(baseline)
            names = apart({name: rules.served.get(name, frozenset()) for name in of})
            one = (
                _of_samples(samples[metric], names, imported=imported)
                if rules.independent
                else _of_blocks(logs[metric], names, baseline, rules)
            )
            if one is not None:
                sd, df, unit = one
                own = [noise.get((metric, name)) for name in names if name in logs.get(metric, {})]
                slices = _of_slices(own, by_round=unit == "deployment")
                found.append(
                    IdenticalSpread(
                        metric=metric, baseline=baseline, sd=sd, df=df, slices=slices, unit=unit
                    )
                )
    return found


def _of_slices(own: Sequence[Mapping[Cell, float] | None], *, by_round: bool) -> float | None:
    """Root mean square, over conditions and units, of the standard error that slices leave.

    Args:
        own: of each condition, its blocks' standard errors; None: not measured in slices.
        by_round: a unit is the mean of a round's blocks; else each block is one.
    """
    variances: list[float] = []
    for errors in own:
        if errors is None:
            return None
        squares = {cell: error**2 for cell, error in errors.items()}
        units = by_unit(squares, by_deployment=by_round).values()
        variances += [sum(unit) / len(unit) ** 2 for unit in units]
    return math.sqrt(sum(variances) / len(variances)) if variances else None


_Found = tuple[float, float, Literal["deployment", "trial", "repetition"]]


def _of_blocks(logs: Logs, names: Sequence[str], baseline: str, rules: Rules) -> _Found | None:
    """The residual sd of condition + round (or block), over the units of the intervals."""
    members = {name: logs[name] for name in names if name in logs}
    if baseline not in members or len(members) < 2:
        return None
    stratum = make_stratum(members, baseline, by_deployment=rules.by_deployment)
    if stratum.fit.variance is None:
        return None
    return math.sqrt(stratum.fit.variance), stratum.fit.df, _unit(stratum.single)


def _unit(single: bool) -> Literal["deployment", "trial"]:
    return "trial" if single else "deployment"


def _of_samples(samples: Samples, names: Sequence[str], *, imported: bool) -> _Found | None:
    """The pooled sd of repetitions within their condition."""
    own = [samples[name] for name in names if name in samples]
    df = sum(one.df for one in own)
    if not df:
        return None
    variance = sum(one.variance * one.df for one in own) / df
    return math.sqrt(variance), df, "repetition" if imported else "deployment"
