"""Simulated imported studies: do the intervals of averages keep their promises?

The numbers in docs/decisions/0006-averages-and-imported-runs.md come from running this file:

    python -m tests.analysis.averages_simulation 3000
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from tare.analysis.inference.averages import Average, How, average
from tare.analysis.inference.contrasts import Contrast
from tare.analysis.inference.independent import (
    Sample,
    StandardError,
    _pooled,
    estimate_independent,
    sample,
)

SETUPS = 4


@dataclass(frozen=True)
class World:
    """One stratum: a baseline and three treatments, measured in the same cells.

    Attributes:
        cvs: of the cells; recycled.
        noisier: multiplies the cv of the last treatment.
        spread: sd of the true log effects over cells, around the average.
        tail: degrees of freedom of the noise (t distributed, scaled); 0: lognormal.
    """

    cvs: tuple[float, ...]
    cells: int = 6
    repetitions: int = 5
    noisier: float = 1.0
    spread: float = 0.0
    tail: int = 0
    effect: float = 0.03


def draw(world: World, rng: np.random.Generator) -> tuple[dict[str, Sample], list[float]]:
    """Repetitions per condition "setup.cell", and the true ratios of the last treatment."""
    samples: dict[str, Sample] = {}
    level = rng.normal(7, 0.3, world.cells)
    offsets = np.linspace(-1, 1, world.cells) * world.spread
    for setup in range(SETUPS):
        for cell in range(world.cells):
            cv = world.cvs[cell % len(world.cvs)]
            scale = cv * (world.noisier if setup == SETUPS - 1 else 1.0)
            if world.tail:
                noise = rng.standard_t(world.tail, world.repetitions)
                noise *= scale / math.sqrt(world.tail / (world.tail - 2))
            else:
                noise = rng.normal(0, scale, world.repetitions)
            true = world.effect + offsets[cell] if setup else 0.0
            samples[f"{setup}.{cell}"] = sample(list(np.exp(level[cell] + true + noise)))
    return samples, [math.exp(world.effect + offset) for offset in offsets]


def contrast(setup: int, cells: int) -> Contrast:
    """Setup against setup 0, averaged over the cells."""
    rows = (tuple((f"0.{c}", f"{setup}.{c}") for c in range(cells)),)
    return Contrast("0", str(setup), "setup", {}, aa=False, over=("cell",), rows=rows)


def bootstrap(
    found: Average, samples: dict[str, Sample], rng: np.random.Generator
) -> tuple[float, float]:
    """Percentile interval of mean-of-ratios, repetitions resampled inside their condition."""
    logs = np.zeros(1000)
    for base, treated in found.cells:
        means = [
            np.array(samples[n].values)[rng.integers(0, samples[n].n, (1000, samples[n].n))].mean(1)
            for n in (base, treated)
        ]
        logs += means[1] / means[0]
    low, high = np.quantile(np.log(logs / len(found.cells)), [0.025, 0.975])
    return float(low), float(high)


def simulate(world: World, studies: int, how: How, seed: int = 1) -> dict[str, tuple[float, float]]:
    """Per way and treatment (alike, last): coverage of the 95% interval, and its mean width."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[tuple[float, float]]] = {}
    for _ in range(studies):
        samples, ratios = draw(world, rng)
        truth = float(np.mean(np.log(ratios)) if how == "model" else np.log(np.mean(ratios)))
        stratum = list(samples)
        for setup, who in ((1, "alike"), (SETUPS - 1, "last")):
            asked = contrast(setup, world.cells)
            found = average(asked, how, {name: one.typical for name, one in samples.items()})
            assert found is not None
            result = estimate_independent(found, samples, stratum, how, world.cells)
            assert result is not None
            weights = [
                (samples[n], w) for n, w in (*found.baseline.items(), *found.treatment.items())
            ]
            own = {*found.baseline, *found.treatment}
            pooled, _, noisier = _pooled(weights, samples, own, stratum)
            assert pooled is not None
            assert result.unpooled is not None
            if noisier:
                pooled = max(pooled, StandardError(*result.unpooled), key=lambda one: one.half)
            centre = result.log_ratio
            welch = StandardError(*result.unpooled).half
            ways = {
                "chosen": result.interval(0.95),
                "own variances": (centre - welch, centre + welch),
                "pooled": (centre - pooled.half, centre + pooled.half),
            }
            if how == "mean-of-ratios" and world.repetitions == 5 and world.cells == 6:
                ways["bootstrap"] = bootstrap(found, samples, rng)
            for way, (low, high) in ways.items():
                rows.setdefault(f"{way}, {who}", []).append((low <= truth <= high, high - low))
    return {
        key: (float(np.mean([a for a, _ in one])), float(np.mean([b for _, b in one])))
        for key, one in rows.items()
    }


WORLDS = {
    "CV 1%": World((0.01,)),
    "CV 5%": World((0.05,)),
    "CV 10%": World((0.10,)),
    "CV 1% to 10% by cell": World((0.01, 0.02, 0.04, 0.06, 0.08, 0.10)),
    "CV 5%, last 1.5x noisier": World((0.05,), noisier=1.5),
    "CV 5%, last 4x noisier": World((0.05,), noisier=4.0),
    "CV 5%, heavy tails (t with 3 df)": World((0.05,), tail=3),
    "CV 5%, effects from -16% to +26% by cell": World((0.05,), spread=0.2),
    "CV 5%, one cell": World((0.05,), cells=1),
    "CV 5%, one cell, last 1.5x noisier": World((0.05,), cells=1, noisier=1.5),
    "CV 5%, one cell, last 4x noisier": World((0.05,), cells=1, noisier=4.0),
    "CV 5%, 3 repetitions": World((0.05,), repetitions=3),
    "CV 5%, 2 repetitions": World((0.05,), repetitions=2),
}


def main(studies: int) -> None:
    """Print the table of the decision page."""
    for name, world in WORLDS.items():
        for how in ("mean-of-ratios", "model") if world.cells > 1 else ("model",):
            rates = simulate(world, studies, how)
            cells = " | ".join(f"{k}: {c:.3f} ({w:.3f})" for k, (c, w) in rates.items())
            print(f"{name} | {how} | {cells}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
