"""Sentences that say how a run ended and what would decide it."""

from __future__ import annotations

import pytest

from tare.analysis.ending import describe_ending
from tare.analysis.inference.significance import levels_after
from tare.analysis.model import Extension
from tare.records.looks import Look, Why
from tare.report import ending
from tare.report.markdown import render_markdown

from .sample import sample_analysis


def said(*looks: tuple[int, int, Why, bool]) -> str:
    analysis = sample_analysis()
    taken = [Look(round=r, of=of, why=why, decided=found) for r, of, why, found in looks]
    analysis.ending = describe_ending(taken, levels_after(taken))
    return " ".join(ending.looks(analysis))


def test_a_run_without_looks_says_nothing_of_them() -> None:
    assert ending.sentences(sample_analysis()) == []


def test_a_run_that_was_decided_early_says_so_and_at_which_level() -> None:
    text = said((5, 8, "planned", True))
    assert "after 5 of at most 8 rounds: every primary comparison has a verdict." in text
    assert "98.68%" in text


def test_a_run_to_its_end_names_the_look_before() -> None:
    text = said((5, 8, "planned", False), (8, 8, "end", False))
    assert "after all 8 rounds: these were all." in text
    assert "after round 5. The looks share the 5% of error" in text
    assert "95.89%" in text
    assert "withdrawn" not in text


def test_an_end_for_time_needs_no_other_level() -> None:
    text = said((3, 8, "time", False))
    assert "after 3 of at most 8 rounds: another one would not have ended" in text
    assert "intervals" not in text


def test_an_extension_withdraws_the_verdicts_of_the_earlier_end() -> None:
    text = said((4, 4, "end", False), (12, 12, "end", True))
    assert "It was looked at before, after round 4." in text
    assert "withdrawn" in text
    assert "not in 5%" in text


@pytest.mark.parametrize(
    ("seconds", "length"), [(20, "1 min"), (2400, "40 min"), (7920, "2.2 h"), (400_000, "4.6 days")]
)
def test_what_should_decide_is_a_command_and_its_length(seconds: float, length: str) -> None:
    analysis = sample_analysis()
    analysis.extension = Extension(
        rounds=36, now=4, seconds=seconds, command="tare run studies/x.yaml --rounds 36"
    )
    (text,) = ending.sentences(analysis)
    assert text == (
        f"Not decided: 36 rounds instead of 4 ({length} more) should decide: "
        "tare run studies/x.yaml --rounds 36"
    )
    assert "studies/x.yaml" in render_markdown(analysis)


def test_what_would_stay_open_is_counted() -> None:
    analysis = sample_analysis()
    analysis.extension = Extension(rounds=9, now=4, seconds=60, command="", left_open=2)
    assert ending.further(analysis)[0].endswith("should decide all but 2 comparisons")
