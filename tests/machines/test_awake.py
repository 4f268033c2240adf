"""Idle CPUs poll while something is measured, and halt again afterwards."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tare.machines.awake import awake, why_not


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A file in the place of the kernel's device."""
    path = tmp_path / "cpu_dma_latency"
    path.touch()
    return path


def holders(path: Path) -> int:
    """How many of this process's open files are `path`."""
    links = Path("/proc/self/fd").iterdir()
    return sum(1 for link in links if link.exists() and link.resolve() == path.resolve())


def test_a_latency_of_no_microseconds_is_asked_for_and_held_for_as_long_as_the_context(
    device: Path,
) -> None:
    with awake(device) as why:
        assert why == ""
        assert device.read_bytes() == struct.pack("=i", 0)
        assert holders(device) == 1
    assert holders(device) == 0


def test_it_is_given_back_when_the_measurement_fails(device: Path) -> None:
    with pytest.raises(RuntimeError, match="a trial"), awake(device):
        raise RuntimeError("a trial")
    assert holders(device) == 0


def test_a_machine_without_the_device_is_measured_all_the_same_and_says_why(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    with awake(missing) as why:
        assert why == f"{missing}: No such file or directory"
    assert why_not(missing) == why


def test_asking_whether_it_can_be_held_holds_nothing(device: Path) -> None:
    assert why_not(device) == ""
    assert device.read_bytes() == b""
    assert holders(device) == 0
