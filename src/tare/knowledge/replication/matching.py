"""From a finding to pairs of conditions of its study, or the reason why there are none.

A condition fits one side of a finding when it has every field that the finding states. Other fields
may have any value: the finding is then a mean over them, as Grambow's tables are over compaction
and key cache. Two conditions are a pair when they are alike in every factor, except factors in
which no condition of one side has a level of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.knowledge.rendering import load_of
from tare.knowledge.replication.demands import demands, settings_of
from tare.knowledge.replication.loads import at_load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tare.knowledge.replication.reference import Reference
    from tare.knowledge.schema import Finding, Side
    from tare.study.conditions import Condition

    Pair = tuple[str, str]
    """(baseline condition, treatment condition)"""

_EXTREMES = (
    "it states the least and the greatest change of single cases, and not what any of them is"
)
_WAIVED = frozenset({"address", "plugin"})
"""Fields that no condition of a study needs to have when it repeats another study's question."""


@dataclass(frozen=True)
class Match:
    """The comparison of a finding, in conditions of the study.

    Attributes:
        rows: pairs of conditions that are averaged; with several rows, first each row, then all.
        reason: why there are no pairs; empty: there are.
        notes: parts of the finding that the study lacks.
    """

    rows: tuple[tuple[Pair, ...], ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of all rows."""
        return [pair for row in self.rows for pair in row]


def match(finding: Finding, reference: Reference, known: Mapping[str, Finding]) -> Match:
    """The pairs of conditions that the finding compares.

    Args:
        known: findings by id, for means of other findings. Means of means are not followed: they
            may go round in circles.
    """
    effect = finding.effect
    if effect is None or finding.treatment is None:
        return Match(reason="it states a variability alone, and compares nothing")
    if effect.how == "range" and effect.direction == "varies":
        return Match(reason=_EXTREMES)
    if not effect.mean_of:
        return _matched(finding, finding.treatment, reference)
    parts = [
        _matched(part, part.treatment, reference)
        for part in (known[name] for name in effect.mean_of if name in known)
        if part.treatment is not None and part.effect is not None and not part.effect.mean_of
    ]
    rows = [row for part in parts for row in part.rows]
    if not rows:
        reasons = [part.reason for part in parts]
        return Match(reason=reasons[0] if reasons else "the findings it is the mean of are unknown")
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    whole = len(effect.mean_of)
    if missing := whole - sum(bool(part.rows) for part in parts):
        notes.append(f"{missing} of the {whole} findings it is the mean of are not in the study")
    return Match(tuple(rows), notes=tuple(notes))


def _matched(finding: Finding, treatment: Side, reference: Reference) -> Match:
    settings = settings_of(finding)
    bases = _fitting(finding, finding.baseline, settings[0], reference)
    if bases.reason:
        return Match(reason=f"baseline: {bases.reason}")
    treated = _fitting(finding, treatment, settings[1], reference)
    if treated.reason:
        return Match(reason=treated.reason)
    pairs = tuple(_pairs(bases.conditions, treated.conditions))
    if not pairs:
        return Match(reason="the study has no two conditions that differ in this alone")
    notes = [*bases.notes, *treated.notes, *_notes(finding, treated.conditions)]
    return Match((pairs,), notes=tuple(dict.fromkeys(notes)))


@dataclass(frozen=True)
class _Fitting:
    """The conditions that fit one side; if none does, the first field that no condition has."""

    conditions: tuple[Condition, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


def _fitting(
    finding: Finding, side: Side, settings: dict[str, set[str]], reference: Reference
) -> _Fitting:
    left = list(reference.conditions)
    notes: list[str] = []
    for demand in demands(finding, side, settings, reference):
        fitting = [one for one in left if demand.fits(one)]
        if fitting:
            left = fitting
            continue
        anywhere = any(demand.fits(one) for one in reference.conditions)
        if reference.carried and not anywhere and demand.field in _WAIVED:
            notes.append(f"{demand.field} {demand.stated} in the source, which this study has not")
            continue
        also = ", with the rest as stated," if anywhere else ""
        return _Fitting(
            reason=f"no condition of the study has{also} {demand.field} {demand.stated}"
        )
    fitting = at_load(finding.load, left)
    if not fitting:
        return _Fitting(reason=f"no condition of the study has the load {load_of(finding.load)}")
    return _Fitting(tuple(fitting), notes=tuple(notes))


def _pairs(bases: Sequence[Condition], treated: Sequence[Condition]) -> Iterator[Pair]:
    apart = {
        factor
        for factor in treated[0].levels
        if not {one.levels[factor] for one in bases} & {one.levels[factor] for one in treated}
    }
    if not apart:
        return
    by_rest: dict[frozenset[tuple[str, str]], list[str]] = {}
    for one in bases:
        by_rest.setdefault(_rest(one, apart), []).append(one.name)
    for one in treated:
        for base in by_rest.get(_rest(one, apart), []):
            yield base, one.name


def _rest(condition: Condition, apart: set[str]) -> frozenset[tuple[str, str]]:
    return frozenset((f, level) for f, level in condition.levels.items() if f not in apart)


def _notes(finding: Finding, treated: Sequence[Condition]) -> Iterator[str]:
    found = {one.setup.load.label for one in treated}
    missing = [name for name in finding.workload if name not in found]
    if missing:
        yield f"without {', '.join(missing)}, which the study does not have"


def names_in(pairs: Iterable[Pair]) -> list[str]:
    """The conditions of these pairs, each once."""
    return list(dict.fromkeys(name for pair in pairs for name in pair))
