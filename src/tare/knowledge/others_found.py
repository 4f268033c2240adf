"""Published findings on the same change, for the effects of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from tare.analysis.catalogue import ALL
from tare.analysis.model.others_found import OtherFinding, OtherRange, Others
from tare.analysis.stated_database import NOT_SAID, said_of
from tare.knowledge.advice import family
from tare.knowledge.chains import chained
from tare.knowledge.from_run import (
    OPERATIONS,
    is_emulated,
    load_shares,
    side_of,
    written_by,
)
from tare.knowledge.library import SHIPPED, source_of
from tare.knowledge.nearness import (
    RELATED,
    Near,
    nearness,
    other_operation,
    other_path,
    same_plugin,
)
from tare.knowledge.pooling import once, pool
from tare.knowledge.query import Query, query_of
from tare.knowledge.rows import WINDOW, told, very_rows
from tare.knowledge.schema import compared
from tare.knowledge.seen_machines import kinds_seen, machines_seen
from tare.study.conditions import expand
from tare.study.database import ACKNOWLEDGING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tare.analysis.model import Analysis, Effect
    from tare.knowledge.library import Entry, Library
    from tare.knowledge.schema import Finding, Side
    from tare.study.schema import Setup, Study

MOST_EFFECTS = 400
"""With more effects, those on primary endpoints come first: an analysis may have thousands."""
MOST_STUDIES = 5
"""Studies whose nearest finding is kept per effect."""
_PLACE: Any = {
    "platform": {
        *("machines", "hosts", "runtime", "network", "endpoint", "storage", "plugin", "address")
    },
    "client": {"machines", "runtime", "network"},
    "database": {"image", "home"},
}
"""Fields of a setup that say where it runs; any other difference is another question."""
_PATH = ("network", "storage", "address", "plugin")


@dataclass(frozen=True)
class _Question:
    """The change of an effect: from one place to another, all else being equal."""

    asked: Query
    side: Side
    base: Side


def with_others(analysis: Analysis, study: Study, library: Library) -> Analysis:
    """The analysis, each of its effects with published findings."""
    found = others_for(analysis, study, library)
    effects = [
        effect.model_copy(update={"others": found.get(i)})
        for i, effect in enumerate(analysis.effects)
    ]
    return analysis.model_copy(update={"effects": effects})


def others_for(analysis: Analysis, study: Study, library: Library) -> dict[int, Others]:
    """Place of an effect in the analysis to the published findings on it.

    The knowledge base answers only effects whose two sides differ in where database or client run,
    and in nothing else. Controls (A/A) have no question.

    Args:
        analysis: of a run.
        study: the study of that run.
        library: the findings; findings made from this run are ignored.
    """
    entries = _entries(library, analysis, study)
    own = source_of(study.study, [one.study for one in library.findings()])
    run = _run(analysis, study)
    known: dict[tuple[_Question, str], Others | None] = {}
    found: dict[int, Others] = {}
    for i in _first(analysis.effects):
        effect = analysis.effects[i]
        kind = family(effect.metric)
        asks = kind in entries and not is_emulated(effect, analysis, study)
        question = _question(effect, run) if asks else None
        if question is None:
            continue
        if (question, kind) not in known:
            known[question, kind] = _others(question, entries[kind], own)
        if (others := known[question, kind]) is not None:
            found[i] = others
    return found


@dataclass(frozen=True)
class _Run:
    """The conditions that were measured, by name."""

    levels: Mapping[str, Mapping[str, str]]
    setups: Mapping[str, Setup]
    sides: Mapping[str, Side]
    rests: Mapping[str, str]
    """Everything of a setup but where it runs."""
    shares: Mapping[str, float]
    """Load as a share of the greatest, where the run knows it."""
    imported: bool
    said: Mapping[str, Mapping[str, Any]]
    """Of an imported run, condition to what its study and files say of it."""


def _run(analysis: Analysis, study: Study) -> _Run:
    conditions = expand(study)
    done = {one.condition: one.levels for one in analysis.conditions if one.trials}
    setups = {one.name: one.setup for one in conditions if one.name in done}
    kinds = kinds_seen(analysis)
    return _Run(
        levels={name: done[name] for name in setups},
        setups=setups,
        sides={name: side_of(one, machines_seen(one, kinds)) for name, one in setups.items()},
        rests={name: one.model_dump_json(exclude=_PLACE) for name, one in setups.items()},
        shares=load_shares(analysis, conditions),
        imported=analysis.imported,
        said={name: said_of(analysis, name) for name in setups} if analysis.imported else {},
    )


def _first(effects: Sequence[Effect]) -> list[int]:
    """The effects that are looked up: those on primary endpoints, then the others in order."""
    real = [i for i, effect in enumerate(effects) if not effect.aa]
    ranked = sorted(real, key=lambda i: (not effects[i].primary, effects[i].margin is None))
    return sorted(ranked[:MOST_EFFECTS])


def _entries(library: Library, analysis: Analysis, study: Study) -> dict[str, list[Entry]]:
    """Kind of metric to its effects in the library, without those made from the same records."""
    imported = analysis.imported
    found: dict[str, list[Entry]] = {}
    for entry in library.entries.values():
        finding = entry.finding
        own = entry.origin != SHIPPED and written_by(finding, analysis.run)
        own |= imported and finding.computed and finding.study == study.study
        if finding.effect is not None and finding.treatment is not None and not own:
            found.setdefault(family(finding.metric), []).append(entry)
    return {kind: [*part, *chained(part)] for kind, part in found.items()}


def _question(effect: Effect, run: _Run) -> _Question | None:
    """The effect's question; None where its sides differ in more than the place, or in less."""
    sides_of = (effect.treatment, effect.baseline)
    new, old = (effect.conditions_of(side, run.levels) for side in sides_of)
    sides, bases = ({run.sides[name] for name in part} for part in (new, old))
    if len(sides) != 1 or len(bases) != 1 or sides == bases:
        return None
    if {run.rests[name] for name in new} != {run.rests[name] for name in old}:
        return None
    (side,), (base,) = sides, bases
    groups = [{run.setups[name].platform.hosts for name in part} for part in (new, old)]
    if groups[0] != groups[1] and (
        None in (side.machines, base.machines) or side.machines == base.machines
    ):
        return None  # other machines, and not seen to be of another kind
    if effect.metric == "throughput" and any(_fixed(run.setups[name]) for name in new):
        return None  # what was asked for, and no maximum
    asked = _common(
        [
            query_of(
                run.setups[name],
                run.setups[old[0]],
                run.levels[name],
                machines=(side.machines, base.machines),
            )
            for name in new
        ]
    )
    if run.imported:
        asked = _as_said(asked, [run.said[name] for name in new])
    if len({run.setups[name].load.intensity for name in old}) == 1:  # else there is no single load
        loads = [_share(run.setups[name], run.shares.get(name)) for name in old]
        stated = [load for load in loads if load is not None]
        if len(stated) == len(loads):
            asked = replace(asked, share=sum(stated) / len(stated))
    else:
        asked = replace(asked, at_rate=None)
    operation = effect.metric.partition(".")[0]
    if operation in OPERATIONS and operation != ALL:
        asked = replace(asked, operation=operation)
    return _Question(asked, side, base)


def _as_said(asked: Query, said: Sequence[Mapping[str, Any]]) -> Query:
    """The question without defaults of the study, which nobody stated; its files do not state the
    release."""
    databases = [one.get("database", {}) for one in said]
    kinds = {str(one.get("kind", NOT_SAID)) for one in databases}
    known = {
        name: all(name in one for one in databases) for name in ("nodes", "replication_factor")
    }
    acknowledged = all(set(ACKNOWLEDGING) & set(one) for one in databases)
    threads = all("threads" in one.get("load", {}) for one in said)
    return replace(
        asked,
        version="",
        database="" if len(kinds) != 1 or NOT_SAID in kinds else kinds.pop(),
        nodes=asked.nodes if known["nodes"] else None,
        replication_factor=asked.replication_factor if known["replication_factor"] else None,
        consistency=asked.consistency if acknowledged else "",
        threads=asked.threads if threads else None,
    )


def _fixed(setup: Setup) -> bool:
    """Whether the load, not the cluster, sets the number of operations."""
    load = setup.load
    own = load.sought == "rate" and load.search.of == "condition"
    return bool(load.phases) or (load.rate is not None and not own)


def _share(setup: Setup, measured: float | None) -> float | None:
    """Load as a share of the maximum: as the study sets it, else from the run's own loads."""
    return measured if setup.load.share is None else setup.load.share


def _common(asked: Sequence[Query]) -> Query:
    """The common part of these questions; a field in which they differ is not stated."""
    differing: dict[str, Any] = {
        one.name: one.default
        for one in fields(Query)
        if len({getattr(each, one.name) for each in asked}) > 1
    }
    return replace(asked[0], **differing)


def _others(question: _Question, entries: Iterable[Entry], own: str) -> Others | None:
    """The findings near the question.

    Args:
        own: the published study that the run repeats, whose own row comes first; empty: none.
    """
    asked = question.asked
    by_id: dict[str, Entry] = {}
    near: list[Near] = []
    for entry in entries:
        finding = entry.finding
        if other_operation(asked, finding) or other_path(asked, finding):
            continue
        if not _same_change(finding, question):
            continue
        one = Near(finding, nearness(asked, finding))
        if one.nearness.distance <= RELATED:
            near.append(one)
            by_id[finding.id] = entry
    if not near:
        return None
    pooled = pool(near, asked)
    studies: dict[str, list[Near]] = {}
    for one in near:
        studies.setdefault(one.finding.study, []).append(one)
    wide = asked.threads is None and asked.share is None and not asked.at_rate
    firsts = sorted(
        (
            # in the paper itself the same threads are the same row, whatever their share here
            _nearest(very_rows(of, replace(asked, share=None) if name == own else asked), wide=wide)
            for name, of in studies.items()
        ),
        key=lambda one: (one.finding.study != own, _rank(one)),
    )
    lows, highs = [s.low for s in pooled.studies], [s.high for s in pooled.studies]
    return Others(
        findings=sum(len(once(of)) for of in studies.values()),
        studies=len(studies),
        nearest=[OtherFinding(**told(one, by_id[one.finding.id])) for one in firsts[:MOST_STUDIES]],
        seen=(min(lows), max(highs)) if lows else None,
        pooled=OtherRange(ratio=pooled.ratio, ci=pooled.ci, prediction=pooled.prediction)
        if pooled.ratio and pooled.ci and pooled.prediction
        else None,
        method=pooled.method,
    )


def _same_change(finding: Finding, question: _Question) -> bool:
    """Whether the finding is about the same change: this platform for that one, and nothing else.

    If the platform stays, the same network or storage must be exchanged for the same. If the
    platform changes, network and storage change with it; their distance is a matter of nearness.
    """
    new, old = finding.treatment, finding.baseline
    side, base = question.side, question.base
    if new is None or compared(new, old) != compared(side, base):
        return False
    if new.clusters != old.clusters or new.replication_factor is not None:
        return False
    moved = (base.client, side.client) if base.client != side.client else None
    theirs = (old.client, new.client) if None not in (old.client, new.client) else None
    if theirs is not None and theirs[0] == theirs[1]:
        theirs = None
    if moved != theirs:
        return False
    platform, over = compared(new, old)
    return platform != over or all(
        _same_exchange(_exchanged(base, side, name), _exchanged(old, new, name)) for name in _PATH
    )


def _same_exchange(
    ours: tuple[str | None, str | None] | None, theirs: tuple[str | None, str | None] | None
) -> bool:
    """Whether both stayed, or the same was exchanged for the same: flannel with any backend."""
    if ours is None or theirs is None:
        return ours == theirs
    pairs = zip(ours, theirs, strict=True)
    return all(own == other or same_plugin(own or "", other or "") for own, other in pairs)


def _exchanged(old: Side, new: Side, name: str) -> tuple[str | None, str | None] | None:
    """The part of the path that was exchanged, and its replacement; None: it stayed."""
    pair = getattr(old, name), getattr(new, name)
    return None if pair[0] == pair[1] else pair


def _nearest(parts: Sequence[Near], *, wide: bool) -> Near:
    """A study's nearest finding, preferably with a number where that is about as near.

    Args:
        wide: the question names no single load; then means over loads come before single loads.
    """
    least = min(one.nearness.distance for one in parts)
    about = [one for one in parts if one.nearness.distance <= least + WINDOW]
    numbers = [one for one in about if one.finding.effect and one.finding.effect.ratio is not None]
    return min(numbers or about, key=lambda one: (_mean(one) != wide, _rank(one)))


def _mean(one: Near) -> bool:
    """Whether it sums up other findings."""
    return one.finding.effect is not None and bool(one.finding.effect.mean_of)


def _rank(one: Near) -> tuple[float, bool, bool, str]:
    """Nearest first; among those about as near, effects with a number, computed ones first."""
    effect = one.finding.effect
    stated = effect is None or effect.ratio is None
    distance = round(one.nearness.distance, 2)
    return distance, stated, not one.finding.computed, one.finding.id
