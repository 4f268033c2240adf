"""Do comparisons of two runs keep their promises? Pairs of invented runs, and how often they err.

Repeat the figures of docs/compare.md: python -m tests.analysis.compare_simulation 2000
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from tare.analysis.catalogue import describe
from tare.analysis.comparison.compare import compare
from tare.analysis.model import Analysis, ConditionSummary, TrialSummary

CONDITIONS = ("native", "host", "bridge", "published", "layer")
ROUNDS, BLOCKS = 3, 4
SPREAD = 0.02
"""sd of log throughput between rounds, between deployments of a round, and between trials."""
TRUTH = 0.95
MARGINS = {"throughput": 0.05}


@dataclass(frozen=True)
class Rates:
    """How often 95% intervals hold the truth, and how often a pair of equal runs differs."""

    coverage: float
    false_alarms: float


def simulate(pairs: int, seed: int = 3) -> Rates:
    """Compare this many pairs of runs that differ by TRUTH, and as many without a difference."""
    rng = np.random.default_rng(seed)
    held = alarms = intervals = 0
    for number in range(pairs):
        differing = compare(_run(rng, number), _run(rng, -number, TRUTH), margins=MARGINS)
        for one in differing.differences:
            intervals += 1
            held += one.ci[0] < TRUTH < one.ci[1]
        alike = compare(_run(rng, number), _run(rng, -number), margins=MARGINS)
        alarms += any(d.verdict.startswith("different") for d in alike.differences)
    return Rates(held / intervals, alarms / pairs)


def _run(rng: np.random.Generator, number: int, truth: float = 1.0) -> Analysis:
    trials = []
    for round_ in range(1, ROUNDS + 1):
        shared = rng.normal(0, SPREAD)
        for condition in CONDITIONS:
            life = shared + rng.normal(0, SPREAD)
            for block in range(1, BLOCKS + 1):
                log = math.log(1000 * truth) + life + rng.normal(0, SPREAD)
                trials.append(_trial(condition, round_, block, math.exp(log)))
    conditions = [
        ConditionSummary(
            condition=name,
            levels={"platform": name},
            aa_of=None,
            trials=ROUNDS * BLOCKS,
            failed=0,
            metrics={},
            cv={},
        )
        for name in CONDITIONS
    ]
    return Analysis(
        study="simulated", question="", run=f"r{number}", valid=True, problems=[],
        baseline="native", metrics=[describe("throughput")], conditions=conditions, effects=[],
        noise_floor=[], checks=[], parity=[], trials=trials, series=[], distributions=[],
        provenance={},
    )  # fmt: skip


def _trial(condition: str, round_: int, block: int, throughput: float) -> TrialSummary:
    return TrialSummary(
        trial=f"D{round_}-B{block:02}-{condition}",
        condition=condition,
        round=round_,
        block=block,
        position=1,
        deployment=f"D{round_}-{condition}",
        status="done",
        reason="",
        values={"throughput": throughput},
        errors=0,
        saturated=False,
        warm=True,
        steady=True,
        outlier=False,
    )


if __name__ == "__main__":
    found = simulate(int(sys.argv[1]))
    print(f"coverage {found.coverage:.1%}, false alarms {found.false_alarms:.1%}")
