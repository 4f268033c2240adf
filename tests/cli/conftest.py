"""Settings for the tests of commands: no other program runs on the machine."""

from __future__ import annotations

import pytest

from tare.monitor.background_load import BackgroundLoad, BackgroundSample


@pytest.fixture(autouse=True)
def nothing_else_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan samples other programs for half a second, and its output has what they use."""
    monkeypatch.setattr(BackgroundSample, "end", lambda *_: BackgroundLoad(0.0, 0.0, ()))
