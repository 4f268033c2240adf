"""What is a slice worth: how far a ratio strays by the noise of slices alone.

    python -m bench.slice_lengths runs/slices60 runs/slices250

Of each run in slices: the order that was drawn for each pass is drawn anew, again and again, and
the study's own fit finds the effect of labels that mean nothing. From their spread comes the
standard error of the ratio of two conditions that share a minute of machine time, drains and
thaws included, which tells runs of different lengths apart. Beside it what the analysis takes for
the same from the residuals of a single fit.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tare.analysis.reading import read_trials
from tare.analysis.slices import COSTS, Observed, observe, terms_of
from tare.records.reader import read_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.trials import Trial

DRAWN = 100
"""orders drawn anew for each block"""


class Noise(NamedTuple):
    """The noise of a block's slices.

    Attributes:
        drawn, told: standard error of an effect times the root of its slices, by drawing anew and
            by the analysis.
        period_s: from one slice to the next.
    """

    drawn: float
    told: float
    period_s: float


def blocks_of(run: Path) -> list[list[Trial]]:
    """The trials in slices of each block."""
    cells: dict[tuple[int, int], list[Trial]] = {}
    for trial in read_trials(read_run(run).trials).trials:
        if trial.done and trial.slices:
            cells.setdefault(trial.cell, []).append(trial)
    return list(cells.values())


def noise_of(block: Sequence[Trial], metric: str, generator: np.random.Generator) -> Noise | None:
    """None where the slices tell nothing."""
    observed = observe(block, COSTS[metric])
    if observed is None:
        return None
    terms = terms_of(observed)
    series = observed.logs - terms.effects[observed.conditions]
    often = np.bincount(observed.conditions)
    found = np.array([_drawn(series, observed, generator) for _ in range(DRAWN)])
    # effects sum to 0, which takes one of their degrees of freedom
    spread = float(np.mean(np.square(found) * often)) * len(often) / (len(often) - 1)
    begun = np.sort([row.unix for trial in block for row in trial.slices])
    return Noise(math.sqrt(spread), terms.noise, float(np.median(np.diff(begun))))


def _drawn(series: np.ndarray, observed: Observed, generator: np.random.Generator) -> np.ndarray:
    """Effects found where each pass's conditions are in another order."""
    labels = observed.conditions.copy()
    for one in range(observed.passes.max() + 1):
        own = observed.passes == one
        labels[own] = generator.permutation(labels[own])
    nothing = np.zeros_like(observed.switches)
    return terms_of(Observed(series, observed.passes, labels, nothing)).effects


def told(run: Path, blocks: Sequence[Sequence[Trial]], metric: str) -> str:
    """A line: the mean over blocks."""
    generator = np.random.default_rng(1)
    known = [one for block in blocks if (one := noise_of(block, metric, generator)) is not None]
    if not known:
        return f"{run}: {metric}: no slices that tell"
    period_s = float(np.mean([one.period_s for one in known]))
    each = 60 / period_s / 2

    def per_minute(squares: Sequence[float]) -> float:
        return 100 * math.sqrt(float(np.mean(squares)) * 2 / each)

    return (
        f"{run}: {metric}: a slice every {1000 * period_s:.0f} ms, standard error of a ratio after "
        f"a minute {per_minute([one.drawn**2 for one in known]):.2f}% drawn anew, "
        f"{per_minute([one.told**2 for one in known]):.2f}% by the analysis ({len(known)} blocks)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    for run in parser.parse_args().runs:
        blocks = blocks_of(run)
        for metric in COSTS:
            print(told(run, blocks, metric))


if __name__ == "__main__":
    main()
