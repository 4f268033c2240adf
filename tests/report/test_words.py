"""Sentences use only four verdicts, state the most severe point first, and call no tie a win."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from tare.analysis.model import Analysis, Effect, Metric, Verdict
from tare.report import words

from .sample import sample_analysis


def effect(analysis: Analysis, metric: str, treatment: str) -> Effect:
    return next(e for e in analysis.effects if (e.metric, e.treatment) == (metric, treatment))


def test_a_difference_is_said_with_interval_baseline_and_verdict() -> None:
    analysis = sample_analysis()
    line = words.line(analysis, effect(analysis, "throughput", "docker-bridge"))
    assert line.text == "throughput 12.3% lower [\u221215.1%, \u22129.4%] than native: different"


def test_service_demand_is_said_in_microseconds_beside_percent() -> None:
    analysis = sample_analysis()
    one = effect(analysis, "service_demand", "docker-bridge")
    assert words.line(analysis, one).text == (
        "service demand 16.2% higher [+13.4%, +19.0%] than native (152 instead of 131 \u00b5s per "
        "operation, +21.2 \u00b5s [+17.6, +24.9]): different"
    )
    assert one.difference == pytest.approx(131.0 * 0.162)
    one.verdict, one.needed, one.ci = "inconclusive", 3, (0.988, 1.03)
    assert words.line(analysis, one).text == (
        "service demand: can't tell yet, between 1.2% lower and 3.0% higher than native (between "
        "\u22121.6 and +3.9 \u00b5s of 131 per operation); 3 more rounds should decide: "
        "inconclusive"
    )


def test_an_inconclusive_effect_says_what_would_settle_it() -> None:
    analysis = sample_analysis()
    line = words.line(analysis, effect(analysis, "all.p99", "docker-host"))
    assert line.text == (
        "99th percentile latency: can't tell yet, between 9.5% lower and 24.6% higher than "
        "native; 4 more rounds should decide: inconclusive"
    )


def test_an_inconclusive_effect_without_a_known_need_promises_nothing() -> None:
    analysis = sample_analysis()
    one = effect(analysis, "all.p99", "docker-host")
    one.needed = None
    assert "do not tell how much more" in words.line(analysis, one).text


def test_ties_name_their_margin() -> None:
    analysis = sample_analysis()
    equivalent = words.line(analysis, effect(analysis, "throughput", "docker-host"))
    within = words.line(analysis, effect(analysis, "all.mean", "docker-host"))
    assert equivalent.text.endswith(": equivalent (5% margin)")
    assert within.text.endswith(": different within the margin (5% margin)")


def test_every_sentence_ends_in_one_of_the_four_verdicts() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        line = words.line(analysis, one)
        assert line.verdict in get_args(Verdict)
        assert f": {one.verdict}" in line.text


def test_treatments_come_in_order_and_the_control_last() -> None:
    answers = words.answers(sample_analysis())
    assert [a.treatment for a in answers] == [
        "docker-host",
        "docker-bridge",
        "docker-published",
        "native-again",
    ]
    assert [line.metric for line in answers[0].lines] == [
        "service_demand",
        "throughput",
        "all.mean",
        "all.p99",
    ]
    assert "the same setup again" in answers[-1].sentence


def test_without_primary_endpoints_the_usual_metrics_are_answered() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        one.primary, one.margin = False, None
    assert [m.name for m in words.primary_metrics(analysis)] == [
        "service_demand",
        "throughput",
        "all.mean",
        "all.p99",
    ]


@pytest.mark.parametrize(
    ("metric", "ratio", "tone"),
    [
        ("throughput", 0.8, "cost"),
        ("throughput", 1.25, "gain"),
        ("all.mean", 1.25, "cost"),
        ("all.mean", 0.8, "gain"),
    ],
)
def test_the_tone_of_a_difference_is_what_it_costs(metric: str, ratio: float, tone: str) -> None:
    analysis = sample_analysis()
    one = effect(analysis, metric, "docker-bridge")
    one.ratio = ratio
    assert words.tone(analysis, one) == tone


@pytest.mark.parametrize("verdict", ["equivalent", "inconclusive"])
def test_a_tie_has_no_tone_however_far_the_estimate_is(verdict: Verdict) -> None:
    analysis = sample_analysis()
    one = effect(analysis, "throughput", "docker-bridge")
    one.ratio, one.verdict = 1.4, verdict
    assert words.tone(analysis, one) == "tie"


def test_neither_a_control_nor_an_invalid_result_has_a_tone() -> None:
    analysis = sample_analysis()
    control = effect(analysis, "throughput", "native-again")
    control.verdict, control.ratio = "different", 1.2
    assert words.tone(analysis, control) == "tie"
    analysis.valid = False
    assert words.tone(analysis, effect(analysis, "throughput", "docker-bridge")) == "tie"


def test_a_difference_of_blocks_below_the_noise_floor_is_said_to_be_one() -> None:
    analysis = sample_analysis()
    for floor in analysis.noise_floor:
        floor.floor, floor.deployment_floor = 0.4, 0.3
    one = effect(analysis, "throughput", "docker-bridge")
    one.unit_of_analysis = "block"
    line = words.line(analysis, one)
    assert line.text.endswith(": different, but smaller than the noise floor of 40%")
    assert line.tone == "tie"


@pytest.mark.parametrize("verdict", ["different", "different within the margin"])
def test_what_averages_over_deployments_decide_is_no_tie_for_any_noise_floor(
    verdict: Verdict,
) -> None:
    analysis = sample_analysis()
    for floor in analysis.noise_floor:
        floor.floor, floor.deployment_floor, floor.exceeds_margin = 0.4, 0.3, True
    one = effect(analysis, "throughput", "docker-bridge")
    one.verdict = verdict
    line = words.line(analysis, one)
    assert "noise floor" not in line.text
    assert line.tone == "cost"
    for other in analysis.effects:  # as for the alert at the top
        other.verdict = verdict
    assert "averages over deployments hold" in words.alerts(analysis)[0].headline


def test_a_valid_and_quiet_result_raises_no_alert() -> None:
    assert words.alerts(sample_analysis()) == []


def test_an_invalid_result_is_the_first_alert_and_names_its_causes() -> None:
    analysis = sample_analysis()
    analysis.valid = False
    analysis.checks[0].status = "invalid"
    analysis.checks[0].summary = "3.2% of operations failed"
    analysis.noise_floor[0].exceeds_margin = True
    first, second = words.alerts(analysis)
    assert first.level == "invalid"
    assert "not valid" in first.headline
    assert first.details == ("3.2% of operations failed",)
    assert second.headline == (
        "Identical setups differed in single blocks of throughput by more than the margin; "
        "averages over deployments hold"
    )
    assert "the margin is 5%" in second.details[0]


def test_where_each_deployment_is_one_block_noise_is_of_deployments() -> None:
    analysis = sample_analysis()
    floor = analysis.noise_floor[0]
    floor.exceeds_margin, floor.floor, floor.deployment_floor = True, 0.09, 0.09
    (alert,) = words.alerts(analysis)
    assert alert.headline.startswith("Identical setups differed in single deployments of through")
    assert "differed by up to 9% in single deployments; the margin is 5%" in alert.details[0]


def test_noise_between_deployments_hides_an_answer_that_is_not_decided() -> None:
    analysis = sample_analysis()
    floor = analysis.noise_floor[0]
    floor.exceeds_margin, floor.floor, floor.deployment_floor = True, 0.09, 0.07
    (alert,) = words.alerts(analysis)
    assert "averages over deployments hold" in alert.headline
    for one in analysis.effects:
        one.verdict = "inconclusive"
    (alert,) = words.alerts(analysis)
    assert alert.headline == (
        "Two identical setups differed in throughput by more than the margin: do not use "
        "undecided differences there"
    )
    assert alert.details == (
        "Throughput: native and native-again are the same setup, yet differed by up to 9% in "
        "single blocks and 7% between deployments; the margin is 5%.",
    )
    for one in analysis.effects:
        one.verdict, one.unit_of_analysis = "different", "block"
    assert words.alerts(analysis)[0].headline == alert.headline


def test_noise_on_other_metrics_raises_no_alert() -> None:
    analysis = sample_analysis()
    floor = analysis.noise_floor[0].model_copy(update={"metric": "cpu.server_per_op"})
    floor.exceeds_margin = True
    analysis.noise_floor = [floor]
    assert words.alerts(analysis) == []


def test_one_deployment_per_condition_is_an_alert() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        one.conditional = True
    assert "One deployment per condition" in words.alerts(analysis)[0].headline


def test_one_metric_of_one_deployment_is_no_alert_for_all_others() -> None:
    analysis = sample_analysis()
    for one in analysis.effects:
        one.conditional = one.metric == "all.p99"
    assert words.alerts(analysis) == []


def test_no_effect_at_all_is_an_alert() -> None:
    analysis = sample_analysis()
    analysis.effects = []
    assert "no effect could be computed" in words.alerts(analysis)[0].headline
    assert words.answers(analysis) == []


def test_an_effect_without_a_finite_interval_still_makes_a_sentence() -> None:
    analysis = sample_analysis()
    one = effect(analysis, "throughput", "docker-bridge")
    one.ci, one.verdict = (0.0, math.inf), "inconclusive"
    assert "between 100% lower and any amount higher" in words.line(analysis, one).text


def test_hundreds_of_further_units_are_no_exact_number() -> None:
    analysis = sample_analysis()
    one = next(e for e in analysis.effects if e.verdict == "inconclusive" and e.needed)
    one.needed = 1_346
    assert "more than 100 further rounds would be needed" in words.line(analysis, one).text


def test_a_share_is_also_compared_in_points() -> None:
    analysis = sample_analysis()
    one = effect(analysis, "cpu.server_per_op", "docker-bridge").model_copy(
        update={"baseline_value": 50.0, "ratio": 1.1, "ci": (1.08, 1.12)}
    )
    cpu = Metric(name=one.metric, title="CPU in use", unit="%", better="lower")
    analysis = analysis.model_copy(update={"metrics": [cpu]})
    assert "+5.0 points [+4.0, +6.0]" in words.line(analysis, one).text
