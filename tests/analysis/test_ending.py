"""From the looks of a run to the levels of its analysis, and to the rounds that should decide."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
from scipy import special

from tare.analysis.analyse import analyse
from tare.analysis.ending import is_decided
from tare.records.looks import Look, Looks, write_looks
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tare.analysis.model import Analysis, Effect
    from tare.records.looks import Why

NOISY = {"native": Truth(), "docker": Truth(throughput=0.98, patch=docker("host"))}
CLEAR = {"native": Truth(), "docker": Truth(throughput=0.6, patch=docker("host"))}


def run_of(
    directory: Path, truths: dict[str, Truth], rounds: int, planned: int, until: str
) -> Path:
    """A run with this many of its planned rounds."""
    run = write_run(
        directory, effects=truths, deployments=rounds, blocks=2, measure_s=2, between=0.05
    )
    study = run / "study.yaml"
    text = study.read_text().replace(
        f"deployments: {rounds}", f"deployments: {planned}\n  until: {until}"
    )
    study.write_text(text)
    return run


def looked(run: Path, *looks: tuple[int, int, Why, bool | None]) -> None:
    found = [Look(round=r, of=of, why=why, decided=said) for r, of, why, said in looks]
    write_looks(run / "looks.json", Looks(looks=found))


def throughput(analysis: Analysis) -> Effect:
    return next(e for e in analysis.effects if e.metric == "throughput")


def level_of(effect: Effect) -> float:
    """The level of the interval, from its width and the standard error."""
    half = (math.log(effect.ci[1]) - math.log(effect.ci[0])) / 2
    t = half / (effect.sd_log / math.sqrt(effect.deployments))
    return 2 * float(special.stdtr(effect.df, t)) - 1


def test_a_run_without_looks_has_plain_intervals(tmp_path: Path) -> None:
    analysis = analyse(run_of(tmp_path / "run", NOISY, 4, 4, "rounds"))
    assert analysis.ending is None
    assert level_of(throughput(analysis)) == pytest.approx(0.95)


def test_a_run_that_ended_at_a_look_has_the_level_of_that_look(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", CLEAR, 5, 8, "decided")
    looked(run, (5, 8, "planned", True))
    analysis = analyse(run)
    assert analysis.ending is not None
    assert (analysis.ending.rounds, analysis.ending.decided) == (5, True)
    effect = throughput(analysis)
    assert effect.level == pytest.approx(0.98683, abs=1e-5)
    assert level_of(effect) == pytest.approx(effect.level, abs=1e-6)
    assert "98.68%" in effect.method
    assert effect.verdict == "different"
    trials = next(check for check in analysis.checks if check.name == "trials")
    assert trials.status == "ok", "rounds that were not to come are not missing"


def test_an_undecided_run_has_the_level_of_its_last_look(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", NOISY, 8, 8, "decided")
    looked(run, (5, 8, "planned", False), (8, 8, "end", False))
    assert level_of(throughput(analyse(run))) == pytest.approx(0.95886, abs=1e-5)


def test_the_report_of_an_unfinished_run_is_a_look_at_its_share(tmp_path: Path) -> None:
    analysis = analyse(run_of(tmp_path / "run", CLEAR, 3, 8, "decided"))
    assert analysis.ending is not None
    assert analysis.ending.decided is None
    assert throughput(analysis).level > 0.998
    assert analysis.extension is None


def test_the_level_of_a_look_decides(tmp_path: Path) -> None:
    """A difference that is confirmed at 5%, but not at the level of the look."""
    run = run_of(tmp_path / "run", CLEAR, 3, 3, "rounds")
    plain = throughput(analyse(run))
    assert plain.verdict == "different"
    looked(run, (3, 300, "planned", None))
    early = throughput(analyse(run))
    assert early.verdict == "inconclusive"
    assert early.ci[0] < plain.ci[0] < plain.ci[1] < early.ci[1]
    assert early.p is not None
    assert plain.p is not None
    assert early.p > plain.p


def test_interactions_and_ratios_of_variances_take_the_level_too(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", effects=NOISY, deployments=4, blocks=3, measure_s=2, threads=(16, 64)
    )
    plain = analyse(run)
    looked(run, (4, 8, "planned", False))
    early = analyse(run)
    assert plain.interactions
    assert plain.variances
    for before, after in zip(plain.interactions, early.interactions, strict=True):
        assert after.p > before.p
        assert after.largest_ci[0] < before.largest_ci[0]
    for one, other in zip(plain.variances, early.variances, strict=True):
        assert other.p >= one.p
        assert other.ci[0] < one.ci[0]


def test_decided_means_that_every_primary_comparison_has_a_verdict(tmp_path: Path) -> None:
    open_ = analyse(run_of(tmp_path / "open", NOISY, 3, 3, "rounds"))
    assert any(e.verdict == "inconclusive" for e in open_.effects if e.primary)
    assert not is_decided(open_)
    for effect in open_.effects:
        if effect.primary:
            effect.verdict = "equivalent"
    assert is_decided(open_)
    open_.effects = [e for e in open_.effects if not e.primary]
    assert not is_decided(open_)


def test_an_undecided_run_names_the_rounds_and_the_command_that_should_decide(
    tmp_path: Path,
) -> None:
    run = run_of(tmp_path / "run", NOISY, 4, 4, "rounds")
    (run / "environment.json").write_text(json.dumps({"command": "tare run x.yaml"}))
    more = analyse(run).extension
    assert more is not None
    assert more.now == 4
    assert more.rounds > 4
    assert more.command == f"tare run x.yaml --rounds {more.rounds}"
    per_round = 2 * 2 * (2 + 20)  # blocks x conditions x seconds from trial to trial
    assert more.seconds == pytest.approx((more.rounds - 4) * per_round, rel=0.05)


def test_a_decided_run_needs_no_extension(tmp_path: Path) -> None:
    analysis = analyse(run_of(tmp_path / "run", CLEAR, 4, 4, "rounds"))
    opened = [e for e in analysis.effects if e.primary and e.verdict == "inconclusive"]
    assert (analysis.extension is None) == (not opened)
