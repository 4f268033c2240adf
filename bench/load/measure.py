"""One run of one load generator: its cost and the node's requests, second by second.

The node counts the requests (system_views.thread_pools): the same way for all clients, and
independently of them. The kernel counts CPU time and memory. CPU time that the host steals counts
for the running process, so only samples without steal are used.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.load.server import cpu_seconds
from tare.errors import LoadError
from tare.study.quantities import cpus_of

if TYPE_CHECKING:
    from bench.load.clients import Client, Said
    from bench.load.server import Server
    from tare.databases.cassandra.session import Session

SAMPLE_S = 0.25
BUSY = 0.05
"""Share of the most requests of any sample from which on a sample belongs to the load."""
_PER_SECOND = round(1 / SAMPLE_S)
_REQUESTS = "SELECT completed_tasks FROM system_views.thread_pools WHERE name = '%s'"
_POOL = "Native-Transport-Requests"
_GRACE_S = 120
UNDISTURBED_S = 1.0
"""Least time without steal for a run to be judged by that time alone."""
_OUTPUT_BYTES = 64 << 20
"""cassandra-stress prints a stack trace for every failed operation"""


@dataclass(frozen=True)
class Cpus:
    """Which CPUs the node and the client run on, as taskset takes them."""

    server: str
    client: str

    def numbers(self) -> frozenset[int]:
        """All of them."""
        return cpus_of(self.server) | cpus_of(self.client)


@dataclass(frozen=True)
class Sample:
    """Counters at one moment: seconds on the monotonic clock, requests, CPU seconds, and the most
    memory that the client has had resident so far, MB; steal: ticks of 10 ms that the host took
    from the client's and the node's CPUs."""

    at: float
    requests: int
    client_cpu: float
    server_cpu: float
    rss_mb: float = 0.0
    steal: int = 0


@dataclass(frozen=True)
class Run:
    """What one run came to.

    Attributes:
        per_second: operations per second, by the node, over the second half of the run: start-up
            and the client's own warm-up left out.
        cpu_us: client CPU time per operation over that half, microseconds, user and system.
        cpu_us_whole: the same over the whole process, from its start to its end.
        server_cpu_us: the node's CPU time per operation over that half.
        first_second: operations in the first second of traffic over those of a median second.
        rss_mb: most memory resident, MB.
        errors: operations that failed, as the client counted them.
        p50_us, p99_us: what the client itself reported; None: it reports none.
        seconds: operations of every second of traffic, by the node.
        undisturbed_s: time of the second half in which the host took no CPU time; the four rates
            above are of it alone if it is long enough, else of the whole half.
    """

    per_second: float
    cpu_us: float
    cpu_us_whole: float
    server_cpu_us: float
    first_second: float
    rss_mb: float
    errors: int
    p50_us: float | None
    p99_us: float | None
    seconds: tuple[int, ...]
    undisturbed_s: float

    @property
    def disturbed(self) -> bool:
        """The host took CPU time in nearly all of it: its rates are those of host and client."""
        return self.undisturbed_s < UNDISTURBED_S

    def document(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return asdict(self)


def execute(command: Sequence[str], cpus: str, log: Path) -> None:
    """Run a command to its end on these CPUs; its output goes to the log.

    Raises:
        LoadError: it failed.
    """
    with log.open("wb") as output:
        done = subprocess.run(
            ["taskset", "-c", cpus, *command],
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode != 0:
        raise _failed(command, done.returncode, log)


def measure(
    client: Client, seconds: int, cpus: Cpus, server: Server, session: Session, scratch: Path
) -> Run:
    """Let the client read for so many seconds.

    Raises:
        LoadError: it failed, said nothing, or the node saw too little of it.
    """
    command = client.read(seconds, scratch)
    log, errors = scratch / f"{client.name}.log", scratch / f"{client.name}.err"
    with log.open("wb") as output, errors.open("wb") as error:
        process = subprocess.Popen(
            ["taskset", "-c", cpus.client, *command],
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=error,
        )
    try:
        sample = partial(_sample, process.pid, cpus.numbers(), server, session)
        samples = _watch(process.pid, seconds, client.interrupted, sample)
    finally:
        # Not process.kill(): it would take the process's end, and its resources with it.
        os.kill(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise _failed(command, process.returncode, errors)
    try:
        said = client.said(log.read_bytes()[:_OUTPUT_BYTES].decode("utf-8", "replace"), scratch)
    except Exception as why:
        raise LoadError(
            f"{client.name} printed no result", where=str(log), why=repr(why), remedy="read the log"
        ) from why
    whole = (usage.ru_utime + usage.ru_stime) * 1e6 / max(said.operations, 1)
    return summary(samples, whole, said)


def _watch(
    pid: int,
    seconds: int,
    interrupted: bool,
    sample: Callable[[], Sample],
) -> list[Sample]:
    """Samples until the process ends; it is not reaped, so that its resources can be asked for."""
    began = time.monotonic()
    samples = [sample()]
    told = False
    while not _ended(pid):
        time.sleep(max(0.0, began + len(samples) * SAMPLE_S - time.monotonic()))
        samples.append(sample())
        if interrupted and not told and samples[-1].at - began > seconds:
            os.kill(pid, signal.SIGINT)
            told = True
        if samples[-1].at - began > seconds + _GRACE_S:
            raise LoadError(f"the client did not end within {seconds + _GRACE_S} s")
    return samples


def _ended(pid: int) -> bool:
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, pid, options) is not None


def _sample(pid: int, cpus: frozenset[int], server: Server, session: Session) -> Sample:
    (row,) = session.execute(_REQUESTS % _POOL)
    requests, cpu = int(row.completed_tasks), cpu_seconds(pid)
    return Sample(
        time.monotonic(), requests, cpu, server.cpu_seconds(), _resident_mb(pid), stolen(cpus)
    )


def stolen(cpus: frozenset[int]) -> int:
    """Ticks that the host took from these CPUs since it started: proc_stat(5), eighth column."""
    lines = (line.split() for line in Path("/proc/stat").read_text("ascii").splitlines())
    names = {f"cpu{number}" for number in cpus}
    return sum(int(line[8]) for line in lines if line and line[0] in names)


def _resident_mb(pid: int) -> float:
    """VmHWM of proc(5). The resource usage that wait4 gives has the parent's memory in it."""
    text = Path(f"/proc/{pid}/status").read_text("ascii", errors="replace")
    lines = (line.split() for line in text.splitlines() if line.startswith("VmHWM:"))
    return next((int(line[1]) * 1024 / 1e6 for line in lines), 0.0)


def summary(samples: Sequence[Sample], cpu_us_whole: float, said: Said) -> Run:
    """What the samples of a run come to.

    Raises:
        LoadError: too little traffic to say anything.
    """
    counts = [later.requests - sooner.requests for sooner, later in pairwise(samples)]
    busy = [place for place, count in enumerate(counts) if count > max(counts) * BUSY]
    # The first and the last of the busy samples hold only a part of their time.
    first, end = (busy[0], busy[-1]) if busy else (0, 0)
    if end - first < 2 * _PER_SECOND:
        raise LoadError("the node saw less than two seconds of load", remedy="raise --seconds")
    half = list(pairwise(samples[(first + end) // 2 : end + 1]))
    calm = [(sooner, later) for sooner, later in half if sooner.steal == later.steal]
    undisturbed = sum(later.at - sooner.at for sooner, later in calm)
    counted = calm if undisturbed >= UNDISTURBED_S else half

    def total(of: Callable[[Sample], float]) -> float:
        return sum(of(later) - of(sooner) for sooner, later in counted)

    requests = max(total(lambda sample: sample.requests), 1)
    traffic = counts[first:end]
    seconds = tuple(
        sum(traffic[begin : begin + _PER_SECOND])
        for begin in range(0, len(traffic) - _PER_SECOND + 1, _PER_SECOND)
    )
    return Run(
        per_second=requests / total(lambda sample: sample.at),
        cpu_us=total(lambda sample: sample.client_cpu) * 1e6 / requests,
        cpu_us_whole=cpu_us_whole,
        server_cpu_us=total(lambda sample: sample.server_cpu) * 1e6 / requests,
        first_second=seconds[0] / statistics.median(seconds),
        rss_mb=max(sample.rss_mb for sample in samples),
        errors=said.errors,
        p50_us=said.p50_us,
        p99_us=said.p99_us,
        seconds=seconds,
        undisturbed_s=undisturbed,
    )


def _failed(command: Sequence[str], status: int, log: Path) -> LoadError:
    lines = log.read_bytes()[-2000:].decode("utf-8", "replace").splitlines()
    return LoadError(
        f"{Path(command[0]).name} ended with status {status}",
        where=str(log),
        why="\n".join(lines[-5:]),
        remedy="read the log, or leave this client out of --tools",
    )
