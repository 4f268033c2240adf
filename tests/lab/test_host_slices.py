"""Slices on other hosts: a probe's input, and how its lines are read.

Real hosts are under tests/integration.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tare.errors import RuntimeUnavailableError
from tare.lab.conductor import Driven, TrialHere, with_hosts
from tare.lab.host_slices import (
    HostSlices,
    TrialOnHost,
    of_trial,
    readable,
    start_probes,
    until_read_s,
)
from tare.machines.cgroups import Accounting
from tare.machines.clocks import SAME, Offset
from tare.machines.machine import HERE
from tare.monitor.meter import NOTHING, CpuReading
from tare.study.slice_schedule import LEAD_S, READ_LEAD_S, READ_S, Cut, make_schedule

SCHEDULE = make_schedule(["a", "b"], Cut(0.25, 0.5, 0.25, 0.03), seed=7)
PROBE = """
import json, sys
order = json.loads(sys.stdin.readline())["slices"]
open(sys.argv[1], "w").write(json.dumps(order))
for number, slot in enumerate(order["slots"]):
    if slot["part"] == 1 and number > 2:
        print(json.dumps({"event": "fault", "part": 1, "why": "its group has gone"}), flush=True)
        continue
    used = {"machine": 0.3, "own": 0.01, "kernel": 0.03, "units": {"n": 0.1}}
    told = {"event": "slice", "slot": number, "seconds": 0.3, "late": number == 0, **used}
    told["modes"] = {"user": 0.2}
    print(json.dumps(told), flush=True)
"""


class Host:
    """A host whose probe reports the same for every slice, and loses its second trial's unit."""

    traits: Mapping[str, str] = {}
    ticks = 100
    ahead_s = 2.0
    inside_here = False

    def __init__(
        self, notes: Path, boot: str = "other", clock: Offset = SAME, name: str = "db1"
    ) -> None:
        self.name = name
        self.boot = boot
        self.clock = clock
        self.notes = notes

    def read_clock(self) -> None: ...
    def read(self, *patterns: str) -> dict[str, str]:
        raise AssertionError("nothing is read but by its probe")

    def probe(self, run: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", PROBE, str(self.notes)]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "told.json"


@pytest.fixture
def boot(tmp_path: Path) -> str:
    file = tmp_path / "boot_id"
    file.write_text("mine\n", encoding="ascii")
    return str(file)


def parts(host: Host) -> list[TrialOnHost]:
    group = Accounting({"cpuacct": "/acct/n", "freezer": "/freezer/n"}, (7,), host)
    client = Accounting({"unified": "/sys/c"}, (8,), host)
    return [TrialOnHost([group], {"n": group, "c1": client}), TrialOnHost([group], {"n": group})]


@pytest.fixture
def probe(notes: Path) -> Iterator[HostSlices]:
    (made,) = start_probes({HERE, Host(notes)}, "a-run")
    yield made
    made.close()


def drive(probe: HostSlices, host: Host) -> None:
    probe.begin(SCHEDULE, 1000.0, 999.9, parts(host), freezes=True, read_s=0.25)
    probe.close()


def test_where_the_clock_is_known_less_well_it_is_read_sooner_but_in_the_pause(
    notes: Path,
) -> None:
    vague = Host(notes, clock=Offset(ahead_s=2.0, uncertain_s=0.004, rounds=9))
    (made,) = start_probes({HERE, vague}, "a-run")
    drive(made, vague)
    order: dict[str, Any] = json.loads(notes.read_text(encoding="utf-8"))
    assert READ_LEAD_S < order["read_lead_s"] < READ_S


@pytest.mark.parametrize(
    ("uncertain_s", "read_s"), [(0.0005, 0.25), (0.00125, 0.25), (0.0013, 0.28)]
)
def test_where_a_clock_is_known_too_little_cpu_time_is_read_after_the_drain(
    notes: Path, uncertain_s: float, read_s: float
) -> None:
    vague = Host(notes, clock=Offset(ahead_s=0.0, uncertain_s=uncertain_s, rounds=9))
    assert until_read_s(SCHEDULE, {HERE, vague}) == pytest.approx(read_s)
    assert until_read_s(SCHEDULE, {HERE}) == 0.25


def driven(used: CpuReading) -> list[Driven]:
    return [Driven(slot, 1000.0 + slot.at, used, 0.3, late=False) for slot in SCHEDULE.slots]


def test_a_probe_is_told_the_schedule_in_its_own_clock(probe: HostSlices, notes: Path) -> None:
    drive(probe, Host(notes))
    order: dict[str, Any] = json.loads(notes.read_text(encoding="utf-8"))
    assert order["freeze_at"] == pytest.approx(1001.9)
    assert order["slots"][0] == {
        "at": 1002.0,
        "part": SCHEDULE.slots[0].trial,
        "last": True,
    }
    lead_s = READ_LEAD_S + SAME.uncertain_s
    assert (order["lead_s"], order["read_lead_s"]) == (LEAD_S, pytest.approx(lead_s))
    assert (order["read_s"], order["window_s"]) == (0.25, pytest.approx(0.28))
    assert order["parts"][0] == {
        "freeze": ["/freezer/n"],
        "units": {"n": ["/acct/n"], "c1": ["/sys/c"]},
        "networks": [],
    }


def test_a_slice_is_what_both_machines_used(probe: HostSlices, notes: Path) -> None:
    drive(probe, Host(notes))
    here = CpuReading(0.2, 0.02, 0.0, 0.01, {"c1": 0.15}, {"user": 0.1, "system": 0.05})
    fate, number = TrialHere([], {}), SCHEDULE.slots[0].trial or 0
    whole = with_hosts(driven(here), SCHEDULE, number, fate, [(probe, True)], here=True)
    first = whole[0]
    assert first.used.machine == pytest.approx(0.5)
    assert first.used.units == {"c1": 0.15, "n": 0.1}
    assert first.used.kernel == pytest.approx(0.04)
    assert first.used.modes["user"] == pytest.approx(0.3)
    assert (first.late, whole[1].late) == (True, False)
    alone = with_hosts(driven(here), SCHEDULE, number, fate, [(probe, True)], here=False)
    assert alone[0].used.machine == pytest.approx(0.3)


def test_a_trial_of_which_a_host_lost_a_unit_has_that_as_its_fault(
    probe: HostSlices, notes: Path
) -> None:
    drive(probe, Host(notes))
    fates = [TrialHere([], {}), TrialHere([], {})]
    whole = [
        with_hosts(driven(NOTHING), SCHEDULE, number, fate, [(probe, True)], here=True)
        for number, fate in enumerate(fates)
    ]
    assert fates[0].fault == ""
    assert fates[1].fault == "db1: its group has gone"
    assert len([one for one in whole[0] if one.slot.trial == 0]) == len(SCHEDULE.of(0))
    assert len([one for one in whole[1] if one.slot.trial == 1]) < len(SCHEDULE.of(1))


def test_a_trial_s_slices_and_the_empty_ones_are_those_of_its_own_machines(notes: Path) -> None:
    hosts = {Host(notes, name="db1"), Host(notes, boot="another", name="vm1")}
    probes = start_probes(hosts, "a-run")
    for probe in probes:
        drive(probe, Host(notes))
    (vm1,) = [host for host in hosts if host.name == "vm1"]
    own = of_trial(probes, {vm1})
    assert [(probe.machine.name, counts) for probe, counts in own] == [("vm1", True)]
    whole = with_hosts(driven(NOTHING), SCHEDULE, 0, TrialHere([], {}), own, here=False)
    assert {one.slot.trial for one in whole} == {0, None}
    assert [one.used.machine for one in whole] == pytest.approx([0.3] * len(whole))


def test_a_host_that_another_trial_alone_has_costs_this_one_nothing(notes: Path) -> None:
    there, gone = Host(notes, name="db1"), Host(notes, boot="another", name="vm1")
    probes = start_probes({there, gone}, "a-run")
    for probe in probes:
        if probe.machine is there:
            drive(probe, there)
        else:
            probe.close()
    fates = [TrialHere([], {}), TrialHere([], {})]
    for number, machine in enumerate((there, gone)):
        own = of_trial(probes, {machine})
        with_hosts(driven(NOTHING), SCHEDULE, number, fates[number], own, here=False)
    assert [fate.fault for fate in fates] == ["", "vm1 did not drive it"]


def test_a_kernel_is_counted_once_whatever_its_names(notes: Path, boot: str) -> None:
    machine = Host(notes, boot="mine")
    probes = start_probes({HERE, machine}, "a-run")
    drive(probes[0], machine)
    own = of_trial(probes, {HERE, machine}, boot)
    here = CpuReading(0.2, 0.02, 0.0, 0.01, {"c1": 0.15}, {"user": 0.1})
    first = with_hosts(driven(here), SCHEDULE, 0, TrialHere([], {}), own, here=True)[0].used
    assert (first.machine, first.modes) == (0.2, {"user": 0.1})
    assert first.units == {"c1": 0.15, "n": 0.1}
    alone = of_trial(probes, {machine}, boot)
    first = with_hosts(driven(here), SCHEDULE, 0, TrialHere([], {}), alone, here=False)[0].used
    assert first.machine == pytest.approx(0.3)


def test_a_clock_that_is_not_known_well_enough_is_refused(notes: Path) -> None:
    vague = Host(notes, clock=Offset(ahead_s=2.0, uncertain_s=0.006, rounds=9))
    with pytest.raises(RuntimeUnavailableError, match="driven in slices"):
        start_probes({HERE, vague}, "a-run")


def test_a_unit_without_a_control_group_cannot_be_read() -> None:
    assert not readable(Accounting(pids=(7,)))
    assert readable(Accounting({"unified": "/sys/c"}))
