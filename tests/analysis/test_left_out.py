"""A run whose plan left conditions out: analysed as far as possible; missing parts are named."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.inference.contrasts import make_contrasts
from tare.analysis.left_out import not_compared
from tare.study.conditions import expand
from tare.study.schema import Study
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis, Check

WHY = "this version makes no KVM machines"
KVM = {"platform": {"machines": "kvm"}}
LEVELS = {
    "native": Truth(),
    "docker-bridge": Truth(throughput=0.9, patch=docker("bridge")),
    "kvm": Truth(patch=KVM),
}


def leave_out(run: Path, *gone: str) -> Path:
    """The run as if these conditions were left out: no trials, and the plan says why."""
    for name in gone:
        for trial in run.glob(f"trials/*-{name}"):
            shutil.rmtree(trial)
    entries = [
        {"condition": {"name": name}, "field": "platform.machines", "why": WHY, "remedy": "x"}
        for name in gone
    ]
    plan = json.loads((run / "plan.json").read_text())
    (run / "plan.json").write_text(json.dumps(plan | {"left_out": entries}))
    return run


def check_of(analysis: Analysis, name: str) -> Check:
    return next(one for one in analysis.checks if one.name == name)


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    run = write_run(tmp_path_factory.mktemp("runs") / "x", effects=LEVELS, measure_s=5)
    return analyse(leave_out(run, "kvm"))


def test_what_was_left_out_is_kept_with_its_reason(analysis: Analysis) -> None:
    (one,) = analysis.left_out
    assert (one.condition, one.levels, one.why, one.remedy) == (
        "kvm", {"platform": "kvm"}, WHY, "x",
    )  # fmt: skip


def test_the_rest_is_analysed_as_ever(analysis: Analysis) -> None:
    assert [one.condition for one in analysis.conditions] == ["native", "docker-bridge"]
    assert {effect.treatment for effect in analysis.effects} == {"docker-bridge"}
    assert analysis.valid


def test_no_trial_of_it_is_missing(analysis: Analysis) -> None:
    found = check_of(analysis, "trials")
    assert (found.status, found.summary) == ("ok", "all 24 planned trials done")


def test_the_comparison_that_lacks_it_is_named(analysis: Analysis) -> None:
    (one,) = analysis.not_compared
    assert (one.treatment, one.baseline, one.left_out, one.partly) == (
        "kvm", "native", ["kvm"], False,
    )  # fmt: skip


def test_trials_of_what_is_said_to_be_left_out_count(tmp_path: Path) -> None:
    """A younger version may have resumed the run, and had a runtime for it."""
    run = write_run(tmp_path / "x", effects=LEVELS, deployments=2, blocks=2, measure_s=5)
    plan = json.loads((run / "plan.json").read_text())
    entry = {"condition": {"name": "kvm"}, "why": WHY, "remedy": ""}
    (run / "plan.json").write_text(json.dumps(plan | {"left_out": [entry]}))
    found = analyse(run)
    assert (found.left_out, found.not_compared) == ([], [])
    assert "kvm" in {effect.treatment for effect in found.effects}


def test_a_baseline_that_was_left_out_takes_its_comparisons_with_it(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "x", effects=LEVELS, threads=(16, 64), deployments=2, blocks=2, measure_s=5
    )
    found = analyse(leave_out(run, "native.t16", "kvm.t16", "kvm.t64"))
    pairs = {(effect.baseline, effect.treatment) for effect in found.effects}
    assert pairs == {
        ("native.t64", "docker-bridge.t64"),
        ("docker-bridge.t16", "docker-bridge.t64"),
    }
    assert ("docker-bridge.t16", "native.t16") in {
        (one.treatment, one.baseline) for one in found.not_compared
    }
    assert check_of(found, "trials").status == "ok"


def study(**analysis: Any) -> Study:
    return Study.model_validate(
        {
            "study": "x",
            "factors": {
                "platform": {"native": {}, "docker": {}, "kvm": {"platform.machines": "kvm"}},
                "cache": {"on": {}, "off": {"database.key_cache": "0MiB"}},
            },
            "baseline": {"platform": "native", "cache": "on"},
            "analysis": analysis,
        }
    )


def test_an_average_is_over_the_pairs_that_remain() -> None:
    made = study(compare=["platform"], over=["cache"])
    asked = make_contrasts(expand(made), made.baseline, made.analysis)
    gone = {"docker.off", "kvm.on", "kvm.off"}
    remaining = asked.without(gone)
    (one,) = remaining.of
    assert (one.treatment, one.cells) == ("docker", (("native.on", "docker.on"),))
    missing = {o.treatment: (o.left_out, o.partly) for o in not_compared(asked, remaining, gone)}
    assert missing == {"docker": (["docker.off"], True), "kvm": (["kvm.on", "kvm.off"], False)}


def test_an_average_of_one_thing_is_none() -> None:
    made = study(compare=["platform"], by=["cache"])
    asked = make_contrasts(expand(made), made.baseline, made.analysis)
    assert [one.treatment for one in asked.of if "docker" in one.treatment] == [
        "docker.on", "docker.off", "docker",
    ]  # fmt: skip
    remaining = asked.without({"docker.off"})
    assert [one.treatment for one in remaining.of if "docker" in one.treatment] == ["docker.on"]


def test_without_nothing_all_remain() -> None:
    made = study(compare=["platform"], by=["cache"])
    asked = make_contrasts(expand(made), made.baseline, made.analysis)
    assert asked.without(()) == asked
