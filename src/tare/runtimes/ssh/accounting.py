"""Where a unit's resource use can be read on its host."""

from __future__ import annotations

from dataclasses import dataclass

from tare.machines.cgroups import Accounting


@dataclass(frozen=True)
class HostAccounting(Accounting):
    """Where a unit's resource use can be read on its host."""

    ticks: int = 100

    def cpu_seconds(self) -> float:
        if "cpuacct" in self.paths:
            file = f"{self.paths['cpuacct']}/cpuacct.usage"
            return int(self.machine.read(file).get(file, "0")) / 1e9
        if "unified" in self.paths:
            file = f"{self.paths['unified']}/cpu.stat"
            for line in self.machine.read(file).get(file, "").splitlines():
                name, _, value = line.partition(" ")
                if name == "usage_usec":
                    return int(value) / 1e6
        texts = self.machine.read(*(f"/proc/{pid}/stat" for pid in self.pids))
        ticks = (text.rpartition(")")[2].split() for text in texts.values())
        return sum(int(one[11]) + int(one[12]) for one in ticks) / self.ticks
