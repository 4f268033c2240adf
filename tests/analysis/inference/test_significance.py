"""The levels of a run's tests after its looks, and after an extension."""

from __future__ import annotations

import pytest

from tare.analysis.inference import verdicts
from tare.analysis.inference.significance import (
    PLAIN,
    believed_at_every_end,
    levels_after,
    spent_after,
)
from tare.records.looks import Look, Why


def look(round_: int, of: int, why: Why = "planned") -> Look:
    return Look(round=round_, of=of, why=why, decided=False)


def test_without_looks_everything_stays_at_5_percent() -> None:
    tests = verdicts.Tests(0.04, 0.05)
    assert levels_after([]) is PLAIN
    assert (PLAIN.interval, PLAIN.tost_interval) == pytest.approx((0.95, 0.90))
    assert PLAIN.corrected(tests) is tests


def test_a_single_end_spends_everything() -> None:
    assert levels_after([look(4, 4, "end")]) is PLAIN
    assert levels_after([look(3, 8, "time")]) is PLAIN


def test_the_first_of_two_planned_looks_is_strict_and_the_last_nearly_plain() -> None:
    first = levels_after([look(5, 8)])
    last = levels_after([look(5, 8), look(8, 8, "end")])
    assert first.interval == pytest.approx(1 - 0.01317, abs=1e-5)
    assert first.tost_interval == pytest.approx(1 - 2 * 0.01317, abs=2e-5)
    assert last.interval == pytest.approx(0.95886, abs=1e-5)
    assert 0.91 < last.tost_interval < 0.92


def test_an_end_for_time_spends_what_is_left() -> None:
    looks = [look(5, 8), look(6, 8, "time")]
    assert spent_after(looks, 0.05) == pytest.approx([0.01317, 0.05], abs=1e-5)


def test_an_earlier_end_counts_at_its_share_of_the_longer_run() -> None:
    looks = [look(4, 4, "end"), look(8, 8, "end")]
    assert spent_after(looks, 0.05) == pytest.approx([0.005575, 0.05], abs=1e-6)
    assert believed_at_every_end(looks) > 0.08


def test_what_a_planned_look_spent_stays_spent() -> None:
    looks = [look(5, 8), look(16, 16, "end")]
    assert spent_after(looks, 0.05) == pytest.approx([0.01317, 0.05], abs=1e-5)
    assert believed_at_every_end(looks) == pytest.approx(0.05, abs=1e-6)


def test_the_sentence_names_both_levels() -> None:
    assert "95.89% (TOST: 91.56%)" in levels_after([look(5, 8), look(8, 8, "end")]).method
