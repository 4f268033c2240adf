"""Results of driving servers without a database, some of them on another machine."""

from __future__ import annotations

import os

import pytest

from tare.lab.conductor import Driven
from tare.lab.drive_outcome import DriveOutcome
from tare.monitor.meter import CpuReading
from tare.study.slice_schedule import Slot


def slices(on_host: bool, idle: float, busy: float) -> DriveOutcome:
    """Two slices of one way and an empty one, each a second: the way's server and client use 0.3 s;
    the kernel's modes and the machine's time hold `busy` in slices and `idle` in the empty one."""
    units = {"server": 0.2, "client": 0.1}
    driven = []
    for place, trial in enumerate((0, 0, None)):
        all_s = idle if trial is None else busy
        used = CpuReading(
            machine=all_s, own=0.0, engine=0.0, kernel=0.0,
            units=units if trial == 0 else {}, modes={"user": all_s, "steal": 0.2},
        )  # fmt: skip
        slot = Slot(trial, float(place), counts=True, turn=place, last=True)
        driven.append(Driven(slot, float(place), used, 1.0, late=False))
    return DriveOutcome(
        driven, [[5, 5]], [[5.0, 5.0]], [[0.1, 0.1]], False, 0.0, [""], {}, 1.0,
        host_cpus=2 if on_host else 0, on_host=on_host,
    )  # fmt: skip


def test_other_programs_on_hosts_are_those_of_empty_slices() -> None:
    assert slices(on_host=True, idle=0.05, busy=0.9).other_cores == pytest.approx(0.05)
    assert slices(on_host=False, idle=0.05, busy=0.9).other_cores == pytest.approx(1.25 / 3)


def test_time_that_no_process_holds_is_what_the_modes_have_beyond_that_of_empty_slices() -> None:
    found = slices(on_host=True, idle=0.05, busy=0.9)
    assert found.unowned_s(0) == pytest.approx(2 * (0.9 - 0.3 - 0.05))


def test_steal_is_a_share_of_both_machines_cpus() -> None:
    here = slices(on_host=False, idle=0.0, busy=0.3).steal
    cpus = os.cpu_count() or 1
    assert slices(on_host=True, idle=0.0, busy=0.3).steal == pytest.approx(here * cpus / (cpus + 2))
