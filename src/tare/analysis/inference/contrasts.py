"""The comparisons: treatments and their baselines, and conditions run twice (A/A)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.study.comparisons import every_comparison
from tare.study.question import AnalysisSection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tare.study.comparisons import Comparison
    from tare.study.conditions import Condition

CellPair = tuple[str, str]
"""(baseline condition, treatment condition), alike in all factors that are not compared."""


@dataclass(frozen=True)
class Contrast:
    """One treatment and the baseline that it is measured against.

    Attributes:
        baseline, treatment: a condition's name; for an average, the levels of the factors that are
            not averaged over, joined by dots.
        factor: the one factor in which they differ; empty where they differ in several.
        levels: the treatment's levels of the factors that are not averaged over.
        aa: both have the same setup, so that every difference is noise.
        over: factors over whose levels it is averaged.
        rows: pairs of conditions that are averaged. Several rows: first each row is averaged, then
            the rows. Empty: the two are single conditions.
        question: the factors compared; comparisons of one question and the same `over` are a
            family.
    """

    baseline: str
    treatment: str
    factor: str
    levels: dict[str, str]
    aa: bool
    over: tuple[str, ...] = ()
    rows: tuple[tuple[CellPair, ...], ...] = ()
    question: str = ""

    @property
    def family(self) -> tuple[str, tuple[str, ...]]:
        """The key of its family: p values of one family are adjusted together."""
        return self.question or self.factor, self.over

    @property
    def cells(self) -> tuple[CellPair, ...]:
        """All pairs of conditions that enter."""
        pairs = tuple(pair for row in self.rows for pair in row)
        return pairs or ((self.baseline, self.treatment),)

    def without(self, gone: frozenset[str]) -> Contrast | None:
        """The contrast over the pairs without any of these conditions; None where none is left."""
        if not self.rows:
            return self if gone.isdisjoint((self.baseline, self.treatment)) else None
        rows = (tuple(pair for pair in row if gone.isdisjoint(pair)) for row in self.rows)
        kept = tuple(row for row in rows if row)
        return replace(self, rows=kept) if kept else None


@dataclass(frozen=True)
class Contrasts:
    """All comparisons of a study.

    Attributes:
        of: in the order of the study's conditions.
        lonely: conditions that the study's exclusions leave without a baseline.
        twins: (condition, its repetition under another name).
    """

    of: list[Contrast]
    lonely: list[str]
    twins: list[tuple[str, str]]

    @property
    def baselines(self) -> list[str]:
        """The conditions that others are compared with."""
        return list(dict.fromkeys(contrast.baseline for contrast in self.of))

    def stratum(self, baseline: str) -> list[str]:
        """The baseline and everything compared with it."""
        return [baseline, *(c.treatment for c in self.of if c.baseline == baseline)]

    def repeats(self, baseline: str) -> list[str]:
        """Conditions that are compared with the baseline and have its own setup (A/A)."""
        return [c.treatment for c in self.of if c.baseline == baseline and c.aa and not c.rows]

    def without(self, names: Collection[str]) -> Contrasts:
        """The comparisons that remain without these conditions; averages use the remaining pairs.

        An average is dropped if its remaining pairs are compared by themselves.
        """
        gone = frozenset(names)
        kept: list[Contrast] = []
        for one in self.of:
            rest = one.without(gone)
            known = rest is not None and rest != one and any(k.cells == rest.cells for k in kept)
            if rest is not None and not known:
                kept.append(rest)
        return Contrasts(
            kept,
            [name for name in self.lonely if name not in gone],
            [pair for pair in self.twins if gone.isdisjoint(pair)],
        )


def make_contrasts(
    conditions: Sequence[Condition],
    baseline: Mapping[str, str],
    asked: AnalysisSection | None = None,
) -> Contrasts:
    """The study's comparisons, and the averages over them that it asks for.

    Args:
        baseline: factor to the level that the study names as baseline.
        asked: the study's analysis section.
    """
    asked = asked or AnalysisSection()
    found = Contrasts([], [], [(c.aa_of, c.name) for c in conditions if c.aa_of is not None])
    planned = list(every_comparison(conditions, baseline, asked))
    if asked.has_roles:
        for question in asked.compared(baseline):
            _ask(found, [one for one in planned if one.factors == tuple(question)], asked)
        return found
    for base, treated, factors in planned:
        if base is None:
            found.lonely.append(treated.name)
        else:
            factor = factors[0] if len(factors) == 1 else ""
            levels, same = dict(treated.levels), treated.repeats(base)
            found.of.append(Contrast(base.name, treated.name, factor, levels, same))
    return found


def without_undescribed_twins(
    conditions: Sequence[Condition], undescribed: Collection[str]
) -> list[Condition]:
    """The conditions, with A/A only where the study can know that two setups are the same.

    Files of other tools may differ in what the study's levels do not describe (`docker: {}`). Equal
    setups are then no repetition.

    Args:
        undescribed: factors without a level that changes anything.
    """
    first: dict[tuple[str, ...], str] = {}
    told = []
    for condition in conditions:
        key = (
            condition.setup.model_dump_json(),
            *(f"{factor}={condition.levels.get(factor)}" for factor in undescribed),
        )
        twin = first.setdefault(key, condition.name)
        told.append(
            condition.model_copy(update={"aa_of": None if twin == condition.name else twin})
        )
    return told


def _ask(found: Contrasts, planned: Sequence[Comparison], asked: AnalysisSection) -> None:
    """Add the comparisons of one question, and its averages: over the last of `by`, over the last
    two, and so on. An average of one comparison is left out."""
    found.lonely.extend(one.treatment.name for one in planned if one.baseline is None)
    pairs = [(one.baseline, one.treatment) for one in planned if one.baseline is not None]
    over = tuple(asked.over.factors) if asked.over else ()
    question = " and ".join(planned[0].factors) if planned else ""
    for averaged in range(len(asked.by) + 1):
        by = tuple(asked.by[len(asked.by) - averaged :])
        known = {frozenset(contrast.cells) for contrast in found.of}
        for contrast in _averages(pairs, question, over, by):
            if not by or frozenset(contrast.cells) not in known:
                found.of.append(contrast)


def _averages(
    pairs: Sequence[tuple[Condition, Condition]],
    question: str,
    over: tuple[str, ...],
    by: tuple[str, ...],
) -> Iterator[Contrast]:
    """One contrast per combination of levels of the factors outside both `over` and `by`."""
    groups: dict[tuple[str, str], dict[tuple[str, ...], list[tuple[Condition, Condition]]]] = {}
    for base, treated in pairs:
        names = _name(base, (*over, *by)), _name(treated, (*over, *by))
        row = tuple(treated.levels[factor] for factor in by)
        groups.setdefault(names, {}).setdefault(row, []).append((base, treated))
    for (baseline, treatment), rows in groups.items():
        members = [pair for row in rows.values() for pair in row]
        base, treated = members[0]
        away = [f for f, level in treated.levels.items() if base.levels[f] != level]
        kept = {f: v for f, v in treated.levels.items() if f not in over and f not in by}
        averaged = (*over, *by)
        yield Contrast(
            baseline=baseline,
            treatment=treatment,
            factor=away[0] if len(away) == 1 else "",
            levels=kept,
            aa=all(treated.repeats(base) for base, treated in members),
            over=averaged,
            rows=tuple(tuple((b.name, t.name) for b, t in row) for row in rows.values())
            if averaged
            else (),
            question=question,
        )


def _name(condition: Condition, averaged: Collection[str]) -> str:
    """The levels of the factors that are not averaged over, in the order of the study."""
    return ".".join(v for f, v in condition.levels.items() if f not in averaged)
