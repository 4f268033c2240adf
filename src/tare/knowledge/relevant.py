"""The findings that compare the sides of a question, chained findings included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.knowledge.chains import chained
from tare.knowledge.nearness import Near, as_asked, nearness

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tare.knowledge.library import Entry, Library
    from tare.knowledge.query import Query
    from tare.knowledge.schema import Finding


def relevant(library: Library, asked: Query) -> dict[str, Entry]:
    """Id to entry of all findings that compare this platform with that one, and nothing else.

    A chain stands in where its study compares the two in no sentence of its own. Of chains to the
    same side, the shortest stays, unless the question names the address at which the others begin.
    """
    known = library.entries
    if library.chained is None:
        library.chained = chained(known.values())
    direct = {name: one for name, one in known.items() if about(asked, one.finding)}
    made = [one for one in library.chained if about(asked, one.finding)]
    said = {_subject(one.finding, asked) for one in direct.values()}
    best: dict[Hashable, Entry] = {}
    for one in made:
        subject = _subject(one.finding, asked)
        if subject in said:
            continue
        if subject not in best or _preferred(one, asked) < _preferred(best[subject], asked):
            best[subject] = one
    if not asked.network:  # the question names no endpoints beside those compared directly
        ways: dict[Hashable, set[str | None]] = {}
        for one in direct.values():
            ways.setdefault(_kind(one.finding), set()).add(_way(one.finding))
        best = {
            subject: one
            for subject, one in best.items()
            if _way(one.finding) in ways.get(_kind(one.finding), {_way(one.finding)})
        }
    return direct | {one.finding.id: one for one in best.values()}


def near_to(entries: Iterable[Entry], asked: Query) -> list[Near]:
    """These findings, each with its nearness."""
    return [Near(one.finding, nearness(asked, one.finding)) for one in entries]


def about(asked: Query, finding: Finding) -> bool:
    """Whether the finding compares the question's platforms, and nothing else."""
    side, base = finding.treatment, finding.baseline
    if side is None or as_asked(asked, side, base) != (asked.platform, asked.over):
        return False
    replaced = {
        name: (getattr(side, name), getattr(base, name), old)
        for name, (_, old) in asked.replaced.items()
    }
    if asked.platform != asked.over:
        held = all(found == old for _, found, old in replaced.values())
        return side.replication_factor is None and held
    if replaced:
        if "replication_factor" not in replaced and side.replication_factor is not None:
            return False
        if "network" not in replaced and side.network != base.network:
            return False  # which is another exchange, whatever else goes with it
        return all(new != found == old for new, found, old in replaced.values())
    if side.clusters != base.clusters or side.replication_factor is not None:
        return False
    moved = (side.network, side.storage) != (base.network, base.storage)
    return moved or (side.client != base.client and side.client == asked.client)


def _subject(finding: Finding, asked: Query) -> Hashable:
    """The subject of a finding, without the address by which its baseline was reached and the
    plugins of its sides, unless the question names these."""
    base, side = finding.baseline, finding.treatment
    if not asked.address:
        base = base.model_copy(update={"address": ""})
    if not asked.against_plugin:
        base = base.model_copy(update={"plugin": ""})
    if side is not None and not asked.plugin:
        side = side.model_copy(update={"plugin": ""})
    load = finding.load
    where = (finding.study, finding.hardware, finding.replication_factor, finding.metric)
    driven = (tuple(finding.workload), load.threads, load.rate, load.label, finding.operation)
    return *where, *driven, side, base


def _kind(finding: Finding) -> Hashable:
    return finding.study, finding.metric


def _way(finding: Finding) -> str | None:
    return finding.treatment.network if finding.treatment else None


def _preferred(entry: Entry, asked: Query) -> tuple[float, bool, int, str]:
    effect = entry.finding.effect
    in_words = effect is None or effect.how == "direction"
    near = nearness(asked, entry.finding).distance
    return near, in_words, len(entry.links), entry.finding.id
