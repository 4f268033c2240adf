"""CPU time of this machine and of units on it, and further counts of the kernel.

Slices need it: their begin and end must be read without taking time from what is measured. A
reading takes a fraction of a millisecond.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tare.machines.cgroups import ROOT
from tare.monitor.process_counts import ROLES, SWITCHED, THREADS, ProcessCounts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tare.machines.cgroups import Accounting

MODES = ("user", "nice", "system", "irq", "softirq", "steal")
_PLACES = {"user": 1, "nice": 2, "system": 3, "irq": 6, "softirq": 7, "steal": 8}
"""fields of the first line of /proc/stat, proc(5)"""
SWITCHES, NET_RX, PACKETS = "switches", "net_rx", "packets"
CLIENT_PACKETS = "client_packets"
"""Counts:

- Context switches and runs of the network's receive soft interrupt, of the whole machine.
- Packets that the servers send and receive, in their own network namespaces.
- Packets that the clients send and receive in their own, or in this process's, if no server is in
  it. An engine's proxy between nodes is a program of this one, too (tare.monitor.packet_tap)."""
_NET_RX_PLACE = 4
"""number of the line softirq of /proc/stat, proc(5): its total, HI, TIMER, NET_TX, NET_RX"""
_TICKS = os.sysconf("SC_CLK_TCK")
_OF_PROCESS = re.compile(r"/proc/\d+/")
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of include/linux/sched.h"""
_BEGINNER = "kthreadd"
_PIECE = 1 << 16
"""Bytes that are read of a file at once; with 1 MiB a read took 15 us longer."""
_NAME_LENGTH = 15
"""characters that the kernel keeps of a process's name"""


@dataclass(frozen=True)
class CpuReading:
    """CPU seconds used so far, or between two readings.

    Attributes:
        machine: of all that ran on this machine, the kernel's own threads included.
        own: of this process, and of others of Tare's beside it.
        engine: of the container engine's processes.
        kernel: of the kernel's own threads.
        units: of each unit, by name.
        modes: of the machine by the kernel's modes, sampled at its ticks; and steal.
        counts: numbers, not seconds: `SWITCHES`, `NET_RX`, `PACKETS` and `CLIENT_PACKETS`, and the
            counts of servers' and clients' processes (tare.monitor.process_counts).
    """

    machine: float
    own: float
    engine: float
    kernel: float
    units: Mapping[str, float]
    modes: Mapping[str, float]
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def others(self) -> float:
        """CPU time of other programs: the rest of the machine's."""
        known = self.own + self.engine + self.kernel + sum(self.units.values())
        return max(self.machine - known, 0.0)

    @property
    def part(self) -> float:
        """CPU time of what is measured: units, engine and kernel."""
        return self.machine - self.own - self.others

    @property
    def of_units(self) -> CpuReading:
        """Only the units' time, of a machine whose CPU time is counted under another name."""
        return CpuReading(0.0, 0.0, 0.0, 0.0, self.units, dict.fromkeys(self.modes, 0.0))

    def since(self, earlier: CpuReading) -> CpuReading:
        """What was used between an earlier reading of the same units and this one."""
        return CpuReading(
            self.machine - earlier.machine,
            self.own - earlier.own,
            self.engine - earlier.engine,
            self.kernel - earlier.kernel,
            {name: used - earlier.units[name] for name, used in self.units.items()},
            {mode: used - earlier.modes[mode] for mode, used in self.modes.items()},
            _grown(self.counts, earlier.counts),
        )

    def times(self, factor: float) -> CpuReading:
        """The reading multiplied by a factor."""
        return CpuReading(
            self.machine * factor,
            self.own * factor,
            self.engine * factor,
            self.kernel * factor,
            {name: used * factor for name, used in self.units.items()},
            {mode: used * factor for mode, used in self.modes.items()},
            {name: number * factor for name, number in self.counts.items()},
        )

    def and_of(self, other: CpuReading) -> CpuReading:
        """The sum of this machine's reading and another's."""
        return CpuReading(
            self.machine + other.machine,
            self.own + other.own,
            self.engine + other.engine,
            self.kernel + other.kernel,
            {**self.units, **other.units},
            {mode: used + other.modes.get(mode, 0.0) for mode, used in self.modes.items()},
            {},  # machines do not all count the same
        )


NOTHING = CpuReading(0.0, 0.0, 0.0, 0.0, {}, dict.fromkeys(MODES, 0.0))
"""The reading of a machine that takes no part."""


@dataclass
class Meter:
    """Keeps the kernel's files open and reads them again and again.

    Attributes:
        engine: process ids that work for containers outside of their control groups.
        tare: process ids of Tare's own beside this one.
        root: where control groups are mounted.
    """

    engine: Sequence[int] = ()
    root: Path = ROOT
    tare: Sequence[int] = ()
    kernel: Sequence[int] = field(default_factory=lambda: kernel_threads())
    """process ids of the kernel's threads; `poll` finds new ones"""
    _last: dict[int, float] = field(default_factory=dict)
    _files: dict[str, int] = field(default_factory=dict)
    _networks: dict[int, int] = field(default_factory=dict)
    _same: dict[int, int] = field(default_factory=dict)
    """process id to the descriptor of the process itself, pidfd_open(2)"""
    _processes: ProcessCounts = field(default_factory=ProcessCounts)

    def read(
        self, units: Mapping[str, Sequence[Accounting]], servers: Sequence[Accounting] = ()
    ) -> CpuReading:
        """What was used until now.

        Args:
            units: the accounting of the units to read, by name.
            servers: units whose packets are counted, all on this machine.

        Raises:
            UnitGoneError: a unit has ended.
        """
        stat = self._text("/proc/stat")
        modes = _modes(stat)
        apart = self._clients_apart(units, servers)
        return CpuReading(
            machine=self._machine(modes),
            own=time.process_time() + sum(map(self._kept, self.tare)),
            engine=sum(map(self._kept, self.engine)),
            kernel=sum(map(self._process, self.kernel)),
            units={name: sum(one.cpu_seconds() for one in group) for name, group in units.items()},
            modes=modes,
            counts=_counted(stat)
            | {PACKETS: self._packets(servers, apart)}
            | self._of_clients(servers, apart)
            | self._processes.read(units, servers, self._text),
        )

    def poll(self) -> None:
        """Find the kernel's threads and the units' processes anew.

        Call it between slices, as a new thread or process brings its time with it. What is known by
        the id of a process is forgotten, for another process may have the id by now.
        """
        self.kernel = kernel_threads()
        self._processes.forget()
        self._networks.clear()
        for file in [one for one in self._files if _OF_PROCESS.match(one)]:
            os.close(self._files.pop(file))

    def close(self) -> None:
        for descriptor in (*self._files.values(), *self._same.values()):
            os.close(descriptor)
        self._files.clear()
        self._same.clear()
        self._processes.close()

    def _machine(self, modes: Mapping[str, float]) -> float:
        """The root control group's CPU time, nanoseconds in its file; else the sum of the modes.

        On many kernels version 2's usage_usec includes steal (root_cgroup_cputime of
        kernel/cgroup/rstat.c); user and system time do not.
        """
        if text := self._text(str(self.root / "cpuacct/cpuacct.usage")):
            return int(text) / 1e9
        if text := self._text(str(self.root / "cpu.stat")):
            used = dict(line.split() for line in text.splitlines())
            return (int(used["user_usec"]) + int(used["system_usec"])) / 1e6
        return sum(used for mode, used in modes.items() if mode != "steal")

    def _clients_apart(
        self, units: Mapping[str, Sequence[Accounting]], servers: Sequence[Accounting]
    ) -> dict[int, int]:
        """Network namespaces that clients have to themselves, each with a process in it."""
        pids = {one.pid for one in servers}
        shared = {self._network(pid) for pid in (os.getpid(), *pids) if pid}
        clients = {one.pid for group in units.values() for one in group if one.pid} - pids
        return {own: pid for pid in sorted(clients) if (own := self._network(pid)) not in shared}

    def _packets(self, servers: Sequence[Accounting], clients: Mapping[int, int]) -> int:
        """Packets in the servers' network namespaces, each namespace once.

        A packet over the loopback device counts once there. In this process's own namespace only
        loopback packets are the servers' alone; what clients send to a server there is counted in
        the clients' namespaces.
        """
        networks = {self._network(one.pid): one.pid for one in servers if one.pid}
        own = self._network(os.getpid())
        if own in networks:
            networks |= clients
        return sum(
            passed(self._text(f"/proc/{pid}/net/dev"), loopback_only=network == own)
            for network, pid in networks.items()
        )

    def _of_clients(
        self, servers: Sequence[Accounting], clients: Mapping[int, int]
    ) -> dict[str, int]:
        """`CLIENT_PACKETS`; nothing if clients share this process's namespace with a server.

        Then their packets cannot be told apart.
        """
        if clients:
            each = (self._text(f"/proc/{pid}/net/dev") for pid in clients.values())
            return {CLIENT_PACKETS: sum(passed(one, loopback_only=False) for one in each)}
        own = self._network(os.getpid())
        if any(self._network(one.pid) == own for one in servers if one.pid):
            return {}
        loopback = passed(self._text("/proc/self/net/dev"), loopback_only=True)
        sent = own_packets(self._text("/proc/self/net/snmp"), loopback)
        return {} if sent is None else {CLIENT_PACKETS: sent}

    def _network(self, pid: int) -> int:
        if pid not in self._networks:
            try:
                self._networks[pid] = Path(f"/proc/{pid}/ns/net").stat().st_ino
            except OSError:
                return 0
        return self._networks[pid]

    def _kept(self, pid: int) -> float:
        """CPU time of a process that is not searched for again.

        Once it has ended, another process may have its id; that one's time does not count.
        """
        until_now = self._last.get(pid, 0.0)
        used = self._process(pid)
        if pid not in self._same:
            with contextlib.suppress(OSError):
                self._same[pid] = os.pidfd_open(pid)
        if pid in self._same and not _lives(self._same[pid]):
            used = self._last[pid] = until_now
        return used

    def _process(self, pid: int) -> float:
        """CPU time of a process, by a clock of nanoseconds; if it has ended, the last reading."""
        with contextlib.suppress(OSError):
            self._last[pid] = time.clock_gettime(_clock_of(pid))
        return self._last.get(pid, 0.0)

    def _text(self, file: str) -> str:
        if file not in self._files:
            try:
                self._files[file] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return ""
        return whole(self._files[file])


def whole(descriptor: int) -> str:
    """The present content of an open file of the kernel.

    A read of a list (/proc/PID/net/dev) gives at most a page (seq_read_iter of fs/seq_file.c).
    """
    told = piece = os.pread(descriptor, _PIECE, 0)
    while piece:
        piece = os.pread(descriptor, _PIECE, len(told))
        told += piece
    return told.decode()


def _lives(process: int) -> bool:
    """Whether nobody has waited yet for the end of this descriptor's process."""
    try:
        signal.pidfd_send_signal(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return True


def _grown(now: Mapping[str, float], earlier: Mapping[str, float]) -> dict[str, float]:
    """Counts between two readings, without switches of processes in which a thread ended.

    Switches of an ended thread are in the earlier reading alone. If another thread began meanwhile,
    the number of threads is the same, and the sum of switches falls. It does not fall if the ended
    thread had made fewer than all others made meanwhile: then this one slice has too few. Faults
    and bytes of ended threads stay in the sums of their process.
    """
    found = {name: now[name] - earlier[name] for name in now if name in earlier}
    for role in ROLES:
        fewer = found.pop(f"{role}_{THREADS}", 0) < 0
        if fewer or found.get(f"{role}_{SWITCHED}", 0) < 0:
            found.pop(f"{role}_{SWITCHED}", None)
    return found


def _modes(stat: str) -> dict[str, float]:
    """Seconds by mode, from the first line of /proc/stat."""
    fields = stat.partition("\n")[0].split()
    return {mode: int(fields[place]) / _TICKS for mode, place in _PLACES.items()}


def _counted(stat: str) -> dict[str, int]:
    """Counts of /proc/stat, proc(5); a missing line is left out."""
    lines = dict(one.split(" ", 1) for one in stat.splitlines() if " " in one)
    places = {SWITCHES: ("ctxt", 0), NET_RX: ("softirq", _NET_RX_PLACE)}
    return {
        name: int(lines[line].split()[place])
        for name, (line, place) in places.items()
        if line in lines
    }


def passed(devices: str, *, loopback_only: bool) -> int:
    """Packets that the devices of /proc/net/dev sent and received.

    The loopback device receives what it sends, so only its sent packets count.
    """
    packets = 0
    for line in devices.splitlines()[2:]:
        name, _, rest = line.partition(":")
        numbers = rest.split()
        received, sent = int(numbers[1]), int(numbers[9])
        if name.strip() == "lo":
            packets += sent
        elif not loopback_only:
            packets += received + sent
    return packets


def own_packets(snmp: str, loopback: int) -> int | None:
    """Packets that a network namespace's programs sent and received, except over loopback.

    Packets that it forwards, or that its bridges pass on, do not count.

    Args:
        snmp: its /proc/net/snmp, with the counters ipOutRequests and ipInDelivers of RFC 4293.
            Before Linux 6.7, which has OutTransmits too, the first also counts what is forwarded.
        loopback: packets over its loopback device; each was sent and received.

    Returns:
        None where the kernel does not say.
    """
    lines = [line.split()[1:] for line in snmp.splitlines() if line.startswith("Ip: ")]
    if len(lines) != 2:
        return None
    ip = dict(zip(lines[0], map(int, lines[1]), strict=True))
    forwarded = 0 if "OutTransmits" in ip else ip["ForwDatagrams"]
    return ip["OutRequests"] - forwarded + ip["InDelivers"] - 2 * loopback


def _clock_of(pid: int) -> int:
    """The clock that counts a process's CPU time: clock_getcpuclockid(3), as the kernel numbers it
    (include/linux/posix-timers.h, CPUCLOCK_SCHED of all threads)."""
    return (~pid << 3) | 2


def kernel_threads(proc: Path = Path("/proc")) -> list[int]:
    """Process ids of the kernel's own threads, proc(5).

    They are the children of the thread that begins them, which one file lists; if that cannot be
    read, they are found by the flags of every process.
    """
    with contextlib.suppress(OSError, ValueError):
        if (proc / "2" / "comm").read_text().strip() == _BEGINNER:
            return [2, *map(int, (proc / "2/task/2/children").read_text().split())]
    found = []
    for directory in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (directory / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[6]) & _KERNEL_THREAD:
                found.append(int(directory.name))
    return found


def processes_named(names: Collection[str]) -> list[int]:
    """Process ids of this machine's processes of these names."""
    cut = {name[:_NAME_LENGTH] for name in names}
    found = []
    for process in psutil.process_iter(["name"]):
        with contextlib.suppress(psutil.Error):
            if process.info["name"] in cut:
                found.append(process.pid)
    return found
