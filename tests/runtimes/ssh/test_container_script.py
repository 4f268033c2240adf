"""container.sh removes only things with the run's mark. The docker command is scripted."""

from __future__ import annotations

import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

DOCKER = """#!/bin/sh
case "$1 $2" in
  "container inspect" | "volume inspect") echo "$LABEL" ;;
  *) echo "$*" >>"$ASKED" ;;
esac
"""


def asked(tmp_path: Path, label: str) -> list[str]:
    """The engine's commands if container and volume have this label."""
    docker, told = tmp_path / "docker", tmp_path / "asked"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    told.touch()
    script = (files("tare.runtimes.ssh") / "container.sh").read_text()
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LABEL": label, "ASKED": str(told)}
    subprocess.run(["sh", "-c", script, "sh", "c1", "v1", "me.run"], env=environment, check=True)
    return told.read_text().splitlines()


def test_a_container_and_a_volume_of_the_run_go(tmp_path: Path) -> None:
    assert asked(tmp_path, "me.run") == ["rm -f -v c1", "volume rm -f v1"]


@pytest.mark.parametrize("label", ["", "<no value>", "me.another"])
def test_those_of_somebody_else_stay(tmp_path: Path, label: str) -> None:
    assert asked(tmp_path, label) == []
