"""A tare-probe on every machine that takes part in a trial; their samples in one clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tare.errors import TareError
from tare.machines.machine import HERE, Machine
from tare.monitor.probe import Probe, watch_list

if TYPE_CHECKING:
    from tare.machines.cgroups import Accounting


class Probes:
    """Running probes; `stop` returns their samples, and `notes` says what is missing."""

    def __init__(
        self, run: str, units: Mapping[str, Accounting], engine: tuple[str, ...] = ()
    ) -> None:
        """Start a probe on every machine that has units; on this one, too, only if it has any.

        Args:
            run: label of the processes.
            units: by name.
            engine: names of processes here that work for units.
        """
        self.notes: list[str] = []
        by_machine: dict[str, tuple[Machine, dict[str, Accounting]]] = {}
        for name, accounting in units.items():
            machine = accounting.machine
            by_machine.setdefault(machine.name, (machine, {}))[1][name] = accounting
        if not by_machine:
            by_machine[""] = HERE, {}
        self._probes: list[Probe] = []
        for machine, own in by_machine.values():
            watched = watch_list(own, engine if machine is HERE else ())
            try:
                self._probes.append(Probe(run, watched, machine))
            except TareError as error:
                self.notes.append(f"nothing is known of the resources of {machine.name}: {error}")

    def stop(self) -> list[dict[str, Any]]:
        """End all probes and return every sample that they took, by this machine's clock."""
        found: list[dict[str, Any]] = []
        for probe in self._probes:
            samples, machine = probe.stop(), probe.machine
            if not samples:
                where = f" on {machine.name}" if machine.name else ""
                self.notes.append(f"tare-probe{where} gave no samples")
            if machine.name:
                samples = [
                    {**one, "unix": one["unix"] - machine.ahead_s, "host": machine.name}
                    | ({"whole": "guest"} if machine.inside_here else {})
                    for one in samples
                ]
            found += samples
        return sorted(found, key=lambda one: float(one["unix"]))
