"""The answer of a study of many comparisons: compact tables instead of dozens of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.enumeration import listing
from tare.report import numbers, words
from tare.report.also_differs import grid_note
from tare.report.escaping import plain
from tare.report.labels import level_name, sides
from tare.report.traces import levels_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare.analysis.model import Analysis, Effect, Verdict
    from tare.report.words import Tone

SENTENCES = 6
"""With more treatments than this, the answer is given as tables."""
MOST_ROWS = 10
"""A longer table shows only the averages at first."""
MARKS: dict[Verdict, str] = {
    "different": "\u25cf",
    "different within the margin": "\u25d0",
    "equivalent": "=",
    "inconclusive": "?",
}


@dataclass(frozen=True)
class GridCell:
    """One effect in a table of answers; `effect` is its place in the analysis."""

    effect: int
    change: str
    interval: str
    verdict: Verdict
    mark: str
    tone: Tone
    ratio: float
    averaged: int = 0
    """Over how many factors it is averaged."""


@dataclass(frozen=True)
class AnswerGrid:
    """Effects as a table: treatments by the levels at which they were compared, or by metric."""

    title: str
    corner: str
    columns: list[str]
    rows: list[tuple[str, list[GridCell | None]]]
    leading: int = 0
    """How many rows, the first ones, are averages over other factors; the rest are single levels.
    0: all rows are alike."""


def answer_grids(analysis: Analysis) -> list[AnswerGrid]:
    """A table per primary metric, or one of all primary metrics where nothing else can make
    columns; none if sentences suffice."""
    primary = words.primary_metrics(analysis)
    names = [m.name for m in primary]
    numbered = [(i, e) for i, e in enumerate(analysis.effects) if e.metric in names]
    if len({(e.treatment, e.baseline) for _, e in numbered if not e.aa}) <= SENTENCES:
        return []
    placed = _placed(analysis, numbered)
    if not any(column for *_, column in placed):
        title = {m.name: plain(m.title) for m in primary}
        cells = [(row, title[e.metric], _cell(analysis, i, e)) for i, e, _, row, _ in placed]
        return [_grid("Primary metrics", "Treatment", cells, list(title.values()))]
    grids = []
    kinds = dict.fromkeys(kind for _, _, kind, _, _ in placed)
    for kind in kinds:
        for metric in primary:
            cells = [
                (row, column or "all", _cell(analysis, i, e))
                for i, e, own, row, column in placed
                if own == kind and e.metric == metric.name
            ]
            title_ = plain(metric.title) + (f", by {_factors(kind)}" if len(kinds) > 1 else "")
            if cells:
                grids.append(_grid(title_, "", cells, []))
    return grids


def summary(analysis: Analysis) -> list[str]:
    """The comparisons on primary metrics in a few sentences: how many per verdict, the worst.

    Factor by factor, where several are compared.
    """
    names = {m.name for m in words.primary_metrics(analysis)}
    kinds: dict[tuple[str, ...], list[Effect]] = {}
    numbered = [(i, e) for i, e in enumerate(analysis.effects) if e.metric in names and not e.aa]
    for _, effect, kind, _, _ in _placed(analysis, numbered):
        kinds.setdefault(kind, []).append(effect)
    texts = grid_note(analysis, (effect for _, effect in numbered))
    for kind, effects in kinds.items():
        counts = [(v, sum(e.verdict == v for e in effects)) for v in MARKS]
        found = ", ".join(f"{n:,} {verdict}" for verdict, n in counts if n)
        by = f"{_factors(kind)}: " if len(kinds) > 1 else ""
        texts.append(
            f"{by}{numbers.count(len(effects), 'comparison')} on primary metrics: {found}."
            + _extremes(analysis, effects)
        )
    return texts


def _extremes(analysis: Analysis, effects: list[Effect]) -> str:
    said = ""
    for tone, word in (("cost", "costs most"), ("gain", "gains most")):
        some = [e for e in effects if words.tone(analysis, e) == tone]
        if some:
            worst = max(some, key=lambda e: abs(e.ratio - 1))
            said += (
                f" What {word}: {sides(analysis, worst)[0]}, {words.line(analysis, worst).text}."
            )
    return said


def _factors(kind: tuple[str, ...]) -> str:
    return listing([plain(factor) for factor in kind])


def leading(analysis: Analysis) -> set[int]:
    """Places of the effects that stand for all levels: those averaged over every other factor."""
    averaged = [(i, e) for i, e in enumerate(analysis.effects) if e.over]
    apart = [levels_apart(analysis, effect) for _, effect in averaged]
    joint = _joint(differing for differing, _ in apart)
    return {
        i for (i, _), (_, shared) in zip(averaged, apart, strict=True) if not shared.keys() - joint
    }


def _joint(differing: Iterable[dict[str, str]]) -> list[str]:
    """Factors that are compared jointly: treatments differ in several of them at once."""
    return list(dict.fromkeys(f for one in differing if len(one) > 1 for f in one))


def _grid(
    title: str, corner: str, cells: list[tuple[str, str, GridCell]], columns: list[str]
) -> AnswerGrid:
    """The shorter direction lies across, so that a phone shows most of it."""
    rows = list(dict.fromkeys(row for row, _, _ in cells))
    across = columns or list(dict.fromkeys(column for _, column, _ in cells))
    turned = not columns and len(across) > max(4, len(rows))
    if turned:
        cells = [(column, row, cell) for row, column, cell in cells]
        rows, across = across, rows
    place = {(row, column): cell for row, column, cell in cells}
    corner = corner or ("At" if turned else "Treatment")
    shown = [(row, [place.get((row, c)) for c in across]) for row in rows]
    averages = {row for row, _, cell in cells if turned and cell.averaged}
    leading = sum(row in averages for row in rows) if len(rows) > MOST_ROWS else 0
    return AnswerGrid(title, corner, across, shown, leading)


def _cell(analysis: Analysis, place: int, effect: Effect) -> GridCell:
    return GridCell(
        effect=place,
        change=numbers.change(effect.ratio),
        interval=numbers.interval(effect.ci),
        verdict=effect.verdict,
        mark=MARKS[effect.verdict],
        tone=words.tone(analysis, effect),
        ratio=effect.ratio,
        averaged=len(effect.over),
    )


def _placed(
    analysis: Analysis, numbered: list[tuple[int, Effect]]
) -> list[tuple[int, Effect, tuple[str, ...], str, str]]:
    """For each effect its place, itself, the compared factors, its row and its column."""
    apart = [levels_apart(analysis, effect) for _, effect in numbered]
    joint = _joint(differing for differing, _ in apart)
    always = set.intersection(*(set(e.over) for _, e in numbered)) if numbered else set()
    placed = []
    for (i, effect), (differing, shared) in zip(numbered, apart, strict=True):
        together = bool(joint) and set(differing) <= set(joint)
        kind = tuple(joint) if together else tuple(differing)
        own = differing | shared
        named = {f: own[f] for f in kind if f in own}
        several = len(named) > 1
        row = ", ".join(level_name(f, v, among_others=several) for f, v in named.items())
        row = row or plain(effect.treatment)
        column = [level_name(f, level) for f, level in shared.items() if f not in kind]
        averaged = [plain(f) for f in effect.over if f not in always]
        if averaged:
            every = "average over " + listing(averaged)
            column = [", ".join(column) + f" ({every})"] if column else [every.capitalize()]
        name = f"{row} (A/A)" if effect.aa else row
        placed.append((i, effect, kind, name, ", ".join(column)))
    order = list(dict.fromkeys(f for c in analysis.conditions for f in c.levels))

    def rank(one: tuple[int, Effect, tuple[str, ...], str, str]) -> tuple[list[int], int]:
        """Factor by factor, the averages first."""
        return [order.index(f) for f in one[2] if f in order], -len(one[1].over)

    return sorted(placed, key=rank)
