"""Compiled templates are cached between reports, and do not change them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.report.page import environment, render_html

from .sample import sample_analysis


def rendered() -> str:
    """Render as a new process would, with no templates in memory."""
    environment.cache_clear()
    return render_html(sample_analysis())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TARE_CACHE", str(tmp_path))
    return tmp_path


def test_the_second_report_is_the_first_one_without_compiling(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = rendered()
    assert any((cache / "templates").iterdir())

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr("jinja2.environment.Environment._compile", refuse)
    assert rendered() == first


def test_what_is_damaged_in_the_cache_is_compiled_again(cache: Path) -> None:
    first = rendered()
    for file in (cache / "templates").iterdir():
        file.write_bytes(file.read_bytes()[:40])
    assert rendered() == first


def test_a_cache_that_cannot_be_written_costs_no_report(cache: Path) -> None:
    (cache / "templates").write_text("a file where a directory should be")
    assert "<!doctype html>" in rendered()
