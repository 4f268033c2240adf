"""Servers without a database on a host: what of a slice is told of both machines, and what is
refused. The host's probe is a program that tells the same of every slice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.errors import QuietError, RuntimeUnavailableError
from tare.lab.quiet_host import QuietHost
from tare.machines.cgroups import Accounting
from tare.machines.clocks import Offset
from tare.monitor.meter import CpuReading
from tests.lab import test_host_slices
from tests.lab.test_host_slices import PROBE, SCHEDULE, Host, driven

HERE_USED = CpuReading(0.2, 0.02, 0.0, 0.01, {"client": 0.15}, {"user": 0.1, "system": 0.05})


def server(host: Host) -> Accounting:
    return Accounting({"cpuacct": "/acct/n"}, (7,), host)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "told.json")


def test_all_slices_have_the_time_of_both_machines_in_their_order(host: Host) -> None:
    reading = QuietHost(host, "weigh")
    reading.begin(SCHEDULE, 1000.0, [server(host)], 0.25)
    reading.close()
    slices = driven(HERE_USED)
    own = [one for one in slices if one.slot.trial != 1]
    whole = reading.joined(own, SCHEDULE, 1)
    assert [one.slot for one in whole] == [one.slot for one in own]
    assert whole[0].used.machine == pytest.approx(0.5)
    assert whole[0].used.units == {"client": 0.15, "n": 0.1}
    assert whole[0].used.counts == {}, "this kernel's probe counts no packets"


def test_packets_are_the_server_s_by_its_own_network_namespace(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = PROBE.replace('told["modes"] =', 'told["packets"] = 20 + number; told["modes"] =')
    monkeypatch.setattr(test_host_slices, "PROBE", counting)
    reading = QuietHost(host, "weigh")
    reading.begin(SCHEDULE, 1000.0, [server(host)], 0.25)
    reading.close()
    order = json.loads(host.notes.read_text(encoding="utf-8"))
    assert order["parts"][0]["networks"] == ["/proc/7/net"]
    own = [one for one in driven(HERE_USED) if one.slot.trial != 1]
    for one in reading.joined(own, SCHEDULE, 1):
        assert one.used.counts == {"packets": 20 + SCHEDULE.slots.index(one.slot)}


def test_a_server_that_the_probe_has_lost_ends_the_weighing(host: Host) -> None:
    reading = QuietHost(host, "weigh")
    reading.begin(SCHEDULE, 1000.0, [server(host), server(host)], 0.25)
    reading.close()
    with pytest.raises(QuietError, match="cannot be read") as told:
        reading.refuse_fault()
    assert "its group has gone" in told.value.why
    with pytest.raises(QuietError, match="was not read on the host"):
        reading.joined(driven(HERE_USED), SCHEDULE, 2)


def test_a_probe_that_has_ended_is_a_host_that_is_lost(host: Host) -> None:
    reading = QuietHost(host, "weigh")
    reading.close()
    with pytest.raises(QuietError, match="the host was lost") as told:
        reading.refuse_fault()
    assert told.value.where == "db1"


def test_a_clock_that_is_not_known_well_enough_is_refused_with_what_can_be_done(
    tmp_path: Path,
) -> None:
    vague = Host(tmp_path / "told.json", clock=Offset(ahead_s=2.0, uncertain_s=0.006, rounds=9))
    with pytest.raises(RuntimeUnavailableError, match="cannot be weighed from here") as told:
        QuietHost(vague, "weigh")
    assert "± 6.0 ms only, which must be 4 ms at most" in told.value.why
    assert "on that machine itself" in told.value.remedy


def test_a_server_without_a_control_group_cannot_be_read(host: Host) -> None:
    reading = QuietHost(host, "weigh")
    with pytest.raises(QuietError, match="no control group"):
        reading.begin(SCHEDULE, 1000.0, [Accounting(pids=(7,), machine=host)], 0.25)
    reading.close()


def test_cpus_of_another_kernel_are_counted_too_and_those_of_this_one_once(tmp_path: Path) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    for known, cpus in ((boot, 0), ("other", 8)):
        host = Host(tmp_path / "told.json", boot=known)
        host.traits = {"CPUs": "8"}
        reading = QuietHost(host, "weigh")
        reading.close()
        assert reading.further_cpus == cpus
