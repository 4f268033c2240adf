"""Runs the scenarios: every design under every kind of noise and every CV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from bench.calibration.rates import Promises, judge, promises

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.calibration.designs import AnyDesign
    from bench.calibration.noise import Kind

CVS = (0.01, 0.02, 0.05, 0.10)
TIGHT = (0.01, 0.02)
"""CVs at which the TOST can pass: with more noise its size is below 5% for that reason alone."""


@dataclass(frozen=True)
class Result:
    """What became of the promises for one design under one kind of noise.

    Attributes:
        by_cv: each CV alone; together: over all of them, but the size of the TOST over TIGHT.
    """

    design: AnyDesign
    kind: Kind
    by_cv: Mapping[float, Promises]
    together: Promises


def simulate(design: AnyDesign, kind: Kind, studies: int, cvs: tuple[float, ...] = CVS) -> Result:
    """One scenario with so many studies per CV. The seed follows from the scenario's name, so that
    each can be repeated alone."""
    rows = {}
    for cv in cvs:
        rng = np.random.default_rng(crc32(f"{design.name}/{kind.name}/{cv}".encode()))
        values = design.draw(kind, cv, studies, rng)
        rows[cv] = [[judge(found) for found in design.estimates(v).values()] for v in values]
    everything = promises([study for own in rows.values() for study in own])
    tight = promises([study for cv in cvs if cv in TIGHT for study in rows[cv]] or rows[cvs[0]])
    together = Promises(
        everything.coverage, everything.false_alarms, tight.tost_size, everything.alike
    )
    return Result(design, kind, {cv: promises(own) for cv, own in rows.items()}, together)
