"""A command that analyses a run ends with a whole report, even if interrupted meanwhile."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.cli import finish


def test_an_interruption_waits_for_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "report.html"

    def written(run: Path, analysis: Any) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        page.write_text("whole", encoding="utf-8")
        return page

    analysis = SimpleNamespace(valid=True)
    monkeypatch.setattr(finish, "analyse", lambda run: analysis)
    monkeypatch.setattr(finish, "beside_others", lambda *_: analysis)
    monkeypatch.setattr(finish, "write_report", written)
    with pytest.raises(KeyboardInterrupt):
        finish.finish(tmp_path, json=False)
    assert page.read_text(encoding="utf-8") == "whole"
