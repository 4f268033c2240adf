"""`tare plan` hints at rates that nothing can answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.analyse import analyse
from tare.cli.rates import rate_lines
from tare.study.plan import make_plan
from tare.study.read import load_study
from tare.study.schema import Study
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from tare.study.plan import Plan

PINNED = {"platform": {"limits": {"cpuset": 0}}}


def planned(load: dict[str, Any], **parts: Any) -> Plan:
    study = {
        "study": "rated",
        **PINNED,
        "load": load,
        "factors": {"platform": {"native": {}, "again": {}}},
        "baseline": {"platform": "native"},
    }
    return make_plan(Study.model_validate(study | parts))


@pytest.mark.parametrize(
    "load",
    [
        {"rate": 1_000_000},
        {"phases": [{"for": "5s", "rate": 10}, {"for": "5s", "rate": 1_000_000}]},
    ],
)
def test_a_rate_that_leaves_an_operation_no_cpu_time_is_absurd(
    load: dict[str, Any], tmp_path: Path
) -> None:
    (line,) = rate_lines(planned(load), tmp_path)
    assert line.startswith("hint: load.rate 1,000,000/s: native has 1 CPU for its servers, 1 us")
    assert "rate: 66% of max" in line


@pytest.mark.parametrize(
    ("load", "parts"),
    [
        ({"rate": 5_000}, {}),
        ({"threads": 64}, {}),
        ({"rate": "66% of max"}, {}),
        ({"rate": 1_000_000}, {"platform": {"machines": "ssh"}, "client": {"machines": "ssh"}}),
    ],
)
def test_a_rate_that_may_be_answered_is_none(
    load: dict[str, Any], parts: dict[str, Any], tmp_path: Path
) -> None:
    assert rate_lines(planned(load, **parts), tmp_path) == []


def test_more_than_a_closed_loop_reached_here_is_told_with_the_run(tmp_path: Path) -> None:
    effects = {"native": Truth(), "docker": Truth(throughput=0.9, patch=docker("host"))}
    run = write_run(tmp_path / "runs" / "first", effects=effects, deployments=2, measure_s=2)
    file = run / "study.yaml"
    higher = make_plan(load_study(file, ["load.rate=6000"]))
    assert rate_lines(higher, run.parent) == [], "not analysed"
    (run / "analysis.json").write_text(analyse(run).model_dump_json(), encoding="utf-8")
    (line,) = rate_lines(higher, run.parent)
    assert line.startswith("hint: load.rate 6,000/s: native answered ")
    assert f"at most in {run}" in line
    assert rate_lines(make_plan(load_study(file, ["load.rate=2000"])), run.parent) == []
