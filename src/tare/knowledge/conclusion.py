"""The expectation in one sentence: the first line of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from tare.enumeration import first_of
from tare.knowledge.wording import allowed, known_and_not_stated, of, percent, span
from tare.study.metric_names import lowered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tare.knowledge.pooling import Pooled
    from tare.knowledge.rows import NearFinding

_CASES = {
    "network": "by {}",
    "plugin": "through {}",
    "address": "by {}",
    "over_plugin": "against {}",
    "operation": "for {}",
    "workload": "on {}",
    "load": "{}",
}
"""The fields that tell the cases of one study apart, and the case names that they give."""
_OPERATIONS = {
    "read": "reads",
    "write": "writes",
    "update": "updates",
    "insert": "inserts",
    "rmw": "read-modify-writes",
    "mixed": "a mixed load",
    "all": "all operations",
}
_OTHERWISE = ("database", "instance", "replication factor", "consistency", "clusters")
"""Fields in which all known findings may differ from the question, which a first line hides."""
_MOST_CASES = 6
_MOST_NAMED = 3
NO_DIFFERENCE = "no significant difference"

Kind = Literal[
    "range", "number", "several", "bound", "none", "direction", "contradicted", "nothing"
]


class Conclusion(BaseModel):
    """What to expect."""

    model_config = ConfigDict(frozen=True)

    kind: Kind = Field(
        description="range: over three studies or more; number: one; several: they differ by study "
        "or case; bound, none, direction: as a source states it; contradicted: nothing is left"
    )
    ratio: float | None = Field(description="of a range its mean")
    low: float | None = Field(description="range: what another site could see; else the least")
    high: float | None
    text: str = Field(description="what to expect")
    besides: list[str] = Field(description="what was taken for granted, and what was left out")


def conclude(
    title: str, pooled: Pooled, workload: str = "", operation: str | None = None
) -> Conclusion:
    """The sentence, from what counts and what was left out.

    Args:
        title: the kind of metric, as FAMILIES has it.
        workload: the workload of the question; empty: any.
        operation: likewise; None: another place states the question.
    """
    noun = lowered(title)
    kind, ratio, low, high = _numbers(pooled)
    assumed = dict.fromkeys(part.assumed for part in pooled.parts if part.assumed)
    twice = [
        f"{part.finding} is a range, for its source prints two numbers: "
        f"{percent(part.ratio)}, and {part.elsewhere}."
        for part in pooled.parts
        if part.elsewhere and part.ratio is not None
    ]
    return Conclusion(
        kind=kind,
        ratio=ratio,
        low=low,
        high=high,
        text=_expect(noun, pooled),
        besides=[
            *_elsewhere(pooled, workload),
            *_of_one_operation(pooled, operation),
            *_otherwise(pooled),
            *assumed,
            *twice,
            *_by_digits(pooled),
            *_left_out(pooled),
        ],
    )


def _numbers(pooled: Pooled) -> tuple[Kind, float | None, float | None, float | None]:
    if pooled.prediction is not None:
        return "range", pooled.ratio, *pooled.prediction
    parts = [part for part in pooled.parts if part.kind != "direction"]
    ratios = [part.ratio for part in parts if part.kind == "number" and part.ratio is not None]
    bounds = [part for part in parts if part.kind == "bound"]
    if ratios:
        low, high = min(ratios), max(ratios)
        alone = percent(low) == percent(high) and len(ratios) == len(parts)
        return ("number", low, low, high) if alone else ("several", None, *_widest(parts))
    if bounds:
        return "bound", bounds[0].ratio, *_widest(bounds)
    if parts:
        return "none", None, None, None
    if pooled.parts:
        return "direction", None, None, None
    return "contradicted" if pooled.left_out else "nothing", None, None, None


def _widest(parts: Iterable[NearFinding]) -> tuple[float | None, float | None]:
    """Least and greatest ratio of numbers and bounds; None where a bound leaves it open.

    Ratios within the steps of a measurement count only where nothing else does.
    """
    stated = [part for part in parts if part.kind in ("number", "bound")]
    ends = [ends_of(part) for part in stated if not part.step] or [ends_of(one) for one in stated]
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    least = None if None in lows else min(low for low in lows if low is not None)
    most = None if None in highs else max(high for high in highs if high is not None)
    return least, most


def ends_of(part: NearFinding) -> tuple[float | None, float | None]:
    """Least and greatest ratio of a number or a bound."""
    return (part.ratio, part.ratio) if part.kind == "number" else (part.low, part.high)


def _expect(noun: str, pooled: Pooled) -> str:
    studies = list(dict.fromkeys(part.study for part in pooled.parts))
    if not studies:
        if pooled.left_out:
            return f"No number can be relied on for {noun}."
        return f"Nothing is known of {noun} on this way to the nodes; what follows is of others."
    if pooled.prediction is not None and pooled.ratio is not None:
        about = of(percent(pooled.ratio), noun)
        numbers = {one.study for one in pooled.studies}
        beside = [one for one in studies if one not in numbers]
        return (
            f"Expect about {about}; another site could see {span(*pooled.prediction)} "
            f"({len(numbers)} studies)." + _beside(pooled, beside)
        )
    phrases = {one: _study(noun, _of(pooled, one), alone=len(studies) == 1) for one in studies}
    if len(phrases) == 1:
        return f"Expect {phrases[studies[0]]}. That is {studies[0]} alone."
    said = "; ".join(f"{one}: {phrase}" for one, phrase in phrases.items())
    total = f"of {noun}: "
    if pooled.studies:
        low, high = _widest(pooled.parts)
        words = _other_words([_of(pooled, one) for one in studies], low, high)
        changes = span(low, high, whole=_coarse(pooled.parts))
        total = f"{' or '.join([*words, of(changes, noun)])}: "
    printed = len(pooled.studies)
    count = f"{printed} of {len(studies)}" if printed < len(studies) else f"{printed}"
    return f"Expect {total}{said}. {count} studies print a number: too few for a range."


def _other_words(
    studies: Iterable[Sequence[NearFinding]], low: float | None, high: float | None
) -> Iterator[str]:
    """Statements of studies without a number that lie outside the range of the others."""
    said = {
        _change(part)
        for parts in studies
        if {part.kind for part in parts} <= {"none", "direction"}
        for part in parts
    }
    agree = {"higher": low is not None and low > 1, "lower": high is not None and high < 1}
    return (word for word in sorted(said, reverse=True) if not agree.get(word))


def _beside(pooled: Pooled, studies: Sequence[str]) -> str:
    """Statements of bounds, and of studies without a number, beside a range over the others."""
    said = [f"{one}: {_study('', _of(pooled, one), alone=False)}" for one in studies]
    bounds: dict[str, list[str]] = {}
    for part in pooled.parts:
        if part.kind == "bound" and part.study not in studies:
            bounds.setdefault(part.study, []).append(_change(part))
    said += [f"{study}: {' or '.join(dict.fromkeys(own))}" for study, own in bounds.items()]
    return f" Stated beside it, {'; '.join(said)}." if said else ""


def _of(pooled: Pooled, study: str) -> list[NearFinding]:
    return [part for part in pooled.parts if part.study == study]


def _study(noun: str, parts: Sequence[NearFinding], *, alone: bool) -> str:
    """One study's statement: all in one, or case by case where its cases differ."""
    stated = [part for part in parts if part.kind != "direction"]
    told = _cases(stated or parts)
    total = _total(noun if alone else "", stated or parts)
    cases = [f"{change} {case}".strip() for case, change in told.items()]
    if 1 < len(cases) <= (_MOST_CASES if alone else _MOST_NAMED) and len({*told.values()}) > 1:
        total = f"{total}: {'; '.join(cases)}" if alone else "; ".join(cases)
    directions = [one for one in parts if one.kind == "direction"] if stated and alone else []
    several = len({part.operation for part in parts}) > 1
    aside = [
        f"{_value(one, 'operation') + ' ' if several else ''}{one.direction} {_load(one.load)}"
        for one in directions
        if _in_words(one.load)
    ]
    return "; ".join([total, *dict.fromkeys(aside)])


def _in_words(load: str) -> bool:
    """The level has a name, and no number that another finding also has."""
    return bool(load) and not any(letter.isdigit() for letter in load)


def _load(load: str) -> str:
    """At 30 threads, in the first half, as threads rise."""
    if load.startswith("the "):
        return f"in {load}"
    return load if not load or _in_words(load) else f"at {load}"


def _total(noun: str, parts: Sequence[NearFinding]) -> str:
    ratios = [part.ratio for part in parts if part.kind == "number" and part.ratio is not None]
    if ratios:
        low, high = _widest(parts)
        change = span(low, high, whole=_coarse(parts))
        change = f"about {change}" if noun and low == high else change
        return of(change, noun) if noun else change
    changes = list(dict.fromkeys(_change(part) for part in parts))
    said = " or ".join(changes)
    if parts[0].kind == "none":
        return f"{said} in {noun}" if noun else said
    if parts[0].kind == "direction":
        said = said if len(changes) == 1 else "now more, now less"
        return f"{said} {noun}, by how much is not said" if noun else said
    return f"{noun} of {said}" if noun else said


def _change(part: NearFinding) -> str:
    if part.kind == "none":
        return NO_DIFFERENCE
    if part.kind == "direction":
        return part.direction
    if part.kind == "number" and part.ratio is not None:
        return percent(part.ratio, whole=part.digits is not None)
    bound = span(part.low, part.high)
    if part.step and part.ratio is not None:
        return f"{bound} (printed as {percent(part.ratio)}, in steps of {part.step})"
    return bound


def _cases(parts: Sequence[NearFinding]) -> dict[str, str]:
    """Case to its statement, told apart by the first field that does so."""
    fields = [name for name in _CASES if len({_value(part, name) for part in parts}) > 1]
    if "network" in fields:  # which has a plugin of its own
        fields = [name for name in fields if name not in ("plugin", "address")]
    if any(name != "load" for name in fields):
        fields = [name for name in fields if name != "load"]
    cases: dict[str, list[NearFinding]] = {}
    for part in sorted(parts, key=lambda part: part.kind == "none"):
        named = [_CASES[name].format(_value(part, name)) for name in fields if _value(part, name)]
        cases.setdefault(" ".join(named), []).append(part)
    return {case: _total("", own) for case, own in cases.items()}


def _value(part: NearFinding, name: str) -> str:
    if name == "workload":
        return ", ".join(part.workload)
    if name == "operation":
        return _OPERATIONS.get(part.operation, part.operation)
    if name == "load":
        return _load(part.load)
    return str(getattr(part, name))


def _elsewhere(pooled: Pooled, workload: str) -> Iterator[str]:
    """Another workload's numbers are marked so, where there are no others."""
    found = sorted({name for part in pooled.parts for name in part.workload})
    if workload and found and workload not in found:
        yield f"Nothing of it is on {workload}: {', '.join(found)}."


def _of_one_operation(pooled: Pooled, operation: str | None) -> Iterator[str]:
    """All that is known of reads and writes together may be of one of them alone."""
    found = {part.operation for part in pooled.parts}
    if operation is None or len(found) != 1 or found <= {operation, "all", "mixed"}:
        return
    yield f"All of it is of {_OPERATIONS[found.pop()]}."


def _otherwise(pooled: Pooled) -> Iterator[str]:
    """The fields in which all findings are, or may be, of something else than the question."""
    told, unknown = [], []
    for name in _OTHERWISE:
        each = [part.differs.get(name, "") for part in pooled.parts]
        if not each or not all(each):
            continue
        known, unstated = known_and_not_stated(dict.fromkeys(each))
        if known:
            told.append(" or ".join(known) + (", where it is stated" if unstated else ""))
        elif name == "clusters":
            unknown.append(name)
    if told:
        yield f"All of it differs in: {', '.join(told)}."
    if unknown:
        yield f"Not stated in any of it: {', '.join(unknown)}."


def _coarse(parts: Iterable[NearFinding]) -> bool:
    return any(part.digits is not None for part in parts)


def _by_digits(pooled: Pooled) -> Iterator[str]:
    """Numbers whose sources print so few digits that they stand for a range."""
    found = [
        f"{allowed(part.ratio, part.digits)} ({part.finding})"
        for part in pooled.parts
        if part.digits is not None and part.ratio is not None
    ]
    if found:
        yield f"{first_of(found, _MOST_NAMED)}."


def _left_out(pooled: Pooled) -> Iterator[str]:
    left = pooled.left_out
    if not left:
        return
    named = first_of([f"{_change(part)} ({part.finding})" for part in left], _MOST_NAMED)
    its, it = ("its", "it") if len(left) == 1 else ("their", "them")
    yield f"Left out, for {its} own source contradicts {it}: {named}."
