"""Effects as in a report, with a known ratio and spread."""

from __future__ import annotations

import math

from scipy import stats

from tare.analysis.model import Effect


def effect(
    ratio: float,
    sd_log: float = 0.01,
    units: int = 5,
    *,
    treatment: str = "b",
    metric: str = "cpu.util",
) -> Effect:
    """An effect as in a report, from `units` blocks."""
    half = stats.t.ppf(0.975, units - 1) * sd_log / math.sqrt(units)
    return Effect(
        metric="cpu.util",
        levels={},
        baseline="a",
        treatment=treatment,
        aa=False,
        ratio=ratio,
        ci=(ratio * math.exp(-half), ratio * math.exp(half)),
        ci90=(ratio, ratio),
        verdict="inconclusive",
        margin=None,
        baseline_value=1.0,
        treatment_value=ratio,
        deployments=units,
        blocks=units,
        unit_of_analysis="block",
        df=units - 1,
        sd_log=sd_log,
        mde=None,
        needed=None,
        pairs=[],
        p=None,
        p_equivalence=None,
        method="",
    )
