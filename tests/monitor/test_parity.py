"""Parity facts come from the kernel's view of a real process: this one."""

from __future__ import annotations

import mmap
import os
import resource
from pathlib import Path

import pytest

from tare.machines.cgroups import Accounting
from tare.machines.facts import file_system, local_facts
from tare.machines.machine import Here
from tare.monitor.parity import parity_facts


def facts(tmp_path: Path, paths: dict[str, str] | None = None) -> dict[str, str]:
    accounting = Accounting(paths or {}, (os.getpid(),))
    return parity_facts(accounting, str(tmp_path), local_facts())


def test_the_file_system_is_that_of_the_data_directory(tmp_path: Path) -> None:
    assert facts(tmp_path)["file system"] == file_system(tmp_path)


def test_limits_are_those_of_the_process(tmp_path: Path) -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert facts(tmp_path)["open files"] == str(soft)
    assert facts(tmp_path)["user"] == str(os.getuid())


def test_group_limits_are_told_in_people_s_units(tmp_path: Path) -> None:
    (tmp_path / "cpu.cfs_quota_us").write_text("150000\n")
    (tmp_path / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "memory.limit_in_bytes").write_text(str(2 << 30))
    found = facts(tmp_path, {"cpu": str(tmp_path), "memory": str(tmp_path)})
    assert found["cpu quota"] == "1.5 CPUs"
    assert found["memory limit"] == "2048 MiB"


def test_the_kernel_s_words_for_no_limit_become_none(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    found = facts(tmp_path, {"unified": str(tmp_path)})
    assert (found["cpu quota"], found["memory limit"]) == ("none", "none")
    (tmp_path / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert facts(tmp_path, {"memory": str(tmp_path)})["memory limit"] == "none"


def test_an_archive_of_classes_is_seen_where_a_process_maps_it(tmp_path: Path) -> None:
    assert facts(tmp_path)["class archive"] == "none"
    archive = tmp_path / "classes.jsa"
    archive.write_bytes(b"classes")
    with archive.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        assert facts(tmp_path)["class archive"] == "mapped"


SMAPS = """\
e0000000-100000000 rw-p 00000000 00:00 0
Rss:              524288 kB
Anonymous:        524288 kB
AnonHugePages:    {huge} kB
7f55ac000000-7f55afdd1000 rw-p 00001000 fe:00 10043663                   /cache/classes.jsa
Rss:               63300 kB
Anonymous:         12000 kB
AnonHugePages:     10240 kB
7f5616400000-7f5617dca000 r--s 00000000 fe:00 10043890                   /jre/lib/modules
Rss:              926408 kB
Anonymous:             0 kB
AnonHugePages:         0 kB
"""


class Told(Here):
    """A machine where all processes have these mappings."""

    def __init__(self, smaps: str) -> None:
        self.smaps = smaps

    def read(self, *patterns: str) -> dict[str, str]:
        return {one: self.smaps for one in patterns if one.endswith("/smaps")}


@pytest.mark.parametrize(("huge", "share"), [(0, "none"), (262144, "part"), (520192, "all")])
def test_how_much_of_a_heap_lies_in_huge_pages_is_that_of_the_largest_anonymous_mapping(
    huge: int, share: str, tmp_path: Path
) -> None:
    accounting = Accounting({}, (1,), machine=Told(SMAPS.format(huge=huge)))
    found = parity_facts(accounting, str(tmp_path), local_facts())
    assert found["largest memory in huge pages"] == share
    assert found["class archive"] == "mapped"


def test_a_process_that_asks_for_no_huge_pages_has_none_or_what_the_kernel_gives_unasked(
    tmp_path: Path,
) -> None:
    assert facts(tmp_path)["largest memory in huge pages"] in ("none", "part", "all")


def test_the_machine_tells_what_it_is_made_of(tmp_path: Path) -> None:
    found, machine = facts(tmp_path), local_facts()
    assert found["CPUs"] == str(machine.cpus)
    assert found["memory"] == f"{machine.memory_bytes / 2**30:.1f} GiB"
    assert found["hypervisor"] == (machine.virtualization or "none")
    assert found.get("CPU model", "") == machine.cpu_model


def test_of_another_machine_it_is_what_that_one_told(tmp_path: Path) -> None:
    class There(Here):
        traits = {"CPU model": "Xeon", "hypervisor": "VMware, Inc."}  # noqa: RUF012

    accounting = Accounting({}, (os.getpid(),), There())
    found = parity_facts(accounting, str(tmp_path), local_facts())
    assert (found["CPU model"], found["hypervisor"]) == ("Xeon", "VMware, Inc.")
    assert "CPUs" not in found
