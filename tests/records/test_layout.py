"""The places of a run's files, and which directories are trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.errors import RecordError
from tare.records.layout import RunFiles, TrialFiles

if TYPE_CHECKING:
    from pathlib import Path


def test_only_directories_under_their_final_name_are_trials(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("study: x")
    trials = tmp_path / "trials"
    for name in ("D1-B02-native", "D1-B01-native", ".D1-B03-native"):
        (trials / name).mkdir(parents=True)
    (trials / "notes.txt").write_text("no trial")
    assert [files.name for files in RunFiles(tmp_path).finished()] == [
        "D1-B01-native",
        "D1-B02-native",
    ]


def test_a_run_without_trials_is_empty(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("study: x")
    assert RunFiles(tmp_path).finished() == []


def test_a_directory_without_study_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not the directory of a run") as caught:
        RunFiles(tmp_path).finished()
    assert caught.value.where == str(tmp_path)
    assert "tare run" in caught.value.remedy


def test_a_failed_attempt_belongs_to_its_trial(tmp_path: Path) -> None:
    assert TrialFiles(tmp_path / "D1-B01-native.failed-1").trial == "D1-B01-native"
    assert TrialFiles(tmp_path / "D1-B01-native.t16").trial == "D1-B01-native.t16"


@pytest.mark.parametrize("name", ["../secret.hlog", "/etc/passwd", "a\\b", "", ".."])
def test_a_manifest_cannot_lead_out_of_its_trial(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match="outside of its trial"):
        TrialFiles(tmp_path).hlog(name)
