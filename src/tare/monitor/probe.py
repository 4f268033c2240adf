"""tare-probe beside a trial: started, its samples kept, its own cost known."""

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
_GROUPS = ("cpuacct", "memory", "cpu", "blkio", "unified")


def watch_list(
    units: Mapping[str, Accounting], engine: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """What tare-probe is asked to watch: units by name, and the engine's own processes."""
    watched: list[dict[str, Any]] = []
    for name, accounting in units.items():
        groups = {k: v for k, v in accounting.paths.items() if k in _GROUPS}
        if groups or accounting.pids:  # else it is on another machine
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


class Probe:
    """A running tare-probe; `stop` returns its samples."""

    def __init__(self, run: str, watched: list[dict[str, Any]], machine: Machine = HERE) -> None:
        """Start it on a machine, where `watched` are its units."""
        self.machine = machine
        self.samples: list[dict[str, Any]] = []
        self._process = start_probe(run) if isinstance(machine, Here) else machine.probe(run)
        config = (json.dumps({"interval_s": INTERVAL_S, "units": watched}) + "\n").encode()
        with contextlib.suppress(BrokenPipeError):  # it died; the missing samples are noted
            if self._process.stdin is not None:
                self._process.stdin.write(config)
                self._process.stdin.flush()
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
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(3.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join(3.0)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        return self.samples


def probe_cpu_seconds(samples: list[dict[str, Any]]) -> float:
    """CPU seconds that the probes themselves used over their samples, one on each machine."""
    last = {str(one.get("host", "")): one for one in samples}
    return sum(float(one.get("probe", {}).get("cpu_s", 0.0)) for one in last.values())


def write_samples(samples: list[dict[str, Any]], path: Path) -> None:
    """Keep samples as a long table: t (Unix s), scope, metric, value."""
    columns: dict[str, list[Any]] = {"t": [], "scope": [], "metric": [], "value": []}
    for sample in samples:
        # what a virtual machine of this one uses is counted in this machine's own already
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
