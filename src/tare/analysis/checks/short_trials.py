"""For the check `steady`: whether throughput changes within trials too short to judge alone."""

from __future__ import annotations

import math

import numpy as np

from tare.analysis.checks.evidence import Evidence, count, percent
from tare.analysis.inference.ranks import signed_ranks

LEAST_TRIALS = 5
"""With fewer trials no test of signs is below 5%."""
ALPHA = 0.01
NOTED = 0.05
"""Change within trials that is mentioned: below it, little of it is left in a mean."""


def change_within(evidence: Evidence) -> str:
    """How throughput changes within trials too short for MSER-5, all together; empty: it does not.

    A trial of ten seconds says nothing by itself. Over many trials in the state that is to be
    measured, the last third is above the first as often as below.
    """
    ratios = []
    for trial in evidence.done:
        seen = [value for value in trial.series.get("throughput", []) if value is not None]
        third = len(seen) // 3
        if trial.steady is None and third and min(seen) > 0:
            ratios.append(math.log(sum(seen[-third:]) / sum(seen[:third])))
    if len(ratios) < LEAST_TRIALS or signed_ranks(ratios) >= ALPHA:
        return ""
    change = math.expm1(float(np.median(ratios)))
    if abs(change) <= NOTED:
        return ""
    return (
        f"throughput {'rises' if change > 0 else 'falls'} within trials by {percent(abs(change))} "
        f"from the first third to the last (median of {count(len(ratios), 'trial')}): "
        "raise load.warmup and load.measure"
    )
