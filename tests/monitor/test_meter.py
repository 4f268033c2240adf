"""The meter reads what the kernel counts, of this very machine."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tare.machines.cgroups import Accounting
from tare.monitor.meter import Meter, processes_named


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
    assert used.machine >= 0.15  # ticks, where there are no control groups
    assert used.units["me"] >= 0.15


def test_the_root_group_s_time_is_read_in_its_own_unit(tmp_path: Path) -> None:
    (tmp_path / "cpuacct").mkdir()
    (tmp_path / "cpuacct" / "cpuacct.usage").write_text("2500000000\n")
    assert Meter(root=tmp_path).read({}).machine == 2.5
    (tmp_path / "cpuacct" / "cpuacct.usage").unlink()
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 9\n")
    assert Meter(root=tmp_path).read({}).machine == 1.5


def test_processes_are_found_by_their_name() -> None:
    own = Path("/proc/self/comm").read_text().strip()
    assert os.getpid() in processes_named({own})
    assert processes_named({"no-such-process"}) == []
