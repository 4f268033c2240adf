"""Measures the time and memory that the analysis of a very large run takes.

    python -m bench.analysis_scale                 10,000 trials of 60 s, written below a temporary
                                                   directory: 3 GB, and minutes for the writing
    python -m bench.analysis_scale --trials 400    a quick look

Prints seconds, CPU seconds and peak memory as JSON. Memory is given for the process, for its
largest worker, and as the sum of all peaks.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Self

import numpy as np
from ruamel.yaml import YAML
from tests.synthetic_run import QUICKSTART, write_run

THREADS = (16, 32, 64, 128)
ROUNDS = 5
DISTINCT_BLOCKS = 2
"""Blocks with measurements of their own; all further trials are copies under new names,
with throughput of their own."""
SECONDS = 60
BUDGET_S, BUDGET_MB = 60.0, 2048.0


def write_large_run(directory: Path, trials: int) -> Path:
    """A run of about this many trials: 20 conditions, 5 deployments, and the blocks needed.

    Series and histograms link to those of a few synthetic trials; every trial has its own manifest.
    """
    blocks = max(1, round(trials / (ROUNDS * len(THREADS) * len(QUICKSTART))))
    pattern = write_run(
        directory.with_name("pattern"), deployments=1, blocks=DISTINCT_BLOCKS, measure_s=SECONDS,
        threads=THREADS, ops_per_s=2000.0,
    )  # fmt: skip
    (directory / "trials").mkdir(parents=True)
    yaml = YAML()
    study = yaml.load((pattern / "study.yaml").read_text(encoding="utf-8"))
    study["design"].update(deployments=ROUNDS, blocks=blocks)
    with (directory / "study.yaml").open("w", encoding="utf-8") as out:
        yaml.dump(study, out)
    rng = np.random.default_rng(1)
    names = []
    for source in sorted((pattern / "trials").iterdir()):
        manifest = json.loads((source / "manifest.json").read_text(encoding="utf-8"))
        for round_ in range(1, ROUNDS + 1):
            for block in range(manifest["block"], blocks + 1, DISTINCT_BLOCKS):
                names.append(_copy(source, manifest, directory, round_, block, rng))
    (directory / "plan.json").write_text(json.dumps({"seed": 1, "trials": names}))
    lines = (json.dumps({"event": "trial_done", "trial": name}) for name in names)
    (directory / "journal.jsonl").write_text("\n".join(lines) + "\n")
    shutil.rmtree(pattern)
    return directory


def _copy(
    source: Path,
    manifest: dict[str, Any],
    directory: Path,
    round_: int,
    block: int,
    rng: np.random.Generator,
) -> str:
    name = f"D{round_}-B{block:03}-{manifest['condition']}"
    own = manifest | {
        "run": directory.name,
        "trial": name,
        "round": round_,
        "block": block,
        "deployment": f"D{round_}-{manifest['condition']}",
    }
    factor = math.exp(rng.normal(0, 0.02))
    own["clients"] = [c | {"throughput": c["throughput"] * factor} for c in manifest["clients"]]
    place = directory / "trials" / name
    place.mkdir()
    (place / "manifest.json").write_text(json.dumps(own))
    for file in source.iterdir():
        if file.is_file() and file.name != "manifest.json":
            os.link(file, place / file.name)
    return name


def measure(run: Path, out: Path | None) -> None:
    """Analyse a run in this process and print its time and memory."""
    from tare.analysis.analyse import analyse

    wall, cpu = time.perf_counter(), _cpu()
    with _Watched() as workers:
        analysis = analyse(run)
    wall, cpu = time.perf_counter() - wall, _cpu() - cpu
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    worker = max(workers.peaks.values(), default=0.0)
    peak = own + sum(workers.peaks.values())
    if out is not None:
        out.write_text(analysis.model_dump_json(), encoding="utf-8")
    found = {
        "trials": len(analysis.trials),
        "effects": len(analysis.effects),
        "seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "cores": len(os.sched_getaffinity(0)),
        "own_peak_mb": round(own),
        "worker_peak_mb": round(worker),
        "peak_mb": round(peak),
        "of_time_budget": round(wall / BUDGET_S, 2),
        "of_memory_budget": round(peak / BUDGET_MB, 2),
    }
    print(json.dumps(found))


class _Watched:
    """Peak memory of the children, MB, read repeatedly while they live.

    The usual maximum over children is useless: at its start, a child has its parent's size.
    """

    def __init__(self) -> None:
        self.peaks: dict[int, float] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(0.2):
            for child in multiprocessing.active_children():
                found = _highest_mb(child.pid)
                if found is not None and child.pid is not None:
                    self.peaks[child.pid] = found


def _highest_mb(pid: int | None) -> float | None:
    """VmHWM of a process; None if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    lines = (line.split() for line in status.splitlines() if line.startswith("VmHWM:"))
    return next((int(line[1]) / 1024 for line in lines), None)


def _cpu() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    """Write a run if none is given, then analyse it in a fresh process."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis_scale", description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--run", type=Path, help="analyse this run instead of writing one")
    parser.add_argument("--keep", type=Path, help="write the run here and keep it")
    parser.add_argument("--here", action="store_true", help="analyse --run in this process")
    parser.add_argument("--json", type=Path, help="write the analysis here")
    asked = parser.parse_args()
    if asked.here and asked.run:
        measure(asked.run, asked.json)
        return
    with tempfile.TemporaryDirectory(prefix="tare-scale-") as scratch:
        run = asked.run or write_large_run(asked.keep or Path(scratch) / "run", asked.trials)
        command = [sys.executable, "-m", "bench.analysis_scale", "--here", "--run", str(run)]
        command += ["--json", str(asked.json)] if asked.json else []
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
