"""Runs tare-probe beside a trial, keeps its samples, and knows its own cost."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from tare.artifacts.binaries import find
from tare.machines.cgroups import Accounting
from tare.machines.machine import HERE, Here, Machine
from tare.records.samples import samples_schema, write_table
from tare.starter import labels

INTERVAL_S = 1.0
_STOPS_S = 3.0
_GROUPS = ("cpuacct", "memory", "cpu", "blkio", "unified")


def watch_list(
    units: Mapping[str, Accounting], engine: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """What tare-probe is asked to watch: units by name, and the engine's own processes."""
    watched: list[dict[str, Any]] = []
    for name, accounting in units.items():
        groups = {k: v for k, v in accounting.paths.items() if k in _GROUPS}
        if groups or accounting.pids:  # else the unit is on another machine
            watched.append({"name": name, "cgroups": groups, "pids": list(accounting.pids)})
    if engine:
        watched.append({"name": "engine", "comm": list(engine)})
    return watched


def start_probe(run: str) -> subprocess.Popen[bytes]:
    """A tare-probe of this machine that waits for its configuration on standard input."""
    return subprocess.Popen(
        [str(find("tare-probe")), "--config", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=labels(run),
        start_new_session=True,
    )


def tell(probe: subprocess.Popen[bytes], configuration: Mapping[str, Any]) -> None:
    """Tell a tare-probe what to do; one that has died is told nothing."""
    with contextlib.suppress(BrokenPipeError):
        if probe.stdin is not None:
            probe.stdin.write(json.dumps(configuration).encode() + b"\n")
            probe.stdin.flush()


def await_end(probe: subprocess.Popen[bytes]) -> None:
    """Wait until a tare-probe that was told to end is gone; kill one that does not go."""
    try:
        probe.wait(_STOPS_S)
    except subprocess.TimeoutExpired:
        probe.kill()
        probe.wait()


def close_pipes(probe: subprocess.Popen[bytes]) -> None:
    """Close the pipes to and from a tare-probe that has gone."""
    for pipe in (probe.stdin, probe.stdout, probe.stderr):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


class Probe:
    """A running tare-probe; `stop` returns its samples."""

    def __init__(self, run: str, watched: list[dict[str, Any]], machine: Machine = HERE) -> None:
        """Start it on a machine, where `watched` are its units."""
        self.machine = machine
        self.samples: list[dict[str, Any]] = []
        self._process = start_probe(run) if isinstance(machine, Here) else machine.probe(run)
        # if the probe has died, the missing samples are noted
        tell(self._process, {"interval_s": INTERVAL_S, "units": watched})
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            with contextlib.suppress(json.JSONDecodeError):
                sample = json.loads(line)
                if sample.get("event") == "sample":
                    self.samples.append(sample)

    def stop(self) -> list[dict[str, Any]]:
        """End the probe and return every sample that it took."""
        self._process.terminate()  # nothing where it has gone already
        await_end(self._process)
        self._reader.join(_STOPS_S)
        close_pipes(self._process)
        return self.samples


def probe_cpu_seconds(samples: list[dict[str, Any]]) -> float:
    """CPU seconds that the probes themselves used over their samples, one on each machine."""
    last = {str(one.get("host", "")): one for one in samples}
    return sum(float(one.get("probe", {}).get("cpu_s", 0.0)) for one in last.values())


def write_samples(samples: list[dict[str, Any]], path: Path) -> None:
    """Keep samples as a long table: t (Unix s), scope, metric, value."""
    columns: dict[str, list[Any]] = {"t": [], "scope": [], "metric": [], "value": []}
    for sample in samples:
        # this machine's samples already include those of its virtual machines
        whole = sample.get("whole", "machine")
        scopes = {whole: sample.get("machine", {}), "probe": sample.get("probe", {})}
        if "host" in sample:
            scopes = {f"{scope}@{sample['host']}": values for scope, values in scopes.items()}
        scopes |= sample.get("units", {})
        for scope, metrics in scopes.items():
            for metric, value in metrics.items():
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    columns["t"].append(float(sample["unix"]))
                    columns["scope"].append(scope)
                    columns["metric"].append(metric)
                    columns["value"].append(float(value))
    write_table(path, pa.table(columns, schema=samples_schema()))
