"""A scripted Docker engine and a scripted runsc."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.runtimes.gvisor import entry

Engine = Callable[..., Path]
VERSION = "runsc version release-20260921.0"
BOOTS = "exit 0"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Set the engine's runtime entries; RUNSC in an entry is a program whose `do` runs `does`."""

    def has(*, does: str = BOOTS, version: str = VERSION, **entries: dict[str, Any]) -> Path:
        program = tmp_path / "runsc"
        program.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "{version}"; exit; }}\n{does}\n'
        )
        program.chmod(0o755)
        told = {
            name.replace("_", "-"): {
                key: str(program) if value == "RUNSC" else value for key, value in one.items()
            }
            for name, one in entries.items()
        }
        client = SimpleNamespace(info=lambda: {"Runtimes": {"runc": {"path": "runc"}, **told}})
        monkeypatch.setattr(entry, "connect", lambda timeout_s: client)
        monkeypatch.setattr(entry.shutil, "which", lambda name, **_: None)
        return program

    return has
