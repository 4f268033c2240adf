"""Studies as text: what the tests of this folder read, plan and refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from tare.errors import StudyError
from tare.study.read import load_study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tare.study.schema import Study


class ReadStudy(Protocol):
    """Writes the text to study.yaml and reads it."""

    def __call__(
        self,
        text: str,
        overrides: Sequence[str] = (),
        scale: str | None = None,
        only: Sequence[str] = (),
    ) -> Study: ...


class RefuseStudy(Protocol):
    """Writes the text to study.yaml and returns the error that reading it raises."""

    def __call__(
        self,
        text: str,
        overrides: Sequence[str] = (),
        scale: str | None = None,
        only: Sequence[str] = (),
    ) -> StudyError: ...


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReadStudy:
    monkeypatch.chdir(tmp_path)

    def read_text(
        text: str,
        overrides: Sequence[str] = (),
        scale: str | None = None,
        only: Sequence[str] = (),
    ) -> Study:
        path = tmp_path / "study.yaml"
        path.write_text(text, encoding="utf-8")
        return load_study(path.relative_to(tmp_path), overrides, scale, only)

    return read_text


@pytest.fixture
def refuse(read: ReadStudy) -> RefuseStudy:
    def refuse_text(
        text: str,
        overrides: Sequence[str] = (),
        scale: str | None = None,
        only: Sequence[str] = (),
    ) -> StudyError:
        with pytest.raises(StudyError) as caught:
            read(text, overrides, scale, only)
        return caught.value

    return refuse_text
