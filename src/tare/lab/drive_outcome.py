"""Results of driving servers without a database, way by way."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.slices import SliceRow
from tare.lab.counted_calls import counted_calls
from tare.lab.slice_records import measured_slices, summed
from tare.monitor.pace import NO_SAMPLES
from tare.monitor.process_counts import SERVER

if TYPE_CHECKING:
    from tare.lab.conductor import Driven
    from tare.monitor.pace import PaceSamples
    from tare.records.manifest import Calls


@dataclass(frozen=True)
class DriveOutcome:
    """The result of driving servers.

    Attributes:
        driven: every slice, warm-up and empty ones included.
        operations: of each way, in each of its measured slices.
        per_s: likewise, operations answered within the slice, per second.
        waited_s: likewise, the time of all operations, each from its begin to its reply.
        frozen: servers stood still between their slices.
        gap_s: longest time without a reply of a driven server.
        paths: of each way, what packets were seen to pass through.
        missing: index of a way that is not available here to the reason; the others are driven.
        length_s: of a slice's load.
        samples: of the pace of the CPUs meanwhile.
        warming: way to the operations of each of its warm-up slices.
        why_not_counting: why no system calls were counted; empty: they were.
        host_cpus: CPUs of the servers' host, whose kernel is another one than this machine's; 0:
            they ran on this machine.
        on_host: the servers ran on a host over SSH, whatever its kernel.
    """

    driven: list[Driven]
    operations: list[list[int]]
    per_s: list[list[float]]
    waited_s: list[list[float]]
    frozen: bool
    gap_s: float
    paths: list[str]
    missing: Mapping[int, str]
    length_s: float
    samples: PaceSamples = NO_SAMPLES
    warming: Sequence[Sequence[int]] = ()
    why_not_counting: str = ""
    host_cpus: int = 0
    on_host: bool = False

    @property
    def calls(self) -> list[Calls | str]:
        """Each way's system calls; or why they were not counted."""
        if self.why_not_counting:
            return [self.why_not_counting] * len(self.operations)
        idle_s = [summed(self.driven, way).idle_s for way in range(len(self.operations))]
        return [
            counted_calls(self.driven, way, own, {SERVER}, idle_s[way])
            for way, own in enumerate(self.warming)
        ]

    @property
    def counted(self) -> list[Driven]:
        """The measured slices of all ways."""
        return [one for one in self.driven if one.slot.trial is not None and one.slot.counts]

    @property
    def order(self) -> list[tuple[int, int]]:
        """(place among its way's, way) of every measured slice, as driven."""
        passed = [0] * len(self.operations)
        order = []
        for one in self.counted:
            if one.slot.trial is not None:
                order.append((passed[one.slot.trial], one.slot.trial))
                passed[one.slot.trial] += 1
        return order

    @property
    def rows(self) -> list[list[SliceRow]]:
        """Each way's measured slices, as the analysis of a study takes them."""
        return [list(self._rows(way)) for way in range(len(self.operations))]

    def _rows(self, way: int) -> Iterator[SliceRow]:
        own, idle_s = measured_slices(self.driven, way), summed(self.driven, way).idle_s
        for one, ops, rate in zip(own, self.operations[way], self.per_s[way], strict=True):
            yield SliceRow(
                one.unix,
                ops,
                one.seconds,
                one.used.part - idle_s,
                late=one.late,
                pace=self.samples.mean(one.unix, self.length_s),
                per_s=rate,
            )

    @property
    def late(self) -> int:
        """Measured slices that began or ended too late."""
        return sum(one.late for one in self.counted)

    @property
    def steal(self) -> float:
        """Share of the machine's CPU time that a hypervisor took."""
        taken = sum(one.used.modes["steal"] for one in self.driven)
        cpus = (os.cpu_count() or 1) + self.host_cpus
        return taken / (sum(one.seconds for one in self.driven) * cpus)

    @property
    def other_cores(self) -> float:
        """CPU time of other programs, in cores.

        Where packets come from another machine, only slices in which nothing is driven count: the
        kernel counts interrupts of an idle CPU with the whole machine, and with no program.
        """
        own = [one for one in self.driven if one.slot.trial is None] if self.on_host else []
        seen = own or self.driven
        return sum(one.used.others for one in seen) / sum(one.seconds for one in seen)

    def unowned_s(self, way: int) -> float:
        """CPU seconds by the kernel's ticks that belong to no process, in a way's measured slices.

        Those of as much time in which nothing is driven are subtracted.
        """
        own = measured_slices(self.driven, way)
        empty = [one for one in self.driven if one.slot.trial is None]
        idle_s = sum(map(_unowned_s, empty)) / (sum(one.seconds for one in empty) or math.inf)
        return sum(map(_unowned_s, own)) - idle_s * sum(one.seconds for one in own)


def _unowned_s(one: Driven) -> float:
    """CPU seconds of one slice in the kernel's modes beyond the known processes."""
    used = one.used
    busy = sum(seconds for mode, seconds in used.modes.items() if mode != "steal")
    return busy - used.own - used.part
