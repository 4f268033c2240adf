"""Machines' use is added up, and counted once for a machine with several names."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from tare.lab.usage import one_kernel, read_usage


@dataclass
class Host:
    """A host whose kernel counted 100 ticks of user time, 50 of system, 25 of steal."""

    name: str
    boot: str
    ticks: int = 100
    inside_here: bool = False

    def read(self, *patterns: str) -> dict[str, str]:
        return {"/proc/stat": "cpu  100 0 50 900 0 0 0 25 0 0\ncpu0 ..."}


NODES: Any = SimpleNamespace(cpu_seconds=lambda: 0.5, compiler_seconds=lambda: None)


def hosts(*boots: str) -> Any:
    return [Host(f"db{number}", boot) for number, boot in enumerate(boots, start=1)]


def test_machines_are_added_up() -> None:
    used = read_usage(NODES, (), hosts("a", "b"))
    assert used.machine == 3.0
    assert used.modes["steal"] == 0.5
    assert one_kernel(hosts("a", "b")) == []


def test_one_machine_with_two_names_is_counted_once_and_told() -> None:
    used = read_usage(NODES, (), hosts("a", "b", "a"))
    assert used.machine == 3.0
    (told,) = one_kernel(hosts("a", "b", "a"))
    assert told.startswith("db1, db3 are one machine")


def test_hosts_that_do_not_tell_their_boot_are_machines_of_their_own() -> None:
    assert read_usage(NODES, (), hosts("", "")).machine == 3.0
    assert one_kernel(hosts("", "")) == []


def test_what_a_virtual_machine_of_this_machine_uses_is_in_its_count_already() -> None:
    guest: Any = Host("kvm-1", "guest", inside_here=True)
    assert read_usage(NODES, (), [*hosts("a"), guest]).machine == 1.5
