"""Does a slice affect the next slice, or a block's beginning a comparison?

    python -m bench.carry_over runs/quickstart runs/demo2

Uses the log service demand of all blocks of runs in slices, and prints in percent:

- the extra cost of a slice after another server's slice, over one after the same server's;
- per pair of conditions, how far their ratio depends on which of two neighbours came first;
- per condition, how its extra cost over the block's mean changes from the block's first half to the
  second: servers that speed up under load should do so equally.

The first two are given before and after the fit's term for a switch of servers. Standard errors are
from the spread between blocks.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.slice_lengths import trials_in_blocks
from tare.analysis.slices import COSTS, SliceArrays, observe, only, terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analysis.trials import Trial

METRIC = "service_demand"


class Block(NamedTuple):
    """One block's slices as driven, and their residuals without and with the switches.

    Attributes:
        sooner: by condition, its effect in the first half of the passes minus the second half.
    """

    observed: SliceArrays
    before: np.ndarray
    after: np.ndarray
    sooner: dict[str, float]


def blocks_of(run: Path) -> list[Block]:
    """The blocks of a run whose slices can be fitted."""
    return [block for own in trials_in_blocks(run) if (block := _block(own)) is not None]


def _block(trials: Sequence[Trial]) -> Block | None:
    observed = observe(trials, COSTS[METRIC])
    if observed is None:
        return None
    plain = observed._replace(switches=np.zeros_like(observed.switches))
    first = observed.passes < (observed.passes.max() + 1) / 2
    halves = [terms_of(only(observed, half)).effects for half in (first, ~first)]
    sooner = dict(zip([one.condition for one in trials], halves[0] - halves[1], strict=True))
    return Block(observed, terms_of(plain).residuals, terms_of(observed).residuals, sooner)


def switch(residuals: np.ndarray, switches: np.ndarray) -> float:
    """Extra cost of a slice after another server's, from residuals; NaN: all slices alike."""
    other = switches > 0
    if other.all() or not other.any():
        return math.nan
    return float(np.median(residuals[other]) - np.median(residuals[~other]))


def order_effect(residuals: np.ndarray, passes: np.ndarray) -> float:
    """Extra cost of a slice as the second of two neighbours of one pass, over the first.

    Every pair of conditions meets in both orders; their own costs are subtracted already.
    """
    inside = passes[1:] == passes[:-1]
    return float(np.median(np.diff(residuals)[inside])) / 2 if inside.any() else math.nan


def told(name: str, values: Sequence[float]) -> str:
    """Mean over blocks with its standard error, percent."""
    known = np.array([one for one in values if not math.isnan(one)])
    if len(known) < 2:
        return f"  {name}: too few blocks"
    error = float(np.std(known, ddof=1)) / math.sqrt(len(known))
    return f"  {name}: {100 * known.mean():+.2f}% ±{100 * error:.2f} ({len(known)} blocks)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    blocks = [block for run in parser.parse_args().runs for block in blocks_of(run)]
    for when in ("before", "after"):
        own = [(getattr(one, when), one) for one in blocks]
        print(f"{when} the term for switches")
        print(
            told("after another server's slice", [switch(r, b.observed.switches) for r, b in own])
        )
        print(told("as the second of two", [order_effect(r, b.observed.passes) for r, b in own]))
    print("in the first half of a block, less in the second")
    for name in sorted({name for block in blocks for name in block.sooner}):
        print(told(name, [block.sooner.get(name, math.nan) for block in blocks]))


if __name__ == "__main__":
    main()
