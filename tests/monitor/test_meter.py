"""The meter reads the kernel's counters on this machine."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tare.machines.cgroups import Accounting
from tare.monitor import meter as meter_module
from tare.monitor.meter import (
    CpuReading,
    Meter,
    kernel_threads,
    own_packets,
    passed,
    processes_named,
    whole,
)


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_what_this_process_uses_is_its_own_and_the_machine_s() -> None:
    meter = Meter()
    units = {"me": [Accounting(pids=(os.getpid(),))]}
    before = meter.read(units)
    burn(0.2)
    used = meter.read(units).since(before)
    meter.close()
    assert 0.2 <= used.own < 0.3
    assert used.machine >= 0.15  # counted in ticks if there are no control groups
    assert used.units["me"] >= 0.15


def test_packets_of_a_server_here_are_those_of_the_loopback_device() -> None:
    """All sent packets are counted; the next test checks that each counts once."""
    meter = Meter()
    me = [Accounting(pids=(os.getpid(),))]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ends:
        ends.bind(("127.0.0.1", 0))
        before = meter.read({}, me)
        for _ in range(500):
            ends.sendto(b"x", ends.getsockname())
            ends.recv(1)
        subprocess.run([sys.executable, "-c", ""], check=True)  # waiting is a switch
        counts = meter.read({}, me).since(before).counts
    assert counts["packets"] >= 500  # other programs send some, too
    assert counts["net_rx"] > 0
    assert counts["switches"] > 0


def test_packets_of_a_namespace_of_its_own_are_those_of_all_its_devices() -> None:
    devices = (
        "Inter-|   Receive  |  Transmit\n face |bytes packets ...\n"
        "    lo:  900  7 0 0 0 0 0 0  900  7 0 0 0 0 0 0\n"
        "  eth0: 5000 40 0 0 0 0 0 0 6000 50 0 0 0 0 0 0\n"
    )
    assert passed(devices, loopback_only=False) == 7 + 40 + 50
    assert passed(devices, loopback_only=True) == 7


def test_packets_of_clients_are_those_that_this_namespace_s_programs_send_elsewhere() -> None:
    """30 packets are sent and 40 received; 5 over loopback are in both numbers and do not count.

    Forwarded packets are in neither number, but older kernels add them to those sent.
    """
    names = "Ip: Forwarding ForwDatagrams InDelivers OutRequests"
    told = "Icmp: InMsgs\nIcmp: 3\n"
    assert own_packets(f"{names} OutTransmits\nIp: 1 8 40 30 38\n{told}", 5) == 60
    assert own_packets(f"{names}\nIp: 1 8 40 38\n{told}", 5) == 60
    assert own_packets(told, 5) is None


def test_where_a_server_is_in_this_namespace_clients_packets_are_not_told_apart() -> None:
    meter = Meter()
    assert "client_packets" in meter.read({}).counts
    assert "client_packets" not in meter.read({}, [Accounting(pids=(os.getpid(),))]).counts
    meter.close()


@pytest.mark.skipif(
    os.geteuid() != 0, reason="a network namespace needs root; `sudo make test` runs it"
)
def test_packets_of_clients_in_a_namespace_of_their_own_are_counted_there() -> None:
    """They also count as packets of a server that shares this process's namespace."""
    sends = (
        "import socket, subprocess\n"
        "subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)\n"
        "ends = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "ends.bind(('127.0.0.1', 0))\n"
        "print('up', flush=True)\n"
        "input()\n"
        "for _ in range(500): ends.sendto(b'x', ends.getsockname())\n"
        "print('sent', flush=True)\n"
        "input()\n"
    )
    command = ["unshare", "--net", sys.executable, "-c", sends]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdout.readline()
        servers = [Accounting(pids=(os.getpid(),))]
        units = {"server": servers, "client": [Accounting(pids=(client.pid,))]}
        meter = Meter()
        before = meter.read(units, servers)
        client.stdin.write("\n")
        client.stdin.flush()
        client.stdout.readline()
        counts = meter.read(units, servers).since(before).counts
        meter.close()
        client.stdin.write("\n")
    assert counts["client_packets"] == 500
    assert counts["packets"] >= 500  # together with those on this namespace's loopback device


def test_what_is_sent_over_the_loopback_device_is_not_the_clients() -> None:
    meter = Meter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ends:
        ends.bind(("127.0.0.1", 0))
        before = meter.read({})
        for _ in range(5000):
            ends.sendto(b"x", ends.getsockname())
            ends.recv(1)
        counts = meter.read({}).since(before).counts
    meter.close()
    assert abs(counts["client_packets"]) < 1000  # from other programs


def test_the_root_group_s_time_is_read_in_its_own_unit(tmp_path: Path) -> None:
    (tmp_path / "cpuacct").mkdir()
    (tmp_path / "cpuacct" / "cpuacct.usage").write_text("2500000000\n")
    assert Meter(root=tmp_path).read({}).machine == 2.5
    (tmp_path / "cpuacct" / "cpuacct.usage").unlink()
    # 1.5 s of the usage was stolen
    stat = "usage_usec 3000000\nuser_usec 900000\nsystem_usec 600000\n"
    (tmp_path / "cpu.stat").write_text(stat)
    assert Meter(root=tmp_path).read({}).machine == 1.5


def test_what_is_no_part_of_it_is_told_apart() -> None:
    used = CpuReading(1.0, 0.1, 0.2, 0.05, {"n": 0.3, "c": 0.15}, {})
    assert used.others == pytest.approx(0.2)
    assert used.part == pytest.approx(0.7)
    clipped = CpuReading(0.7, 0.0, 0.0, 0.0, {"n": 0.75}, {})
    assert (clipped.others, clipped.part) == (0.0, pytest.approx(0.7))


def test_the_kernels_threads_are_those_that_it_flags(tmp_path: Path) -> None:
    for pid, flags in ((2, 0x208040), (77, 0x400000)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a) b) S 0 0 0 0 -1 {flags} 0 0")
    (tmp_path / "self").mkdir()
    assert kernel_threads(tmp_path) == [2]
    (tmp_path / "2" / "task" / "2").mkdir(parents=True)
    (tmp_path / "2" / "comm").write_text("kthreadd\n")
    (tmp_path / "2" / "task" / "2" / "children").write_text("3 4 99 ")
    assert kernel_threads(tmp_path) == [2, 3, 4, 99]
    assert os.getpid() not in kernel_threads()


def test_a_process_of_the_engine_is_counted_to_the_nanosecond_and_kept_when_it_ends() -> None:
    loop = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(loop) as process:
        meter = Meter(engine=[process.pid])
        before = meter.read({})
        while (used := meter.read({}).since(before).engine) < 0.02:
            pass
        assert used % 0.01 != 0.0
        process.kill()
        process.wait()
        assert meter.read({}).since(before).engine >= used


def test_processes_are_found_by_their_name() -> None:
    own = Path("/proc/self/comm").read_text().strip()
    assert os.getpid() in processes_named({own})
    assert processes_named({"no-such-process"}) == []


def test_what_another_process_uses_under_the_id_of_one_that_has_ended_is_not_the_engine_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        meter = Meter(engine=[process.pid])
        before = meter.read({})
        process.kill()
        process.wait()
    burn(0.05)
    # as if this process had got the ended process's id
    of = meter_module._clock_of
    monkeypatch.setattr(meter_module, "_clock_of", lambda pid: of(os.getpid()))
    assert meter.read({}).since(before).engine == 0.0
    meter.close()


def test_a_list_of_the_kernel_is_read_to_its_end() -> None:
    """The kernel returns a page per read, for example of /proc/PID/net/dev with thirty devices."""
    maps = Path("/proc/self/maps")
    descriptor = os.open(maps, os.O_RDONLY)
    told = whole(descriptor)
    os.close(descriptor)
    assert len(told) > 2 * 4096
    assert told.splitlines()[-1] == maps.read_text().splitlines()[-1]


def test_of_an_ended_process_nothing_is_kept_open_after_a_look() -> None:
    """Its open files say nothing about a later process with the same id."""
    meter = Meter()
    with subprocess.Popen(["sleep", "60"]) as process:
        assert "client_faults" in meter.read({"u": [Accounting(pids=(process.pid,))]}).counts
        assert open_files_of(process.pid)
        process.kill()
    meter.poll()
    assert not open_files_of(process.pid)
    meter.close()


def open_files_of(pid: int) -> list[str]:
    """Files below /proc/PID that this process has open."""
    links = []
    for one in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the listing's own descriptor, closed by now
            links.append(str(one.readlink()))
    return [link for link in links if link.startswith(f"/proc/{pid}/")]
