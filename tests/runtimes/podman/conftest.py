"""A podman that says what a test has it say, in place of this machine's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Machine = Callable[..., Path]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Root's machine that has these commands and no others, on which podman says this."""

    def has(
        *commands: str, version: str = "4.3.1", oci: str = "crun", network: str = "netavark"
    ) -> Path:
        told: dict[str, Any] = {
            "host": {"ociRuntime": {"name": oci}, "networkBackend": network},
            "version": {"Version": version},
            "store": {"graphRoot": "/var/lib/containers/storage"},
        }
        programs = tmp_path / "bin"
        programs.mkdir()
        for name in commands:
            (programs / name).write_text(f"#!/bin/sh\necho '{json.dumps(told)}'\n")
            (programs / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(programs))
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        return programs

    return has
