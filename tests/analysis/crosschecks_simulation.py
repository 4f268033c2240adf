"""How often cross-checks contradict a comparison, of conditions alike and of one that varies more.

python -m tests.analysis.crosschecks_simulation 1000
"""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from tare.analysis.inference.crosschecks import check_blocks, judged
from tare.analysis.inference.estimates import Estimate, estimate, make_stratum, t_interval
from tare.analysis.inference.verdicts import run_tests

SD = 0.03
"""Applies to a condition's mean over a round's blocks."""


class Layout(NamedTuple):
    """A study, whose last condition is compared with the first one.

    Attributes:
        between: share of the variance of a round's mean that is of the deployment; the rest is of
            its blocks.
        effect: of the last condition, in standard errors of the difference.
        noisier: the last condition's standard deviation over the others'.
    """

    conditions: int
    rounds: int
    blocks: int
    between: float = 0.5
    effect: float = 0.0
    noisier: float = 1.0


def studied(rng: np.random.Generator, of: Layout) -> Estimate:
    """One study's estimate of the last condition."""
    lives = SD * math.sqrt(of.between) * rng.normal(size=(of.conditions, of.rounds, 1))
    blocks = rng.normal(size=(of.conditions, of.rounds, of.blocks))
    values = lives + SD * math.sqrt((1 - of.between) * of.blocks) * blocks
    values[-1] = of.noisier * values[-1] + of.effect * SD * math.sqrt(2 / of.rounds)
    logs = {
        f"c{c}": {(r + 1, b + 1): float(values[c, r, b]) for r, b in np.ndindex(values[c].shape)}
        for c in range(of.conditions)
    }
    stratum = make_stratum(logs, "c0", by_deployment=True)
    found = estimate(stratum, f"c{of.conditions - 1}")
    assert found is not None
    return found


def as_effect(found: Estimate) -> Any:
    """The parts of an effect that the rules read, without adjustment for other comparisons."""
    p = run_tests(found, None).difference
    own = t_interval(found.log_ratio, *(found.unpooled or (found.se, found.df)), 0.95)
    low, high = found.interval(0.95)
    return SimpleNamespace(
        unit_of_analysis=found.unit,
        deployments=found.units,
        df=found.df,
        blocks=len(found.pairs),
        aa=False,
        ci=(math.exp(low), math.exp(high)),
        ci_unpooled=(math.exp(own[0]), math.exp(own[1])),
        verdict="different" if p is not None and p <= 0.05 else "inconclusive",
        crosschecks=check_blocks(found, p),
    )


def outcomes(rng: np.random.Generator, of: Layout) -> dict[str, bool]:
    """Whether one study finds a difference, what contradicts it, and what would."""
    effect = as_effect(studied(rng, of))
    names = " ".join(one.name for one in judged(effect) if not one.agrees)
    different = effect.verdict == "different"
    own_low, own_high = effect.ci_unpooled
    width, own_width = (math.log(high / low) for low, high in (effect.ci, effect.ci_unpooled))
    return {
        "different": different,
        "bootstrap": "bootstrap" in names,
        "ranks": "Wilcoxon" in names,
        "not pooled, wider by half": different
        and own_low <= 1 <= own_high
        and width <= 2 / 3 * own_width,
    }


def main(studies: int) -> None:
    for shape in ((5, 3, 4), (3, 3, 2), (5, 9, 1), (2, 5, 4)):
        for between, noisier in ((0.5, 1.0), (0.0, 1.0), (0.5, 4.0)):
            for effect in (0.0, 2.0, 4.0, 6.0):
                of = Layout(*shape, between, effect, noisier)
                rng = np.random.default_rng(1)
                found = [outcomes(rng, of) for _ in range(studies)]
                shares = {name: sum(one[name] for one in found) / studies for name in found[0]}
                print(of, ", ".join(f"{name} {share:.1%}" for name, share in shares.items()))


if __name__ == "__main__":
    main(int(sys.argv[1]))
