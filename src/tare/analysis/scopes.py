"""Comparisons of a plan on primary metrics: inside one deployment, or between two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tare.analysis.catalogue import describe
from tare.study.comparisons import comparisons
from tare.study.metric_names import primary_metrics

if TYPE_CHECKING:
    from tare.study.plan import Plan

AGAINST = " against "


class Scope(NamedTuple):
    """Comparisons with like noise: on one metric, inside one deployment or between two."""

    metric: str
    inside: bool

    @property
    def where(self) -> str:
        return "inside one deployment" if self.inside else "between deployments"

    @property
    def title(self) -> str:
        return f"{describe(self.metric).title} {self.where}"


def scopes(plan: Plan) -> dict[Scope, list[str]]:
    """Comparisons on primary metrics, without A/A, each as "treatment against baseline"."""
    study = plan.study
    found: dict[Scope, list[str]] = {}
    for metric in primary_metrics(study.margins, study.analysis.primary):
        for base, treated in comparisons(study, plan.conditions):
            if not treated.repeats(base):
                scope = Scope(metric, inside=treated.deployment == base.deployment)
                found.setdefault(scope, []).append(against(treated.name, base.name))
    return found


def against(treatment: str, baseline: str) -> str:
    """A comparison by its names."""
    return f"{treatment}{AGAINST}{baseline}"
