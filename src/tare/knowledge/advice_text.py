"""Advice as lines for people: the expectation first, then its evidence, then how to settle it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.enumeration import count
from tare.knowledge.wording import WORDS, apart, interval, percent, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare.knowledge.advice import Advice, Answer, Follows, Found
    from tare.knowledge.measured import Measured


def found_lines(advice: Advice) -> Iterator[str]:
    """The expectation, and the findings."""
    yield f"{advice.question}"
    if advice.instead:
        yield ""
        yield advice.instead
    if advice.answers:
        yield ""
    elif advice.notes:
        yield ""
        yield from advice.notes
        for one in advice.afar:
            yield from _found_lines(one)
    for answer in advice.answers:
        yield answer.conclusion.text
        yield from (f"  {line}" for line in answer.conclusion.besides)
    for answer in advice.answers:
        yield ""
        yield from _answer_lines(answer)
    if advice.measured:
        yield ""
        yield "Measured by Tare itself, on small machines; in no number above:"
        for run in advice.measured:
            yield from _measured_lines(run)
    if advice.answers and advice.notes:
        yield ""
        yield from advice.notes


def following_lines(advice: Advice) -> Iterator[str]:
    """The consequences for a benchmark, and what would settle the question."""
    if advice.follows:
        yield ""
        yield "Is it safe to dockerise this benchmark? That depends on what it is for:"
        for rule in advice.follows:
            always = rule.purpose == "always"
            yield f"  in any case: {rule.safe_if}" if always else f"  {_verdict(rule)}"
            yield f"    {rule.because} [{rule.source}]"
    yield ""
    size = advice.settle
    if advice.obstacle:
        yield f"No study is proposed: {advice.obstacle}."
    else:
        yield f"To settle it here: {size.deployments} deployments of each condition. {size.method}"


def _measured_lines(run: Measured) -> Iterator[str]:
    """A run of Tare's: first whether it is valid, then where and when, then its values."""
    doubt = f"NOT VALID: {'; '.join(run.invalid)}" if not run.valid else "a valid run"
    yield f"  {run.run}: {doubt}"
    yield f"    {run.machine}, {run.made}"
    if run.caution:
        yield f"    but {run.caution}"
    for one in run.values:
        yield f"    {one.title} {percent(one.ratio)}{interval(one.ci)}  {one.metric}"
        near = apart(one.differs, "in all that is asked")
        yield f"      {one.word} ({one.distance:.2f}), {near}; {one.where}"
    yield f"    its reading: docs/replications/{run.run}"


def _verdict(rule: Follows) -> str:
    """The rule's purpose, whether it is safe, and the condition that decides."""
    link = "unless" if rule.answer == "no" else "if"
    return f"{rule.purpose}: {rule.answer}, {link} {rule.safe_if}"


def _answer_lines(answer: Answer) -> Iterator[str]:
    yield f"{answer.title}"
    for one in answer.nearest:
        yield from _found_lines(one)
    yield from (f"  {line}" for line in _pooled_lines(answer))


def _found_lines(one: Found) -> Iterator[str]:
    """A finding, how near it is, and its place."""
    yield f"  {_found(one)}"
    near = apart(one.differs, "in all that was asked")
    yield f"      {one.word} ({one.distance:.2f}), {near}"
    yield f"      {one.source}"
    if one.ratio is None and one.notes:
        yield f"      {one.notes}"
    if one.contradicted:
        shown = one.links[0] if one.links else one.id
        yield f"      left out, for its source contradicts itself: tare findings show {shown}"


def _found(one: Found) -> str:
    whole = one.digits is not None
    change = span(one.low, one.high) if one.ratio is None else percent(one.ratio, whole=whole)
    if one.ratio is None and one.low is None and one.high is None:
        change = WORDS.get(one.direction, one.direction)
    ci = interval(one.ci)
    if one.values is not None and not one.ci:
        ci = f" ({one.values[0]:,} to {one.values[1]:,} {one.unit}{_points(one)})"
    if one.digits is not None:
        ci += f", {span(*one.digits, whole=True)} by its digits"
    name = " over ".join(one.links) if one.links else one.id
    return f"{change}{ci}  {one.metric}  {name}" + (
        f"  ({one.origin})" if one.origin != "shipped" else ""
    )


def _points(one: Found) -> str:
    """The difference of two percentages, as tables of CPU in use often print it."""
    if one.unit != "%" or one.values is None:
        return ""
    return f", {round(one.values[1] - one.values[0], 2):+g} points"


def _pooled_lines(answer: Answer) -> Iterator[str]:
    pooled = answer.pooled
    for study in pooled.studies:
        whole = pooled.coarse(study.findings)
        ends = span(study.low, study.high, whole=whole)
        apart = f" ({ends})" if study.low < study.high else ""
        yield (
            f"{study.study}: {percent(study.ratio, whole=whole)}{apart}, from "
            f"{count(len(study.findings), 'finding')}"
        )
    if pooled.ci is not None and pooled.prediction is not None and pooled.ratio is not None:
        low, high = pooled.prediction
        yield (
            f"over studies: {percent(pooled.ratio)}{interval(pooled.ci)}; another such study: "
            f"{percent(low)} to {percent(high)}"
        )
    yield pooled.method
