"""Studies as text: what the tests of this folder read, plan and refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tare.errors import StudyError
from tare.study.read import load_study
from tare.study.schema import Study

if TYPE_CHECKING:
    from pathlib import Path

ReadStudy = Callable[..., Study]
"""Writes a text to study.yaml and reads it; the rest as of `load_study`."""
RefuseStudy = Callable[..., StudyError]
"""The same, and returns the error that reading it raises."""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReadStudy:
    monkeypatch.chdir(tmp_path)

    def read_text(text: str, *how: Any, **words: Any) -> Study:
        path = tmp_path / "study.yaml"
        path.write_text(text, encoding="utf-8")
        return load_study(path.relative_to(tmp_path), *how, **words)

    return read_text


@pytest.fixture
def refuse(read: ReadStudy) -> RefuseStudy:
    def refuse_text(text: str, *how: Any, **words: Any) -> StudyError:
        with pytest.raises(StudyError) as caught:
            read(text, *how, **words)
        return caught.value

    return refuse_text
