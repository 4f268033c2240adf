"""The interactions that a factorial study can answer: which effect, by which other factor."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tare.study.conditions import Condition
    from tare.study.question import AnalysisSection

    Context = tuple[tuple[str, str], ...]
    """(factor, level) of all factors but those of the question."""


@dataclass(frozen=True)
class Question:
    """Compared levels by levels of another factor, and the conditions of each of these cells.

    Attributes:
        rows: names of the compared combinations, the baseline's first.
        columns: levels of `by`.
        cells: [row][column], the conditions that are averaged: the same number in each.
        where: the levels that all these conditions share, if the study has more than those.
    """

    compared: tuple[str, ...]
    by: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[str, ...], ...], ...]
    where: str

    @property
    def conditions(self) -> list[str]:
        return [name for row in self.cells for cell in row for name in cell]

    @property
    def freedom(self) -> int:
        """Independent contrasts of contrasts."""
        return (len(self.rows) - 1) * (len(self.columns) - 1)


def questions(
    conditions: Sequence[Condition], baseline: Mapping[str, str], asked: AnalysisSection
) -> list[Question]:
    """The comparisons, by every factor that is kept apart; without roles, factor by factor."""
    over = set(asked.over.factors) if asked.over else set()
    if asked.compare:
        kept = asked.by or [f for f in baseline if f not in over and f not in asked.compare]
        pairs = [(tuple(asked.compare), by) for by in kept]
    else:
        free = [f for f in baseline if f not in over]
        pairs = [((one,), by) for one, by in itertools.combinations(free, 2) if one not in asked.by]
    return [
        question
        for compared, by in pairs
        for question in _questions(conditions, baseline, compared, by)
    ]


def _questions(
    conditions: Sequence[Condition],
    baseline: Mapping[str, str],
    compared: tuple[str, ...],
    by: str,
) -> Iterator[Question]:
    """Only where every compared combination was measured at every level of `by`."""
    rows: dict[str, None] = {".".join(baseline[f] for f in compared): None}
    contexts: dict[Context, dict[tuple[str, str], str]] = {}
    for one in conditions:
        row = ".".join(one.levels[f] for f in compared)
        rows.setdefault(row)
        rest = tuple((f, v) for f, v in one.levels.items() if f not in compared and f != by)
        contexts.setdefault(rest, {})[row, one.levels[by]] = one.name
    groups: dict[
        tuple[str, ...], list[tuple[tuple[tuple[str, str], ...], dict[tuple[str, str], str]]]
    ]
    groups = {}
    for rest, table in contexts.items():
        levels = dict.fromkeys(column for _, column in table)
        whole = tuple(c for c in levels if all((row, c) in table for row in rows))
        if len(whole) > 1 and len(rows) > 1:
            groups.setdefault(whole, []).append((rest, table))
    for columns, members in groups.items():
        shared = set(members[0][0]).intersection(*(set(rest) for rest, _ in members[1:]))
        where = ", ".join(f"{f} {v}" for f, v in members[0][0] if (f, v) in shared)
        yield Question(
            compared,
            by,
            tuple(rows),
            columns,
            tuple(
                tuple(tuple(table[row, column] for _, table in members) for column in columns)
                for row in rows
            ),
            where if len(groups) > 1 else "",
        )
