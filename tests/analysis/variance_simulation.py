"""How often intervals of a ratio of variances hold the truth, by jackknife and by the F test.

The second table of docs/decisions/0006-averages-and-imported-runs.md comes from running this file:

    python -m tests.analysis.variance_simulation 4000
"""

from __future__ import annotations

import math
import sys

import numpy as np
from scipy import special, stats

from tare.analysis.inference.contrast_estimates import Rules
from tare.analysis.inference.contrasts import Contrast, Contrasts
from tare.analysis.inference.independent import sample
from tare.analysis.inference.variance import variances_in_blocks, variances_of_samples


def noise(rng: np.random.Generator, tail: int, shape: tuple[int, ...]) -> np.ndarray:
    """Samples of variance 1: normal, or t with this many degrees of freedom."""
    if not tail:
        return rng.normal(0, 1, shape)
    return rng.standard_t(tail, shape) / math.sqrt(tail / (tail - 2))


def files(
    cells: int, repetitions: int, tail: int, studies: int, seed: int = 1
) -> tuple[float, float]:
    """Coverage by jackknife and by F for independent repetitions with equal variances."""
    rng = np.random.default_rng(seed)
    pairs = tuple((f"a{i}", f"b{i}") for i in range(cells))
    asked = Contrasts([Contrast("a", "b", "f", {}, aa=False, over=("g",), rows=(pairs,))], [], [])
    df = cells * (repetitions - 1)
    low, high = np.log(stats.f.ppf([0.025, 0.975], df, df))
    held = f_held = 0
    for _ in range(studies):
        drawn = noise(rng, tail, (2, cells, repetitions))
        samples = {
            name: sample(list(np.exp(0.05 * drawn[side, i])))
            for i, pair in enumerate(pairs)
            for side, name in enumerate(pair)
        }
        ((_, found),) = variances_of_samples(samples, asked)
        log = math.log(found.treatment / found.baseline)
        held += abs(log) <= special.stdtrit(found.df, 0.975) * found.se
        f_held += low <= log <= high
    return held / studies, f_held / studies


def own_runs(
    conditions: int, rounds: int, ratio: float, tail: int, studies: int, seed: int = 1
) -> tuple[float, float, float]:
    """Coverage, median estimate, and share of clear answers, with four blocks per round; the last
    condition's variance is `ratio` times the others'."""
    rng = np.random.default_rng(seed)
    names = [f"c{i}" for i in range(conditions)]
    asked = Contrasts([Contrast("c0", names[-1], "f", {}, aa=False)], [], [])
    beside = [Contrast("c0", name, "f", {}, aa=False) for name in names[1:-1]]
    asked.of.extend(beside)
    held, logs = [], []
    for _ in range(studies):
        values: dict[str, dict[tuple[int, int], float]] = {name: {} for name in names}
        for r in range(rounds):
            drawn = noise(rng, tail, (conditions, 4))
            drawn[-1] *= math.sqrt(ratio)
            drawn += rng.normal(0, 1, 4) + rng.normal(0, 2, (conditions, 1))
            for i, name in enumerate(names):
                values[name] |= {(r, b): 0.02 * float(drawn[i, b]) for b in range(4)}
        for contrast, found in variances_in_blocks(values, asked, Rules(by_deployment=True)):
            if contrast.treatment == names[-1]:
                log = math.log(found.treatment / found.baseline)
                half = special.stdtrit(found.df, 0.975) * found.se
                held.append((abs(log - math.log(ratio)) <= half, abs(log) > half))
                logs.append(log)
    covered, clear = np.mean(held, axis=0)
    return float(covered), math.exp(float(np.median(logs))), float(clear)


def main(studies: int) -> None:
    """Print the tables of the decision page."""
    for cells, repetitions in ((1, 5), (1, 12), (6, 5), (18, 5)):
        for tail in (0, 5, 3):
            print("files", cells, repetitions, tail, files(cells, repetitions, tail, studies))
    for conditions, rounds in ((3, 3), (5, 3), (5, 5), (5, 10)):
        for ratio, tail in ((1.0, 0), (4.0, 0), (4.0, 3)):
            found = own_runs(conditions, rounds, ratio, tail, studies // 4)
            print("own", conditions, rounds, ratio, tail, found, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
