"""Several studies' effects as one range; each study is one observation, however much it printed.

Random effects: between-study variance by Paule and Mandel (1982), interval by Hartung, Knapp,
Sidik and Jonkman with the correction that it is never narrower than without it; prediction
interval with k - 1 degrees of freedom (IntHout, Ioannidis, Rovers and Goeman 2016).
"""

from __future__ import annotations

import math
import statistics
import warnings
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from tare.analysis.inference.estimates import t_interval
from tare.analysis.inference.verdicts import as_ratios
from tare.enumeration import count
from tare.knowledge.claims import claim_of
from tare.knowledge.rows import NearFinding, counting, part_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tare.knowledge.nearness import Near
    from tare.knowledge.query import Query
    from tare.knowledge.schema import Finding

LEAST_STUDIES = 3
"""With two studies, the between-study variance rests on one difference: no range is given."""
LEVEL = 0.95


class StudyEffect(BaseModel):
    """One study's effect near the question: one observation."""

    model_config = ConfigDict(frozen=True)

    study: str
    ratio: float = Field(description="geometric mean over its nearest findings")
    low: float = Field(description="the least of them")
    high: float = Field(description="the greatest of them")
    se_log: float | None = Field(description="standard error of the log-ratio; null: not known")
    distance: float = Field(description="of its nearest finding, 0 to 1")
    findings: list[str]


class Pooled(BaseModel):
    """The range over studies, or the reason why there is none."""

    model_config = ConfigDict(frozen=True)

    studies: list[StudyEffect] = Field(description="those of which a number is near enough")
    parts: list[NearFinding] = Field(
        [], description="all that counts: numbers, bounds, no difference"
    )
    left_out: list[NearFinding] = Field([], description="what its own source contradicts")
    enough: bool
    ratio: float | None = None
    ci: tuple[float, float] | None = Field(None, description="95% interval of the mean ratio")
    prediction: tuple[float, float] | None = Field(
        None, description="95% interval for the ratio that another such study would find"
    )
    tau: float | None = Field(None, description="between-study sd of the log-ratio")
    method: str

    def coarse(self, findings: Collection[str]) -> bool:
        """Whether one of these findings has a number of few digits."""
        return any(one.digits is not None and one.finding in findings for one in self.parts)

    @property
    def known(self) -> tuple[float, float] | None:
        """The known range of the platform alone: the prediction interval, else the seen range."""
        if self.prediction is not None:
            return self.prediction
        if not self.studies:
            return None
        return min(one.low for one in self.studies), max(one.high for one in self.studies)


def se_log(finding: Finding) -> float | None:
    """Standard error of the finding's log-ratio, where its source allows one.

    Computed findings: sd_log / sqrt(units). Printed means with sds: the delta method,
    sqrt((s1/m1)^2/n + (s2/m2)^2/n).
    """
    spread, values = finding.spread, finding.values
    if spread.sd_log is not None and spread.units:
        return spread.sd_log / math.sqrt(spread.units)
    sd = sd_log(finding)
    if sd is None or not spread.n or not values.baseline:
        return None
    return sd / math.sqrt(spread.n)


def sd_log(finding: Finding) -> float | None:
    """Sd of one pair's log-ratio, from the relative sds of both sides; None if they are missing."""
    spread, values = finding.spread, finding.values
    if spread.sd_log is not None:
        return spread.sd_log
    if not (values.baseline and values.treatment):
        return None
    if spread.baseline_sd is None or spread.treatment_sd is None:
        return None
    return math.hypot(spread.baseline_sd / values.baseline, spread.treatment_sd / values.treatment)


def pool(near: Iterable[Near], asked: Query | None = None) -> Pooled:
    """Pool the findings that are related or nearer, one observation per study.

    Findings that their source contradicts are left out. So are findings on another endpoint than
    the question's, or on reads where it asks for writes, or the reverse. Bounds, "no significant
    difference" and directions stay as they are, beside the average.
    """
    kept, left = counting(near, asked)
    studies = _study_effects(kept)
    averaged = {name for study in studies for name in study.findings}
    parts = [part_of(one) for one in kept]
    said = {
        "parts": [one for one in parts if one.kind != "number" or one.finding in averaged],
        "left_out": [part_of(one) for one in left],
    }
    if len(studies) < LEAST_STUDIES:
        known = count(len(studies), "study", "studies")
        return Pooled(
            studies=studies,
            enough=False,
            method=f"Too few to pool: {known} near enough, at least {LEAST_STUDIES} are needed.",
        ).model_copy(update=said)
    return _random_effects(studies).model_copy(update=said)


def _study_effects(near: Iterable[Near]) -> list[StudyEffect]:
    """Every study's own effect, the mean of its numbers; the nearest study first."""
    by_study: dict[str, list[Near]] = {}
    for one in near:
        claim = claim_of(one.finding)
        if claim is not None and claim.kind == "number":
            by_study.setdefault(one.finding.study, []).append(one)
    found = [_study_effect(study, parts) for study, parts in by_study.items()]
    return sorted(found, key=lambda one: (one.distance, one.study))


def _study_effect(study: str, parts: Sequence[Near]) -> StudyEffect:
    nearest = min(one.nearness.distance for one in parts)
    kept = once(parts)
    logs = [math.log(_ratio(one.finding)) for one in kept]
    errors = [se_log(one.finding) for one in kept]
    known = [error for error in errors if error is not None]
    # Findings of one study share servers and days. Taken as wholly dependent, their mean has the
    # mean of their errors. Where some errors are missing, the study's own largest is used.
    error = None
    if known:
        error = statistics.fmean(max(known) if one is None else one for one in errors)
    return StudyEffect(
        study=study,
        ratio=math.exp(statistics.fmean(logs)),
        low=math.exp(min(logs)),
        high=math.exp(max(logs)),
        se_log=error,
        distance=nearest,
        findings=[one.finding.id for one in kept],
    )


def once(parts: Sequence[Near]) -> list[Near]:
    """Of findings about the same conditions, those computed from records before printed ones."""
    chosen: dict[tuple[object, ...], Near] = {}
    for one in parts:
        key = _conditions(one.finding)
        if key not in chosen or (one.finding.computed and not chosen[key].finding.computed):
            chosen[key] = one
    return list(chosen.values())


def _conditions(finding: Finding) -> tuple[object, ...]:
    side = finding.side
    load = finding.load
    where = (side.platform, side.network, side.storage, side.client, side.plugin, side.address)
    cluster = (finding.replication_factor, tuple(finding.workload), finding.hardware)
    return *where, *cluster, finding.metric, load.threads or load.rate or load.label


def _ratio(finding: Finding) -> float:
    effect = finding.effect
    if effect is None or effect.ratio is None:
        raise ValueError(f"{finding.id} has no ratio")
    return effect.ratio


def _random_effects(studies: Sequence[StudyEffect]) -> Pooled:
    logs = [math.log(one.ratio) for one in studies]
    errors = [one.se_log for one in studies]
    known = [error for error in errors if error is not None]
    k = len(studies)
    if len(known) < k or min(known) <= 0:
        mean, tau = statistics.fmean(logs), statistics.stdev(logs)
        se = tau / math.sqrt(k)
        method = (
            f"Mean of {k} studies with equal weights, and a t interval: {k - len(known)} of {k} "
            "print no spread, so the noise within studies is counted as between them."
        )
    else:
        mean, se, tau = _paule_mandel(logs, known)
        method = (
            f"Random effects over {k} studies: Paule-Mandel between-study variance, "
            "Hartung-Knapp-Sidik-Jonkman interval."
        )
    return Pooled(
        studies=list(studies),
        enough=True,
        ratio=math.exp(mean),
        ci=as_ratios(t_interval(mean, se, k - 1, LEVEL)),
        prediction=as_ratios(t_interval(mean, math.hypot(tau, se), k - 1, LEVEL)),
        tau=tau,
        method=f"{method} Prediction interval with {k - 1} degrees of freedom.",
    )


def _paule_mandel(logs: Sequence[float], errors: Sequence[float]) -> tuple[float, float, float]:
    """(mean, standard error, tau) of the log-ratio."""
    # statsmodels takes two seconds to import; most commands need not wait for it
    import numpy as np
    from statsmodels.stats.meta_analysis import combine_effects

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of intervals of single studies, unused here
        found = combine_effects(
            np.array(logs), np.array(errors) ** 2, method_re="iterated", use_t=True
        )
    se = max(float(found.sd_eff_w_re), float(found.sd_eff_w_re_hksj))
    return float(found.mean_effect_re), se, math.sqrt(max(0.0, float(found.tau2)))
