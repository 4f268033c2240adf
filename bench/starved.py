"""Measures how often the load generator reports itself as the limit, rightly and wrongly.

    sudo python -m bench.starved                 40 starved and 40 healthy runs of 3 s each
    sudo python -m bench.starved --runs 200      narrower intervals
    sudo python -m bench.starved --runs 0 --healthy 200
    sudo python -m bench.starved --protocol mongodb

Every run uses a stub with a constant service time, pinned to a separate CPU. Starved runs get half
of the CPU time that the load needs, by a quota of their control group (version 1 or 2), or share
their CPU with busy neighbours. Healthy runs get all of it. Of each kind, half of the runs are
closed loop, half open loop.

Prints both shares with 95% intervals (Wilson) as JSON. A third share covers only the healthy runs
where a virtual machine's host took less than 1% of the time, because a host that takes more starves
its guests, too. Needs root, two CPUs and an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.load.measure import stolen
from tare.machines.awake import awake

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD_US = 100_000
LEAST_QUOTA_US = 1_000
"""The kernel's smallest quota."""
NEED = 0.5
"""Share of the needed CPU time that a starved client gets."""
NEIGHBOURS = 2
RATE = 20_000
THREADS = 16
STARVED_AT_LEAST, HEALTHY_AT_MOST = 0.95, 0.01
STOLEN_AT_MOST = 0.01
"""Share of a run's time: the share of sends that may be late without a verdict."""
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Case:
    """One run to be made: `open` loop or closed, starved by `quota`, by `neighbours`, or not."""

    loop: str
    starved: str | None


def main() -> int:
    options = arguments()
    if os.geteuid() != 0:
        print("starved: needs root to set quotas; run it with sudo", file=sys.stderr)
        return 2
    cases = planned(options.runs, options.runs if options.healthy is None else options.healthy)
    random.Random(options.seed).shuffle(cases)  # noqa: S311 an order, not a secret
    with awake() as why_not, restless():
        if why_not:
            print(f"starved: idle CPUs halt as usual: {why_not}", file=sys.stderr)
        seen = [outcome(case, options) for case in cases]
    report = summary(seen)
    print(json.dumps(report, indent=1))
    found, false = report["starved"]["flagged"], report["healthy"]["flagged"]
    kept = (found is None or found >= STARVED_AT_LEAST) and (
        false is None or false <= HEALTHY_AT_MOST
    )
    return 0 if kept else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=40, help="runs of each kind")
    parser.add_argument("--healthy", type=int, help="healthy runs (default: as --runs)")
    parser.add_argument("--seconds", type=float, default=3.0, help="measured part of each run")
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of runs")
    parser.add_argument("--protocol", choices=("cql", "mongodb"), default="cql")
    parser.add_argument("--client", type=Path, default=binary("tare-load"))
    parser.add_argument("--stub", type=Path, default=binary("tare-stub"))
    return parser.parse_args()


def binary(name: str) -> Path:
    """Beside this Python, in the build directory, or on the path."""
    candidates = [Path(sys.executable).parent / name, ROOT / "target" / "release" / name]
    found = [path for path in candidates if path.exists()]
    return found[0] if found else Path(shutil.which(name) or name)


def planned(runs: int, healthy: int) -> list[Case]:
    starved = [
        Case("open" if i % 2 else "closed", "neighbours" if i % 4 > 1 else "quota")
        for i in range(runs)
    ]
    well = [Case("open" if i % 2 else "closed", None) for i in range(healthy)]
    return starved + well


def outcome(case: Case, options: argparse.Namespace) -> dict[str, Any]:
    """Makes one run; measures the need of a starved run just before."""
    mongodb = options.protocol == "mongodb"
    with stub(options.stub, options.protocol) as address, contextlib.ExitStack() as stack:
        command = client(options.client)
        group = None
        if case.starved == "quota":
            result = run(command, specification(case, address, 1.0, mongodb=mongodb), None)
            need = result["cpu_us_per_op"] * result["throughput"] / 1e6
            group = stack.enter_context(quota(max(LEAST_QUOTA_US, int(PERIOD_US * need * NEED))))
        elif case.starved == "neighbours":
            stack.enter_context(neighbours())
        cpus = frozenset(sorted(os.sched_getaffinity(0))[:2])
        before, began = stolen(cpus), time.monotonic()
        spec = specification(case, address, options.seconds, mongodb=mongodb)
        result = run(command, spec, group)
        ticks, took_s = stolen(cpus) - before, time.monotonic() - began
    told = {
        "loop": case.loop,
        "starved": case.starved,
        "saturated": result["saturated"],
        "reasons": result["saturation_reasons"],
        "cpu_share": result["cpu_share"],
        "send_lateness_p99_us": result["send_lateness_p99_us"],
        "stolen_share": ticks / os.sysconf("SC_CLK_TCK") / took_s,
    }
    print(json.dumps(told), file=sys.stderr)
    return told


def specification(case: Case, address: str, seconds: float, *, mongodb: bool) -> dict[str, Any]:
    where = {"mongodb": f"mongodb://{address}/", "stand_in": True} if mongodb else {}
    return where | {
        "name": "starved",
        "client": "c1",
        "targets": [address],
        "keyspace": "ycsb",
        "table": "usertable",
        "phase": "run",
        "workload": {"kind": "ycsb", "read": 1.0, "update": 0.0},
        "records": 10_000,
        "threads": THREADS,
        "rate": RATE if case.loop == "open" else None,
        "warmup_s": 0.5,
        "measure_s": seconds,
    }


def client(binary: Path) -> list[str]:
    """The client, pinned to the second usable CPU; the stub has the first."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise SystemExit("starved: needs two CPUs, one for the stub and one for the client")
    return ["taskset", "-c", str(cpus[1]), str(binary), "run"]


def run(command: list[str], spec: dict[str, Any], group: Path | None) -> dict[str, Any]:
    if group is not None:
        script = 'echo $$ > "$0" && exec "$@"'
        command = ["sh", "-c", script, str(group / "cgroup.procs"), *command]
    done = subprocess.run(
        command, input=json.dumps(spec), capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode != 0:
        raise SystemExit(f"starved: the client failed: {done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@contextlib.contextmanager
def stub(binary: Path, protocol: str) -> Iterator[str]:
    """A stub with 500 us of service time; returns its address."""
    first = min(os.sched_getaffinity(0))
    words = [
        "--protocol",
        protocol,
        "--listen",
        "127.0.0.1:0",
        "--service",
        "constant:500us",
        "--cpu",
        str(first),
    ]
    process = subprocess.Popen([str(binary), *words], stdout=subprocess.PIPE, text=True)
    try:
        told = process.stdout.readline() if process.stdout else ""
        if not told.startswith("listening on "):
            raise SystemExit(f"starved: {binary} did not start")
        yield told.split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


@contextlib.contextmanager
def quota(quota_us: int) -> Iterator[Path]:
    """A control group that gets this much CPU time in every 100 ms."""
    unified = Path("/sys/fs/cgroup/cgroup.controllers")
    if unified.exists() and "cpu" in unified.read_text().split():
        group = Path(f"/sys/fs/cgroup/tare-starved-{os.getpid()}")
        group.mkdir()
        (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
    else:
        group = Path(f"/sys/fs/cgroup/cpu/tare-starved-{os.getpid()}")
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(quota_us))
    try:
        yield group
    finally:
        group.rmdir()


@contextlib.contextmanager
def restless() -> Iterator[None]:
    """Keep the client's CPU from halting, by a loop that gives way at once to any other process.

    A virtual CPU that halts has to wait for its host before it goes on.
    """
    cpu = sorted(os.sched_getaffinity(0))[1]
    loop = ["taskset", "-c", str(cpu), "chrt", "--idle", "0", "sh", "-c", "while :; do :; done"]
    idle = subprocess.Popen(loop)
    try:
        yield
    finally:
        idle.kill()
        idle.wait()


@contextlib.contextmanager
def neighbours() -> Iterator[None]:
    """Endless loops on the client's CPU."""
    cpu = sorted(os.sched_getaffinity(0))[1]
    loop = ["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]
    busy = [subprocess.Popen(loop) for _ in range(NEIGHBOURS)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def summary(seen: list[dict[str, Any]]) -> dict[str, Any]:
    """Share of flagged runs among starved and healthy ones, and among healthy ones
    from which a virtual machine's host took nearly no time."""
    starved = [one for one in seen if one["starved"] is not None]
    healthy = [one for one in seen if one["starved"] is None]
    undisturbed = [one for one in healthy if one["stolen_share"] <= STOLEN_AT_MOST]
    return {
        "starved": share(starved),
        "healthy": share(healthy),
        "healthy, at most 1% stolen": share(undisturbed),
    }


def share(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The share of flagged runs with its interval; None if there are
    none."""
    flagged = sum(bool(one["saturated"]) for one in runs)
    if not runs:
        return {"runs": 0, "flagged": None, "interval": None}
    low, high = wilson(flagged, len(runs))
    return {
        "runs": len(runs),
        "flagged": flagged / len(runs),
        "interval": [round(low, 4), round(high, 4)],
    }


def wilson(hits: int, n: int) -> tuple[float, float]:
    """95% interval of a proportion (Wilson, Journal of the American Statistical Association 22,
    1927)."""
    z = 1.959964
    centre = (hits + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(hits * (n - hits) / n + z * z / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


if __name__ == "__main__":
    raise SystemExit(main())
