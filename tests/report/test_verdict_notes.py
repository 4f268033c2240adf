"""The report explains why a verdict may seem to contradict its 95% interval."""

from __future__ import annotations

import pytest

from tare.analysis.model import Effect, Verdict
from tare.report.page import render_html
from tare.report.verdict_notes import verdict_notes

from .sample import sample_analysis


def effect(ci: tuple[float, float], verdict: Verdict) -> Effect:
    return next(e for e in sample_analysis().effects if not e.aa).model_copy(
        update={"ci": ci, "verdict": verdict, "margin": 0.05}
    )


@pytest.mark.parametrize(
    ("ci", "verdict", "by_90", "by_correction"),
    [
        ((1.001, 1.054), "equivalent", True, True),
        ((0.99, 1.02), "equivalent", False, False),
        ((1.01, 1.04), "equivalent", False, True),
        ((0.94, 1.01), "equivalent", True, False),
        ((1.01, 1.052), "different within the margin", True, False),
        ((0.94, 0.99), "inconclusive", False, True),
        ((1.1, 1.2), "different", False, False),
    ],
)
def test_what_a_verdict_rests_on(
    ci: tuple[float, float], verdict: Verdict, by_90: bool, by_correction: bool
) -> None:
    one = effect(ci, verdict)
    assert one.rests_on_90 is by_90
    assert one.rests_on_correction is by_correction


def test_both_reasons_are_said_with_the_number_of_comparisons() -> None:
    analysis = sample_analysis()
    one = effect((1.001, 1.054), "equivalent")
    one.adjustment = "Holm over 18 primary comparisons"
    analysis.effects = [one]
    first, second = verdict_notes(analysis)
    assert "the 90% interval lies within the margin" in first
    assert "Holm over 18 primary comparisons" in second
    html = render_html(analysis)
    assert first in html
    assert second in html


def test_where_every_interval_speaks_for_itself_nothing_is_said() -> None:
    analysis = sample_analysis()
    analysis.effects = [effect((0.99, 1.02), "equivalent")]
    assert verdict_notes(analysis) == []


def test_metrics_that_are_not_shown_need_no_note() -> None:
    analysis = sample_analysis()
    analysis.effects = [effect((1.001, 1.054), "equivalent")]
    assert verdict_notes(analysis, ["other"]) == []


def test_conditions_with_several_load_generators_say_that_these_may_differ() -> None:
    analysis = sample_analysis()
    analysis.conditions[0] = analysis.conditions[0].model_copy(
        update={"load": ["load sent by ycsb 0.17.0"]}
    )
    (note,) = [one for one in verdict_notes(analysis) if "ycsb 0.17.0" in one]
    assert "may be the clients'" in note
    assert "ycsb 0.17.0" in render_html(analysis)


def test_one_load_generator_for_all_needs_no_word() -> None:
    analysis = sample_analysis()
    analysis.conditions = [
        one.model_copy(update={"load": ["load sent by ycsb 0.17.0"]}) for one in analysis.conditions
    ]
    assert not [one for one in verdict_notes(analysis) if "another client" in one]
