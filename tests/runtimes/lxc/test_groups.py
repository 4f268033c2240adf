"""The control groups that LXC makes are found by label in every hierarchy, and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import RuntimeUnavailableError
from tare.machines import cgroups
from tare.runtimes.lxc import groups
from tare.starter import mark

DEAD = f"999999999-{mark().partition('-')[2]}"
HIERARCHIES = ("cpu", "cpuacct", "freezer", "devices", "systemd")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Hierarchies of version 1, with a link to one, as systemd has them."""
    for name in HIERARCHIES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "cgroup.procs").touch()
    (tmp_path / "link").symlink_to(tmp_path / "cpu")
    (tmp_path / "file").touch()
    return tmp_path


def made(root: Path, run: str) -> list[Path]:
    """As LXC makes them: the last group has one inside it."""
    names = ("n1", "n1.monitor", "lxc.pivot/lxc.pivot")
    found = [root / one / "tare" / run / name for one in HIERARCHIES for name in names]
    for path in found:
        path.mkdir(parents=True)
    return found


def test_a_run_s_groups_go_from_every_hierarchy_and_other_units_stay(root: Path) -> None:
    paths = made(root, cgroups.of_run("r"))
    native = root / "cpu" / "tare" / cgroups.of_run("r") / "n2"
    native.mkdir()
    groups.remove_unit("r", "n1", root)
    assert [path.exists() for path in paths] == [path.name == "lxc.pivot" for path in paths]
    groups.remove_run("r", root)
    assert not any(path.exists() for path in paths)
    assert native.exists()
    assert not (root / "devices" / "tare").exists()


def test_of_dead_runs_it_finds_what_no_native_unit_has(root: Path) -> None:
    made(root, f"r@{DEAD}")
    made(root, "r@of-nobody")
    found = groups.leftovers(root)
    assert found == [root / one / "tare" / f"r@{DEAD}" for one in ("devices", "systemd")]
    (found[0] / "n1" / "cgroup.procs").write_text("4711\n4712\n")
    assert groups.members(found) == {4711, 4712}
    (found[0] / "n1" / "cgroup.procs").unlink()
    groups.remove_left(found)
    assert not any(one.exists() for one in found)
    assert (root / "devices" / "tare" / "r@of-nobody" / "n1").exists()


def test_in_one_hierarchy_all_groups_are_found_with_native_s(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "tare" / f"r@{DEAD}" / "n1").mkdir(parents=True)
    assert groups.leftovers(tmp_path) == []
    assert cgroups.leftovers(tmp_path)


def test_a_run_s_groups_have_cpus_though_a_native_unit_made_them_first(tmp_path: Path) -> None:
    base = tmp_path / "cpuset"
    run = base / "tare" / cgroups.of_run("r")
    for path, cpus in ((base, "0-1"), (base / "tare", "0-1"), (run, "")):
        path.mkdir()
        (path / "cpuset.cpus").write_text(cpus)
        (path / "cpuset.mems").write_text("0" if cpus else "\n")
    groups.prepare("r", tmp_path)
    assert (run / "cpuset.cpus").read_text() == "0-1"
    assert (run / "cpuset.mems").read_text() == "0"
    assert (run / "cgroup.clone_children").read_text() == "1"


def test_what_hinders_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "cpuset").mkdir()
    with pytest.raises(RuntimeUnavailableError, match="cannot set up the control group"):
        groups.prepare("r", tmp_path)
