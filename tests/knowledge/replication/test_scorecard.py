"""Scorecards of runs with known effects."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tare.errors import UsageError
from tare.knowledge.replication.differences import differences
from tare.knowledge.replication.matching import match
from tare.knowledge.replication.measured import make_measured
from tare.knowledge.replication.model import Scorecard
from tare.knowledge.replication.reference import make_reference
from tare.knowledge.replication.scorecard import make_scorecard
from tare.knowledge.schema import Side
from tare.knowledge.sizing import deployments_for
from tare.records.layout import RunFiles
from tare.records.reader import read_run
from tare.study.read import load_study
from tests.knowledge.replication.published import (
    ANY_LOAD,
    AT_64,
    BRIDGE,
    PAIR,
    PUBLISHED,
    direction,
    printed,
    rows,
    scorecard,
)
from tests.knowledge.sample import finding, library
from tests.synthetic_run import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis
    from tare.knowledge.schema import Finding


FOUR: dict[str, Any] = {"effects": PAIR, "measure_s": 3, "deployments": 2, "blocks": 2}
"""a short run of four pairs"""


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs") / "noisy"
    return write_run(place, effects=PAIR, between=0.06, within=0.02, measure_s=3, blocks=2)


def test_a_true_finding_agrees_and_a_wrong_one_disagrees(run: Path, analysis: Analysis) -> None:
    card = scorecard(
        run,
        printed("true", -10.0, **AT_64),
        printed("wrong", 10.0, **AT_64),
        direction("down", "lower", **AT_64),
        direction("up", "higher", **AT_64),
        direction("alike", "none", **AT_64),
        analysis=analysis,
    )
    assert {name: row.verdict for name, row in rows(card).items()} == {
        "true": "agrees",
        "wrong": "disagrees",
        "down": "agrees",
        "up": "disagrees",
        "alike": "disagrees",
    }
    assert card.counts == {"agrees": 2, "disagrees": 3, "undecided": 0, "not run here": 0}
    assert card.valid
    assert card.summary == (
        "2 agree, 3 disagree, 0 undecided, 0 not run here, of 5 findings of synthetic. "
        "The run is valid."
    )


def test_an_effect_of_the_report_is_taken_from_it(run: Path, analysis: Analysis) -> None:
    ours = rows(scorecard(run, printed("one", -10.0, **AT_64), analysis=analysis))["one"].ours
    reported = next(
        one
        for one in analysis.effects
        if (one.metric, one.treatment) == ("throughput", "docker-bridge.t64")
        and one.factor == "platform"
    )
    assert ours is not None
    assert (ours.ratio, ours.ci, ours.method) == (reported.ratio, reported.ci, reported.method)


def test_a_load_that_is_not_stated_is_averaged_over(run: Path, analysis: Analysis) -> None:
    row = rows(scorecard(run, printed("mean", -10.0, **ANY_LOAD), analysis=analysis))["mean"]
    assert row.ours is not None
    assert (row.ours.cells, row.ours.of, row.verdict) == (2, 2, "agrees")
    single = {
        one.treatment: one.ratio
        for one in analysis.effects
        if one.metric == "throughput" and one.factor == "platform"
    }
    product = single["docker-bridge.t16"] * single["docker-bridge.t64"]
    assert row.ours.ratio == pytest.approx(product**0.5, rel=1e-3)
    assert row.ours.ci[0] < row.ours.ratio < row.ours.ci[1]


def mean_of(*names: str) -> Finding:
    """A finding declared as the mean of others."""
    one = printed("whole", -10.0, load={"share": None, "label": "mean"})
    assert one.effect is not None
    return one.model_copy(update={"effect": one.effect.model_copy(update={"mean_of": list(names)})})


def test_a_mean_of_findings_enters_as_its_parts(run: Path, analysis: Analysis) -> None:
    parts = [printed("a", -10.0, load={"share": None, "threads": 16}), printed("b", -10.0, **AT_64)]
    found = rows(scorecard(run, *parts, mean_of("a", "b"), analysis=analysis))
    assert {name: row.verdict for name, row in found.items()} == dict.fromkeys(
        ("a", "b", "whole"), "agrees"
    )


def test_a_mean_of_itself_ends(run: Path, analysis: Analysis) -> None:
    row = rows(scorecard(run, mean_of("whole", "gone"), analysis=analysis))["whole"]
    assert row.reason == "the findings it is the mean of are unknown"


def test_a_mean_of_findings_of_which_one_is_missing_says_so(run: Path, analysis: Analysis) -> None:
    part = printed("a", -10.0, **AT_64)
    row = rows(scorecard(run, part, mean_of("a", "gone"), analysis=analysis))["whole"]
    assert row.notes == ["1 of the 2 findings it is the mean of are not in the study"]


def test_noise_leaves_a_finding_undecided_and_says_what_would_decide(noisy: Path) -> None:
    row = rows(scorecard(noisy, printed("one", -10.0)))["one"]
    assert row.verdict == "undecided"
    assert row.further is not None
    assert row.further.unit == "deployment"
    assert row.further.units is None or row.further.units >= 1


def test_the_further_units_follow_from_the_spread_that_the_run_really_has(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", effects=PAIR, measure_s=3, deployments=1, blocks=10, fresh="block",
        between=0.06, within=0.0, seed=5,
    )  # fmt: skip
    row = rows(scorecard(run, printed("one", -10.0)))["one"]
    assert row.ours is not None
    assert row.published.band is not None
    assert row.further is not None
    assert row.further.units is not None
    assert (row.verdict, row.ours.units, row.further.unit) == ("undecided", 10, "block")
    band = row.published.band
    distance = min(abs(math.log(row.ours.ratio / end)) for end in (band.low, band.high))
    needed = deployments_for(0.06 * math.sqrt(2), math.expm1(distance))
    # ten blocks estimate the sd to about 25%, and the number of units grows with its square
    assert needed / 2 <= row.ours.units + row.further.units <= needed * 2


def test_what_was_not_measured_says_why(run: Path, analysis: Analysis) -> None:
    card = scorecard(
        run,
        printed("network", -10.0, treatment=PUBLISHED, **AT_64),
        printed("load", -10.0, load={"share": None, "threads": 99}),
        printed("workload", -10.0, workload=["ycsb-c"]),
        printed("metric", -10.0, metric="rmw.mean", unit="us", operation="rmw", **AT_64),
        analysis=analysis,
    )
    reasons = {name: row.reason for name, row in rows(card).items()}
    assert reasons["network"] == "no condition of the study has network published"
    assert reasons["load"] == "baseline: no condition of the study has the load 99 threads"
    assert reasons["workload"] == "baseline: no condition of the study has workload ycsb-c"
    assert reasons["metric"] == "no such measurement: rmw.mean"
    assert card.counts["not run here"] == 4


def test_a_condition_whose_trials_failed_is_not_run_here(
    tmp_path: Path,
) -> None:
    names = [f"D{d}-B{b:02}-docker-bridge" for d in (1, 2) for b in (1, 2)]
    run = write_run(tmp_path / "run", **FOUR, failed=names)
    row = rows(scorecard(run, printed("one", -10.0)))["one"]
    assert row.verdict == "not run here"
    assert row.reason == "no trial was done of docker-bridge"


def test_a_finding_that_was_run_in_part_says_which(tmp_path: Path) -> None:
    names = [f"D{d}-B{b:02}-docker-bridge.t64" for d in (1, 2) for b in (1, 2)]
    run = write_run(
        tmp_path / "run", **FOUR, threads=[16, 64], failed=names, between=0.004, within=0.004
    )
    row = rows(scorecard(run, printed("mean", -10.0, **ANY_LOAD)))["mean"]
    assert row.ours is not None
    assert (row.ours.cells, row.ours.of) == (1, 2)
    assert row.notes == ["over 1 of 2 pairs of conditions, without threads t64"]


def test_an_invalid_run_is_called_so_in_the_first_line(tmp_path: Path) -> None:
    names = [f"D{d}-B{b:02}-native" for d in (1, 2) for b in (1, 2)]
    run = write_run(tmp_path / "run", **FOUR, saturated=names)
    card = scorecard(run, printed("one", -10.0))
    assert card.summary.endswith("The run is NOT valid.")
    assert card.problems


def test_a_contradicted_finding_is_marked(run: Path, analysis: Analysis) -> None:
    clash = {"about": "statement", "place": "Section 9", "note": "says otherwise"}
    row = rows(scorecard(run, printed("one", -10.0, discrepancies=[clash], **AT_64)))["one"]
    assert "the source contradicts itself here" in row.notes


def test_one_deployment_is_said_to_be_one(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", effects=PAIR, measure_s=3, deployments=1, between=0.004, within=0.004
    )
    row = rows(scorecard(run, printed("one", -10.0)))["one"]
    assert row.ours is not None
    assert (row.ours.conditional, row.ours.unit) == (True, "block")


def test_disk_writes_are_compared_where_every_trial_has_some(run: Path, analysis: Analysis) -> None:
    disk = finding(
        id="disk", study="synthetic", baseline={"network": "host"}, operation="mixed",
        metric="disk.write_kbps", unit="kB/s", load={"share": None, "threads": 64},
    )  # fmt: skip
    row = rows(scorecard(run, disk, analysis=analysis))["disk"]
    assert row.ours is not None
    assert row.ours.ratio == pytest.approx(1.0)  # every synthetic trial writes 8 MB/s


def test_a_run_of_another_study_is_refused(run: Path, analysis: Analysis, tmp_path: Path) -> None:
    other = tmp_path / "study.yaml"
    text = RunFiles(run).study.read_text(encoding="utf-8")
    other.write_text(text.replace("study: synthetic", "study: other"), encoding="utf-8")
    reference = make_reference(other, library([printed("one", -10.0, study="other")]))
    with pytest.raises(UsageError, match="no run of other") as caught:
        make_scorecard(run, analysis, reference)
    assert "tare replicate synthetic --of" in caught.value.remedy


def test_the_same_questions_of_another_database_have_its_findings_and_it_is_said(
    run: Path, analysis: Analysis, tmp_path: Path
) -> None:
    original = printed("one", -10.0, study="syn", database="mongodb", version="3.2", **AT_64)
    study = tmp_path / "study.yaml"
    text = RunFiles(run).study.read_text(encoding="utf-8")
    study.write_text(text.replace("study: synthetic", "study: syn-cassandra"), encoding="utf-8")
    reference = make_reference(study, library([original]))
    assert (reference.source, reference.carried) == ("syn", True)
    assert match(original, reference, {}).pairs == [("native.t64", "docker-bridge.t64")]
    named = {**BRIDGE, "address": "host-name"}
    elsewhere = match(
        original.model_copy(update={"treatment": Side.model_validate(named)}), reference, {}
    )
    assert elsewhere.pairs == [("native.t64", "docker-bridge.t64")]
    assert elsewhere.notes == ("address host-name in the source, which this study has not",)
    here = make_measured(read_run(run), analysis, load_study(RunFiles(run).study))
    assert "database: cassandra here, mongodb in the source" in differences(here, reference)


def test_rows_of_a_stand_in_judge_the_platform_alone_and_say_so(
    run: Path, analysis: Analysis
) -> None:
    made = make_measured(read_run(run), analysis, load_study(RunFiles(run).study))
    stub = "tare-stub 0.1.0 (a server that keeps nothing, and not MongoDB)"
    trials = tuple(
        replace(
            one,
            manifest=one.manifest.model_copy(
                update={"database": {"stand_in": stub, "version": "7.0.77"}}
            ),
        )
        for one in made.trials
    )
    reference = make_reference(RunFiles(run).study, library([direction("up", "higher", **AT_64)]))
    said = f"database: {stub} here, so that rows judge what the platform costs and no database"
    told = list(differences(replace(made, trials=trials), reference))
    assert said in told
    assert not [one for one in told if one.startswith("version")], "a stub has no release"
    assert not any("no database" in one for one in differences(made, reference))


def test_the_document_reads_back(run: Path, analysis: Analysis) -> None:
    card = scorecard(run, direction("up", "higher", **AT_64), analysis=analysis)
    assert Scorecard.model_validate_json(card.model_dump_json()) == card
