"""Published findings on the change of an effect: a line, and its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.knowledge.wording import known_and_not_stated, not_stated
from tare.report import numbers
from tare.report.escaping import plain
from tare.report.table import Cell

if TYPE_CHECKING:
    from tare.analysis.model import Analysis, Effect, OtherFinding, Others

NOTE = (
    "Others found: the nearest finding of the knowledge base on the same change and kind of "
    "metric, how near its conditions are (alike, near, related), and over three or more studies "
    "the 95% prediction interval for another such study. Farther findings are not shown."
)
_DIRECTIONS = {"none": "no difference", "varies": "now higher, now lower"}


def line(others: Others) -> str:
    """The nearest finding and the range, in one line without the metric's name."""
    return "; ".join(filter(None, (_nearest(others.nearest[0]), _range(others))))


def short(others: Others) -> str:
    """The nearest finding alone: its change, study and nearness."""
    one = others.nearest[0]
    return f"{_change(one)} ({plain(one.study)}, {one.word})"


def sources(others: Others) -> list[str]:
    """Each study's nearest finding: the change, the exact place, its nearness and differences; at
    the end how the range was made."""
    found = [_source(one) for one in others.nearest]
    left = others.studies - len(others.nearest)
    if left:
        found.append(f"And {_studies(left)} farther away.")
    return [*found, plain(others.method)]


def first(analysis: Analysis, places: list[int], at_most: int) -> set[int]:
    """The effects whose sources are written out, of these: primary endpoints come first."""

    def rank(place: int) -> tuple[bool, int]:
        return not analysis.effects[place].primary, place

    known = [i for i in places if analysis.effects[i].others is not None]
    return set(sorted(known, key=rank)[:at_most])


def any_known(analysis: Analysis) -> bool:
    """Whether any effect has a finding nearby."""
    return any(effect.others is not None for effect in analysis.effects)


def cell(effect: Effect) -> Cell:
    """The line as a cell that opens to its sources, sorted by the nearest finding's change."""
    if effect.others is None:
        return Cell("")
    ratio = effect.others.nearest[0].ratio
    change = None if ratio is None else 100 * (ratio - 1)
    return Cell(line(effect.others), "others", value=change, more=tuple(sources(effect.others)))


def _nearest(one: OtherFinding) -> str:
    known, unknown = known_and_not_stated(one.differs[:1] if one.word != "alike" else ())
    apart = "".join(f", differs in {plain(phrase)}" for phrase in known)
    apart += "".join(f", {plain(not_stated(field))}" for field in unknown)
    return f"{_change(one)} ({plain(one.study)}, {one.word}{apart})"


def _range(others: Others) -> str:
    count = f"{numbers.count(others.findings, 'finding')} of {_studies(others.studies)}"
    if others.pooled is not None:
        low, high = (numbers.change(end) for end in others.pooled.prediction)
        return f"{count}, another such study {low} to {high}"
    if others.seen is None or others.seen[0] == others.seen[1]:
        return count if others.findings > 1 else ""
    low, high = (numbers.change(end) for end in others.seen)
    return f"{count} range from {low} to {high}"


def _studies(number: int) -> str:
    return numbers.count(number, "study", "studies")


def _change(one: OtherFinding) -> str:
    """A change, a stated range, or a direction."""
    if one.ratio is not None:
        if one.digits is not None:
            lowest, most = (_whole(end) for end in one.digits)
            return f"{_whole(one.ratio)} ({lowest} to {most} by its printed digits)"
        ci = f" {numbers.interval(one.ci)}" if one.ci else ""
        return numbers.change(one.ratio) + ci
    low, high = (None if end is None else numbers.change(end) for end in (one.low, one.high))
    if low and high:
        return f"{low} to {high}"
    if low or high:
        return f"{low} or more" if low else f"up to {high}"
    return _DIRECTIONS.get(one.direction, one.direction)


def _whole(ratio: float) -> str:
    """In whole percents: the source allows no more."""
    return f"{ratio - 1:+z.0%}".replace("-", numbers.MINUS)


def _source(one: OtherFinding) -> str:
    known, unknown = known_and_not_stated(one.differs)
    apart = f", differs in: {plain('; '.join(known))}" if known else ""
    apart += f", not stated: {plain('; '.join(unknown))}" if unknown else ""
    against = ""
    if one.contradicted:
        against = f" Its source contradicts itself here: tare findings show {plain(one.id)}."
    return (
        f"{_change(one)} {plain(one.metric)}: {plain(one.source)}; {one.word} "
        f"({one.distance:.2f}){apart}.{against}"
    )
