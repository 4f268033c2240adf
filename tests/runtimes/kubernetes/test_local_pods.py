"""Pods on this machine are found by their control groups, in a copied /proc."""

from __future__ import annotations

from pathlib import Path

from tare.runtimes.kubernetes import local_pods

CONTAINER = "4f5e" * 16


def process(proc: Path, pid: int, group: str, inside: str) -> None:
    directory = proc / str(pid)
    directory.mkdir()
    (directory / "cgroup").write_text(f"4:cpu,cpuacct:{group}\n0::/init\n")
    (directory / "status").write_text(f"Name:\tjava\nNSpid:\t{pid}\t{inside}\n")


def test_the_first_process_of_a_container_is_found(tmp_path: Path) -> None:
    group = f"/rig/n1/kubepods/podabc/{CONTAINER}"
    process(tmp_path, 90, "/system.slice", "1")
    process(tmp_path, 101, group, "7")
    process(tmp_path, 100, group, "1")
    assert local_pods.process_of(CONTAINER, tmp_path) == 100


def test_a_container_of_another_machine_is_not(tmp_path: Path) -> None:
    process(tmp_path, 100, "/system.slice", "1")
    assert local_pods.process_of(CONTAINER, tmp_path) is None
    assert local_pods.process_of("", tmp_path) is None


def test_its_cpu_time_is_what_its_own_machine_tells() -> None:
    accounting = local_pods.accounting_of("", lambda: 12.5)
    assert accounting.cpu_seconds() == 12.5
    assert accounting.pid == 0
