"""Servers without a database on a host over SSH: a probe there reads their CPU time in each slice.

They are never frozen, as they wait for requests; clients drive them from this machine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tare.errors import QuietError, RuntimeUnavailableError
from tare.lab.conductor import TrialHere, with_hosts
from tare.lab.host_slices import TrialOnHost, of_trial, readable, start_probes
from tare.machines.clocks import MOST_UNCERTAIN_IN_SLICES_S
from tare.machines.machine import HERE
from tare.monitor.process_counts import SERVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.lab.conductor import Driven
    from tare.machines.cgroups import Accounting
    from tare.machines.machine import Elsewhere
    from tare.study.slice_schedule import Schedule

HEAD_START_S = 0.5
"""for the order to the probe, once all clients are ready"""
_BEGIN_S = 0.1
"""how long before the first slice the probe must have its schedule"""


def refuse_vague(machine: Elsewhere) -> None:
    """Refuse a host whose clock is not known well enough for slices.

    Raises:
        RuntimeUnavailableError: its clock is not known well enough.
    """
    if not machine.clock.sure_in_slices:
        raise RuntimeUnavailableError(
            "the host cannot be weighed from here",
            where=machine.name,
            why=machine.clock.too_vague(MOST_UNCERTAIN_IN_SLICES_S),
            remedy="run Tare nearer to it, or `tare weigh` on that machine itself",
        )


class QuietHost:
    """The probe on the servers' host, for one round."""

    def __init__(self, machine: Elsewhere, run: str) -> None:
        """Read its clock again, and start the probe.

        Args:
            run: label of its process.

        Raises:
            RuntimeUnavailableError: the host does not answer, or its clock is not known well
                enough any more.
        """
        self.machine = machine
        machine.read_clock()
        refuse_vague(machine)
        (self._probe,) = start_probes([machine], run)
        self._joined = of_trial([self._probe], {HERE, machine})

    @property
    def further_cpus(self) -> int:
        """Number of CPUs beside those of the kernel here; 0 where the host is this machine."""
        counts = any(counts for _, counts in self._joined)
        return int(self.machine.traits.get("CPUs") or 1) if counts else 0

    def begin(
        self, schedule: Schedule, begins: float, servers: Sequence[Accounting], read_s: float
    ) -> None:
        """Tell the probe its schedule.

        Args:
            begins: Unix time of this machine at which the first slice's load begins.
            servers: of each way, the server that it drives.
            read_s: `until_read_s` of the block.

        Raises:
            QuietError: a server's CPU time cannot be read there.
        """
        if not all(map(readable, servers)):
            raise QuietError(
                "a server has no control group there, by which its CPU time is read",
                where=self.machine.name,
            )
        parts = [TrialOnHost([], {SERVER: one}, networks=[one]) for one in servers]
        self._probe.begin(schedule, begins, begins - _BEGIN_S, parts, freezes=False, read_s=read_s)

    def refuse_fault(self) -> None:
        """Raise if the probe can read no more: the host or a server is gone."""
        if self._probe.faults:
            why = next(iter(self._probe.faults.values()))
            raise QuietError("a server on the host cannot be read", why=why)
        if self._probe.ended():
            raise QuietError(
                "the host was lost while its servers were driven",
                where=self.machine.name,
                why="the probe there has ended, or the connection to it was cut",
            )

    def joined(self, driven: Sequence[Driven], schedule: Schedule, ways: int) -> list[Driven]:
        """All slices with what was used on both machines, and the packets of the host's server.

        Call it once the probe is closed.

        Args:
            driven: as this machine has them.

        Raises:
            QuietError: the probe tells nothing of a slice that was driven.
        """
        whole = {}
        for number in range(ways):
            trial = TrialHere([], {})
            for one in with_hosts(driven, schedule, number, trial, self._joined, here=True):
                whole[one.slot] = one
            if trial.fault:
                raise QuietError("a slice was not read on the host", why=trial.fault)
        numbers = {slot: number for number, slot in enumerate(schedule.slots)}
        return [
            self._counted(whole[one.slot], numbers[one.slot]) for one in driven if one.slot in whole
        ]

    def _counted(self, one: Driven, number: int) -> Driven:
        """A slice with the counts of its server alone: nobody counts both machines."""
        told = self._probe.used.get(number)
        counts = told[0].counts if told else {}
        return replace(one, used=replace(one.used, counts=counts))

    def close(self) -> None:
        """End the probe, once it has told of its last slices."""
        self._probe.close()
