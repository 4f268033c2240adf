"""Chains: a way into a server over its first way, and that way over another server, summed.

A study of endpoints asks what Docker costs (its loopback over the native process's) and what a
published port costs (over Docker's loopback). A user who moves a database behind a published port
pays both. The study does not make this comparison, and so it has no verdict.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tare.analysis.catalogue import in_order
from tare.analysis.inference.contrast_estimates import logs_of
from tare.analysis.inference.contrasts import Contrast
from tare.analysis.inference.estimates import estimate, make_stratum, t_interval
from tare.analysis.inference.verdicts import as_ratios
from tare.analysis.model import Chain, ChainLink
from tare.study.metric_names import primary_metrics

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tare.analysis.inference.contrast_estimates import Rules
    from tare.analysis.inference.contrasts import Contrasts
    from tare.analysis.inference.estimates import Estimate, Logs
    from tare.analysis.model import Effect
    from tare.analysis.trials import Trial


def make_chains(
    trials: Sequence[Trial],
    contrasts: Contrasts,
    effects: Sequence[Effect],
    margins: Mapping[str, float],
    rules: Rules,
    primary: Collection[str] = (),
) -> list[Chain]:
    """Of each primary metric, every way whose server is itself compared with another one.

    Args:
        effects: of all contrasts; the links are among them.
        primary: as the study's analysis section names them.
    """
    if rules.independent:
        return []
    wanted = set(primary_metrics(margins, list(primary)))
    logs = {metric: own for metric, own in logs_of(trials).items() if metric in wanted}
    return chains_in(logs, contrasts, effects, rules)


def chains_in(
    logs: Mapping[str, Logs], contrasts: Contrasts, effects: Sequence[Effect], rules: Rules
) -> list[Chain]:
    """The chains of these metrics, from their log values."""
    known = {(one.metric, one.baseline, one.treatment): one for one in effects if not one.over}
    pairs = list(_pairs(contrasts, rules))
    return [
        chain
        for metric in in_order(logs)
        for first, second in pairs
        if (chain := _chain(metric, logs[metric], first, second, contrasts, known, rules))
    ]


def _pairs(contrasts: Contrasts, rules: Rules) -> Iterator[tuple[Contrast, Contrast]]:
    """Another server over the baseline, and a way of it over that server's first way."""
    single = [one for one in contrasts.of if not one.rows and not one.aa]
    compared = {(one.baseline, one.treatment) for one in single}
    for second in single:
        if not rules.shared(second):
            continue
        for first in single:
            meets = first.treatment == second.baseline and not rules.shared(first)
            if meets and (first.baseline, second.treatment) not in compared:
                yield first, second


def _chain(
    metric: str,
    logs: Logs,
    first: Contrast,
    second: Contrast,
    contrasts: Contrasts,
    known: Mapping[tuple[str, str, str], Effect],
    rules: Rules,
) -> Chain | None:
    links = [known.get((metric, one.baseline, one.treatment)) for one in (first, second)]
    if None in links or not {first.baseline, second.treatment} <= logs.keys():
        return None
    whole = Contrast(first.baseline, second.treatment, "", second.levels, aa=False)
    found = _estimate(logs, whole, contrasts, rules)
    if found is None:
        return None
    shown = [one for one in links if one is not None]
    level = shown[0].level
    interval = t_interval(found.log_ratio, found.se, found.df, level)
    treated = [logs[second.treatment][cell] for cell in found.pairs]
    value = math.exp(sum(treated) / len(treated))
    return Chain(
        metric=metric,
        levels=second.levels,
        baseline=first.baseline,
        through=second.baseline,
        treatment=second.treatment,
        links=[
            ChainLink(baseline=one.baseline, treatment=one.treatment, ratio=one.ratio, ci=one.ci)
            for one in shown
        ],
        ratio=math.exp(found.log_ratio),
        ci=as_ratios(interval),
        level=level,
        baseline_value=value / math.exp(found.log_ratio),
        treatment_value=value,
        deployments=found.units,
        method=found.method,
    )


def _estimate(logs: Logs, whole: Contrast, contrasts: Contrasts, rules: Rules) -> Estimate | None:
    """The way over the baseline and its repeats, from their own differences in each round."""
    repeats = rules.repeats(whole, contrasts)
    names = [whole.baseline, whole.treatment, *repeats]
    own = {name: logs[name] for name in names if name in logs}
    stratum = make_stratum(own, whole.baseline, by_deployment=rules.by_deployment)
    return estimate(stratum, whole.treatment, alike=rules.alike(whole), repeats=repeats)
