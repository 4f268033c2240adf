"""An answer from the knowledge base: what was found near, the range, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from tare.knowledge.claims import claim_of, contradicted
from tare.knowledge.conclusion import Conclusion, conclude, ends_of
from tare.knowledge.guidelines import PURPOSES, Purpose, Rule, load_rules
from tare.knowledge.measured import Measured, measured_near
from tare.knowledge.nearness import RELATED
from tare.knowledge.pooling import Pooled, pool
from tare.knowledge.proposal import obstacle, takes_turns
from tare.knowledge.relevant import near_to, relevant
from tare.knowledge.rows import told
from tare.knowledge.sizing import Size, size_of
from tare.runtimes.registry import containers
from tare.study.metric_names import SERVER_UTIL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.knowledge.library import Entry, Library
    from tare.knowledge.measured import MeasuredRun
    from tare.knowledge.nearness import Near
    from tare.knowledge.query import Query
    from tare.knowledge.schema import Finding

FAMILIES: Mapping[str, str] = {
    "mean": "Mean latency",
    "p95": "95th percentile latency",
    "p99": "99th percentile latency",
    "throughput": "Throughput",
    "cpu": "CPU in use",
    "cpu_per_op": "CPU per operation",
    "disk": "Disk writes",
}
NEAREST: Mapping[str, Sequence[str]] = {
    "mean": ("p95", "p99"),
    "p95": ("p99", "mean"),
    "p99": ("p95", "mean"),
    "cpu": ("cpu_per_op",),
    "cpu_per_op": ("cpu",),
}
"""The kinds nearest to a kind of metric without known findings, nearest first."""
_PER_OP = "_per_op"
_PARTS = ("_first_half", "_second_half", "_over_threads")


class Found(BaseModel):
    """A finding, as near as it is."""

    model_config = ConfigDict(frozen=True)

    id: str
    links: list[str] = Field(description="the findings that it was chained from; empty: it is one")
    study: str
    origin: str
    metric: str
    ratio: float | None = Field(description="null: a bound or a direction alone")
    low: float | None = Field(description="lower end of a bound")
    high: float | None = Field(description="upper end of a bound")
    values: tuple[int | float, int | float] | None = Field(
        description="old and new, in `unit`, where printed"
    )
    unit: str
    ci: tuple[float, float] | None
    digits: tuple[float, float] | None = Field(
        None, description="all ratios that the printed digits allow, where these are far apart"
    )
    direction: str
    how: str
    word: str
    distance: float
    differs: list[str]
    source: str
    notes: str = Field(description="what else the finding says of itself")
    contradicted: bool = Field(description="another statement of its source does not agree with it")


class Answer(BaseModel):
    """What is known of one kind of metric."""

    model_config = ConfigDict(frozen=True)

    family: str
    title: str
    conclusion: Conclusion
    nearest: list[Found]
    pooled: Pooled


class Follows(BaseModel):
    """A rule, applied to the question."""

    model_config = ConfigDict(frozen=True)

    purpose: Purpose
    answer: str
    because: str
    safe_if: str
    source: str


class Advice(BaseModel):
    """The whole answer; what `tare advise --json` prints."""

    model_config = ConfigDict(frozen=True)

    question: str
    instead: str = Field(description="what is answered where nothing is known of the metric asked")
    asked: dict[str, str | int | float]
    answers: list[Answer]
    afar: list[Found] = Field(
        description="the least far findings of the platform, where none is near the question"
    )
    measured: list[Measured] = Field(
        [], description="what Tare's own replications measured; no answer above holds any of it"
    )
    follows: list[Follows]
    settle: Size = Field(description="the study that would settle it")
    obstacle: str = Field(description="why Tare cannot run that study; empty: it can")
    notes: list[str]


def advise(
    library: Library,
    asked: Query,
    *,
    margin: float = 0.05,
    shown: int = 5,
    metric: str = "",
    purposes: Sequence[Purpose] = PURPOSES,
    measured: Iterable[MeasuredRun] = (),
) -> Advice:
    """Answer one question from the library.

    Args:
        margin: the relative difference that matters, for the size of the study to be proposed.
        shown: nearest findings listed per kind of metric.
        metric: only this kind (a key of FAMILIES); empty: all kinds with known findings.
        purposes: the purposes of the benchmark.
        measured: Tare's own replications, apart from the library's findings.
    """
    entries = relevant(library, asked)
    near: dict[str, list[Near]] = {}
    for one in near_to(entries.values(), asked):
        near.setdefault(family(one.finding.metric), []).append(one)
    near = {name: near[name] for name in FAMILIES if name in near}
    answers = [
        _answer(name, found, entries, asked, shown)
        for name, found in near.items()
        if min(one.nearness.distance for one in found) <= RELATED
    ]
    answers, instead = _of_metric(asked, answers, metric, near) if metric else (answers, "")
    kept = answers[0].family if answers else ""
    main = near.get(kept if metric else "") or near.get("mean") or near.get("throughput") or []
    return Advice(
        question=asked.words(),
        instead=instead,
        asked=asked.stated(),
        answers=answers,
        afar=[] if answers or instead else _afar(near, entries, shown),
        measured=measured_near(measured, asked, family, FAMILIES, metric),
        follows=_follows(asked, answers, purposes),
        settle=size_of(main, margin, in_slices=takes_turns(asked) and not metric.startswith("p")),
        obstacle=obstacle(asked),
        notes=[] if instead and not answers else _notes(asked, answers, near),
    )


def _of_metric(
    asked: Query, answers: Sequence[Answer], metric: str, found: Iterable[str]
) -> tuple[list[Answer], str]:
    """The answer on this kind of metric, or on the kind nearest to it, with words that say so."""
    by_family = {one.family: one for one in answers}
    if metric in by_family or not answers:
        return [by_family[metric]] if metric in by_family else [], ""
    where = " near this question" if metric in found else ""
    unknown = f"Nothing is known of {metric} on {asked.sides()}{where}."
    near = next((name for name in NEAREST.get(metric, ()) if name in by_family), "")
    if not near:
        known = ", ".join(by_family)
        return [], f"{unknown} Known is something of {known}: ask by --metric."
    return [by_family[near]], f"{unknown} What is known of the nearest metric, {near}:"


def family(metric: str) -> str:
    """The kind of a metric: latencies by statistic, the others by what they count."""
    if metric == "service_demand" or metric.endswith(_PER_OP):
        return "cpu_per_op"
    for part in _PARTS:  # of a run, or how it grows with the load: told beside the whole
        metric = metric.removesuffix(part)
    first, _, last = metric.rpartition(".")
    if metric in ("cpu.util", SERVER_UTIL, "disk.write_kbps"):
        return first
    return last


def _answer(
    name: str, found: Sequence[Near], entries: Mapping[str, Entry], asked: Query, shown: int
) -> Answer:
    pooled = pool(found, asked)
    counts = [{one.finding for one in parts} for parts in (pooled.parts, pooled.left_out)]
    ranked = sorted(
        (one for one in found if one.nearness.distance <= RELATED),
        key=lambda one: (one.finding.id in counts[1], *_rank(one)),
    )
    # nothing counts: then findings on other ways are listed, as the conclusion says
    listed = [one for one in ranked if one.finding.id in counts[0] | counts[1]] or ranked
    return Answer(
        family=name,
        title=FAMILIES[name],
        conclusion=conclude(FAMILIES[name], pooled, asked.workload, asked.operation),
        nearest=[_found(one, entries[one.finding.id]) for one in _shown(listed, shown)],
        pooled=pooled,
    )


def _afar(
    near: Mapping[str, Sequence[Near]], entries: Mapping[str, Entry], shown: int
) -> list[Found]:
    """The first of all known findings, when none of them is near."""
    known = [one for found in near.values() for one in found if one.finding.effect is not None]
    return [_found(one, entries[one.finding.id]) for one in sorted(known, key=_rank)[:shown]]


def _shown(listed: Sequence[Near], most: int) -> list[Near]:
    """The nearest; numbers never push out all findings that a source states in words alone."""
    first, rest = list(listed[:most]), listed[most:]
    stated = next((one for one in rest if _in_words(one)), None)
    if stated is not None and not any(map(_in_words, first)):
        first[-1] = stated
    return first


def _in_words(one: Near) -> bool:
    claim = claim_of(one.finding)
    words = claim is not None and claim.kind in ("none", "direction")
    return words and not contradicted(one.finding)


def _rank(one: Near) -> tuple[float, bool, str]:
    """Nearest first; among those about as near, findings with a number."""
    effect = one.finding.effect
    stated = effect is None or effect.ratio is None
    return round(one.nearness.distance, 2), stated, one.finding.id


def _found(one: Near, entry: Entry) -> Found:
    finding = one.finding
    return Found(
        **told(one, entry),
        links=list(entry.links),
        origin=entry.origin,
        values=_values(finding),
        unit=finding.unit,
        how=finding.effect.how if finding.effect else "",
        notes=finding.notes,
    )


def _values(finding: Finding) -> tuple[int | float, int | float] | None:
    old, new = finding.values.baseline, finding.values.treatment
    return None if old is None or new is None else (old, new)


def _follows(asked: Query, answers: Sequence[Answer], purposes: Sequence[Purpose]) -> list[Follows]:
    """The rules for these purposes, with the known range put into them."""
    wanted = {*purposes, "always"}
    client_in_one = asked.client in containers()
    if asked.platform == asked.over and not client_in_one:
        return []  # both sides are in containers, or neither is
    if asked.platform not in containers() and not client_in_one:
        return []  # the rules are about containers
    worst = _greatest(answers)
    return [_apply(rule, worst) for rule in load_rules() if rule.purpose in wanted]


def _apply(rule: Rule, worst: tuple[float, str] | None) -> Follows:
    conditions: dict[str, str] = {
        "compare-systems": "the systems differ by more than " + _threshold(rule, worst),
        "absolute-values": "production runs on the same platform, network path and storage",
        "compare-configurations": "the difference is confirmed on the platform of production",
        "track-changes": "it stays on this platform, and nothing but the code under test changes",
        "always": "several deployments, in random order, with an A/A pair among them",
    }
    return Follows(
        purpose=rule.purpose,
        answer=rule.answer,
        because=" ".join(rule.text.split()),
        safe_if=conditions[rule.purpose],
        source=rule.source,
    )


def _threshold(rule: Rule, worst: tuple[float, str] | None) -> str:
    if rule.threshold is None:
        return "what the platform alone does"
    text = f"{rule.threshold.low:.0%} to {rule.threshold.high:.0%}"
    if worst and worst[0] > rule.threshold.high:
        return f"{text}; here even that is too little, for the platform alone made {worst[0]:.0%}"
    return text


def _greatest(answers: Iterable[Answer]) -> tuple[float, str] | None:
    """The greatest change of latency or throughput in any study near enough."""
    seen = [
        (abs(ratio - 1), f"{answer.title.lower()}, {part.study}")
        for answer in answers
        if answer.family in ("mean", "p95", "p99", "throughput")
        for part in answer.pooled.parts
        if not part.step
        for ratio in ends_of(part)
        if ratio is not None
    ]
    return max(seen, default=None)


def _notes(
    asked: Query, answers: Sequence[Answer], near: Mapping[str, Sequence[Near]]
) -> list[str]:
    notes: list[str] = []
    if not near:
        notes.append(f"Nothing is known of {asked.sides()}. `tare findings` lists what there is.")
    elif not answers:
        notes.append("Findings of this platform exist, but none is near the question. Nearest:")
    worst = _greatest(answers)
    if worst is not None:
        notes.append(
            f"The greatest change by the platform alone near here: {worst[0]:.0%} ({worst[1]})."
        )
    return notes
