"""Where LXC is missing or does not run, doctor and plan say so with the remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare.machines import cgroups
from tare.runtimes.lxc import configuration, program
from tare.runtimes.registry import declared
from tests.cli.test_console import tare_here

from .conftest import Machine

STUDY = """\
study: one
factors: {platform: {native: {}, lxc: {platform: {runtime: lxc, network: bridge}}}}
baseline: {platform: native}
"""
FAILS = """\
while [ "$1" != --logfile ]; do shift; done
echo 'lxc-execute try 1 WARN start - ../src/lxc/start.c:check:329 - Inherited fd 10' > "$2"
echo 'lxc-execute try 2 ERROR conf - ../src/lxc/conf.c:mount:818 - Busy - No "/sys"' >> "$2"
exit 1
"""


def test_it_can_be_used_where_a_container_starts(machine: Machine) -> None:
    machine()
    seen = declared("lxc").seen()
    assert (seen.ok, seen.says) == (True, "LXC 5.0.2")
    assert declared("lxc").fault() is None


def test_plan_refuses_a_study_that_needs_it(machine: Machine, tmp_path: Path) -> None:
    machine(None)
    file = tmp_path / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    status, output = tare_here("plan", file)
    assert status == 2
    assert f"{file}:2: platform.runtime: lxc cannot run here" in output
    assert (
        "the command lxc-execute is missing (apt-get install --no-install-recommends lxc)"
        in " ".join(output.split())
    )


def test_doctor_says_how_to_get_it(machine: Machine) -> None:
    machine(None)
    _, output = tare_here("doctor")
    _, _, after = output.partition("lxc runtime: ")
    assert after.startswith("LXC cannot be used: the command lxc-execute is missing")
    assert after.splitlines()[1].strip() == f"try: {program.INSTALL}"


@pytest.mark.parametrize(
    ("script", "version", "why"),
    [
        ("exit 0", "4.0.6", "it is 4.0.6 (install LXC 5.0 or later)"),
        ("exit 0", "", "tells no version (it is silent)"),
        (FAILS, "6.0.1", 'a container of LXC 6.0.1 does not start: Busy - No "/sys"'),
        ("exit 3", "5.0.2", "does not start: status 3"),
    ],
)
def test_an_lxc_that_does_not_do_is_refused_with_the_reason(
    machine: Machine, script: str, version: str, why: str
) -> None:
    machine(script, version=version)
    assert why in (declared("lxc").fault() or "")


def test_it_needs_root_its_common_configuration_and_control_groups(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine()
    monkeypatch.setattr(cgroups, "can_be_made", lambda: False)
    assert "no control groups can be made" in (declared("lxc").fault() or "")
    monkeypatch.setattr(configuration, "COMMON", Path("/nowhere/common.conf"))
    assert "there is no /nowhere/common.conf" in (declared("lxc").fault() or "")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "(run as root)" in (declared("lxc").fault() or "")
