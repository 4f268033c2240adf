"""What `tare plan` says of earlier runs of the study."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from tare.cli.console import Terminal
from tare.cli.expected import expected_lines
from tare.cli.plan import show
from tare.study.plan import make_plan
from tare.study.read import load_study
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

PAIR = {"native": Truth(), "docker": Truth(throughput=0.98, patch=docker("host"))}


def test_without_an_earlier_run_nothing_is_said(tmp_path: Path) -> None:
    run = write_run(tmp_path / "elsewhere" / "run", effects=PAIR, deployments=2, measure_s=2)
    plan = make_plan(load_study(run / "study.yaml"))
    assert expected_lines(plan, tmp_path / "runs") == []
    study = (run / "study.yaml").read_text().replace("study: synthetic", "study: other")
    (run / "study.yaml").write_text(study)
    assert expected_lines(plan, run.parent) == []


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
    assert "will not be decided at the margin of 5%" in line
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
