"""Measures the time from an archive of YCSB files to the HTML report, without start-up.

    python -m bench.import_scale

Uses the tests' 360 files of the Grambow study, or another archive with --archive. Runs `tare
import`, which also writes the report, on one core, and prints seconds, CPU seconds and peak memory
as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import tempfile
import time
from importlib import import_module
from pathlib import Path

from tare.cli.commands import build

START_UP = ("tare.cli.importing", "tare.imports.run", "tare.analysis.analyse", "tare.report.write")
"""Modules that the command loads on use, loaded here before the timing."""
ROOT = Path(__file__).parents[1]
ARCHIVE = ROOT / "tests" / "imports" / "data" / "grambow-2018-m3.medium-ycsb.zip"
STUDY = ROOT / "studies" / "grambow-2018.yaml"
BUDGET_S = 3.0


def _run(*arguments: str) -> None:
    """Run one command as the shell would, without its output.

    Raises:
        RuntimeError: the command failed.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        status = build([arguments[0]])(list(arguments), standalone_mode=False) or 0
    if status not in (0, 3):
        raise RuntimeError(f"tare {arguments[0]} ended with status {status}")


def main() -> None:
    """Measure a single, first run: it pays for everything that is loaded on use."""
    parser = argparse.ArgumentParser(prog="python -m bench.import_scale", description=__doc__)
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    asked = parser.parse_args()
    for module in START_UP:
        import_module(module)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="tare-import-") as scratch:
        out = str(Path(scratch) / "run")
        wall, cpu = time.perf_counter(), time.process_time()
        _run("import", "ycsb", str(asked.archive), "--study", str(STUDY), "--out", out)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        trials = sum(1 for _ in (Path(out) / "trials").iterdir())
        page = (Path(out) / "report.html").stat().st_size
    found = {
        "trials": trials,
        "report_bytes": page,
        "seconds": round(wall, 2),
        "cpu_seconds": round(cpu, 2),
        "cores": 1,
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "of_time_budget": round(wall / BUDGET_S, 2),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
