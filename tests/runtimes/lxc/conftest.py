"""A machine of root's with an lxc-execute that a test has written, in place of this machine's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tare.machines import cgroups
from tare.runtimes.lxc import configuration, groups, program

Machine = Callable[..., Path]

RUNS = """\
while [ "$1" != -- ]; do
  case "$1" in --logfile) log=$2;; esac
  shift
done
shift
sh -c '"$@" & wait $!' init "$@" &
wait $!
"""
"""An lxc-execute whose first process is below it, and the unit's below that, as LXC has them; but
there is no container."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Root's machine with this lxc-execute, which is of this version; None: without one."""

    def has(script: str | None = RUNS, *, version: str = "5.0.2") -> Path:
        programs = tmp_path / "bin"
        programs.mkdir()
        file = programs / program.COMMAND
        if script is not None:
            told = f'if [ "$1" = --version ]; then echo {version}; exit; fi\n'
            file.write_text(f"#!/bin/sh\n{told}{script}", encoding="utf-8")
            file.chmod(0o755)
        for name in ("sh", "ip", "env", "true", "sleep"):
            (programs / name).symlink_to(f"/bin/{name}")
        common = tmp_path / "common.conf"
        common.touch()
        monkeypatch.setenv("PATH", str(programs))
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(configuration, "COMMON", common)
        monkeypatch.setattr(cgroups, "can_be_made", lambda: True)
        monkeypatch.setattr(groups, "prepare", lambda run: None)
        return file

    program._not_started.cache_clear()
    yield has
    program._not_started.cache_clear()
