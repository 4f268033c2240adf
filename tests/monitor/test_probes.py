"""All machines with units are sampled on one clock; missing data is reported."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tare.errors import TareError
from tare.machines.cgroups import Accounting
from tare.machines.clocks import SAME
from tare.monitor.probe import probe_cpu_seconds, write_samples
from tare.monitor.probes import Probes
from tare.records.samples import read_samples


class Other:
    """A machine whose clock is ahead; its probe gives one sample, or, if silent, does not start."""

    clock = SAME
    ticks = 100
    inside_here = False
    traits: Mapping[str, str] = {}

    def __init__(self, name: str, ahead_s: float = 0.0, *, silent: bool = False) -> None:
        self.name = name
        self.ahead_s = ahead_s
        self._silent = silent

    def read_clock(self) -> None:
        pass

    def read(self, *patterns: str) -> dict[str, str]:
        return {}  # only the probe is used here

    def probe(self, run: str) -> subprocess.Popen[bytes]:
        if self._silent:
            raise TareError("it does not answer", where=self.name)
        sample: dict[str, Any] = {"event": "sample", "unix": 100.0, "probe": {"cpu_s": 0.5}}
        return subprocess.Popen(
            ["/bin/sh", "-c", 'echo "$1"; cat >/dev/null', "sh", json.dumps(sample)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )


def units(*machines: Other) -> dict[str, Accounting]:
    return {f"n{n}": Accounting({}, (1,), one) for n, one in enumerate(machines)}


def drained(probes: Probes) -> list[dict[str, Any]]:
    for probe in probes._probes:
        while not probe.samples:
            probe._reader.join(0.01)
    return probes.stop()


def test_samples_of_hosts_are_in_this_machine_s_clock_and_say_whose_they_are() -> None:
    samples = drained(Probes("run", units(Other("late", 3.0), Other("h2", -1.0))))
    assert [(one["host"], one["unix"]) for one in samples] == [("late", 97.0), ("h2", 101.0)]
    assert probe_cpu_seconds(samples) == pytest.approx(1.0)


def test_a_host_that_cannot_be_watched_is_said_and_the_others_are_watched() -> None:
    probes = Probes("run", units(Other("h1", silent=True), Other("h2")))
    assert [one["host"] for one in drained(probes)] == ["h2"]
    assert any("h1" in note for note in probes.notes)


def test_what_a_virtual_machine_of_this_one_uses_is_not_this_machine_s_once_more(
    tmp_path: Path,
) -> None:
    inside = Other("kvm-1")
    inside.inside_here = True
    (sample,) = drained(Probes("run", units(inside)))
    write_samples([sample | {"machine": {"cpu_user": 1.0}}], tmp_path / "samples.parquet")
    samples = read_samples(tmp_path / "samples.parquet")
    assert ("guest@kvm-1", "cpu_user") in samples.parts
    assert not samples.of_machines().any()
