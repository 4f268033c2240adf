"""A knowledge file is parsed once; later, the same text is loaded from the cache."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from tare.errors import KnowledgeError
from tare.knowledge import kept
from tare.knowledge.kept import kept_or_parsed
from tare.knowledge.library import shipped_directory
from tare.knowledge.read import parse_knowledge

if TYPE_CHECKING:
    from tare.knowledge.schema import KnowledgeFile

SHIPPED = sorted(shipped_directory().glob("*.yaml"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TARE_CACHE", str(tmp_path))
    return tmp_path


def parsed(text: str) -> KnowledgeFile:
    return kept_or_parsed(text, partial(parse_knowledge, text, "mine.yaml"))


def unread() -> NoReturn:
    raise AssertionError("it was parsed again")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_was_kept_is_what_was_parsed(path: Path) -> None:
    text = path.read_text("utf-8")
    first = parsed(text)
    again = kept_or_parsed(text, unread)
    # compared as text: 2 and 2.0 are equal, but print differently
    assert again.model_dump_json() == first.model_dump_json()


def test_another_text_is_parsed(cache: Path) -> None:
    text = SHIPPED[0].read_text("utf-8")
    parsed(text)
    with pytest.raises(AssertionError):
        kept_or_parsed(text + "\n# more\n", unread)


def test_a_damaged_cache_is_as_none(cache: Path) -> None:
    text = SHIPPED[0].read_text("utf-8")
    first = parsed(text)
    (kept,) = cache.glob("knowledge/*.json")
    kept.write_text(kept.read_text("utf-8")[:-100], "utf-8")
    assert parsed(text) == first


def test_mistakes_are_told_each_time(cache: Path) -> None:
    for _ in range(2):
        with pytest.raises(KnowledgeError, match="not a knowledge file"):
            parsed("format: 1\n")
    assert not list(cache.glob("knowledge/*"))


def test_a_cache_that_cannot_be_written_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TARE_CACHE", str(tmp_path / "file"))
    text = SHIPPED[0].read_text("utf-8")
    assert parsed(text) == parsed(text)


@pytest.mark.parametrize("code", ["read.py", "schema.py", "document.py", "question.py"])
def test_what_another_code_read_is_read_again(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SHIPPED[0].read_text("utf-8")
    parsed(text)
    plain = Path.read_bytes

    def changed(path: Path) -> bytes:
        return plain(path) + (b"\n# changed" if path.name == code else b"")

    monkeypatch.setattr(Path, "read_bytes", changed)
    kept._code.cache_clear()
    try:
        with pytest.raises(AssertionError):
            kept_or_parsed(text, unread)
    finally:
        kept._code.cache_clear()
