"""Measures what counting at the ends of slices costs the measured servers and Tare itself.

    python -m bench.counting_cost run bench/studies/alike.yaml --name counting
    python -m bench.counting_cost told runs/counting

`run` is `tare run`, but half of the slices, at random, have no counts of servers' and clients'
processes (tare.monitor.process_counts). `told` prints the cost of the counts: in each trial, the
mean of slices with counts minus the mean of slices without, then the mean over trials with a 95%
interval (Student's t). Every trial has slices of both kinds, so the machine's moods and differences
between servers cancel.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tare.analysis.prices import interval
from tare.cli.app import main as tare
from tare.lab.conductor import Conductor
from tare.monitor.process_counts import ProcessCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tare.records.prices import Interval

    Line = Mapping[str, Any]

COUNTED = "server_faults"
"""of slices with counts"""


def _demand(line: Line) -> float:
    """Cost of an operation in units, engine and kernel; a hundredth of its log is a percent."""
    used = sum(line["units_cpu_s"].values()) + line["engine_cpu_s"] + line["kernel_cpu_s"]
    return 100 * math.log(1e6 * used / line["ops"])


SHOWN: Mapping[str, Callable[[Line], float]] = {
    "service demand, %": _demand,
    "operations a second, %": lambda line: 100 * math.log(line["ops_per_s"]),
    "Tare's own CPU time a slice, us": lambda line: 1e6 * line["tare_cpu_s"],
    "time between a slice's readings, us": lambda line: 1e6 * line["seconds"],
    "slices that were late, %": lambda line: 100.0 * line["late"],
}


def difference(trials: Iterable[Sequence[Line]], of: Callable[[Line], float]) -> Interval | None:
    """Slices with counts minus slices without, over trials with three of both; None: fewer than
    two such trials."""
    found = []
    for lines in trials:
        usable = [line for line in lines if line["ops"] and line["ops_per_s"]]
        with_counts = [of(line) for line in usable if COUNTED in line["counts"]]
        without = [of(line) for line in usable if COUNTED not in line["counts"]]
        if min(len(with_counts), len(without)) >= 3:
            found.append(np.mean(with_counts) - np.mean(without))
    return interval(np.array(found)) if len(found) >= 2 else None


def _slices(run: Path) -> list[list[Line]]:
    files = sorted(run.glob("trials/*/slices.jsonl"))
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def _run(words: Sequence[str]) -> None:
    """Run `tare run` with half of the slices without counts."""
    read, drive = ProcessCounts.read, Conductor._drive
    drawn = random.Random()  # noqa: S311 - an order, no secret
    counts = True

    def perhaps(own: ProcessCounts, *arguments: Any) -> dict[str, int]:
        return read(own, *arguments) if counts else {}

    def one(own: Conductor, *arguments: Any) -> None:
        nonlocal counts
        counts = drawn.random() < 0.5
        drive(own, *arguments)

    ProcessCounts.read = perhaps  # type: ignore[method-assign, assignment]  # on purpose
    Conductor._drive = one  # type: ignore[method-assign, assignment]  # likewise
    sys.argv = ["tare", "run", *words]
    tare()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run").add_argument("words", nargs=argparse.REMAINDER)
    commands.add_parser("told").add_argument("run", type=Path)
    asked = parser.parse_args()
    if asked.command == "run":
        _run(asked.words)
        return
    trials = _slices(asked.run)
    for name, of in SHOWN.items():
        found = difference(trials, of)
        if found is None:
            sys.exit("too few trials have slices of both kinds: run it with `run`")
        print(f"{name}: {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]")


if __name__ == "__main__":
    main()
