"""Comparisons that no source states in one sentence, but that its numbers imply.

A service address over a host port, and the host port over native, give the service address over
native. Any two values that a source prints side by side can be compared. Only findings of one study
and of the same conditions are joined: they share a side, with its value. Every finding also holds
for its two sides the other way round.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any

from tare.knowledge.claims import claim_of, hidden
from tare.knowledge.copies import of_other_copies
from tare.knowledge.derived import direction_of, joined_id, rounded
from tare.knowledge.library import Entry, place_inside
from tare.knowledge.mirror import can_be_mirrored, mirrored
from tare.knowledge.schema import PublishedEffect, Source, Values, compared

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from tare.knowledge.schema import Discrepancy, Finding, Side

MOST_LINKS = 3
"""Each link adds its own noise and rounding; where the values of both ends are printed side by
side, no link does."""
MOST_SILENT = 2
"""Links without a significant difference, each of which is named."""


class _Link:
    """A finding as a step between two sides, in either direction."""

    def __init__(self, entry: Entry, *, forward: bool) -> None:
        effect, base, side = entry.finding.effect, entry.finding.baseline, entry.finding.treatment
        if side is None:
            raise ValueError(f"{entry.finding.id} compares nothing")
        ratio = 1.0 if effect is None or effect.ratio is None else effect.ratio
        self.entry = entry
        self.start, self.end = (base, side) if forward else (side, base)
        self.ratio = ratio if forward else 1 / ratio
        low, high = hidden(entry.finding, ratio)
        self.digits = (low, high) if forward else (1 / high, 1 / low)
        """what its printed digits may stand for"""
        self.silent = effect is None or effect.ratio is None
        """No significant difference: taken as no difference, and named."""


def chained(entries: Iterable[Entry]) -> list[Entry]:
    """What these findings together say of two sides that none of them compares.

    Each chain lists its links, and takes over what contradicts them.
    """
    series: dict[Hashable, list[Entry]] = {}
    apart: list[Entry] = []
    known: dict[Hashable, set[tuple[Side, Side | None]]] = {}
    everything = list(entries)
    for entry in everything:
        finding = entry.finding
        conditions = _conditions(finding)
        known.setdefault(conditions, set()).add((finding.baseline, finding.treatment))
        if _joins(finding):
            series.setdefault(conditions, []).append(entry)
        elif can_be_mirrored(finding):
            apart.append(entry)
    joined = [one for of, part in series.items() for one in _of_series(part, known[of])]
    turned = [mirrored(one) for one in apart]
    copies = of_other_copies(everything)
    return [*joined, *copies] + [
        one
        for one in turned
        if (one.finding.baseline, one.finding.treatment) not in known[_conditions(one.finding)]
    ]


def _joins(finding: Finding) -> bool:
    """Whether it is a step from one side to another: a number, or no significant difference.

    Findings computed by Tare stand for printed numbers, which are chained themselves.
    """
    claim, side = claim_of(finding), finding.treatment
    if claim is None or side is None or finding.computed or side == finding.baseline:
        return False
    printed = claim.kind == "bound" and claim.ratio is not None
    return claim.kind in ("number", "none") or printed


def _conditions(finding: Finding) -> Hashable:
    load = finding.load
    cluster = (finding.nodes, finding.replication_factor, finding.consistency, finding.hardware)
    settings = tuple(sorted(finding.settings.items()))
    driven = (load.threads, load.rate, load.share, load.label, tuple(finding.workload))
    what = (finding.operation, finding.metric, finding.unit, finding.values.step)
    return finding.study, finding.database, finding.version, *cluster, settings, *driven, *what


def _of_series(entries: Sequence[Entry], known: set[tuple[Side, Side | None]]) -> Iterator[Entry]:
    links = [_Link(one, forward=forward) for one in entries for forward in (True, False)]
    values = _values(entries)
    # a client that moves too would be a second change in every chain; alone it is the asked change
    stays = [link for link in links if link.start.client == link.end.client]
    for some, wanted in ((stays, _clients_alike), (links, _clients_alone)):
        steps: dict[Side, list[_Link]] = {}
        for link in some:
            steps.setdefault(link.start, []).append(link)
        for base in steps:
            for side, path in _paths(base, steps).items():
                if (base, side) in known or not wanted(base, side):
                    continue
                if len(path) == 1:
                    yield mirrored(path[0].entry)
                elif _few(path) or _side_by_side(path, values):
                    yield _made(path, values)


def _clients_alike(base: Side, side: Side) -> bool:
    return side.client == base.client


def _clients_alone(base: Side, side: Side) -> bool:
    """The sides differ in their clients, and in nothing else."""
    moved = side.client != base.client
    return moved and side.model_copy(update={"client": base.client}) == base


def _few(path: Sequence[_Link]) -> bool:
    """Whether there are few enough links to join.

    Where no link is a difference, all must be of one place. A source that sees no difference
    between any of its deployments sees none between two of them; several sources may each miss a
    part of one.
    """
    silent = [link for link in path if link.silent]
    if len(silent) == len(path):
        return len({_place(link) for link in path}) == 1
    return len(path) <= MOST_LINKS and len(silent) <= MOST_SILENT


def _place(link: _Link) -> Hashable:
    source = link.entry.finding.source
    return source.section, source.table, source.figure


def _paths(base: Side, steps: Mapping[Side, Sequence[_Link]]) -> dict[Side, list[_Link]]:
    """The shortest path from here to every other side."""
    found: dict[Side, list[_Link]] = {base: []}
    queue = deque([base])
    while queue:
        here = queue.popleft()
        for link in steps[here]:
            if link.end not in found:
                found[link.end] = [*found[here], link]
                queue.append(link.end)
    return {side: path for side, path in found.items() if path}


def _values(entries: Iterable[Entry]) -> dict[Side, float | int]:
    """The value of each side, if all findings that print a value print the same."""
    seen: dict[Side, set[float | int]] = {}
    for entry in entries:
        finding = entry.finding
        for side, value in (
            (finding.baseline, finding.values.baseline),
            (finding.treatment, finding.values.treatment),
        ):
            if side is not None and value is not None:
                seen.setdefault(side, set()).add(value)
    return {side: next(iter(found)) for side, found in seen.items() if len(found) == 1}


def _side_by_side(path: Sequence[_Link], values: Mapping[Side, float | int]) -> bool:
    """The source prints a value of either end, and they have a ratio; the links between do not
    enter."""
    return bool(values.get(path[0].start) and values.get(path[-1].end))


def _made(path: Sequence[_Link], values: Mapping[Side, float | int]) -> Entry:
    first, last = path[0], path[-1]
    ratio: float | None = math.prod(link.ratio for link in path)
    old, new = values.get(first.start), values.get(last.end)
    both = _side_by_side(path, values)
    known: dict[str, Any] = {"values": Values()}
    if old and new:
        ratio = new / old
        step = last.entry.finding.values.step
        known["values"] = Values(baseline=old, treatment=new, step=step)
    elif all(link.silent for link in path):
        ratio = None
    parts = [link.entry.finding for link in reversed(path)]
    finding = last.entry.finding.model_copy(
        update={
            **known,
            "id": _id([one.id for one in parts]),
            "baseline": first.start,
            "treatment": last.end,
            "effect": PublishedEffect(
                ratio=None if ratio is None else rounded(ratio),
                low=None if both else math.prod(link.digits[0] for link in path),
                high=None if both else math.prod(link.digits[1] for link in path),
                direction=direction_of(ratio),
                how="chained",
            ),
            "spread": last.entry.finding.spread.model_copy(
                update={"baseline_sd": None, "treatment_sd": None, "cohens_d": None}
            ),
            "source": Source(where="; over ".join(map(place_inside, parts))),
            "discrepancies": [
                clash.model_copy(update={"other": None})
                for one in parts
                for clash in one.discrepancies
                if not both or _takes_back(clash, one, (first.start, last.end))
            ],
            "notes": "" if both else _notes(path),
        }
    )
    links = tuple(one.id for one in parts)
    return Entry(finding, last.entry.work, last.entry.origin, links=links)


def _takes_back(clash: Discrepancy, link: Finding, ends: tuple[Side, Side]) -> bool:
    """Whether it is about the comparison of two values side by side, not about the link's own."""
    base, side = ends
    same = _pair(link.treatment, link.baseline) == _pair(side, base)
    return same and clash.about not in ("change", "points")


def _pair(side: Side | None, base: Side) -> frozenset[str]:
    """The compared sides, whichever comes first."""
    return frozenset(compared(side or base, base))


def _notes(path: Sequence[_Link]) -> str:
    silent = [link.entry.finding for link in path if link.silent]
    if not silent:
        return ""
    names = ", ".join(one.id for one in silent)
    if len(silent) == len(path):
        return f"The same place sees no significant difference in any of {names}."
    if len(silent) == 1:
        return f"One link of it is no significant difference ({names}), which counts as none."
    return f"Links of it are no significant differences ({names}), which count as none."


def _id(names: Sequence[str]) -> str:
    """The links' names, the study named once."""
    study = names[0].split(".")[0]
    return joined_id([names[0], *(one.removeprefix(f"{study}.") for one in names[1:])])
