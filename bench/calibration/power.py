"""Does the planned number of units give the planned power?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from bench.calibration.rates import MARGIN, Rate, rate
from tare.analysis.inference.verdicts import ALPHA, bounds, decide, further_units, run_tests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.calibration.designs import AnyDesign
    from bench.calibration.noise import Kind
    from tare.analysis.inference.estimates import Estimate

    Values = NDArray[np.float64]

MOST_UNITS = 400
"""Larger plans are simulated with this many, which can only lower the power found."""


LEAST_OPEN = 0.1
"""Where fewer of the first studies leave the question open, their plans are not looked at."""


@dataclass(frozen=True)
class Power:
    """What a first study planned, and what studies of the planned size then found.

    Attributes:
        open: share of first studies that left the question open, and therefore planned.
        units: median of the planned number of units, those of the first study included.
        difference: with the truth at the margin, a new study of that size finds a difference.
        equivalence: with no true effect, a new study of the size planned then passes the TOST.
        extended: the first study and the units it asked for, taken together, find the difference.
    """

    design: str
    kind: str
    cv: float
    open: Rate
    units: float
    difference: Rate
    equivalence: Rate
    extended: Rate


def planned_power(design: AnyDesign, kind: Kind, cv: float, studies: int) -> Power | None:
    """Plan from one study with the truth at the margin, then carry the plan out.

    Returns:
        None where hardly any first study leaves the question open.
    """
    rng = np.random.default_rng(crc32(f"power/{design.name}/{kind.name}/{cv}".encode()))
    edge = bounds(MARGIN)[1]
    rows = []
    for values in design.draw(kind, cv, studies, rng):
        rows.append(_one(design, kind, cv, values, edge, rng))
    found = [row for row in rows if row is not None]
    if len(found) < max(2, LEAST_OPEN * studies):
        return None
    units, difference, equivalence, extended = zip(*found, strict=True)
    return Power(
        design.name, kind.name, cv, rate([row is not None for row in rows]),
        float(np.median(units)), rate(difference), rate(equivalence), rate(extended),
    )  # fmt: skip


def _one(
    design: AnyDesign, kind: Kind, cv: float, first: Values, edge: float, rng: np.random.Generator
) -> tuple[int, bool, bool, bool] | None:
    """One plan carried out: (units, difference seen, equivalence seen, seen by extension)."""
    name = design.treatments[0]
    found = _moved(design.estimates(first)[name], edge)
    verdict = decide(run_tests(found, MARGIN), None)
    needed = further_units(found, MARGIN, verdict)
    if not needed:
        return None
    units = min(found.units + needed, MOST_UNITS)
    fresh = design.resized(units)
    alike = fresh.estimates(fresh.draw(kind, cv, 1, rng)[0])[name]
    more = design.resized(units - found.units).draw(kind, cv, 1, rng)[0]
    both = np.concatenate([first, more], axis=design.growing)
    return (
        units,
        _different(_moved(alike, edge)),
        (run_tests(alike, MARGIN).equivalence or 0.0) <= ALPHA,
        _different(_moved(fresh.estimates(both)[name], edge)),
    )


def _moved(found: Estimate, effect: float) -> Estimate:
    """The same study with a true effect: the estimate moves with it, its standard error stays."""
    return replace(found, log_ratio=found.log_ratio + effect)


def _different(found: Estimate) -> bool:
    return decide(run_tests(found, MARGIN), None).startswith("different")
