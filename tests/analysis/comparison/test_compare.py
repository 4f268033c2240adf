"""B over A: the known difference of two synthetic runs is found again, and honestly judged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.comparison.compare import compare
from tare.errors import UsageError
from tests.analysis.compare_simulation import simulate
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.comparison.model import RunComparison, RunDifference
    from tare.analysis.model import Analysis

PAIR = {"native": Truth(), "docker-bridge": Truth(throughput=0.93, patch=docker("bridge"))}

PRIMARY = {"service_demand", "throughput", "all.p99"}


def run(place: Path, name: str, **changes: object) -> Analysis:
    options: dict[str, object] = {
        "effects": PAIR,
        "between": 0.005,
        "within": 0.005,
        "blocks": 2,
        "measure_s": 3,
    }
    return analyse(write_run(place / name, **(options | changes)))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def before(place: Path) -> Analysis:
    return run(place, "before", seed=1)


@pytest.fixture(scope="module")
def slower(place: Path) -> Analysis:
    """Every condition a tenth slower, as on a slower machine."""
    return run(place, "slower", seed=2, ops_per_s=3600.0)


@pytest.fixture(scope="module")
def comparison(before: Analysis, slower: Analysis) -> RunComparison:
    return compare(before, slower)


def difference(found: RunComparison, condition: str, metric: str = "throughput") -> RunDifference:
    (one,) = (d for d in found.differences if (d.b, d.metric) == (condition, metric))
    return one


def test_what_became_slower_is_found_with_its_size(comparison: RunComparison) -> None:
    for condition in PAIR:
        one = difference(comparison, condition)
        assert one.ci[0] < 0.9 < one.ci[1]
        assert (one.verdict, one.direction) == ("different", "worse")
        assert (one.a_units, one.b_units, one.a_unit) == (3, 3, "deployment")
        latency = difference(comparison, condition, "all.mean")
        assert latency.ci[0] < 1 / 0.9 < latency.ci[1]


def test_what_the_platform_costs_has_not_changed_with_the_machine(
    comparison: RunComparison,
) -> None:
    (one,) = (c for c in comparison.changes if c.metric == "throughput")
    assert (one.baseline, one.treatment) == ("native", "docker-bridge")
    assert one.ratio == pytest.approx(one.b_ratio / one.a_ratio)
    assert one.ci[0] < 1 < one.ci[1]
    assert one.verdict == "equivalent"


def test_a_platform_that_became_dearer_is_a_change_of_its_effect(
    before: Analysis, place: Path
) -> None:
    dear = PAIR | {"docker-bridge": replace(PAIR["docker-bridge"], throughput=0.7)}
    found = compare(before, run(place, "dear", seed=3, effects=dear))
    (change,) = (c for c in found.changes if c.metric == "throughput")
    assert change.ci[0] < 0.7 / 0.93 < change.ci[1]
    assert (change.verdict, change.direction) == ("different", "worse")
    assert difference(found, "native").verdict != "different"


def test_the_same_thing_again_is_not_different(before: Analysis, place: Path) -> None:
    again = compare(before, run(place, "again", seed=4))
    assert {d.verdict for d in again.differences if d.primary} <= {"equivalent", "inconclusive"}
    assert all(d.direction == "none" for d in again.differences if d.primary)


def test_primary_comparisons_are_held_by_holm_and_the_others_by_benjamini_hochberg(
    comparison: RunComparison,
) -> None:
    assert {d.metric for d in comparison.differences if d.primary} == PRIMARY
    for one in comparison.differences:
        assert one.p is not None
        assert one.p_adjusted is not None
        assert one.p_adjusted >= one.p
        assert one.adjustment.startswith("Holm over 6" if one.primary else "Benjamini")


def test_margins_are_those_of_a_unless_they_are_given(
    before: Analysis, slower: Analysis, comparison: RunComparison
) -> None:
    assert (difference(comparison, "native").margin, comparison.margins_from) == (0.05, "study")
    wide = compare(before, slower, margins={"throughput": 0.25})
    one = difference(wide, "native")
    assert (one.margin, one.verdict) == (0.25, "different within the margin")
    assert wide.margins_from == "study and command line"


def test_other_primary_endpoints_can_be_named(before: Analysis, slower: Analysis) -> None:
    found = compare(before, slower, metrics=["read.p99"])
    assert {d.metric for d in found.differences if d.primary} == {"read.p99"}
    with pytest.raises(UsageError, match="not in both runs"):
        compare(before, slower, metrics=["scan.p99"])


def test_with_one_deployment_nothing_is_decided(before: Analysis, place: Path) -> None:
    found = compare(before, run(place, "one", seed=5, deployments=1, ops_per_s=2000.0))
    assert found.differences
    for one in found.differences:
        assert one.conditional
        assert (one.verdict, one.p) == ("inconclusive", None)
    assert "One deployment on a side" in found.notes[0]


def test_an_invalid_side_makes_the_comparison_invalid(before: Analysis, slower: Analysis) -> None:
    broken = slower.model_copy(update={"valid": False, "problems": ["errors: too many"]})
    found = compare(before, broken)
    assert not found.valid
    assert found.a.valid
    assert found.b.problems == ["errors: too many"]


def test_a_primary_question_without_an_interval_is_named(before: Analysis) -> None:
    short = before.model_copy(deep=True)
    short.run = "short"
    short.trials = [t for t in short.trials if t.condition != "native" or t.block + t.round == 2]
    found = compare(before, short)
    assert found.unanswered == [
        "service_demand of native",
        "throughput of native",
        "all.p99 of native",
    ]
    assert {d.b for d in found.differences} == {"docker-bridge"}


def test_what_often_is_nothing_has_no_ratio(before: Analysis, comparison: RunComparison) -> None:
    measured = {metric.name for metric in before.metrics}
    assert {"errors", "disk.write_kbps"} <= measured
    assert not {d.metric for d in comparison.differences} & {"errors", "disk.write_kbps"}


def test_the_noise_floor_of_the_noisier_run_is_shown(place: Path) -> None:
    twice = {"native": Truth(), "native-again": Truth()}
    quiet = run(place, "quiet", effects=twice, between=0.002, within=0.002)
    loud = run(place, "loud", effects=twice, between=0.15, within=0.15)
    found = compare(quiet, loud)
    floor = next(f for f in found.noise_floor if f.metric == "throughput")
    assert (floor.run, floor.exceeds_margin) == ("b", True)


def test_conditions_of_one_run_only_are_listed(before: Analysis, place: Path) -> None:
    found = compare(before, run(place, "more", effects=PAIR | {"native-again": Truth()}))
    assert (found.only_in_a, found.only_in_b) == ([], ["native-again"])


def test_an_analysis_read_from_its_file_gives_the_same_comparison(
    before: Analysis, slower: Analysis, comparison: RunComparison
) -> None:
    read = type(before).model_validate_json(before.model_dump_json())
    assert compare(read, slower) == comparison


def test_an_edited_file_with_senseless_numbers_does_no_harm(
    before: Analysis, slower: Analysis
) -> None:
    odd = slower.model_copy(deep=True)
    odd.provenance["study"]["margins"] = {"throughput": 2.0, "p99": -1, "mean": "5%"}
    odd.provenance["database"] = {"a": [{"b": 1}, 2], "c": None}
    odd.trials[0].values["throughput"] = float("nan")
    odd.trials[1].values["throughput"] = -1.0
    for effect, ratio in zip(odd.effects, (0.0, float("inf"), float("nan")), strict=False):
        effect.ratio = ratio
    odd.effects[3].ci = (0.0, float("inf"))
    assert compare(odd, before).margins == {}
    found = compare(before, odd)
    assert len(found.changes) < len(compare(before, slower).changes)
    assert all(d.ci[0] <= d.ratio <= d.ci[1] for d in found.differences)


def test_intervals_and_false_alarms_are_as_promised() -> None:
    """60 pairs, so 300 intervals; the whole simulation is in `compare_simulation`."""
    rates = simulate(60)
    assert rates.coverage >= 0.93
    assert rates.false_alarms <= 0.10, "5% is promised; its standard error here is 2.8%"


def test_the_primary_metrics_are_those_of_a_and_a_change_of_them_is_named(
    before: Analysis, slower: Analysis
) -> None:
    other = slower.model_copy(deep=True)
    for effect in other.effects:
        effect.primary = effect.metric == "read.p99"
    found = compare(before, other)
    assert {d.metric for d in found.differences if d.primary} == PRIMARY
    named = next(d for d in found.differed if d.fact == "primary metrics")
    assert (named.a, named.b) == ("service_demand, throughput, all.p99", "read.p99")
    back = compare(other, before)
    assert {d.metric for d in back.differences if d.primary} == {"read.p99"}


def test_a_primary_metric_that_b_lacks_is_named(before: Analysis, slower: Analysis) -> None:
    lacking = slower.model_copy(deep=True)
    lacking.metrics = [m for m in lacking.metrics if m.name != "all.p99"]
    assert any("primary all.p99: not in B" in one for one in compare(before, lacking).notes)
