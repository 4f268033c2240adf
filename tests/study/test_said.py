"""What a study's file sets for a condition, and what is a default."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.study.conditions import expand
from tare.study.read import load_study
from tare.study.said import KIND, said_only, said_paths, says

TEXT = """\
study: said
database: {consistency: {read: ONE}, settings: {dynamic_snitch: false}}
load: {threads: 8}
factors:
  platform:
    native: {}
    docker: {platform.runtime: docker, database: {kind: cassandra}}
baseline: {platform: native}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "said.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_only_what_is_written_is_said(path: Path) -> None:
    study = load_study(path)
    native, docker = (said_paths(study, one.levels) for one in expand(study))
    assert not says(native, KIND)
    assert says(docker, KIND)
    assert says(native, ("load", "threads"))
    assert not says(native, ("load", "records"))


def test_a_document_is_reduced_to_what_is_said(path: Path) -> None:
    study = load_study(path)
    native = expand(study)[0]
    kept = said_only(native.setup.model_dump(mode="json"), said_paths(study, native.levels))
    assert kept == {
        "database": {"consistency": {"read": "ONE"}, "settings": {"dynamic_snitch": False}},
        "load": {"threads": 8},
    }
