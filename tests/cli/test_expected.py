"""What `tare plan` says of earlier runs of the study."""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tare.analysis.analyse import analyse
from tare.cli.commands import COMMANDS, build
from tare.cli.console import Terminal
from tare.cli.expected import expected_lines
from tare.cli.plan_text import show
from tare.machines.facts import local_facts
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.kept_noise import keep_pilot
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

PAIR = {"native": Truth(), "docker": Truth(throughput=0.98, patch=docker("host"))}


@pytest.fixture(autouse=True)
def no_pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARE_CACHE", str(tmp_path / "cache"))


def test_without_an_earlier_run_nothing_is_known(tmp_path: Path) -> None:
    run = write_run(tmp_path / "elsewhere" / "run", effects=PAIR, deployments=2, measure_s=2)
    plan = make_plan(load_study(run / "study.yaml"))
    unknown = [
        "expected intervals unknown before a first run here: service demand, throughput, 99th "
        "percentile latency between deployments"
    ]
    assert expected_lines(plan, tmp_path / "runs") == unknown
    study = (run / "study.yaml").read_text().replace("study: synthetic", "study: other")
    (run / "study.yaml").write_text(study)
    assert expected_lines(plan, run.parent) == unknown
    nothing_to_decide = make_plan(load_study(run / "study.yaml")).model_copy(
        update={"study": load_study(run / "study.yaml").model_copy(update={"margins": {}})}
    )
    assert expected_lines(nothing_to_decide, run.parent) == []


def other_study(runs: Path, hostname: str) -> Path:
    """A run of another study in slices: two platforms, each with two numbers of threads."""
    run = write_run(
        runs / "other", effects=PAIR, threads=(16, 64), deployments=4, measure_s=2, slice_s=0.25,
        between=0.03, within=0.01,
    )  # fmt: skip
    machine = replace(local_facts(), hostname=hostname).as_dict()
    (run / "environment.json").write_text(json.dumps({"machine": machine}))
    study = (run / "study.yaml").read_text().replace("study: synthetic", "study: other")
    (run / "study.yaml").write_text(study)
    return run


def test_a_run_of_another_study_in_slices_here_tells_comparisons_of_the_same_kind(
    tmp_path: Path,
) -> None:
    run = other_study(tmp_path / "runs", local_facts().hostname)
    plan = make_plan(load_study(run / "study.yaml", ["study=new"]))
    assert not any(str(run) in line for line in expected_lines(plan, run.parent)), "not analysed"
    (run / "analysis.json").write_text(analyse(run).model_dump_json())
    lines = expected_lines(plan, run.parent)
    assert lines[0].startswith("expected, if trials are as noisy as in the run of ")
    assert lines[0].endswith(f"{run}, another study:")
    inside = next(one for one in lines if "throughput inside one deployment" in one)
    between = next(one for one in lines if "throughput between deployments" in one)
    assert percent(inside) < percent(between)
    assert "unknown" not in "".join(lines)
    other = make_plan(load_study(run / "study.yaml", ["study=new", "database.version=4.1.12"]))
    assert "unknown" in expected_lines(other, run.parent)[0]


def test_a_run_of_another_machine_tells_nothing(tmp_path: Path) -> None:
    run = other_study(tmp_path / "runs", "elsewhere")
    (run / "analysis.json").write_text(analyse(run).model_dump_json())
    plan = make_plan(load_study(run / "study.yaml", ["study=new"]))
    assert "unknown" in expected_lines(plan, run.parent)[0]


def test_a_pilot_fills_in_what_no_run_tells(tmp_path: Path) -> None:
    keep_pilot(tmp_path / "cache")
    run = other_study(tmp_path / "runs", "elsewhere")
    plan = make_plan(load_study(run / "study.yaml", ["study=new"]))
    first, demand, throughput, unknown, remedy = expected_lines(plan, run.parent, "new.yaml")
    assert first.startswith("expected of this machine's noise, without a database")
    assert "service demand inside one deployment: intervals of at least ±" in demand
    assert "throughput inside one deployment" in throughput
    assert "99th percentile latency inside one deployment" in unknown
    whole = make_plan(load_study(run / "study.yaml", ["study=new", "design.slice=off"]))
    _, again = expected_lines(whole, run.parent, "new.yaml")  # a pilot is in slices
    for one in (remedy, again):
        assert one.startswith("to know them: `tare run new.yaml --name first --set ")
        assert one.endswith("then `tare plan new.yaml` again")


def percent(line: str) -> float:
    return float(line.partition("±")[2].partition("%")[0])


def test_the_latest_run_says_what_to_expect_per_primary_metric(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    quiet = write_run(
        runs / "quiet", effects=PAIR, deployments=4, measure_s=2, between=0.001, within=0.001
    )
    noisy = write_run(
        runs / "noisy", effects=PAIR, deployments=4, measure_s=2, between=0.1, within=0.05
    )
    os.utime(quiet / "journal.jsonl", (1, 1))
    plan = make_plan(load_study(noisy / "study.yaml"))
    lines = expected_lines(plan, runs)
    assert lines[0].endswith("runs/noisy:")
    (line,) = (one for one in lines if "throughput" in one)
    assert "will not be decided at the margin of 5%: docker against native; " in line
    assert "design.deployments of " in line or "more rounds" in line
    os.utime(noisy / "journal.jsonl", (0, 0))
    (line,) = (one for one in expected_lines(plan, runs) if "throughput" in one)
    assert line.endswith("should be decided at the margin of 5%")


def test_runs_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "runs" / "broken").mkdir(parents=True)
    (tmp_path / "runs" / "broken" / "study.yaml").write_text("study: [")
    run = write_run(tmp_path / "runs" / "good", effects=PAIR, deployments=2, measure_s=2)
    (run / "analysis.json").write_text("{}")
    assert expected_lines(make_plan(load_study(run / "study.yaml")), tmp_path / "runs")


def test_the_plan_says_when_it_is_looked_at_and_what_ends_it_for_time(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("study: x\n")

    def shown(*overrides: str) -> str:
        out = io.StringIO()
        show(make_plan(load_study(file, list(overrides))), Terminal(file=out, width=200))
        return out.getvalue()

    assert "looked at" not in shown()
    text = shown("design.deployments=8", "design.until=decided", "design.at_most=15m")
    assert "looked at after round 5: it ends there if every primary comparison has" in text
    assert "would end later than 15 min after the run began" in text
    assert "too few rounds to look before the last one" in shown("design.until=decided")


def test_the_first_run_that_a_plan_proposes_is_of_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Path(__file__).parents[2] / "studies" / "quickstart.yaml"
    asked = [str(study), "--set", "load.threads=8", "--only", "platform=native,docker"]
    told = CliRunner().invoke(build(COMMANDS), ["plan", *asked]).stdout
    words = " ".join(asked)
    assert f"`tare run {words} --name first --set" in " ".join(told.split())


def test_the_first_run_that_a_plan_proposes_has_one_number_of_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Path(__file__).parents[2] / "studies" / "quickstart.yaml"
    asked = [str(study), "--set", "design.deployments=5"]
    told = " ".join(CliRunner().invoke(build(COMMANDS), ["plan", *asked]).stdout.split())
    assert f"`tare run {study} --name first --set design.deployments=3`" in told
    assert f"then `tare plan {' '.join(asked)}` again" in told


def test_of_servers_that_are_compared_what_is_usual_is_told_roughly(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "study: x\nload: {workload: ycsb-a}\nbaseline: {heap: usual}\ndesign: {reset: keep}\n"
        "factors: {heap: {usual: {}, larger: {database.heap: 600MiB}}}\n"
    )

    def told(*overrides: str) -> list[str]:
        return expected_lines(make_plan(load_study(file, list(overrides))), tmp_path / "runs")

    title, demand, throughput, unknown, _ = told("design.deployments=4")
    assert title.startswith("expected, roughly, if servers differ here as they did elsewhere")
    assert "service demand between deployments: intervals of about ±4.9%" in demand
    assert "throughput between deployments: intervals of about ±4.9%" in throughput
    assert unknown.endswith("before a first run here: 99th percentile latency between deployments")
    assert percent(told("design.deployments=12")[1]) < percent(demand)
    assert "cannot show" not in demand
    too_few = told("design.deployments=3")[1]
    assert too_few.endswith("within the margin of 5%; --set design.deployments=4 can")
    (alone,) = told("design.deployments=1", "design.blocks=4")
    assert "unknown" in alone
    assert "roughly" not in "".join(told("design.deployments=4", "design.reset=truncate"))
