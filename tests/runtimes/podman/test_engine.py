"""What hinders Podman on a machine, and how containers are made on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.runtimes.podman.declaration import DECLARED
from tare.runtimes.podman.engine import UnfitPodmanError, usable
from tare.runtimes.registry import declared

from .conftest import Machine

ALL = ("podman", "iptables")


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Control groups of version 1, and of version 2 beside them without a controller."""
    (tmp_path / "cgroup" / "cpuacct").mkdir(parents=True)
    (tmp_path / "cgroup" / "unified").mkdir()
    (tmp_path / "cgroup" / "unified" / "cgroup.controllers").write_text("\n")
    return tmp_path / "cgroup"


def test_what_it_is_is_told_with_what_makes_and_connects_its_containers(
    machine: Machine, groups: Path
) -> None:
    machine(*ALL)
    found = usable(groups)
    assert found.words == "Podman 4.3.1 with crun and netavark"
    assert str(found.store) == "/var/lib/containers/storage"


@pytest.mark.parametrize(
    ("commands", "version", "network", "why", "remedy"),
    [
        ((), "4.3.1", "netavark", "the command podman is missing", "apt-get install podman"),
        (ALL, "3.4.4", "netavark", "Podman 3.4.4 cannot move", "Podman 4.3 or later"),
        (ALL, "4.3.1", "cni", "networks are made by cni", "apt-get install podman netavark"),
        (("podman",), "4.3.1", "netavark", "iptables is missing", "apt-get install iptables"),
    ],
)
def test_what_it_lacks_is_told_with_the_remedy(
    machine: Machine,
    groups: Path,
    commands: tuple[str, ...],
    version: str,
    network: str,
    why: str,
    remedy: str,
) -> None:
    machine(*commands, version=version, network=network)
    with pytest.raises(UnfitPodmanError) as refused:
        usable(groups)
    assert why in refused.value.why
    assert remedy in refused.value.remedy
    assert why in (declared("podman").fault() or "")
    assert not declared("podman").seen().ok


def test_it_is_for_root(machine: Machine, monkeypatch: pytest.MonkeyPatch, groups: Path) -> None:
    machine(*ALL)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UnfitPodmanError, match="cannot be used") as refused:
        usable(groups)
    assert refused.value.remedy == "run as root"
    assert declared("podman").left() is None, "nothing of it can be this user's"


@pytest.mark.parametrize(
    ("usual", "controllers", "chosen"),
    [("crun", "", "crun"), ("crun", "hugetlb", "runc"), ("kata", "hugetlb", "kata")],
)
def test_crun_gives_way_to_runc_only_where_it_runs_nothing(
    machine: Machine, groups: Path, usual: str, controllers: str, chosen: str
) -> None:
    machine(*ALL, "runc", oci=usual)
    (groups / "unified" / "cgroup.controllers").write_text(f"{controllers}\n")
    assert usable(groups).oci == chosen


def test_without_runc_there_such_a_machine_is_refused(machine: Machine, groups: Path) -> None:
    machine(*ALL)
    (groups / "unified" / "cgroup.controllers").write_text("hugetlb\n")
    with pytest.raises(UnfitPodmanError) as refused:
        usable(groups)
    assert refused.value.remedy == "apt-get install runc"


def test_what_makes_its_containers_can_be_a_level(machine: Machine, groups: Path) -> None:
    machine(*ALL, "runc", "crun")
    found = {one.name: usable(groups, oci=one.oci).oci for one in DECLARED}
    assert found == {"podman": "crun", "podman-crun": "crun", "podman-runc": "runc"}


@pytest.mark.parametrize(
    ("oci", "controllers", "why", "remedy"),
    [
        ("runc", "", "the command runc is missing", "apt-get install runc"),
        ("crun", "hugetlb", "crun runs nothing where", "podman-runc"),
    ],
)
def test_one_that_is_named_gives_way_to_no_other(
    machine: Machine, groups: Path, oci: str, controllers: str, why: str, remedy: str
) -> None:
    machine(*ALL, "crun")
    (groups / "unified" / "cgroup.controllers").write_text(f"{controllers}\n")
    with pytest.raises(UnfitPodmanError) as refused:
        usable(groups, oci=oci)
    assert why in refused.value.why
    assert remedy in refused.value.remedy


def test_a_podman_that_does_not_answer_is_no_podman_that_is_unfit(machine: Machine) -> None:
    """Of the one nobody knows what it holds; in the other nothing is Tare's."""
    programs = machine(*ALL)
    (programs / "podman").write_text("#!/bin/sh\necho database is locked >&2\nexit 125\n")
    with pytest.raises(RuntimeUnavailableError) as silent:
        usable()
    assert not isinstance(silent.value, UnfitPodmanError)
    assert silent.value.why == "database is locked"
    left = declared("podman").left()
    assert left is not None
    assert left.unanswered == ["Podman: database is locked"]
    machine_is_unfit(programs)
    unfit = declared("podman").left()
    assert unfit is not None
    assert unfit.unanswered == []


def machine_is_unfit(programs: Path) -> None:
    (programs / "podman").write_text(
        '#!/bin/sh\necho \'{"version": {"Version": "3.4.4"}, "host": {}, "store": {}}\'\n'
    )
