"""One run of one client against its own stub: its cost, and the error of its latencies.

The stub counts the operations (`serverStatus`): the same way for all clients, and independently of
them. The kernel counts CPU time. Only quarter seconds in the second half of a run are used, so that
the client's start, connections and compiler are left out.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.load.measure import stolen
from bench.load.server import cpu_seconds
from bench.mongo_wire.clients import Load
from tare.artifacts.binaries import find
from tare.databases.mongodb.session import connect
from tare.errors import LoadError

if TYPE_CHECKING:
    from bench.mongo_wire.clients import Client, Said
    from tare.databases.mongodb.session import Session

SERVER_CPU, CLIENT_CPU = 0, 1
SAMPLE_S = 0.25
LEAST_S = 1.0
"""Undisturbed time that a run is judged by, at least; else all of its second half is."""
OTHERS = 0.1
"""Share of the client's CPU from which on others' work disturbs."""
SERVICE_US = {1: 500, 16: 2000, 256: 25_000}
"""Where the clock is judged: 2,000 to 10,000 operations/s, which every client can send."""
_GRACE_S = 60
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Run:
    """What one run came to.

    Attributes:
        per_second: operations per second.
        cpu_us, server_cpu_us: CPU time per operation of the client and of the stub, microseconds.
        client_busy, server_busy: share of their CPU that they used.
        undisturbed_s: time in which nobody else took the client's CPU; the numbers above are of it
            alone if it is long enough, else of the whole second half.
        errors: operations that failed, as the client counted them.
        p50_off_us, p99_off_us: the client's quantile of latency less what the stub took, by the
            stub's script and its own delay, microseconds.
    """

    per_second: float
    cpu_us: float
    server_cpu_us: float
    client_busy: float
    server_busy: float
    undisturbed_s: float
    errors: int
    p50_off_us: float
    p99_off_us: float

    @property
    def disturbed(self) -> bool:
        """Others worked on the client's CPU in nearly all of it."""
        return self.undisturbed_s < LEAST_S


@dataclass(frozen=True)
class _Sample:
    at: float
    operations: float
    client_s: float
    server_s: float
    busy_s: float
    steal: int


def measure(
    client: Client,
    operation: str,
    connections: int,
    *,
    timed: bool,
    seconds: int,
    scratch: Path,
) -> Run:
    """Let the client read or update for so many seconds.

    Args:
        timed: whether the stub takes its time for each operation (SERVICE_US), so that the client's
            clock can be judged; else it answers at once and the client does what it can.

    Raises:
        LoadError: it failed, said nothing, or the stub saw too little of it.
    """
    service = f"constant:{SERVICE_US[connections] if timed else 0}us"
    report = scratch / "stub.json"
    with _stub(service, report) as (place, stub_pid):
        host, _, port = place.partition(":")
        load = Load(place, operation, connections, seconds)
        with connect(host, int(port)) as session:
            said, samples = _driven(client, load, stub_pid, session, scratch)
    stub: dict[str, Any] = json.loads(report.read_text("utf-8"))

    def took(quantile: str) -> float:
        return float(stub["scripted_us"][quantile]) + float(stub["written_us"][quantile])

    off = (said.p50_us - took("p50"), said.p99_us - took("p99"))
    return _summary(samples, said, off)


@contextmanager
def _stub(service: str, report: Path) -> Iterator[tuple[str, int]]:
    words = ["taskset", "-c", str(SERVER_CPU), str(find("tare-stub")), "--protocol", "mongodb"]
    words += ["--listen", "127.0.0.1:0", "--service", service, "--report", str(report)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None  # noqa: S101 - for mypy
        yield process.stdout.readline().split()[-1], process.pid
    finally:
        process.terminate()
        process.wait(_GRACE_S)


def _driven(
    client: Client, load: Load, stub_pid: int, session: Session, scratch: Path
) -> tuple[Said, list[_Sample]]:
    command = client.command(load, scratch)
    log, errors = scratch / f"{client.name}.log", scratch / f"{client.name}.err"
    samples: list[_Sample] = []
    with log.open("wb") as output, errors.open("wb") as error:
        process = subprocess.Popen(
            ["taskset", "-c", str(CLIENT_CPU), *command],
            cwd=scratch, stdin=subprocess.DEVNULL, stdout=output, stderr=error,
        )  # fmt: skip
    try:
        end = time.monotonic() + load.seconds
        while process.poll() is None:
            if time.monotonic() < end:
                samples.append(_sample(process.pid, stub_pid, session))
            elif client.interrupted:
                process.send_signal(signal.SIGINT)
                process.wait(_GRACE_S)
            elif time.monotonic() > end + _GRACE_S:
                raise LoadError(f"{client.name} did not end", where=str(log))
            time.sleep(SAMPLE_S)
    finally:
        process.kill()
        process.wait()
    if process.returncode not in client.fine:
        why = "\n".join(errors.read_text("utf-8", "replace").splitlines()[-5:])
        raise LoadError(
            f"{client.name} ended with status {process.returncode}", where=str(errors), why=why
        )
    return client.said(log.read_text("utf-8", "replace"), scratch, load), samples


def _sample(pid: int, stub_pid: int, session: Session) -> _Sample:
    counted = session.command({"serverStatus": 1})["opcounters"]
    return _Sample(
        time.monotonic(),
        float(counted["query"] + counted["update"]),
        cpu_seconds(pid),
        cpu_seconds(stub_pid),
        _busy_s(CLIENT_CPU),
        stolen(frozenset((SERVER_CPU, CLIENT_CPU))),
    )


def _busy_s(cpu: int) -> float:
    """Time that a CPU has worked for any process: proc_stat(5), idle and waiting left out."""
    lines = (line.split() for line in Path("/proc/stat").read_text("ascii").splitlines())
    (own,) = (line for line in lines if line[0] == f"cpu{cpu}")
    user, nice, system, _idle, _wait, irq, softirq, *_ = map(int, own[1:])
    return (user + nice + system + irq + softirq) / _TICKS


def _summary(samples: Sequence[_Sample], said: Said, off: tuple[float, float]) -> Run:
    half = list(pairwise(samples[len(samples) // 2 :]))
    if len(half) * SAMPLE_S < LEAST_S:
        raise LoadError("the run was too short to be sampled", remedy="raise --seconds")
    calm = [pair for pair in half if not _disturbed(*pair)]
    undisturbed_s = sum(later.at - sooner.at for sooner, later in calm)
    counted = calm if undisturbed_s >= LEAST_S else half
    seconds = sum(later.at - sooner.at for sooner, later in counted)
    operations = sum(later.operations - sooner.operations for sooner, later in counted)
    client_s = sum(later.client_s - sooner.client_s for sooner, later in counted)
    server_s = sum(later.server_s - sooner.server_s for sooner, later in counted)
    if operations < 1:
        raise LoadError("the stub saw no load in the second half of the run")
    return Run(
        per_second=operations / seconds,
        cpu_us=client_s * 1e6 / operations,
        server_cpu_us=server_s * 1e6 / operations,
        client_busy=client_s / seconds,
        server_busy=server_s / seconds,
        undisturbed_s=undisturbed_s,
        errors=said.errors,
        p50_off_us=off[0],
        p99_off_us=off[1],
    )


def _disturbed(sooner: _Sample, later: _Sample) -> bool:
    """The host, or another process, took CPU time from the client's CPU."""
    seconds = later.at - sooner.at
    others = (later.busy_s - sooner.busy_s) - (later.client_s - sooner.client_s)
    # softirq of the loopback counts here too, as do two ticks of the kernel's own coarseness
    return later.steal > sooner.steal or others > OTHERS * seconds + 2 / _TICKS
