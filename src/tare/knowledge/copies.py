"""Comparisons of numbers of copies on one platform: rows of one table, each with its own factor.

A table with a row per replication factor compares these too, although its findings compare the
columns.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from tare.knowledge.claims import claim_of
from tare.knowledge.derived import direction_of, joined_id, rounded
from tare.knowledge.library import Entry, place_inside
from tare.knowledge.schema import PublishedEffect, Source, Spread, Values

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from tare.knowledge.schema import Finding, Side

    Cell = tuple[int | float, Entry]


def of_other_copies(entries: Iterable[Entry]) -> list[Entry]:
    """For every cell, its change against the cell of another factor in the same column."""
    tables: dict[Hashable, dict[Side, dict[int, Cell]]] = {}
    for entry in entries:
        for side, value in _cells(entry.finding):
            column = tables.setdefault(_table(entry.finding), {}).setdefault(side, {})
            column.setdefault(entry.finding.replication_factor or 1, (value, entry))
    return [
        _made(side, (old, column[old]), (new, column[new]))
        for table in tables.values()
        for side, column in table.items()
        for old, new in permutations(sorted(column), 2)
    ]


def _cells(finding: Finding) -> Iterator[tuple[Side, int | float]]:
    """The two values of a row, from a finding that prints them."""
    claim, side, values = claim_of(finding), finding.treatment, finding.values
    named = finding.source.table and finding.replication_factor is not None
    if claim is None or side is None or not named or values.step is not None:
        return
    if values.baseline and values.treatment:
        yield finding.baseline, values.baseline
        yield side, values.treatment


def _table(finding: Finding) -> Hashable:
    """Everything that its rows share, except the number of copies."""
    source, load = finding.source, finding.load
    place = (finding.study, source.section, source.table)
    cluster = (finding.database, finding.version, finding.nodes, finding.consistency)
    driven = (load.threads, load.rate, tuple(finding.workload), finding.operation)
    what = (finding.metric, finding.unit, finding.hardware)
    return *place, *cluster, *driven, *what, tuple(sorted(finding.settings.items()))


def _made(side: Side, old: tuple[int, Cell], new: tuple[int, Cell]) -> Entry:
    (fewer, (base, first)), (more, (value, last)) = old, new
    ratio = value / base
    places = map(place_inside, (last.finding, first.finding))
    short = first.finding.id.removeprefix(f"{first.finding.study}.")
    column = "treatment" if side == last.finding.treatment else "baseline"
    finding = last.finding.model_copy(
        update={
            "id": joined_id([last.finding.id, f"{short}.{column}"]),
            "baseline": side.model_copy(update={"replication_factor": fewer}),
            "treatment": side.model_copy(update={"replication_factor": more}),
            "replication_factor": None,
            "values": Values(baseline=base, treatment=value),
            "effect": PublishedEffect(
                ratio=rounded(ratio),
                direction=direction_of(ratio),
                how="chained",
            ),
            "spread": Spread(),
            "source": Source(where="; over ".join(places)),
            "discrepancies": [],  # these are about the columns
            "notes": "",
        }
    )
    return Entry(finding, last.work, last.origin, links=(last.finding.id, first.finding.id))
