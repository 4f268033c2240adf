"""A run of part of its study (`only`) at one of its scales: analysed as requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ruamel.yaml import YAML

from tare.analysis.analyse import analyse
from tare.report.methods import methods_paragraph
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Two of three platforms with one of three thread counts, which is not the baseline's."""
    effects = {
        "native": Truth(),
        "docker-bridge": Truth(throughput=0.8, patch=docker("bridge")),
    }
    run = write_run(
        tmp_path_factory.mktemp("runs") / "part",
        effects=effects, threads=[64], deployments=3, blocks=2, measure_s=3,
    )  # fmt: skip
    widened(run / "study.yaml")
    return analyse(run)


def widened(file: Path) -> None:
    """The run's study, as if it were part of a larger one."""
    yaml = YAML()
    study = yaml.load(file)
    study["factors"]["platform"]["docker-host"] = docker("host")
    levels = study["factors"]["threads"]
    study["factors"]["threads"] = {"t16": {"load.threads": 16}, **levels, "t256": {}}
    study["baseline"] = {"platform": "native", "threads": "t64"}
    study["only"] = {"platform": ["native", "docker-bridge"], "threads": ["t64"]}
    study["scale"], study["scales"] = "laptop", {"laptop": {}}  # as a run writes it
    yaml.dump(study, file)


def test_what_was_not_selected_is_not_missed(part: Analysis) -> None:
    assert part.valid, part.problems
    assert [one.condition for one in part.conditions] == ["native.t64", "docker-bridge.t64"]
    (effect,) = (one for one in part.effects if one.metric == "throughput")
    assert (effect.baseline, effect.treatment) == ("native.t64", "docker-bridge.t64")
    assert effect.ci[0] < 0.8 < effect.ci[1]


def test_the_report_says_the_scale_and_the_part(part: Analysis) -> None:
    study = part.provenance["study"]
    assert study["scale"] == "laptop"
    assert study["only"] == {"platform": ["native", "docker-bridge"], "threads": ["t64"]}
    text = methods_paragraph(part)
    assert "The study was run at its scale laptop." in text
    assert "only those with platform native and docker-bridge; threads t64 were selected" in text
