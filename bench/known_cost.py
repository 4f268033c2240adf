"""Does Tare find a known extra cost, and none where there is none, on this machine?

    python -m bench.known_cost                     10 studies of about 100 s each
    python -m bench.known_cost --studies 5 --more 750

Four conditions run in slices on scripted servers (tare-stub), which are pinned, frozen, read and
fitted as in a study: a server; the same server under another condition's name; a second, identical
server; and a third server with more costly requests. For each request, a server keeps the CPU busy
about as long as a database does (--work), and the third for --more longer, in the same loop.

The truth is the difference between the loops' times, which each server measures, divided by the
first server's service demand. The servers share one loop, because a loop of the third server alone
would cost more than its own time: the CPU forgets it between requests.

Each round of a study has new servers; as in a real study, intervals come from the rounds. For each
comparison, the command prints the number of studies whose interval misses the truth.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path

import numpy as np

from bench.calibration.designs import as_logs
from tare.analysis.inference.estimates import estimate, make_stratum
from tare.analysis.slices import COSTS, arrange, terms_of
from tare.lab.pilot import Piloted, pilot

ONE_SERVER, ALIKE, DEARER = 1, 2, 3
DRIVEN = (0, 0, 1, 2)
"""Which server each condition drives."""
SERVERS = 3
TRUTHS = {"one server": ONE_SERVER, "two servers": ALIKE, "known cost": DEARER}


def effects(measured: Piloted, metric: str) -> np.ndarray:
    """The conditions' fitted log costs, as in the analysis of a study."""
    conditions = [condition for _, condition in measured.order]
    costs = [COSTS[metric](measured.rows[one][place]) for place, one in measured.order]
    return terms_of(arrange(np.log(costs), conditions, DRIVEN)).effects


def spent_us(report: Path) -> float:
    """Median time that a timed request kept the server's CPU busy, microseconds."""
    return float(json.loads(report.read_text(encoding="utf-8"))["spent_us"]["p50"])


def demand_us(measured: Piloted, condition: int) -> float:
    """Median service demand of a condition's slices, microseconds per operation."""
    return 1e6 * float(np.median([row.demand_s / row.ops for row in measured.rows[condition]]))


def study(rounds: int, seconds: float, work_ns: int, more_ns: int) -> list[dict[str, object]]:
    """One study: a line for each comparison and metric."""
    values: dict[str, list[np.ndarray]] = {metric: [] for metric in COSTS}
    truths: list[list[float]] = []
    bases: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            reports = [Path(place) / f"{server}.json" for server in range(SERVERS)]
            spends = [work_ns, work_ns, work_ns + more_ns]
            options = [
                ["--spend", f"{spend}ns", "--report", str(report)]
                for spend, report in zip(spends, reports, strict=True)
            ]
            measured = pilot(seconds, DRIVEN, options=options)
            spent = [spent_us(report) for report in reports]
        base = (demand_us(measured, 0) + demand_us(measured, ONE_SERVER)) / 2
        bases.append(base)
        truths.append([math.log1p((spent[server] - spent[0]) / base) for server in DRIVEN])
        for metric in COSTS:
            values[metric].append(effects(measured, metric))
    base = float(np.mean(bases))
    return [
        _line(name, metric, condition, values[metric], [truth[condition] for truth in truths], base)
        for metric in COSTS
        for name, condition in TRUTHS.items()
        if metric == "service_demand" or condition != DEARER
    ]


def _line(
    name: str,
    metric: str,
    condition: int,
    rounds: list[np.ndarray],
    truths: list[float],
    base: float,
) -> dict[str, object]:
    # the true cost differs by some percent between rounds: servers gauge their loops anew
    beyond = np.array(rounds)
    beyond[:, condition] -= np.array(truths)
    logs = as_logs(beyond.T[:, :, None])
    found = estimate(make_stratum(logs, "c0", by_deployment=True), f"c{condition}")
    if found is None:
        raise SystemExit("no interval: raise --rounds")
    truth = float(np.mean(truths))
    low, high = (truth + end for end in found.interval(0.95))
    seen = truth + found.log_ratio
    in_us = {"truth us": truth, "found us": seen}
    return {
        "comparison": name,
        "metric": metric,
        "truth": round(100 * truth, 2),
        "found": round(100 * seen, 2),
        "low": round(100 * low, 2),
        "high": round(100 * high, 2),
        "half_width": round(50 * (high - low), 2),
        "holds": bool(low <= truth <= high),
        "excludes none": bool(low > 0 or high < 0),
    } | {name: round(base * math.expm1(value), 2) for name, value in in_us.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=16.0, help="time of all slices in a round")
    parser.add_argument("--work", type=int, default=60_000, help="CPU time of a request in ns")
    parser.add_argument("--more", type=int, default=1_500, help="extra ns of the third server")
    given = parser.parse_args()
    lines: list[dict[str, object]] = []
    for _ in range(given.studies):
        for line in study(given.rounds, given.seconds, given.work, given.more):
            print(json.dumps(line), flush=True)
            lines.append(line)
    for metric in COSTS:
        for name in TRUTHS:
            own = [one for one in lines if (one["comparison"], one["metric"]) == (name, metric)]
            if own:
                missed = sum(not one["holds"] for one in own)
                seen = sum(bool(one["excludes none"]) for one in own)
                width = np.median([float(str(one["half_width"])) for one in own])
                print(
                    f"{name}, {metric}: of {len(own)} intervals {missed} do not hold the truth, "
                    f"{seen} exclude no difference; ±{width:.2f}%"
                )


if __name__ == "__main__":
    main()
