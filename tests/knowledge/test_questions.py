"""Advice gives the papers' answers to questions that the papers answer.

questions.yaml has 40 questions and drawn_questions.yaml 28. turned_questions.yaml has 18 that
reverse a comparison, or ask for more than a source states.
"""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from tare.cli.commands import COMMANDS, build
from tare.knowledge.advice import Advice, Answer, advise
from tare.knowledge.consistency import as_printed
from tare.knowledge.library import load_library
from tare.knowledge.query import query_of
from tare.study.conditions import baseline_condition, expand
from tare.study.read import load_study

if TYPE_CHECKING:
    from tare.knowledge.rows import NearFinding
    from tare.study.conditions import Condition

HERE = Path(__file__)


def questions_in(name: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = YAML(typ="safe").load(HERE.with_name(name).read_text("utf-8"))
    return read


QUESTIONS = questions_in("questions.yaml")
DRAWN = [*questions_in("drawn_questions.yaml"), *questions_in("turned_questions.yaml")]
STATED = (
    *("values", "percent", "numbers", "between", "at_least", "at_most"),
    *("none", "higher", "lower", "contradicted"),
)
ROUNDING = 6e-5
"""Ratios are stored with four decimals."""


def asked_by_options(options: str) -> Advice:
    app = build([name for name in COMMANDS if name in ("advise", "findings")])
    words = ["advise", *shlex.split(options), "--json"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    return Advice.model_validate_json(done.stdout)


@cache
def conditions(name: str) -> tuple[dict[str, Condition], str]:
    """A shipped study's conditions by name, and the name of the baseline."""
    study = load_study(HERE.parents[2] / "studies" / f"{name}.yaml")
    return {one.name: one for one in expand(study)}, baseline_condition(study)


def asked_by_study(name: str, condition: str, metric: str) -> Advice:
    setups, base = conditions(name)
    one, baseline = setups[condition], setups[base]
    asked = query_of(one.setup, baseline.setup, one.levels)
    return advise(load_library(environment={}), asked, metric=metric)


def answer_to(question: dict[str, Any]) -> Answer:
    if "ask" in question:
        advice = asked_by_options(question["ask"])
    else:
        advice = asked_by_study(question["study"], question["condition"], question["metric"])
    assert not advice.instead, "of the metric itself"
    (answer,) = advice.answers
    return answer


def said(part: NearFinding) -> dict[str, Any]:
    """A finding's claim, in the fields of a question."""
    return {"kind": part.kind, "ratio": part.ratio, "low": part.low, "high": part.high}


def holds(expected: dict[str, Any], parts: list[NearFinding]) -> bool:
    """Whether the parts state exactly the paper's numbers, bounds and directions."""
    if "higher" in expected or "lower" in expected:
        word = "higher" if "higher" in expected else "lower"
        return {(one.kind, one.direction) for one in parts} == {("direction", word)}
    parts = [one for one in parts if one.kind != "direction"]
    if "none" in expected:
        return {one.kind for one in parts} == {"none"}
    if "contradicted" in expected:
        return not parts
    if "at_least" in expected:
        (low,) = {one.low for one in parts if one.kind == "bound"}
        return low == 1 + expected["at_least"] / 100 and all(one.high is None for one in parts)
    if "at_most" in expected:
        (high,) = {one.high for one in parts if one.kind == "bound"}
        most = pytest.approx(1 + expected["at_most"] / 100, abs=ROUNDING)
        return high == most and all(one.low is None for one in parts)
    if "numbers" in expected:
        ratios = sorted(
            one.ratio for one in parts if one.kind == "number" and one.ratio is not None
        )
        return ratios == pytest.approx([1 + one / 100 for one in expected["numbers"]], abs=ROUNDING)
    if "between" in expected:
        ends = [1 + end / 100 for end in expected["between"]]
        return bool(parts) and all(
            one.kind == "bound" and [one.low, one.high] == pytest.approx(ends, abs=ROUNDING)
            for one in parts
        )
    if "values" in expected:
        old, new = expected["values"]
        wanted = (new / old - ROUNDING, new / old + ROUNDING)
    else:
        span = as_printed(expected["percent"])
        wanted = (1 + span.low / 100 - ROUNDING, 1 + span.high / 100 + ROUNDING)
    return bool(parts) and all(
        one.kind == "number" and one.ratio is not None and wanted[0] <= one.ratio <= wanted[1]
        for one in parts
    )


def case_of(case: str, parts: list[NearFinding]) -> list[NearFinding]:
    """The parts of one workload, operation or level of load."""
    operations = {"read", "write", "update"}
    return [
        one
        for one in parts
        if case in one.workload
        or (case in operations and one.operation == case)
        or case in one.load.split(", ")
        or (case in ("first half", "second half") and case in one.load)
    ]


def plain(stated: Any) -> dict[str, Any]:
    return stated if isinstance(stated, dict) else {stated: True}


def test_there_are_forty_and_each_has_its_place() -> None:
    assert len(QUESTIONS) == 40
    assert all(", " in one["place"] for one in QUESTIONS + DRAWN)
    assert all({"each", *STATED} & set(one) for one in QUESTIONS + DRAWN)
    names = [one["name"] for one in QUESTIONS + DRAWN]
    assert len({*names}) == len(names)


@pytest.mark.parametrize(
    "question", QUESTIONS + DRAWN, ids=[one["name"] for one in QUESTIONS + DRAWN]
)
def test_the_answer_is_what_the_paper_says(question: dict[str, Any]) -> None:
    answer = answer_to(question)
    parts = [one for one in answer.pooled.parts if one.study == question.get("of", one.study)]
    found = {one.finding: said(one) for one in parts}
    if "each" in question:
        for case, stated in question["each"].items():
            own = case_of(case, parts)
            assert own, f"{case}: {found}"
            assert holds(plain(stated), own), f"{case}: {found}"
    else:
        stated = {name: question[name] for name in STATED if name in question}
        assert holds(stated, parts), found
    assert set(question.get("left_out", [])) <= {one.finding for one in answer.pooled.left_out}
    if "nearest" in question:
        own = [one.id for one in answer.nearest if one.study == question.get("of", one.study)]
        assert own[0] == question["nearest"]
    text = " ".join([answer.conclusion.text, *answer.conclusion.besides])
    for words in question.get("says", []):
        assert words in text
    for words in question.get("silent", []):
        assert words not in text
    for name in question.get("left_out", []):
        assert name in text, "what is left out is said"
