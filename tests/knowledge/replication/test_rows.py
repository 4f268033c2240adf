"""The notes of a row on its loads, metric, cases and trials."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tare.records.layout import RunFiles
from tests.knowledge.replication.published import (
    ANY_LOAD,
    AT_64,
    PAIR,
    direction,
    printed,
    rows,
    scorecard,
)
from tests.knowledge.sample import finding
from tests.synthetic_run import write_run

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis
    from tare.knowledge.schema import Finding

OURS_IS = "ours is the CPU of the whole machine, with the clients on it"


def usage(metric: str, unit: str, **load: object) -> Finding:
    """A finding about the machine's resources, by default at 64 threads."""
    return finding(
        id=metric, study="synthetic", baseline={"network": "host"}, operation="mixed",
        metric=metric, unit=unit, load={"share": None, **(load or {"threads": 64})},
    )  # fmt: skip


def with_nothing_written(analysis: Analysis, trial: str) -> Analysis:
    """The analysis with no disk writes in this trial."""
    trials = [
        one.model_copy(update={"values": {**one.values, "disk.write_kbps": 0.0}})
        if one.trial == trial
        else one
        for one in analysis.trials
    ]
    assert any(one.values.get("disk.write_kbps") == 0 for one in trials)
    return analysis.model_copy(update={"trials": trials})


def test_a_mean_over_loads_lists_them(run: Path, analysis: Analysis) -> None:
    single, mean = printed("single", -10.0, **AT_64), printed("mean", -10.0, **ANY_LOAD)
    found = rows(scorecard(run, single, mean, analysis=analysis))
    assert found["single"].notes == []
    assert found["mean"].notes == ["over 2 loads: 16 in flight, 64 in flight"]


def test_a_rate_that_was_not_reached_is_named_with_its_condition(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", effects=PAIR, rate=2000, between=0.004, within=0.004, measure_s=3,
        blocks=2, deployments=2,
    )  # fmt: skip
    one = printed("one", -10.0, load={"share": None, "threads": None, "rate": 2000})
    assert rows(scorecard(run, one))["one"].notes == []
    for manifest in (run / "trials").glob("*-docker-bridge/manifest.json"):
        document = json.loads(manifest.read_text(encoding="utf-8"))
        document["clients"][0]["rate_error"] = -0.4 if "B01" in str(manifest) else -0.3
        manifest.write_text(json.dumps(document), encoding="utf-8")
    assert rows(scorecard(run, one))["one"].notes == [
        "the rate was not reached in 1 of 2 conditions, least in docker-bridge: -40%"
    ]


def test_the_cpu_and_the_disk_are_said_to_be_the_whole_machines(
    run: Path, analysis: Analysis
) -> None:
    cpu, disk = usage("cpu.util", "%"), usage("disk.write_kbps", "kB/s")
    found = rows(scorecard(run, cpu, disk, analysis=analysis))
    assert found["cpu.util"].notes == [f"{OURS_IS}; the source's that of its servers"]
    assert found["disk.write_kbps"].notes == [
        "ours is what the whole machine wrote, with the clients on it; "
        "the source's what its servers wrote"
    ]


def test_a_source_s_cpu_use_is_judged_by_that_of_the_servers(run: Path, analysis: Analysis) -> None:
    """Clients are left out if the run has this metric; the source had them on another machine."""
    trials = [
        one.model_copy(update={"values": {**one.values, "cpu.server_util": 40.0 + one.block}})
        for one in analysis.trials
    ]
    without = analysis.model_copy(update={"trials": trials})
    row = rows(scorecard(run, usage("cpu.util", "%"), analysis=without))["cpu.util"]
    assert row.ours is not None
    assert row.ours.baseline_value == pytest.approx(41.5, rel=1e-3)
    assert row.notes == [
        "ours is the CPU of what is not the clients', over the CPUs that the servers may use; "
        "the source's that of its servers' machines"
    ]


def test_a_range_is_judged_case_by_case(run: Path, analysis: Analysis) -> None:
    at_most = direction("at-most", "lower", **ANY_LOAD)
    assert at_most.effect is not None
    bound = {"low": 0.88, "high": 0.92, "how": "range"}
    ranged = at_most.model_copy(update={"effect": at_most.effect.model_copy(update=bound)})
    row = rows(scorecard(run, ranged, analysis=analysis))["at-most"]
    assert row.verdict == "agrees"
    assert row.ours is not None
    assert (row.ours.cells, row.ours.of) == (1, 2)
    single = {
        one.treatment: one.ratio
        for one in analysis.effects
        if one.metric == "throughput" and one.factor == "platform"
    }
    shown = row.notes[0].rpartition(" ")[2]
    assert row.notes[0] == f"2 cases, each judged by itself: 2 agree; shown: {shown}"
    assert row.ours.ratio == single[shown]


def test_nothing_written_elsewhere_does_not_keep_a_finding_from_being_judged(
    run: Path, analysis: Analysis
) -> None:
    disk = usage("disk.write_kbps", "kB/s")
    outside = with_nothing_written(analysis, "D1-B01-native.t16")
    row = rows(scorecard(run, disk, analysis=outside))["disk.write_kbps"]
    assert row.ours is not None
    assert row.ours.ratio == pytest.approx(1.0)


def test_nothing_written_in_a_trial_of_the_comparison_is_no_ratio_and_names_it(
    run: Path, analysis: Analysis
) -> None:
    inside = with_nothing_written(analysis, "D1-B01-docker-bridge.t64")
    disk = usage("disk.write_kbps", "kB/s")
    row = rows(scorecard(run, disk, analysis=inside))["disk.write_kbps"]
    assert row.verdict == "not run here"
    assert row.reason == "no ratio with 0: nothing was written in D1-B01-docker-bridge.t64"


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("3.11.2", ["version: cassandra 5.0.9 here, 3.11.2 in the source"]),
        ("5.0.9", []),
    ],
)
def test_the_version_is_the_one_that_the_clusters_told(
    tmp_path: Path, stated: str, said: list[str]
) -> None:
    run = write_run(tmp_path / "run", effects=PAIR, measure_s=3, deployments=1, blocks=2)
    study = RunFiles(run).study
    text = study.read_text(encoding="utf-8")
    assert "version: 5.0.9" in text
    home = "version: '3.11.2'\n  home: /opt/cassandra"  # the clusters report another version
    study.write_text(text.replace("version: 5.0.9", home), encoding="utf-8")
    card = scorecard(run, printed("one", -10.0, version=stated))
    assert [one for one in card.differs if one.startswith("version")] == said
