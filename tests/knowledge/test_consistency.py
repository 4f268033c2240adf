"""The validator rejects findings with numbers that do not agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tare.knowledge.consistency import Span, as_printed, objections
from tests.knowledge.sample import changed, finding


def problems(**changes: Any) -> list[str]:
    return [one.what for one in objections([finding(**changes)])]


def test_a_consistent_finding_has_no_problem() -> None:
    assert problems() == []


def test_the_ratio_must_follow_from_the_two_values() -> None:
    assert "1.1000" in problems(effect={"ratio": 1.2})[0]


def test_the_ratio_must_follow_from_the_printed_change() -> None:
    [problem] = objections([changed(7.02, effect={"ratio": 1.072})])
    assert "1.0702" in problem.what


def test_a_printed_change_may_differ_by_rounding_only() -> None:
    # 2.0 means 1.95 to 2.05 and 2.2 means 2.15 to 2.25, so the change is 5% to 15%
    assert problems(effect={"printed": 15, "printed_as": "percent"}) == []
    [problem] = problems(effect={"printed": 20, "printed_as": "percent"})
    assert "no discrepancy is recorded" in problem


def test_a_recorded_discrepancy_is_accepted_and_a_false_one_is_not() -> None:
    clash = {"about": "change", "other": 30, "place": "the summary", "note": "says 30%"}
    assert problems(discrepancies=[clash]) == []
    assert "agrees" in problems(discrepancies=[{**clash, "other": 10}])[0]


def test_a_change_in_points_is_the_difference_of_the_values() -> None:
    points: dict[str, Any] = {"printed": 5.07, "printed_as": "points", "ratio": 1.089}
    values = {"baseline": 56.98, "treatment": 62.05}
    cpu = {"metric": "cpu.util", "unit": "%", "values": values}
    assert problems(**cpu, effect=points) == []
    assert problems(**cpu, effect={**points, "printed": 8.07})


def test_an_effect_size_must_follow_from_means_and_sds() -> None:
    spread = {"baseline_sd": 0.1, "treatment_sd": 0.1, "n": 10}
    assert problems(spread={**spread, "cohens_d": 2.0}) == []
    assert "give 2.00" in problems(spread={**spread, "cohens_d": 3.0})[0]


@pytest.mark.parametrize(
    ("metric", "unit", "fits"),
    [
        ("update.mean", "us", True),
        ("update.mean", "%", False),
        ("throughput", "operations/s", True),
        ("throughput", "ms", False),
        ("cpu.util", "%", True),
        ("cpu.util", "ms", False),
    ],
)
def test_a_metric_has_its_units(metric: str, unit: str, fits: bool) -> None:
    assert (problems(metric=metric, unit=unit) == []) is fits


def test_a_latency_is_of_the_operation_that_the_finding_is_about() -> None:
    assert "operation update" in problems(metric="read.mean")[0]


def test_a_range_must_have_the_extremes_of_its_parts() -> None:
    parts = [changed(-2.38, id="a"), changed(12.07, id="b")]

    def whole(low: float, high: float, names: list[str]) -> list[str]:
        effect = {
            "how": "range", "ratio": None, "low": low, "high": high, "direction": "varies",
            "extreme_of": names,
        }  # fmt: skip
        none = {"baseline": None, "treatment": None}
        range_ = finding(id="range", values=none, effect=effect)
        return [one.what for one in objections([*parts, range_])]

    assert whole(0.98, 1.12, ["a", "b"]) == []
    assert "1.1207" in whole(0.98, 1.15, ["a", "b"])[0]
    assert "no finding" in whole(0.98, 1.12, ["a", "z"])[0]


def test_a_file_never_has_what_tare_chains_itself() -> None:
    assert "chained" in problems(effect={"how": "chained"})[0]


def test_a_mean_must_be_the_mean_of_its_parts() -> None:
    parts = [changed(1.0, id="a"), changed(2.0, id="b")]
    good = changed(1.5, id="mean", effect={"mean_of": ["a", "b"]})
    assert objections([*parts, good]) == []
    bad = changed(1.8, id="mean", effect={"mean_of": ["a", "b"]})
    assert "1.50" in objections([*parts, bad])[0].what
    lost = changed(1.5, id="mean", effect={"mean_of": ["a", "z"]})
    assert "z is no finding" in objections([*parts, lost])[0].what


def test_an_interval_holds_its_ratio() -> None:
    assert problems(spread={"ci": (1.05, 1.2)}) == []
    assert "does not hold" in problems(spread={"ci": (1.15, 1.2)})[0]


def test_an_id_is_used_once() -> None:
    assert objections([finding(), finding()])[0].what == "id used twice"


def test_a_direction_without_a_number_claims_no_number() -> None:
    stated = {"how": "direction", "ratio": None}
    assert problems(effect=stated, values={"baseline": None, "treatment": None}) == []
    assert problems(effect={**stated, "ratio": 1.1})


@settings(deadline=None)
@given(st.decimals(min_value="0.01", max_value="99999", places=2))
def test_rounding_as_printed_holds_the_number_and_its_neighbours_below_half(value: Any) -> None:
    span = as_printed(float(value))
    assert float(value) in span
    assert span.meets(Span(float(value) + 0.004, float(value) + 0.5))


def test_a_step_is_of_two_values() -> None:
    steps = {"baseline": 2.0, "treatment": 2.2, "step": 0.2}
    assert problems(values=steps) == []
    alone = changed(10.0, values={"baseline": None, "treatment": None, "step": 0.2})
    [problem] = objections([alone])
    assert problem.what == "values: a step, and the effect is not from two values"
