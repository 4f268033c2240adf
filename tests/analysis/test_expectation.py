"""Expectations of a study from an earlier run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tare.analysis.analyse import analyse
from tare.analysis.expectation import expectations
from tare.study.read import load_study
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.expectation import Expectation
    from tare.analysis.model import Analysis

PAIR = {"native": Truth(), "docker": Truth(throughput=0.98, patch=docker("host"))}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Analysis]:
    run = write_run(
        tmp_path_factory.mktemp("runs") / "run", effects=PAIR, deployments=8, blocks=4,
        measure_s=2, between=0.03, within=0.05,
    )  # fmt: skip
    return run, analyse(run)


def throughput(earlier: tuple[Path, Analysis], *overrides: str) -> Expectation:
    run, analysis = earlier
    found = expectations(analysis, load_study(run / "study.yaml", list(overrides)))
    return next(one for one in found if one.title == "Throughput")


def test_the_same_study_may_expect_the_same_interval(earlier: tuple[Path, Analysis]) -> None:
    one = throughput(earlier)
    effect = next(e for e in earlier[1].effects if e.metric == "throughput")
    assert math.log1p(one.half) == pytest.approx(math.log(effect.ci[1] / effect.ratio))
    assert one.margin == 0.05
    assert one.rounds is not None
    strict = throughput(earlier, "margins.throughput=1%").rounds
    assert strict is not None
    assert one.rounds < 8 < strict


def test_more_rounds_and_more_blocks_narrow_it(earlier: tuple[Path, Analysis]) -> None:
    now = throughput(earlier).half
    assert throughput(earlier, "design.deployments=32").half < 0.55 * now
    fewer, more = (throughput(earlier, f"design.blocks={n}").half for n in (1, 16))
    assert more < now < fewer


def test_a_study_with_looks_ends_with_a_wider_interval(earlier: tuple[Path, Analysis]) -> None:
    looked = throughput(earlier, "design.until=decided").half
    assert 1 < looked / throughput(earlier).half < 1.1


def test_the_rounds_that_decide_do_so(earlier: tuple[Path, Analysis]) -> None:
    rounds = throughput(earlier).rounds
    assert throughput(earlier, f"design.deployments={rounds}").half < 0.05


def test_one_deployment_says_nothing_of_deployments(earlier: tuple[Path, Analysis]) -> None:
    run, analysis = earlier
    assert expectations(analysis, load_study(run / "study.yaml", ["design.deployments=1"])) == []
