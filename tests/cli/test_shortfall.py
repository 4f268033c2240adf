"""`tare plan` and `tare run` say beforehand what the result cannot say."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tare.cli import measuring as run
from tare.cli.console import Terminal
from tare.cli.plan_text import show
from tare.cli.shortfall import shortfall_lines
from tare.lab import run_lock
from tare.machines.declaration import Missing
from tare.runtimes.availability import obstacle
from tare.study.plan import make_plan
from tare.study.read import load_study
from tare.study.schema import Study

if TYPE_CHECKING:
    from tare.study.plan import Plan

STUDIES = Path(__file__).parents[2] / "studies"
DOCKER = {"platform": {"runtime": "docker", "network": "host", "storage": "directory"}}
VMWARE = {"platform": {"machines": "vmware"}}


def planned(other: dict[str, Any] = DOCKER, **design: Any) -> Plan:
    """A comparison of two conditions."""
    study = {
        "study": "pair",
        "factors": {"platform": {"native": {}, "other": other}},
        "baseline": {"platform": "native"},
        "design": design,
    }
    return make_plan(Study.model_validate(study), obstacle)


@pytest.mark.parametrize("fresh", ["trial", "block", "deployment"])
def test_of_one_repetition_no_interval_can_be_made(fresh: str) -> None:
    (line,) = shortfall_lines(planned(deployments=1, blocks=1, fresh=fresh))
    assert "no interval can be made" in line
    assert "--set design.deployments=3" in line


def test_intervals_of_one_deployment_speak_of_it_alone() -> None:
    (line,) = shortfall_lines(planned(deployments=1, blocks=6, fresh="deployment"))
    assert "intervals speak of these deployments alone" in line


@pytest.mark.parametrize(
    "design",
    [
        {"deployments": 2, "blocks": 1, "fresh": "deployment"},
        {"deployments": 3, "blocks": 4, "fresh": "deployment"},
        # clusters of its own for each block: ten deployments
        {"deployments": 1, "blocks": 10, "fresh": "block"},
        {"deployments": 1, "blocks": 2, "fresh": "trial"},
    ],
)
def test_several_deployments_lack_nothing(design: dict[str, Any]) -> None:
    assert shortfall_lines(planned(**design)) == []


def test_levels_that_share_a_deployment_can_be_told_apart_on_it() -> None:
    threads = {"load": {"threads": 8}}
    assert shortfall_lines(planned(threads, deployments=1, blocks=4, fresh="deployment")) == []


def test_a_study_of_which_the_controls_alone_are_left_has_no_answer() -> None:
    study = {
        "study": "pair",
        "factors": {"platform": {"native": {}, "again": {}, "other": VMWARE}},
        "baseline": {"platform": "native"},
        "design": {"deployments": 2, "blocks": 2},
    }
    (line,) = shortfall_lines(make_plan(Study.model_validate(study), obstacle))
    assert line.startswith("note: only controls will be compared")


def test_a_run_that_compares_nothing_is_said_to() -> None:
    (line,) = shortfall_lines(planned(VMWARE, deployments=2, blocks=2))
    assert "nothing will be compared" in line


def test_without_qemu_the_kvm_thesis_compares_nothing_and_its_plan_ends_with_that() -> None:
    gone = Missing("no QEMU", "apt-get install qemu-system-x86")
    without = partial(obstacle, missing=lambda name: gone)
    plan = make_plan(load_study(STUDIES / "bth-kvm-2016.yaml"), without)
    out = io.StringIO()
    show(plan, Terminal(file=out, width=300))
    assert (
        out.getvalue()
        .splitlines()[-1]
        .startswith("note: nothing will be compared: 6 conditions to run")
    )


@pytest.mark.parametrize("name", ["shirinbab-2020", "truyen-2018-cassandra"])
def test_papers_that_measured_once_are_said_to_give_no_interval(name: str) -> None:
    plan = make_plan(load_study(STUDIES / f"{name}.yaml"), obstacle)
    assert any("no interval can be made" in line for line in shortfall_lines(plan))


def test_a_run_begins_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is measured here: a lab without work replaces the real one."""
    seen: list[str] = []

    class Idle:
        def __init__(self, *_: object, **__: object) -> None: ...

        def run(self) -> object:
            seen.append(capsys.readouterr().out)
            return SimpleNamespace(directory=tmp_path, failed=[])

    monkeypatch.setattr(run, "Lab", Idle)
    monkeypatch.setattr(run_lock, "default_path", lambda: tmp_path / "lock")
    file = tmp_path / "study.yaml"
    file.write_text("study: pair\n")
    plan = planned(deployments=1, blocks=1)
    run.measure(plan, file, tmp_path / "runs", None, quiet=False, weigh=False)
    assert "no interval can be made" in " ".join(seen[0].split())
    assert "a trial's name, e.g. D1-B01-" in seen[0]
    assert ": deployment 1, block 1, condition " in " ".join(seen[0].split())
