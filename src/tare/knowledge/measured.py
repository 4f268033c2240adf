"""Results of Tare's own replications: shown beside published findings, never among them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from tare.knowledge.library import Entry, Library
from tare.knowledge.nearness import RELATED, other_operation, other_path
from tare.knowledge.relevant import near_to, relevant
from tare.knowledge.schema import Finding, KnowledgePart, Machines, Slug, Text, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tare.knowledge.nearness import Near
    from tare.knowledge.query import Query

ORIGIN = "measured by Tare"
MOST_IN_A_RUN = 4
"""Number of values shown per run: one of each kind of metric, the deciding kinds first."""


class MeasuredRun(KnowledgePart):
    """One run of a published study by Tare, whose scorecard is kept: its effects and its worth."""

    format: int = 1
    run: Slug = Field(description="its directory in docs/replications")
    made: Text = Field(description="the day, as 27 November 2026")
    machine: Text = Field(description="what it ran on, in a few words")
    machines: Machines | None = Field(None, description="its kind; null: not known")
    caution: Text = Field("", description="what its reading warns of; empty: nothing")
    valid: bool = Field(description="no check of the run says invalid")
    invalid: list[Text] = Field([], description="what those checks say that do")
    findings: list[Finding] = Field(description="its effects, each averaged as in its analysis")


class MeasuredValue(BaseModel):
    """One effect of such a run, as near as it is to the question."""

    model_config = ConfigDict(frozen=True)

    id: str
    family: str
    title: str
    metric: str
    ratio: float
    ci: tuple[float, float]
    word: str
    distance: float
    differs: list[str]
    where: str = Field(description="treatment over baseline, as the run calls them")


class Measured(BaseModel):
    """What one run of Tare's says near the question; no average holds it."""

    model_config = ConfigDict(frozen=True)

    run: str
    made: str
    machine: str
    valid: bool
    invalid: list[str] = Field(description="why it is not valid; empty: it is")
    caution: str
    values: list[MeasuredValue]


def measured_directory() -> Path:
    """The directory of the runs that come with Tare."""
    return Path(str(resources.files("tare.knowledge") / "measured"))


def measured_runs(directory: Path | None = None) -> list[MeasuredRun]:
    """All kept runs, by name."""
    files = sorted((directory or measured_directory()).glob("*.json"))
    return [MeasuredRun.model_validate_json(one.read_bytes()) for one in files]


def measured_near(
    runs: Iterable[MeasuredRun],
    asked: Query,
    family: Callable[[str], str],
    titles: Mapping[str, str],
    only: str = "",
) -> list[Measured]:
    """Results of the runs near the question, valid runs first, then the nearest.

    Args:
        family: the kind of a metric.
        titles: kind to its title, in the order in which kinds are listed.
        only: this kind alone; empty: all.
    """
    found = []
    for run in runs:
        values = _values(run, asked, family, titles, only)
        if values:
            found.append(
                Measured(
                    run=run.run,
                    made=run.made,
                    machine=run.machine,
                    valid=run.valid,
                    invalid=list(run.invalid),
                    caution=run.caution,
                    values=values,
                )
            )
    return sorted(found, key=lambda one: (not one.valid, one.values[0].distance, one.run))


def _values(
    run: MeasuredRun,
    asked: Query,
    family: Callable[[str], str],
    titles: Mapping[str, str],
    only: str,
) -> list[MeasuredValue]:
    """The nearest effect of each kind of metric; among equals, the most certain."""
    work = Work(id=run.run, title=run.run)
    entries = {one.id: Entry(one, work, ORIGIN) for one in run.findings}
    known = relevant(Library(entries, chained=[]), asked)  # a run needs no chains: it has all pairs
    best: dict[str, Near] = {}
    for one in near_to(known.values(), asked):
        kind = family(one.finding.metric)
        if one.nearness.distance > RELATED or kind not in titles or only not in ("", kind):
            continue
        if other_path(asked, one.finding) or other_operation(asked, one.finding):
            continue
        if kind not in best or _rank(one) < _rank(best[kind]):
            best[kind] = one
    ordered = [kind for kind in _first_deciding(titles) if kind in best]
    return [_value(best[kind], kind, titles[kind]) for kind in ordered[:MOST_IN_A_RUN]]


def _first_deciding(titles: Mapping[str, str]) -> Sequence[str]:
    """Service demand is what Tare's runs know best."""
    return sorted(titles, key=lambda kind: kind != "cpu_per_op")


def _rank(one: Near) -> tuple[float, float, str]:
    ci = one.finding.spread.ci or (0.0, float("inf"))
    return round(one.nearness.distance, 2), ci[1] - ci[0], one.finding.id


def _value(one: Near, kind: str, title: str) -> MeasuredValue:
    finding, effect, ci = one.finding, one.finding.effect, one.finding.spread.ci
    if effect is None or effect.ratio is None or ci is None:
        raise ValueError(f"{finding.id} has no interval")
    return MeasuredValue(
        id=finding.id,
        family=kind,
        title=title,
        metric=finding.metric,
        ratio=effect.ratio,
        ci=ci,
        word=one.nearness.word,
        distance=round(one.nearness.distance, 4),
        differs=one.nearness.differs,
        where=finding.source.where,
    )
