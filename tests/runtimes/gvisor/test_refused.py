"""If gVisor is missing, plan and doctor tell the user what to write, and write nothing."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_console import tare_here

from .conftest import Engine

STUDY = """\
study: one
database: {nodes: 1, replication_factor: 1}
factors:
  platform:
    native: {}
    gvisor: {platform: {runtime: gvisor, network: bridge}}
    inside: {platform: {runtime: gvisor, network: bridge, endpoint: loopback}}
baseline: {platform: native}
"""


def planned(tmp_path: Path, *more: str) -> tuple[int, str]:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    status, output = tare_here("plan", file, *more)
    return status, " ".join(output.split())


def test_plan_refuses_a_study_that_needs_it(engine: Engine, tmp_path: Path) -> None:
    engine()
    status, output = planned(tmp_path)
    assert status == 2
    assert "gvisor cannot run here: gVisor cannot be used" in output
    assert "the Docker engine has no runtime runsc" in output
    assert (
        'add "runsc": {"path": "/usr/bin/runsc"} to "runtimes" in /etc/docker/daemon.json' in output
    )


def test_the_sandbox_s_own_loopback_is_left_out_with_the_reason(
    engine: Engine, tmp_path: Path
) -> None:
    engine(runsc={"path": "RUNSC"})
    _, output = planned(tmp_path)
    assert "its loopback is inside the sandbox, where no client of this machine can run" in output


def test_a_sandbox_has_no_network_of_the_machine(engine: Engine, tmp_path: Path) -> None:
    engine(runsc={"path": "RUNSC"})
    status, output = planned(tmp_path, "--set", "factors.platform.gvisor.platform.network=host")
    assert status == 2
    assert "a container in gVisor has no host network" in output


def doctor() -> str:
    _, output = tare_here("doctor")
    return " ".join(output.split())


def test_doctor_says_how_to_get_it_once(engine: Engine) -> None:
    engine()
    told = doctor()
    _, _, after = told.partition(" gvisor runtime: ")
    assert after.startswith("gVisor cannot be used: the Docker engine has no runtime runsc try: ")
    assert 'add "runsc": ' in after
    assert "gvisor-kvm" not in told, "one remedy at a time"


def test_doctor_says_how_to_get_each_platform_where_there_is_one(engine: Engine) -> None:
    engine(runsc={"path": "RUNSC"})
    _, _, after = doctor().partition(" gvisor-kvm runtime: ")
    assert after.startswith("gVisor cannot be used: the Docker engine has no runtime runsc-kvm")
    assert 'add "runsc-kvm": ' in after
