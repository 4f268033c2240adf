"""Measures how much noise in slices alone makes a ratio vary, to compare lengths of slices.

    python -m bench.slice_lengths runs/slices60 runs/slices250

For each run in slices, the command repeatedly redraws the order of each pass, or of each turn of a
server with several slices. The study's own fit then finds effects of labels without a meaning. The
spread of these effects gives the standard error of the ratio of two conditions that share a minute
of machine time, including drains, thaws and empty slices. This error shows the difference between
lengths of slices. The analysis's own value, from the residuals of a single fit, is printed beside
it.
"""

from __future__ import annotations

import argparse
import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tare.analysis.reading import read_trials
from tare.analysis.slices import COSTS, observe, terms_of
from tare.records.reader import read_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.slices import SliceArrays
    from tare.analysis.trials import Trial

DRAWN = 100
"""orders drawn anew for each block"""


class Noise(NamedTuple):
    """The noise of a block's slices.

    Attributes:
        drawn, told: standard error of the log-ratio of two conditions with a slice each, over root
            2, by drawing anew and by the analysis.
        period_s: time from one slice to the next.
    """

    drawn: float
    told: float
    period_s: float


def trials_in_blocks(run: Path) -> list[list[Trial]]:
    """The trials in slices of each block."""
    cells: dict[tuple[int, int], list[Trial]] = {}
    for trial in read_trials(read_run(run).trials).trials:
        if trial.done and trial.slices:
            cells.setdefault(trial.cell, []).append(trial)
    return list(cells.values())


def noise_of(block: Sequence[Trial], metric: str, generator: np.random.Generator) -> Noise | None:
    """The noise of a block; None if its slices tell nothing.

    The order is drawn anew among a server's own slices if its turn has several, else among all
    slices of a pass.
    """
    observed = observe(block, COSTS[metric])
    if observed is None:
        return None
    together = observed.turns if observed.turns.max() < len(observed.logs) - 1 else observed.passes
    terms = terms_of(observed)
    series = observed.logs - terms.effects[observed.conditions]
    found = np.array([_drawn(series, observed, together, generator) for _ in range(DRAWN)])
    often = np.bincount(observed.conditions)
    drawn, told = [], []
    for one, other in itertools.combinations(range(len(often)), 2):
        if set(together[observed.conditions == one]) & set(together[observed.conditions == other]):
            slices = 1 / often[one] + 1 / often[other]
            drawn.append(np.var(found[:, one] - found[:, other]) / slices)
            told.append((terms.errors[one] ** 2 + terms.errors[other] ** 2) / slices)
    if not drawn:
        return None
    begun = np.sort([row.unix for trial in block for row in trial.slices])
    period_s = float(begun[-1] - begun[0]) / (len(begun) - 1)
    return Noise(math.sqrt(np.mean(drawn)), math.sqrt(np.mean(told)), period_s)


def _drawn(
    series: np.ndarray, observed: SliceArrays, together: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Effects with the conditions in another order among the slices of one group."""
    labels = observed.conditions.copy()
    for one in range(together.max() + 1):
        own = together == one
        labels[own] = generator.permutation(labels[own])
    drawn = observed._replace(logs=series, conditions=labels, switches=0 * observed.switches)
    return terms_of(drawn).effects


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
        blocks = trials_in_blocks(run)
        for metric in COSTS:
            print(told(run, blocks, metric))


if __name__ == "__main__":
    main()
