"""Results of Tare's own replications are kept separate from published ones; validity is first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.knowledge.advice import FAMILIES, advise, family
from tare.knowledge.library import load_library
from tare.knowledge.measured import MeasuredRun, measured_near, measured_runs
from tare.knowledge.measured_from import measured_from, written
from tare.knowledge.query import Query
from tests.knowledge.sample import advice_lines, changed, finding, library

KEPT = Path(__file__).parents[2] / "docs" / "replications"
ASKED = Query(database="cassandra", platform="docker", network="bridge", operation="update")


def run(name: str = "own", *, valid: bool = True, ratio: float = 1.04) -> MeasuredRun:
    one = finding(
        id=f"{name}.update.mean",
        study=name,
        values={"baseline": 2.0, "treatment": round(2.0 * ratio, 6)},
        effect={"ratio": ratio, "direction": "higher", "how": "computed"},
        spread={"ci": (ratio - 0.01, ratio + 0.01)},
        source={"where": "run own: docker over native"},
    )
    why = [] if valid else ["the load client was the limit"]
    return MeasuredRun(
        run=name, made="1 May 2026", machine="two CPUs", valid=valid, invalid=why, findings=[one]
    )


def test_no_published_number_is_moved_by_it() -> None:
    published = library([changed(3.0)])
    alone = advise(published, ASKED)
    beside = advise(published, ASKED, measured=[run(ratio=2.0)])
    assert beside.answers == alone.answers
    assert beside.notes == alone.notes
    assert beside.settle == alone.settle
    (told,) = beside.measured
    (value,) = told.values
    assert (value.family, value.ratio, value.ci) == ("mean", 2.0, (1.99, 2.01))


def test_validity_stands_before_the_numbers_and_valid_runs_before_others() -> None:
    runs = [run("broken", valid=False), run("sound")]
    lines = advice_lines(advise(library([changed(3.0)]), ASKED, measured=runs))
    first = next(i for i, one in enumerate(lines) if one.startswith("Measured by Tare itself"))
    told = lines[first:]
    assert told[1] == "  sound: a valid run"
    broken = told.index("  broken: NOT VALID: the load client was the limit")
    assert broken > told.index("    its reading: docs/replications/sound")
    assert any("Mean latency +4.0% [+3.0%, +5.0%]" in one for one in told[broken:])


@pytest.mark.parametrize(
    "asked",
    [
        Query(platform="docker", network="host", operation="update"),
        Query(platform="docker", network="bridge", operation="read"),
        Query(platform="kubernetes"),
    ],
)
def test_another_path_operation_or_platform_is_not_told(asked: Query) -> None:
    assert measured_near([run()], asked, family, FAMILIES) == []


def test_one_kind_of_metric_may_be_asked_for() -> None:
    assert measured_near([run()], ASKED, family, FAMILIES, "p99") == []
    assert len(measured_near([run()], ASKED, family, FAMILIES, "mean")) == 1


@pytest.mark.parametrize("kept", measured_runs(), ids=lambda one: str(one.run))
def test_each_finding_of_a_run_has_an_id_of_its_own(kept: MeasuredRun) -> None:
    """Several factors may compare a condition; findings with equal ids would replace each other."""
    assert len({one.id for one in kept.findings}) == len(kept.findings)


def test_a_condition_that_two_factors_compare_is_found_by_the_one_that_is_asked_for() -> None:
    (kept,) = (one for one in measured_runs() if one.run == "shirinbab-2020-table-2")
    asked = Query(platform="docker", network="published", replication_factor=3)
    (told,) = measured_near([kept], asked, family, FAMILIES, "cpu")
    (value,) = told.values
    treatment, _, baseline = value.where.partition(" over ")
    assert treatment.startswith("run shirinbab-2020: docker.rf3.1")
    assert baseline.startswith("nonvirtualized.rf3.1")


@pytest.mark.parametrize("kept", measured_runs(), ids=lambda one: str(one.run))
def test_what_comes_with_tare_is_what_the_kept_analyses_say(kept: MeasuredRun) -> None:
    made = measured_from(KEPT / kept.run, kept)
    assert MeasuredRun.model_validate_json(written(made)) == kept
    assert kept.findings
    assert kept.valid == (not kept.invalid)


def test_all_kept_replications_are_valid_and_none_is_in_the_library() -> None:
    assert len(measured_runs()) > 5
    assert [one.run for one in measured_runs() if not one.valid] == []
    known = load_library(environment={}).entries
    assert not any(one.id in known for own in measured_runs() for one in own.findings)
