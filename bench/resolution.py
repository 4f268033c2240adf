"""Prints how intervals narrow with machine time: half-widths after each round of runs.

    python -m bench.resolution runs/quickstart runs/one-piece

For each run, round and comparison, prints JSON lines with the minutes since the run began and the
half-width of the 95% interval of each primary metric, in percent.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from tare.analysis.analyse import analyse

METRICS = ("service_demand", "throughput", "all.p99")


def minutes(run: Path) -> dict[int, float]:
    """By round, the minutes from the run's start to the end of the round's last trial."""
    found: dict[int, float] = {}
    begun: datetime | None = None
    for line in (run / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        at = datetime.fromisoformat(event["at"])
        begun = begun or at
        if event["event"] == "trial done":
            number = int(event["trial"].split("-")[0].removeprefix("D"))
            found[number] = (at - begun).total_seconds() / 60
    return found


def first_rounds(run: Path, number: int, place: Path) -> Path:
    """A run directory that holds only another run's first rounds."""
    part = place / f"{run.name}-{number}"
    (part / "trials").mkdir(parents=True)
    for name in ("study.yaml", "plan.json", "journal.jsonl", "environment.json"):
        shutil.copyfile(run / name, part / name)
    for trial in sorted((run / "trials").iterdir()):
        turn = trial.name.split("-")[0].removeprefix("D")
        if turn.isdigit() and int(turn) <= number:
            (part / "trials" / trial.name).symlink_to(trial.resolve())
    return part


def half_widths(run: Path) -> Iterator[dict[str, Any]]:
    """One line per number of rounds, comparison and metric."""
    with tempfile.TemporaryDirectory() as place:
        for number, passed in sorted(minutes(run).items()):
            if number < 2:
                continue
            for effect in analyse(first_rounds(run, number, Path(place))).effects:
                if effect.metric in METRICS:
                    low, high = effect.ci
                    yield {
                        "run": run.name,
                        "rounds": number,
                        "minutes": round(passed, 2),
                        "baseline": effect.baseline,
                        "treatment": effect.treatment,
                        "metric": effect.metric,
                        "percent": round(100 * (effect.ratio - 1), 2),
                        "half_width": round(50 * math.log(high / low), 2),
                        "verdict": effect.verdict,
                    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    for run in parser.parse_args().runs:
        for line in half_widths(run):
            print(json.dumps(line))


if __name__ == "__main__":
    main()
