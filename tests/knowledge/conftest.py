"""Tests use only the shipped knowledge, not what their user has added."""

from __future__ import annotations

import pytest

from tare.knowledge.library import VARIABLE


@pytest.fixture(autouse=True)
def _nothing_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
