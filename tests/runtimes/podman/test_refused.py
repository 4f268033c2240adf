"""Where Podman is missing, plan and doctor say so with the remedy, and start nothing."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_console import tare_here

from .conftest import Machine

INSTALL = "apt-get install podman netavark aardvark-dns crun"
STUDY = """\
study: one
factors: {platform: {native: {}, podman: {platform: {runtime: podman, network: bridge}}}}
baseline: {platform: native}
"""


def test_plan_refuses_a_study_that_needs_it(machine: Machine, tmp_path: Path) -> None:
    machine("iptables")
    file = tmp_path / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    status, output = tare_here("plan", file)
    assert status == 2
    assert f"{file}:2: platform.runtime: podman cannot run here" in output
    assert f"the command podman is missing ({INSTALL})" in " ".join(output.split())
    assert "try: see `tare doctor`" in output


def test_doctor_says_how_to_get_it(machine: Machine) -> None:
    machine("iptables")
    _, output = tare_here("doctor")
    _, _, after = output.partition("podman runtime: ")
    assert after.startswith("Podman cannot be used: the command podman is missing")
    assert after.splitlines()[1].strip() == f"try: {INSTALL}"
