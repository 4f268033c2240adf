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


def test_the_image_has_the_packages_that_a_set_up_machine_runs_with() -> None:
    tools = (CHECKOUT / "setup/tools.sh").read_text()
    run = re.search(r"^  run\)$(.*?);;", tools, re.DOTALL | re.MULTILINE)
    assert run
    needed = {
        name for names in re.findall(r"missing\+=\((.*?)\)", run[1]) for name in names.split()
    }
    image = (CHECKOUT / "setup/image.Dockerfile").read_text()
    installed = re.search(r"install -y --no-install-recommends (.*?) \\", image)
    assert installed
    assert needed == {"maven", "iproute2"}
    assert needed | {"python3", "python3-venv"} <= set(installed[1].split())
    assert "setup/image.sh" in (CHECKOUT / "Makefile").read_text()


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


def step(tmp_path: Path, command: str) -> subprocess.CompletedProcess[str]:
    """The output of one set-up step; its logs are below tmp_path."""
    script = f". setup/common.sh; step one 'a step' bash -c '{command}'"
    return subprocess.run(
        ["bash", "-c", script],
        cwd=CHECKOUT,
        env={**os.environ, "TARE_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_step_keeps_its_output_in_a_log_and_shows_what_its_script_says(tmp_path: Path) -> None:
    done = step(tmp_path, "echo many lines; . setup/common.sh; say which packages")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "tare: which packages\n")
    assert (tmp_path / "setup" / "one.log").read_text() == "many lines\n"


def test_a_step_that_fails_shows_the_end_of_its_log_and_where_that_is(tmp_path: Path) -> None:
    done = step(tmp_path, "seq 100; exit 7")
    assert done.returncode == 7
    assert str(tmp_path / "setup" / "one.log") in done.stderr
    assert done.stderr.splitlines()[-20:] == [str(number) for number in range(81, 101)]


def test_constraints_hold_exact_versions_and_nothing_of_a_machine() -> None:
    lines = (CHECKOUT / "constraints.txt").read_text().splitlines()

    assert len(lines) > 40
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9a-z.]+", line)] == []
