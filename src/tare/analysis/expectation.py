"""What a study may be expected to show, from the noise of an earlier run of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tare.analysis.inference.estimates import Estimate
from tare.analysis.inference.levels import levels_after
from tare.analysis.inference.verdicts import WIDEST, planned_units
from tare.analysis.metrics import describe
from tare.records.looks import Look
from tare.study.endpoints import margin_of, primary_endpoints

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Effect
    from tare.study.design import Design
    from tare.study.schema import Study


@dataclass(frozen=True)
class Expectation:
    """What the study's comparisons on one metric may be expected to come to.

    Attributes:
        title: of the metric.
        half: half-width of the widest interval, as a change (0.04 is 4%).
        margin: as declared, a fraction; None: none.
        rounds: that decide every comparison with 80% power, whatever is true; None: no margin.
    """

    title: str
    half: float
    margin: float | None
    rounds: int | None


def expectations(earlier: Analysis, study: Study) -> list[Expectation]:
    """One for each primary metric on which the earlier run had comparisons of the same unit.

    Intervals narrow with the rounds of the study and with its blocks; trials are taken to be as
    noisy as they were. One deployment per condition says nothing of how deployments differ.
    """
    margins: dict[str, float] = dict(study.margins.items())
    found = []
    for metric in primary_endpoints(margins, study.analysis.primary):
        margin = margin_of(metric, margins)
        likely = [
            estimate
            for effect in earlier.effects
            if effect.metric == metric and not effect.aa
            for estimate in [_like(effect, study.design)]
            if estimate is not None
        ]
        if likely:
            found.append(
                Expectation(
                    title=describe(metric).title,
                    half=max(_half(one, study.design) for one in likely),
                    margin=margin,
                    rounds=None
                    if margin is None
                    else max(_rounds(one, margin, study.design) for one in likely),
                )
            )
    return found


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
    """Sd of the log-ratio between deployments, were there so many blocks in each.

    Its variance is that of deployments and that of blocks over their number; the latter is known
    from the pairs inside the rounds.
    """
    rounds: dict[int, list[float]] = {}
    for pair in effect.pairs:
        rounds.setdefault(pair.round, []).append(math.log(pair.ratio))
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
