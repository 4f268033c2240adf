"""How far identical deployments differ: the analysis finds the sd that was put in."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.inference.contrast_estimates import make_rules
from tare.analysis.inference.contrasts import make_contrasts
from tare.analysis.inference.identical import identical_spreads
from tare.analysis.model import Analysis, IdenticalSpread
from tare.analysis.reading import read_trials
from tare.records.reader import read_run
from tare.study.conditions import expand
from tare.study.read import load_study
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


def test_the_part_of_the_slices_is_that_of_means_over_a_deployment_s_blocks(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path / "run", effects=TWO, deployments=3, blocks=4, measure_s=1)
    assert of(analyse(run), "throughput").slices is None, "measured in one piece"
    found = read_run(run)
    study = load_study(found.files.study)
    trials = read_trials(found.trials).trials
    for trial in trials:
        trial.slice_noise["throughput"] = 0.02 if trial.condition == "native" else 0.01
    spreads = identical_spreads(
        trials,
        make_contrasts(expand(study), study.baseline),
        study.margins,
        [],
        make_rules(trials, study.analysis, by_deployment=True),
    )
    (one,) = [one for one in spreads if one.metric == "throughput"]
    assert one.slices == pytest.approx(math.sqrt((0.02**2 + 0.01**2) / 2 / 4))


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
