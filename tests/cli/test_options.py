"""What a command accepts as a study."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tare.cli.commands import build
from tare.errors import UsageError


@pytest.mark.parametrize(
    ("typed", "remedy"), [("quickstrt", "did you mean quickstart?"), ("xyzzy", "quickstart, ")]
)
def test_a_name_that_no_study_has_is_told_those_that_have_one(
    typed: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(build(), ["plan", typed]).exception
    assert isinstance(refused, UsageError)
    assert refused.what == f"{typed}: no such study"
    assert remedy in refused.remedy


def test_the_path_of_a_study_that_comes_with_tare_is_answered_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's command, typed where Tare was installed without its checkout."""
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(build(), ["plan", "studies/quickstart.yaml"]).exception
    assert isinstance(refused, UsageError)
    assert refused.remedy == "write quickstart"
