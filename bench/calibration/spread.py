"""Is the ratio of variances estimated correctly, and does its interval contain the truth?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from bench.calibration.designs import BASELINE, DESIGNS, AnyDesign, Averaged, Design, as_logs
from bench.calibration.noise import BLOCK_SD
from bench.calibration.rates import Rate, rate
from tare.analysis.inference.contrast_estimates import Rules
from tare.analysis.inference.contrasts import Contrast, Contrasts
from tare.analysis.inference.independent import sample
from tare.analysis.inference.variance import (
    variance_ratios,
    variances_in_blocks,
    variances_of_samples,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.calibration.noise import Kind
    from tare.analysis.model import VarianceRatio

CV = 0.02
"""A ratio of variances does not depend on it, except with slow trials."""
TWICE = 2.0
SPREAD_DESIGNS: list[AnyDesign] = [
    DESIGNS[0],
    DESIGNS[2],
    Averaged("imported: 5 repetitions of 4 conditions", 4, 1, 5, imported=True),
    Averaged("imported: 20 repetitions of 2 conditions", 2, 1, 20, imported=True),
]


@dataclass(frozen=True)
class Spread:
    """What became of the variance question in one scenario.

    Attributes:
        alike, apart: the 95% interval holds the truth, a ratio of 1 and of 4 (twice the sd).
        false_alarms: p <= 5% though nothing differs.
        found: p <= 5% where the ratio is 4.
    """

    design: str
    kind: str
    alike: Rate
    false_alarms: Rate
    apart: Rate
    found: Rate


def spread(design: AnyDesign, kind: Kind, studies: int) -> Spread:
    """One scenario; the treatment c1 is compared with the baseline c0."""
    rng = np.random.default_rng(crc32(f"spread/{design.name}/{kind.name}".encode()))
    own = design.draw(kind, CV, studies, rng, block_sd=0.0)
    shared = rng.normal(0, CV * BLOCK_SD, (studies, 1, *own.shape[2:]))
    rows = []
    for factor in (1.0, TWICE):
        values = own.copy()
        values[:, 1] *= factor
        if isinstance(design, Design):
            values += shared
        for study, value in enumerate(values):
            found = _ratio(design, value)
            if found is None:
                raise ValueError("a complete study always has a ratio of variances")
            low, high = found.ci
            rows.append((study, factor, low <= factor**2 <= high, found.p <= 0.05))
    alike, apart = ([row for row in rows if row[1] == f] for f in (1.0, TWICE))
    return Spread(
        design.name, kind.name, rate([r[2] for r in alike]), rate([r[3] for r in alike]),
        rate([r[2] for r in apart]), rate([r[3] for r in apart]),
    )  # fmt: skip


def _ratio(design: AnyDesign, values: NDArray[np.float64]) -> VarianceRatio | None:
    logs = as_logs(values)
    contrasts = Contrasts(
        [Contrast(BASELINE, name, "platform", {}, aa=False) for name in design.treatments], [], []
    )
    if isinstance(design, Averaged):
        samples = {n: sample([math.exp(y) for y in own.values()]) for n, own in logs.items()}
        found = list(variances_of_samples(samples, contrasts))
    else:
        rules = Rules(by_deployment=design.fresh == "deployment")
        found = list(variances_in_blocks(logs, contrasts, rules))
    first = [one for one in found if one[0].treatment == design.treatments[0]]
    return variance_ratios({"throughput": first})[0] if first else None
