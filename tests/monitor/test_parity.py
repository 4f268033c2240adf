"""Parity facts are read from the kernel's view of a real process: this one."""

from __future__ import annotations

import mmap
import os
import resource
from pathlib import Path

from tare.machines.cgroups import Accounting
from tare.machines.facts import file_system, local_facts
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


def test_a_process_whose_largest_memory_lies_in_huge_pages_is_told_from_others(
    tmp_path: Path,
) -> None:
    huge = 2 << 20
    with mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        memory[:: mmap.PAGESIZE] = b"x" * (len(memory) // mmap.PAGESIZE)
        assert facts(tmp_path)["largest memory in huge pages"] == "none"
    with mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE, 0, 128 << 20)
        memory.madvise(mmap.MADV_HUGEPAGE, 128 << 20, 128 << 20)
        memory[:: mmap.PAGESIZE] = b"x" * (len(memory) // mmap.PAGESIZE)
        assert facts(tmp_path)["largest memory in huge pages"] in ("all", "part")
