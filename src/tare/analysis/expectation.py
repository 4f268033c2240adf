"""What a study may be expected to show: by an earlier run, of this study or another, or a pilot."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.catalogue import describe
from tare.analysis.inference.estimates import Estimate, by_unit
from tare.analysis.inference.significance import levels_after
from tare.analysis.inference.verdicts import WIDEST, planned_units
from tare.analysis.scopes import AGAINST, Scope, against
from tare.analysis.slice_noise import standard_error
from tare.records.looks import Look
from tare.study.conditions import expand
from tare.study.metric_names import margin_of, primary_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tare.analysis.inference.estimates import UnitKind
    from tare.analysis.model import Analysis, Effect
    from tare.records.noise import Noise
    from tare.study.design import Design
    from tare.study.plan import Plan
    from tare.study.schema import Study


@dataclass(frozen=True)
class Expectation:
    """What the study's comparisons on one metric may be expected to show.

    Attributes:
        title: of the metric.
        half: half-width of the widest interval, as a change (0.04 is 4%).
        margin: as declared, a fraction; None: none.
        rounds: rounds that decide every comparison with 80% power, whatever is true; None: no
            margin.
        comparisons: how many there are, A/A left out.
        undecided: comparisons that need more rounds than planned, "treatment against baseline".
    """

    title: str
    half: float
    margin: float | None
    rounds: int | None
    comparisons: int
    undecided: tuple[str, ...]


def expectations(earlier: Analysis, study: Study) -> list[Expectation]:
    """One for each primary metric on which the earlier run had comparisons of the same unit.

    Intervals narrow with the rounds of the study and with its blocks; trials are taken to be as
    noisy as before. One deployment per condition does not show how much deployments differ.
    """
    margins: dict[str, float] = dict(study.margins.items())
    found = []
    for metric in primary_metrics(margins, study.analysis.primary):
        margin = margin_of(metric, margins)
        likely = [
            (against(effect.treatment, effect.baseline), estimate)
            for effect in earlier.effects
            if effect.metric == metric and not effect.aa
            for estimate in [_like(effect, study.design)]
            if estimate is not None
        ]
        if likely:
            found.append(_expected(describe(metric).title, likely, margin, study.design))
    return found


def expected_from(
    likely: Mapping[Scope, Estimate], asked: Mapping[Scope, list[str]], study: Study
) -> dict[Scope, Expectation]:
    """Expectations for each known scope of the study's comparisons."""
    return {
        scope: _expected(
            scope.title,
            [(name, likely[scope]) for name in names],
            margin_of(scope.metric, study.margins),
            study.design,
        )
        for scope, names in asked.items()
        if scope in likely
    }


def likely_from_run(earlier: Analysis, its: Study, study: Study) -> dict[Scope, Estimate]:
    """The noisiest comparison of each scope in a run of another study."""
    deployment = {one.name: one.deployment for one in expand(its)}
    found: dict[Scope, Estimate] = {}
    for effect in earlier.effects:
        names = effect.baseline, effect.treatment
        one = None if effect.aa else _like(effect, study.design)
        if one is None or not deployment.keys() >= set(names):
            continue
        scope = Scope(effect.metric, inside=len({deployment[name] for name in names}) == 1)
        if scope not in found or _half(one, study.design) > _half(found[scope], study.design):
            found[scope] = one
    return found


def likely_from_pilot(
    noise: Noise, plan: Plan, asked: Mapping[Scope, list[str]]
) -> dict[Scope, Estimate]:
    """Comparisons inside one deployment, taken to be as noisy as slices without a database.

    A pilot does not show how much deployments differ, and so says nothing of comparisons between
    deployments.
    """
    design = plan.study.design
    unit: UnitKind = (
        "deployment" if design.fresh == "deployment" and design.deployments > 1 else "block"
    )
    units = _units(design, unit)
    if design.slice_s is None or units < 2:
        return {}
    measured_s = min(one.setup.load.measured_s for one in plan.conditions)
    # the noise of a slice is its neighbours' other moods; the slice's length changes it little
    slices = measured_s / design.slice_s * (design.blocks if unit == "deployment" else 1)
    return {
        scope: Estimate(
            log_ratio=0.0,
            se=standard_error(noise.metrics[scope.metric], slices) / math.sqrt(units),
            df=noise.metrics[scope.metric].df,
            units=units,
            unit=unit,
            slope=_sharing(names),
            unpooled=None,
            pairs={},
            conditional=False,
            method="",
        )
        for scope, names in asked.items()
        if scope.inside and scope.metric in noise.metrics
    }


def _sharing(names: Sequence[str]) -> int:
    """The least number of treatments that share a baseline: so many pool their variance."""
    return min(Counter(name.partition(AGAINST)[2] for name in names).values())


def _expected(
    title: str,
    likely: Sequence[tuple[str, Estimate]],
    margin: float | None,
    design: Design,
) -> Expectation:
    rounds = {} if margin is None else {n: _rounds(one, margin, design) for n, one in likely}
    return Expectation(
        title=title,
        half=max(_half(one, design) for _, one in likely),
        margin=margin,
        rounds=max(rounds.values()) if rounds else None,
        comparisons=len(likely),
        undecided=tuple(name for name, needed in rounds.items() if needed > design.deployments),
    )


def _like(effect: Effect, design: Design) -> Estimate | None:
    """The earlier estimate, as noisy as one of the study's units; None where units are others."""
    by_deployment = design.fresh == "deployment" and design.deployments > 1
    unit = "deployment" if by_deployment else "block"
    if effect.unit_of_analysis != unit or effect.conditional or effect.deployments < 2:
        return None
    sd = _sd_with(effect, design.blocks) if by_deployment else effect.sd_log
    return Estimate(
        log_ratio=0.0,
        se=sd / math.sqrt(effect.deployments),
        df=effect.df,
        units=effect.deployments,
        unit=unit,
        slope=effect.df / (effect.deployments - 1),
        unpooled=None,
        pairs={},
        conditional=False,
        method="",
    )


def _sd_with(effect: Effect, blocks: int) -> float:
    """Sd of the log-ratio between deployments with this many blocks in each.

    Its variance is the variance of deployments plus that of blocks over their number. The pairs
    inside the rounds show the variance of blocks.
    """
    pairs = {(pair.round, pair.block): math.log(pair.ratio) for pair in effect.pairs}
    rounds = by_unit(pairs, by_deployment=True)
    df = sum(len(own) - 1 for own in rounds.values())
    before = len(effect.pairs) / max(len(rounds), 1)
    if df < 1 or blocks == before:
        return effect.sd_log
    within = sum(float(((np.array(own) - np.mean(own)) ** 2).sum()) for own in rounds.values()) / df
    between = max(effect.sd_log**2 - within / before, 0.0)
    return math.sqrt(between + within / blocks)


def _units(design: Design, unit: str) -> int:
    return design.deployments * (1 if unit == "deployment" else design.blocks)


def _half(one: Estimate, design: Design) -> float:
    """Half-width of the interval at the last planned look, as a change."""
    rounds = design.deployments
    looks = [Look(round=r, of=rounds, why="planned", decided=None) for r in design.looks]
    level = levels_after([*looks, Look(round=rounds, of=rounds, why="end", decided=None)]).interval
    units = _units(design, one.unit)
    se = one.se * math.sqrt(one.units / units)
    _, high = replace(one, se=se, df=one.slope * (units - 1)).interval(level)
    return math.expm1(min(high, WIDEST))


def _rounds(one: Estimate, margin: float, design: Design) -> int:
    return math.ceil(planned_units(one, margin) / _units(design, one.unit) * design.deployments)
