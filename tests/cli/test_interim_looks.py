"""Interim looks at a run, and the command that extends it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tare.analysis.analyse import analyse
from tare.cli.interim_looks import judge_of
from tare.cli.measuring import begin_words
from tare.records.layout import RunFiles
from tare.records.looks import read_looks
from tests.synthetic_run import docker, write_run
from tests.synthetic_trial import Truth

if TYPE_CHECKING:
    import pytest

CLEAR = {"native": Truth(), "docker": Truth(throughput=0.6, tail=2.0, patch=docker("host"))}
ALIKE = {"native": Truth(), "docker": Truth(throughput=0.98, patch=docker("host"))}


def run_of(directory: Path, truths: dict[str, Truth], noise: float) -> RunFiles:
    """Five rounds of a study with at most eight."""
    run = write_run(
        directory, effects=truths, deployments=5, blocks=2, measure_s=2, between=noise, within=noise
    )
    text = (run / "study.yaml").read_text()
    text = text.replace("deployments: 5", "deployments: 8\n  until: decided")
    (run / "study.yaml").write_text(text)
    return RunFiles(run)


def test_a_look_is_kept_with_what_it_said_and_the_analysis_takes_its_level(tmp_path: Path) -> None:
    files = run_of(tmp_path / "run", ALIKE, 0.1)
    look = judge_of(files, 8)(5, "planned")
    assert (look.round, look.of, look.why, look.decided) == (5, 8, "planned", False)
    assert read_looks(files.looks).looks == [look]
    assert all(abs(effect.level - 0.98683) < 1e-5 for effect in analyse(files.root).effects)


def test_a_clear_effect_is_decided_at_the_look(tmp_path: Path) -> None:
    files = run_of(tmp_path / "run", CLEAR, 0.002)
    assert judge_of(files, 8)(5, "planned").decided
    ended = read_looks(files.looks).ended()
    assert ended is not None
    assert ended.round == 5


def test_a_look_that_was_made_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = run_of(tmp_path / "run", ALIKE, 0.1)
    first = judge_of(files, 8)(5, "planned")
    monkeypatch.setattr("tare.cli.interim_looks.analyse", lambda _: 1 / 0)
    assert judge_of(files, 8)(5, "planned") == first


def test_a_look_that_cannot_be_made_decides_nothing(tmp_path: Path) -> None:
    files = run_of(tmp_path / "run", CLEAR, 0.002)
    study = files.study.read_text()
    files.study.write_text("study: [")
    assert judge_of(files, 8)(5, "planned").decided is None
    files.study.write_text(study)
    assert judge_of(files, 8)(5, "planned").decided


def test_where_time_is_over_after_a_look_what_is_left_is_spent_on_the_same_rounds(
    tmp_path: Path,
) -> None:
    files = run_of(tmp_path / "run", ALIKE, 0.1)
    judge = judge_of(files, 8)
    judge(5, "planned")
    assert judge(5, "time").why == "time"
    assert judge(5, "planned").why == "time", "resumed, the run makes the same looks"
    assert [one.why for one in read_looks(files.looks).looks] == ["time"]
    assert all(effect.level == 0.95 for effect in analyse(files.root).effects)


def test_the_command_of_a_run_has_all_that_makes_it_this_run() -> None:
    study = Path("studies/x.yaml")
    assert begin_words(study, None, None, None, Path("runs"), None) == "tare run studies/x.yaml"
    assert begin_words(study, ["load.threads=8"], "pilot", ["row=usual"], Path("my runs"), "a") == (
        "tare run studies/x.yaml --set load.threads=8 --scale pilot --only row=usual "
        "--runs 'my runs' --name a"
    )
