"""Drives a block's slices by the clock: thaws one deployment at a time, and reads what it used.

The clients know the schedule and drive their clusters by it on their own. The conductor thaws
servers before each of their turns and freezes them after its last drain. It reads CPU time before
and at the end of each slice's load. A server that is frozen with requests in flight answers them
with timeouts later, so the drain comes first. Between thaw and load, and in the drain, threads
look for work.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.machines import cgroups
from tare.monitor.meter import NOTHING
from tare.study.slice_schedule import AFTER_S, LEAD_S, READ_LEAD_S

if TYPE_CHECKING:
    from tare.lab.host_slices import HostSlices
    from tare.machines.cgroups import Accounting
    from tare.monitor.calls import CallCounters
    from tare.monitor.meter import CpuReading, Meter
    from tare.monitor.packet_tap import PacketTap
    from tare.study.slice_schedule import Schedule, Slot

POLL_S = 1.0
"""between two polls for failed trials"""
LATE_S = 0.005
"""A slice is late if one of these steps is later than this: its server is thawed when its load
begins, read when its load ends, and frozen `AFTER_S` after the drain."""


@dataclass(frozen=True)
class Driven:
    """One slice as it was driven, warm-up and empty ones included.

    Attributes:
        slot: its place in the schedule.
        unix: when its load began.
        used: CPU seconds from shortly before the load until its end, without thaw and drain; with
            the drain where hosts' clocks are not known well enough (`until_read_s`).
        seconds: the time between these readings.
        late: the servers were not there when the load began, or not frozen in time.
        calls: of a warm-up slice, unit to its system calls by kind; empty: not counted.
        client_packets: of a warm-up slice, packets that its tap counted; None: it has no tap.
    """

    slot: Slot
    unix: float
    used: CpuReading
    seconds: float
    late: bool
    calls: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    client_packets: int | None = None


@dataclass
class TrialHere:
    """One trial in the conductor's hands, as far as it runs on this machine.

    Attributes:
        nodes: the database's units, which are thawed for its slices.
        units: everything whose CPU time is read at the ends of its slices, by name.
        fault: why it is no longer driven; empty: it is driven.
        tap: counts its clients' packets where namespaces do not tell; the conductor ends it with
            the warm-up.
    """

    nodes: Sequence[Accounting]
    units: Mapping[str, Sequence[Accounting]]
    fault: str = ""
    tap: PacketTap | None = None

    def tapped(self) -> int | None:
        """Packets of its clients since the last reading; None: they are not counted."""
        return self.tap.take() if self.tap is not None else None


@dataclass
class Conductor:
    """Goes through a schedule.

    Attributes:
        trials: the block's trials, by their number in the schedule.
        freezes: servers stand still between their slices.
        read_s: from the begin of a slice's load until CPU time is read; 0: until the load ends.
        poll: called every `POLL_S`, between turns; finds trials that have failed.
        calls: counts system calls; the conductor ends it with the warm-up.
    """

    schedule: Schedule
    trials: Sequence[TrialHere]
    meter: Meter
    freezes: bool
    poll: Callable[[], None] = lambda: None
    calls: CallCounters | None = None
    read_s: float = 0.0
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    wait: Callable[[float], None] = time.sleep
    driven: list[Driven] = field(default_factory=list)

    def conduct(self, begins: float) -> list[Driven]:
        """Drive every slice, the first one's load beginning at this Unix time.

        If a unit of a trial ends or does not freeze, the trial is no longer driven.
        """
        self._origin = self.clock() + begins - self.wall()
        self._begins = begins
        self._freeze_all(True)
        for trial in self.trials:
            self._calls(trial)  # what was called until now
        with _no_collection():
            return self._go_through()

    def _go_through(self) -> list[Driven]:
        polled, between = 0.0, True  # between two turns, or a slice before was not driven
        for slot in self.schedule.slots:
            if between and slot.at - polled >= POLL_S:
                polled = slot.at
                self.poll()
                self.meter.poll()
            if slot.counts:
                self._end_counting()
            self._drive(slot, LEAD_S if between else READ_LEAD_S)
            between = slot.last or self._failed(slot) is not None
        return self.driven

    def release(self) -> None:
        """Thaw every server."""
        self._freeze_all(False)
        self._end_counting()

    def _end_counting(self) -> None:
        """Counters cost CPU time in the warm-up; they must not do so in measured slices."""
        if self.calls is not None:
            self.calls.close()
        for trial in self.trials:
            if trial.tap is not None:
                trial.tap.close()
                trial.tap = None

    def _drive(self, slot: Slot, lead_s: float) -> None:
        """One slice.

        Args:
            lead_s: from the thaw to the load where the server stands still, else from the reading.
                It keeps what clients write about a slice after its drain out of the next slice's
                CPU time. Without it, conditions with several slices in a turn came out too dear.
        """
        trial = None if slot.trial is None else self.trials[slot.trial]
        load = self._origin + slot.at
        reads = load + (self.read_s or self.schedule.length_s)
        ends = load + self.schedule.length_s + self.schedule.drain_s
        if failed := self._failed(slot):
            self._until(ends if slot.last else load)
            self._end_turn(slot, failed)
            return
        self._until(load - lead_s)
        units = {} if trial is None else trial.units
        nodes = () if trial is None else trial.nodes
        if trial is not None and not slot.counts:
            self._pass_over_calls(trial)
        try:
            if trial is not None and not slot.counts:
                trial.tapped()  # packets since its last slice belong to no slice
            if trial is not None:
                self._freeze(trial, False)
            self._until(load - READ_LEAD_S)
            before, since = self.meter.read(units, nodes), self.clock()
            late = since > load + LATE_S
            self._until(reads)
            after, now = self.meter.read(units, nodes), self.clock()
            late = late or now > reads + LATE_S
            self._until(ends)
            if trial is not None and slot.last:
                self._freeze(trial, True)
            packets = trial.tapped() if trial is not None and not slot.counts else None
            late = late or self.clock() > ends + AFTER_S + LATE_S
        except (TareError, OSError) as error:
            if trial is None:
                raise
            trial.fault = str(error)
            self._end_turn(slot, trial)
            return
        used, begun = after.since(before), self._begins + slot.at
        one = Driven(slot, begun, used, now - since, late)
        if trial is not None and not slot.counts:
            one = replace(one, calls=self._calls(trial), client_packets=packets)
        self.driven.append(one)

    def _failed(self, slot: Slot) -> TrialHere | None:
        """The slot's trial, if it is no longer driven."""
        trial = None if slot.trial is None else self.trials[slot.trial]
        return trial if trial is not None and trial.fault else None

    def _end_turn(self, slot: Slot, failed: TrialHere) -> None:
        """Freeze the server after its turn all the same: its other trials go on."""
        if slot.last:
            with contextlib.suppress(TareError, OSError):
                self._freeze(failed, True)

    def _calls(self, trial: TrialHere) -> Mapping[str, Mapping[str, int]]:
        """System calls since the last reading, of any trial on its server."""
        return self.calls.take(trial.units) if self.calls is not None else {}

    def _pass_over_calls(self, trial: TrialHere) -> None:
        """Discard calls since the trial's last slice: clients wake while they wait.

        Frozen servers made none, and reading all their threads takes longer than a thaw may.
        """
        still = {one.pid for one in trial.nodes} if self.freezes else set()
        awake = {name: own for name, own in trial.units.items() if own[0].pid not in still}
        if self.calls is not None and awake:
            self.calls.take(awake)

    def _until(self, at: float) -> None:
        left = at - self.clock()
        if left > 0:
            self.wait(left)

    def _freeze_all(self, frozen: bool) -> None:
        for trial in self.trials:
            try:
                self._freeze(trial, frozen)
            except (TareError, OSError) as error:
                trial.fault = trial.fault or str(error)

    def _freeze(self, trial: TrialHere, frozen: bool) -> None:
        """Freeze or thaw every node, even if one of them fails."""
        failed: TareError | OSError | None = None
        for node in trial.nodes if self.freezes else ():
            try:
                cgroups.freeze(node.paths, frozen)
            except (TareError, OSError) as error:
                failed = failed or error
        if failed is not None:
            raise failed


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Without Python's collector of cycles, which stopped a run for 70 ms."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def with_hosts(
    driven: Sequence[Driven],
    schedule: Schedule,
    number: int,
    trial: TrialHere,
    hosts: Sequence[tuple[HostSlices, bool]],
    *,
    here: bool,
) -> list[Driven]:
    """A trial's slices and the block's empty ones, with what was used on the trial's own machines.

    Servers of other groups of hosts stand on machines that take no part in the trial.

    Args:
        number: the trial's place in the schedule.
        trial: gets a fault if a host did not drive a slice, which is lost.
        hosts: its probes, each with whether the machine's CPU time is counted (`of_trial`).
        here: this machine takes part, too.
    """
    numbers = {slot: number for number, slot in enumerate(schedule.slots)}
    whole: list[Driven] = []
    for one in driven:
        if one.slot.trial not in (number, None):
            continue
        told = [(host.used.get(numbers[one.slot]), counts) for host, counts in hosts]
        silent = [host for (host, _), (found, _) in zip(hosts, told, strict=True) if found is None]
        if silent:
            if one.slot.trial is not None:
                why = silent[0].faults.get(number, "")
                trial.fault = trial.fault or why or f"{silent[0].machine.name} did not drive it"
            continue
        used, late = one.used if here else NOTHING, one.late
        for found, counts in told:
            if found is not None:
                used = used.and_of(found[0] if counts else found[0].of_units)
                late = late or found[1]
        whole.append(replace(one, used=used, late=late))
    return whole
