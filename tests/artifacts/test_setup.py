"""The set-up scripts: well formed, in step with the study they run, honest about Docker."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tare.study.conditions import expand
from tare.study.read import load_study

CHECKOUT = Path(__file__).parents[2]
SCRIPTS = [
    *sorted((CHECKOUT / "setup").glob("*.sh")),
    *sorted((CHECKOUT / "rig").glob("*.sh")),
    CHECKOUT / ".ci" / "run",
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_script_parses(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)


def test_without_an_engine_the_demo_plans_its_native_conditions_alone() -> None:
    script = (CHECKOUT / "setup/demo.sh").read_text()
    found = re.findall(r'--set (?:"([^"]+)"|(\S+))', script)
    overrides = tuple(quoted or plain for quoted, plain in found)
    assert len(overrides) == 3
    study = load_study(CHECKOUT / "studies" / "quickstart.yaml", overrides)
    conditions = expand(study)
    assert [one.name for one in conditions] == ["native.loopback", "native-again.loopback"]


@pytest.mark.parametrize("arguments", [["--check"], []])
def test_an_engine_that_does_not_answer_is_reported_by_the_exit_status(
    arguments: list[str],
) -> None:
    done = subprocess.run(
        [CHECKOUT / "setup" / "engine.sh", *arguments],
        env={**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 3
    assert ("unset DOCKER_HOST" in done.stderr) == (not arguments)


def test_constraints_hold_exact_versions_and_nothing_of_a_machine() -> None:
    lines = (CHECKOUT / "constraints.txt").read_text().splitlines()

    assert len(lines) > 40
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9a-z.]+", line)] == []
