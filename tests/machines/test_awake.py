"""Idle CPUs poll during a measurement, and halt again afterwards."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tare.machines.awake import awake, why_not


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A file that stands in for the kernel's device."""
    path = tmp_path / "cpu_dma_latency"
    path.touch()
    return path


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """The kernel's file that names its cpuidle driver, on a machine that has one."""
    path = tmp_path / "current_driver"
    path.write_text("intel_idle\n")
    return path


def holders(path: Path) -> int:
    """How many times this process has `path` open."""
    links = Path("/proc/self/fd").iterdir()
    return sum(1 for link in links if link.exists() and link.resolve() == path.resolve())


def test_a_latency_of_no_microseconds_is_asked_for_and_held_for_as_long_as_the_context(
    device: Path, driver: Path
) -> None:
    with awake(device, driver) as why:
        assert why == ""
        assert device.read_bytes() == struct.pack("=i", 0)
        assert holders(device) == 1
    assert holders(device) == 0


def test_it_is_given_back_when_the_measurement_fails(device: Path, driver: Path) -> None:
    with pytest.raises(RuntimeError, match="a trial"), awake(device, driver):
        raise RuntimeError("a trial")
    assert holders(device) == 0


def test_a_machine_without_the_device_is_measured_all_the_same_and_says_why(
    tmp_path: Path, driver: Path
) -> None:
    missing = tmp_path / "none"
    with awake(missing, driver) as why:
        assert why == f"{missing}: No such file or directory"
    assert why_not(missing, driver) == why


@pytest.mark.parametrize("name", ["none\n", None])
def test_a_request_that_nobody_heeds_is_not_called_polling(
    device: Path, driver: Path, name: str | None
) -> None:
    driver.unlink() if name is None else driver.write_text(name)
    with awake(device, driver) as why:
        assert why == "the kernel has no cpuidle driver here"
        assert holders(device) == 0


def test_asking_whether_it_can_be_held_holds_nothing(device: Path, driver: Path) -> None:
    assert why_not(device, driver) == ""
    assert device.read_bytes() == b""
    assert holders(device) == 0
