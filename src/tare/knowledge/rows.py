"""The rows of each study that count for a question, and their statements.

In each study these are its nearest findings, with the very case of the question before others.
Findings that their own source contradicts are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from tare.knowledge.claims import Kind, by_digits, claim_of, contradicted
from tare.knowledge.library import place
from tare.knowledge.mixes import mixes_apart
from tare.knowledge.nearness import (
    RELATED,
    copies_of,
    names_machine,
    other_operation,
    other_path,
)
from tare.knowledge.rendering import load_of
from tare.knowledge.wording import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tare.knowledge.library import Entry
    from tare.knowledge.nearness import Near
    from tare.knowledge.query import Query
    from tare.knowledge.schema import Finding

WINDOW = 0.05
"""In each study, findings within this distance of its nearest one count."""


class NearFinding(BaseModel):
    """What one finding near the question says, and of which case."""

    model_config = ConfigDict(frozen=True)

    finding: str
    study: str
    kind: Kind = Field(description="only numbers are averaged")
    ratio: float | None
    low: float | None = Field(description="lower end of a bound")
    high: float | None = Field(description="upper end of a bound")
    direction: str
    network: str
    plugin: str = ""
    address: str = ""
    over_plugin: str = Field("", description="of what it is compared with")
    operation: str
    workload: list[str]
    load: str
    step: str = Field(description="of a measurement that went in steps: how wide they were")
    digits: tuple[float, float] | None = Field(
        None, description="all ratios that the printed digits allow, where these are far apart"
    )
    elsewhere: str = Field("", description="the other number that its source prints, and where")
    assumed: str = Field(description="what a chain takes for granted")
    differs: dict[str, str] = Field({}, description="what was asked otherwise: field to what it is")


def counting(near: Iterable[Near], asked: Query | None) -> tuple[list[Near], list[Near]]:
    """(findings that count, findings that their own source contradicts), each the nearest first."""
    kept: list[Near] = []
    left: list[Near] = []
    for parts in _by_study(near, asked).values():
        for one in _nearest(parts, asked):
            (left if contradicted(one.finding) else kept).append(one)
    return sorted(kept, key=_rank), sorted(left, key=_rank)


def _by_study(near: Iterable[Near], asked: Query | None) -> dict[str, list[Near]]:
    found: dict[str, list[Near]] = {}
    for one in near:
        claim = claim_of(one.finding)
        if one.nearness.distance > RELATED or claim is None or claim.kind == "summary":
            continue
        if asked and (other_path(asked, one.finding) or other_operation(asked, one.finding)):
            continue
        found.setdefault(one.finding.study, []).append(one)
    return found


def _nearest(parts: Sequence[Near], asked: Query | None) -> list[Near]:
    """The nearest rows of one study, and rows about as near as the nearest.

    A finding with only a direction never displaces a number.
    """
    rows = very_rows(parts, asked) if asked else list(parts)
    told = [one for one in rows if not _direction(one.finding)] or rows
    nearest = min(one.nearness.distance for one in told)
    return [one for one in rows if one.nearness.distance <= nearest + WINDOW]


def very_rows(parts: Sequence[Near], asked: Query) -> list[Near]:
    """The rows of one study that have the question's workload, client, address, machine, copies,
    clusters and threads, as far as it has such rows."""
    rows = list(parts)
    for matches in _exactly(asked):
        rows = [one for one in rows if matches(one.finding)] or rows
    return rows


def _direction(finding: Finding) -> bool:
    claim = claim_of(finding)
    return claim is not None and claim.kind == "direction"


def _exactly(asked: Query) -> Iterator[Callable[[Finding], bool]]:
    """One test per field that picks rows of a table, rather than tables."""
    if asked.workload:
        yield lambda one: mixes_apart(asked.workload, asked.reads, one.workload) == 0
    if asked.client:
        yield lambda one: one.treatment is not None and one.treatment.client == asked.client
    if asked.address:
        yield lambda one: one.treatment is not None and one.treatment.address == asked.address
    if asked.instance:
        yield lambda one: names_machine(one.hardware, asked.instance)
    if asked.replication_factor:
        yield lambda one: copies_of(one) == asked.replication_factor
    if asked.clusters:
        yield lambda one: one.treatment is not None and one.treatment.clusters == asked.clusters
    if asked.threads and asked.share is None:  # a share says more of how hard the load drives
        yield lambda one: one.load.threads == asked.threads


def part_of(one: Near) -> NearFinding:
    """The statement of a near finding.

    Raises:
        ValueError: it only states a variability.
    """
    finding, claim = one.finding, claim_of(one.finding)
    if claim is None:
        raise ValueError(f"{finding.id} is no effect")
    step = finding.values.step
    return NearFinding(
        finding=finding.id,
        study=finding.study,
        kind=claim.kind,
        ratio=claim.ratio,
        low=claim.low,
        high=claim.high,
        direction=claim.direction,
        network=finding.side.network or "",
        plugin=finding.side.plugin,
        address=finding.side.address,
        over_plugin=finding.baseline.plugin,
        operation=finding.operation,
        workload=finding.workload,
        load=load_of(finding.load),
        step=f"{step:,} {finding.unit}" if step is not None else "",
        digits=by_digits(finding) if claim.kind == "number" else None,
        elsewhere=f"{percent(claim.elsewhere[0])}, {claim.elsewhere[1]}" if claim.elsewhere else "",
        assumed=finding.notes if finding.effect and finding.effect.how == "chained" else "",
        differs=dict(one.nearness.fields),
    )


def told(one: Near, entry: Entry) -> dict[str, Any]:
    """The entry in a list of findings: its number or bound, how near it is, its place.

    Raises:
        ValueError: it only states a variability.
    """
    finding, effect, claim = one.finding, one.finding.effect, claim_of(one.finding)
    if effect is None or claim is None:
        raise ValueError(f"{finding.id} is no effect")
    bound = claim.kind == "bound"
    return {
        "id": finding.id,
        "study": finding.study,
        "metric": finding.metric,
        "ratio": None if bound else effect.ratio,
        "low": claim.low,
        "high": claim.high,
        "ci": finding.spread.ci,
        "digits": None if bound else by_digits(finding),
        "direction": effect.direction,
        "word": one.nearness.word,
        "distance": round(one.nearness.distance, 4),
        "differs": one.nearness.differs,
        "source": place(entry),
        "contradicted": contradicted(finding),
    }


def _rank(one: Near) -> tuple[float, str]:
    return round(one.nearness.distance, 2), one.finding.id
