"""Errors for an unusable settings file name the field and the reason in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.settings_file import read_settings
from tare.runtimes.swarm.settings import SwarmSettings


def refused(tmp_path: Path, text: str) -> RuntimeUnavailableError:
    file = tmp_path / "swarm.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RuntimeUnavailableError) as caught:
        read_settings(file, SwarmSettings, of="the Swarm", variable="TARE_SWARM", page="a page")
    assert caught.value.where == str(file)
    assert "TARE_SWARM" in caught.value.remedy
    assert "pydantic" not in caught.value.why
    return caught.value


def test_a_misspelt_field_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    error = refused(tmp_path, "engins: {swarm-2: worker-2}\n")
    assert error.why == "engins: there is no such field; did you mean engines?"


def test_a_field_of_another_kind_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path, "engines: [worker-2]\n").why.startswith("engines: ")


def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "[swarm-1]\n").why.startswith("the file: ")


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "swarm.yaml"
    file.touch()
    words = {"of": "the Swarm", "variable": "TARE_SWARM", "page": "a page"}
    assert read_settings(file, SwarmSettings, **words) == SwarmSettings()
