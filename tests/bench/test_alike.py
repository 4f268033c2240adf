"""Pairs that are alike, endpoints with and without a shared deployment, and the output."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from bench.alike import METRICS, Compared, Interval, Measured, beside, lines_of, total

from tare.analysis.analyse import analyse
from tare.study.conditions import expand
from tare.study.read import load_study
from tests.synthetic_run import write_run
from tests.synthetic_trial import Truth

STUDY = Path(__file__).parents[2] / "bench" / "studies" / "alike.yaml"


def by(endpoint: str) -> dict[str, Any]:
    return {"platform": {"runtime": "docker", "network": "bridge", "endpoint": endpoint}}


def truths(**changed: float) -> dict[str, Truth]:
    """Level to truth: natively twice, a container in three ways, and two containers in one each."""
    throughput = {"published": 0.8, "published-alone": 0.8} | {
        name.replace("_", "-"): value for name, value in changed.items()
    }
    ways = {
        "native": {}, "native-again": {}, "bridge": by("bridge"), "bridge-again": by("bridge"),
        "published": by("published"), "bridge-alone": by("bridge"),
        "published-alone": by("published"),
    }  # fmt: skip
    return {n: Truth(throughput=throughput.get(n, 1.0), patch=way) for n, way in ways.items()}


def run(place: Path, *, rounds: int = 4, **changed: float) -> Path:
    made = write_run(
        place / "r", effects=truths(**changed), deployments=rounds, blocks=1, measure_s=2,
        between=0.002, within=0.002, seed=5,
    )  # fmt: skip
    for file in made.glob("trials/*/manifest.json"):
        manifest = json.loads(file.read_text())
        if manifest["levels"]["platform"] in ("bridge", "bridge-again", "published"):
            manifest["deployment"] = f"D{manifest['round']}-both"
            file.write_text(json.dumps(manifest))
    return made


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return Measured(run(tmp_path_factory.mktemp("alike")))


def names(pairs: list[Compared]) -> list[tuple[str, str, bool]]:
    return [(one.baseline, one.treatment, one.shared) for one in pairs]


def test_every_pair_that_is_alike_is_found_once(measured: Measured) -> None:
    assert names(measured.alike()) == [
        ("bridge", "bridge-again", True),
        ("native", "native-again", False),
        ("bridge", "bridge-alone", False),
        ("published", "published-alone", False),
    ]


def test_endpoints_are_compared_in_one_deployment_and_between_those_of_one_each(
    measured: Measured,
) -> None:
    inside, between = measured.endpoints()
    assert names([inside, between]) == [
        ("bridge", "published", True), ("bridge-alone", "published-alone", False),
    ]  # fmt: skip
    for one in (inside, between):
        assert one.intervals["throughput"].low < -0.2 < one.intervals["throughput"].high
    assert all(line.endswith("overlap") for line in list(beside(inside, between))[2:])


def test_an_endpoint_that_costs_more_in_a_deployment_of_its_own_is_told(tmp_path: Path) -> None:
    inside, between = Measured(run(tmp_path, published_alone=0.5)).endpoints()
    (line,) = (one for one in beside(inside, between) if one.strip().startswith("throughput"))
    assert line.endswith("APART")


def test_a_pair_that_is_alike_and_differs_all_the_same_is_counted(tmp_path: Path) -> None:
    pairs = Measured(run(tmp_path, native_again=0.9)).alike()
    apart = {str(pair): [m for m in METRICS if pair.intervals[m].excludes_none] for pair in pairs}
    assert "throughput" in apart["native-again over native, separate deployments"]
    assert apart["bridge-again over bridge, the same deployment"] == []
    excluded = sum(map(len, apart.values()))
    assert excluded > 0
    assert total(pairs) == f"12 A/A intervals, {excluded} exclude no difference"
    told = [line for pair in pairs for line in lines_of(pair)]
    assert sum("EXCLUDES" in line for line in told) == excluded


def test_intervals_are_those_of_the_report(tmp_path: Path) -> None:
    two = {"native": Truth(), "native-again": Truth()}
    place = write_run(tmp_path / "r", effects=two, deployments=4, blocks=2, measure_s=2)
    (pair,) = Measured(place).alike()
    reported = {e.metric: e for e in analyse(place).effects}
    for metric in METRICS:
        found, effect = pair.intervals[metric], reported[metric]
        assert (1 + found.low, 1 + found.high) == pytest.approx(effect.ci)
        assert 1 + found.change == pytest.approx(effect.ratio)


def test_with_one_round_nothing_is_claimed(tmp_path: Path) -> None:
    pairs = Measured(run(tmp_path, rounds=1)).alike()
    assert all(not pair.intervals for pair in pairs if not pair.shared)
    assert "too few rounds" in list(lines_of(pairs[-1]))[1]


def test_an_interval_that_touches_no_difference_holds_it() -> None:
    assert not Interval(0.01, 0.0, 0.02).excludes_none
    assert Interval(0.01, 0.001, 0.02).excludes_none
    assert Interval(0.0, -0.01, 0.01).overlaps(Interval(0.02, 0.01, 0.03))
    assert str(Interval(-0.00123, math.expm1(-0.02), 0.01)) == "-0.12% [-1.98%, +1.00%]"


def test_in_the_study_a_way_that_is_there_twice_shares_its_deployment() -> None:
    conditions = {one.name: one for one in expand(load_study(STUDY))}
    both = ["both.bridge", "both.bridge-again", "both.published", "both.published-again"]
    assert {conditions[name].deployment for name in both} == {"both"}
    assert conditions["both.bridge-again"].aa_of == "both.bridge"
    assert len({one.deployment for one in conditions.values()}) == 6
    assert len(conditions) == 9
