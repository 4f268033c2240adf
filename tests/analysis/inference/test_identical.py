"""How far identical deployments differ: the sd is found again, and is of what differed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.model import Analysis, IdenticalSpread
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

TWO = {"native": Truth(), "docker-bridge": Truth(throughput=0.9, patch=docker("bridge"))}


def of(analysis: Analysis, metric: str) -> IdenticalSpread:
    (found,) = [one for one in analysis.identical if one.metric == metric]
    return found


def test_the_sd_between_deployments_is_found_again(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", effects=TWO, deployments=12, blocks=4, measure_s=1, between=0.05,
        within=0.01, ops_per_s=500.0,
    )  # fmt: skip
    found = of(analyse(run), "throughput")
    assert (found.unit, found.baseline, found.df) == ("deployment", "native", 11)
    assert found.sd == pytest.approx(0.05, rel=0.4)
    assert of(analyse(run), "service_demand").sd < 0.02, "the truth has none in service demand"


def test_of_one_deployment_only_its_trials_can_differ(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", effects=TWO, deployments=1, blocks=6, measure_s=1)
    assert {one.unit for one in analyse(run).identical} == {"trial"}


def test_ways_into_one_deployment_do_not_count_as_deployments(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", effects=TWO, deployments=3, blocks=2, measure_s=1)
    for manifest in run.glob("trials/*/manifest.json"):
        facts = json.loads(manifest.read_text())
        facts["deployment"] = f"D{facts['round']}-native"
        manifest.write_text(json.dumps(facts))
    assert analyse(run).identical == []
