"""Slices on other hosts: a probe there thaws, freezes and reads by an agreed schedule."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import RuntimeUnavailableError, TareError
from tare.machines.clocks import MOST_UNCERTAIN_IN_SLICES_S
from tare.machines.machine import Here
from tare.monitor.meter import PACKETS, CpuReading
from tare.monitor.probe import tell
from tare.study.slice_schedule import LEAD_S, READ_LEAD_S, READ_S

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Collection, Mapping, Sequence

    from tare.machines.cgroups import Accounting
    from tare.machines.machine import Elsewhere, Machine
    from tare.study.slice_schedule import Schedule

_END_S = 5.0
"""longest wait for a probe's last lines"""
_MOST_READ_LEAD_S = 0.9 * READ_S
"""Longest lead of a reading. A host whose clock may be behind reads sooner by that uncertainty, so
that no reading follows its slice's begin; the slice before has ended by then."""
MOST_UNCERTAIN_SHARE = 0.005
"""of a slice's load; a clock known less well makes CPU time at the load's end too uncertain"""
_GROUPS = ("cpuacct", "unified")
_FREEZERS = ("freezer", "unified")


@dataclass(frozen=True)
class TrialOnHost:
    """What a trial has on one host.

    Attributes:
        nodes: the database's units there, which stand still between its slices.
        units: all units whose CPU time is read there, by name.
        networks: units whose packets are counted, in their network namespaces; in the host's own
            namespace nothing tells them from other packets.
    """

    nodes: Sequence[Accounting]
    units: Mapping[str, Accounting]
    networks: Sequence[Accounting] = ()

    def order(self, *, freezes: bool) -> dict[str, Any]:
        """The trial as the probe is told it."""
        return {
            "freeze": [_first(one, _FREEZERS) for one in self.nodes] if freezes else [],
            "units": {name: [_first(one, _GROUPS)] for name, one in self.units.items()},
            "networks": [f"/proc/{one.pid}/net" for one in self.networks],
        }


def readable(one: Accounting) -> bool:
    """Whether a probe on the unit's host can read its CPU time within a slice."""
    return any(name in one.paths for name in _GROUPS)


def _first(one: Accounting, names: Sequence[str]) -> str:
    return next(one.paths[name] for name in names if name in one.paths)


def start_probes(machines: Collection[Machine], run: str) -> list[HostSlices]:
    """A probe on every host of a block.

    Args:
        machines: on which the block's units run.
        run: label of the processes.

    Raises:
        TareError: a probe cannot be started, or a host's clock is not known well enough.
    """
    hosts = {one.name: one for one in machines if not isinstance(one, Here)}
    for name, one in hosts.items():
        if not one.clock.sure_in_slices:
            raise RuntimeUnavailableError(
                "a host cannot be driven in slices",
                where=name,
                why=one.clock.too_vague(MOST_UNCERTAIN_IN_SLICES_S),
                remedy="run Tare nearer to the hosts, or write design.slice: off",
            )
    started: list[HostSlices] = []
    try:
        for one in hosts.values():
            started.append(HostSlices(one, run))
    except TareError:
        for probe in started:
            probe.close()
        raise
    return started


def of_trial(
    hosts: Sequence[HostSlices],
    machines: Collection[Machine],
    boot: str = "/proc/sys/kernel/random/boot_id",
) -> list[tuple[HostSlices, bool]]:
    """The probes of a trial's machines, each with whether its machine's CPU time is counted.

    One kernel under several names is counted once.

    Args:
        hosts: the probes of the whole block.
        machines: on which the trial's units run.
        boot: file that tells when this machine's kernel started.
    """
    names = {one.name for one in machines}
    seen = {Path(boot).read_text().strip()} if any(isinstance(o, Here) for o in machines) else set()
    own: list[tuple[HostSlices, bool]] = []
    for one in hosts:
        if one.machine.name in names:
            kernel = one.machine.boot or one.machine.name
            own.append((one, kernel not in seen and not one.machine.inside_here))
            seen.add(kernel)
    return own


def until_read_s(schedule: Schedule, machines: Collection[Machine]) -> float:
    """Seconds from the begin of a slice's load until CPU time is read on all machines of a block.

    It is read when the load ends; if a host's clock is not known well enough, when the drain ends.
    """
    most_s = MOST_UNCERTAIN_SHARE * schedule.length_s
    unsure = any(one.clock.uncertain_s > most_s for one in machines if not isinstance(one, Here))
    return schedule.length_s + (schedule.drain_s if unsure else 0.0)


class HostSlices:
    """The probe of one host, from its start until its last slice."""

    def __init__(self, machine: Elsewhere, run: str) -> None:
        """Start the probe; it waits for its schedule.

        Args:
            machine: the host.
            run: label of the process.

        Raises:
            TareError: it cannot be started there.
        """
        self.machine = machine
        self.faults: dict[int, str] = {}
        self.used: dict[int, tuple[CpuReading, bool]] = {}
        """number of the slot to what was used in it, and whether it was late"""
        self._process: subprocess.Popen[bytes] = machine.probe(run)
        self._reader = threading.Thread(target=self._read, daemon=True)

    def begin(
        self,
        schedule: Schedule,
        begins: float,
        freeze_at: float,
        trials: Sequence[TrialOnHost],
        *,
        freezes: bool,
        read_s: float,
    ) -> None:
        """Tell the schedule.

        Args:
            begins: Unix time of this machine at which the first slice's load begins.
            freeze_at: likewise, the time from which servers stand still.
            trials: of the block's trials, by their number in the schedule.
            freezes: servers stand still between their slices.
            read_s: `until_read_s` of the block.
        """
        ahead = self.machine.ahead_s
        order = {
            "freeze_at": freeze_at + ahead,
            "lead_s": LEAD_S,
            "read_lead_s": min(READ_LEAD_S + self.machine.clock.uncertain_s, _MOST_READ_LEAD_S),
            "read_s": read_s,
            "window_s": schedule.length_s + schedule.drain_s,
            "ticks": self.machine.ticks,
            "slots": [
                {"at": begins + slot.at + ahead, "part": slot.trial, "last": slot.last}
                for slot in schedule.slots
            ],
            "parts": [one.order(freezes=freezes) for one in trials],
        }
        # if the probe has died, the missing slices are noted
        tell(self._process, {"interval_s": 1.0, "slices": order})
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._take(json.loads(line))

    def _take(self, told: dict[str, Any]) -> None:
        if told["event"] == "fault":
            self.faults[int(told["part"])] = f"{self.machine.name}: {told['why']}"
            return
        reading = CpuReading(
            machine=float(told["machine"]),
            own=float(told["own"]),
            engine=0.0,
            kernel=float(told["kernel"]),
            units={name: float(used) for name, used in told["units"].items()},
            modes={name: float(used) for name, used in told["modes"].items()},
            counts={PACKETS: round(told[PACKETS])} if told.get(PACKETS) is not None else {},
        )
        self.used[int(told["slot"])] = reading, bool(told["late"])

    def ended(self) -> bool:
        """Whether the probe has gone."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Wait for what it still has to tell, and end it: it thaws everything there."""
        if self._reader.is_alive():
            self._reader.join(_END_S)
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(Exception):
            self._process.wait(_END_S)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
