"""Pooled against paired intervals, and the effect of a noisier condition on them.

This command makes the numbers in docs/decisions/0002-effects-and-intervals.md:

    python -m bench.calibration.pooling 3000
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import numpy as np

from tare.analysis.inference.estimates import Logs, Stratum, estimate, make_stratum, t_interval
from tare.analysis.inference.verdicts import decide, run_tests


@dataclass(frozen=True)
class World:
    """How the invented measurements vary; standard deviations of log throughput.

    Attributes:
        noise: multiplies both standard deviations of the last condition.
        log_ratio: true effect of every treatment.
    """

    between: float
    within: float = 0.05
    deployments: int = 3
    blocks: int = 4
    conditions: int = 5
    noise: float = 1.0
    log_ratio: float = 0.0


@dataclass(frozen=True)
class Rates:
    """Shares of simulated contrasts, of the quiet treatments and of the last (noisy) one.

    Attributes:
        coverage: the 95% interval holds the truth.
        unpooled: likewise of the plain paired t.
        naive: likewise of a t interval over all blocks that ignores deployments.
        width: mean width of the 95% interval, as a log-ratio.
        unpooled_width: of the plain paired t.
        equivalent: TOST at 5% passes.
        different: p below 5%, unadjusted; with no true effect, the false alarms.
    """

    coverage: float
    unpooled: float
    naive: float
    width: float
    unpooled_width: float
    equivalent: float
    different: float


def study(world: World, rng: np.random.Generator) -> Logs:
    """Log throughputs of one whole study."""
    shape = (world.deployments, world.blocks)
    shared = rng.normal(0, 0.05, shape)
    logs: Logs = {}
    for i in range(world.conditions):
        scale = world.noise if i == world.conditions - 1 else 1.0
        life = rng.normal(0, scale * world.between, (world.deployments, 1))
        own = rng.normal(0, scale * world.within, shape)
        values = shared + life + own + (world.log_ratio if i else 0.0)
        logs[f"c{i}"] = {
            (r + 1, b + 1): float(values[r, b])
            for r in range(world.deployments)
            for b in range(world.blocks)
        }
    return logs


def simulate(world: World, studies: int, seed: int = 1) -> tuple[Rates, Rates]:
    """Rates over the quiet treatments, and over the last treatment alone."""
    rng = np.random.default_rng(seed)
    quiet: list[tuple[float, ...]] = []
    last: list[tuple[float, ...]] = []
    for _ in range(studies):
        logs = study(world, rng)
        stratum = make_stratum(logs, "c0", by_deployment=True)
        for i in range(1, world.conditions):
            row = _judge(stratum, f"c{i}", world.log_ratio)
            (last if i == world.conditions - 1 else quiet).append(row)
    everyone = quiet or last
    return Rates(*np.mean(everyone, axis=0)), Rates(*np.mean(last, axis=0))


def _judge(stratum: Stratum, treatment: str, truth: float) -> tuple[float, ...]:
    found = estimate(stratum, treatment)
    if found is None or found.unpooled is None:
        raise ValueError("a complete study always has an estimate")
    low, high = found.interval(0.95)
    paired = t_interval(found.log_ratio, *found.unpooled, 0.95)
    pairs = list(found.pairs.values())
    se = float(np.std(pairs, ddof=1)) / math.sqrt(len(pairs))
    naive = t_interval(float(np.mean(pairs)), se, len(pairs) - 1, 0.95)
    tests = run_tests(found, 0.05)
    verdict = decide(tests, None)
    return (
        low <= truth <= high,
        paired[0] <= truth <= paired[1],
        naive[0] <= truth <= naive[1],
        high - low,
        paired[1] - paired[0],
        verdict in ("equivalent", "different within the margin"),
        verdict in ("different", "different within the margin"),
    )


def main(studies: int) -> None:
    """Print the table of the decision page."""
    worlds = {
        "between 2%": World(0.02),
        "between 5%": World(0.05),
        "between 2%, last 1.5x noisier": World(0.02, noise=1.5),
        "between 5%, last 1.5x noisier": World(0.05, noise=1.5),
        "between 2%, last 4x noisier": World(0.02, noise=4.0),
        "between 2%, 2 conditions": World(0.02, conditions=2),
    }
    edge = math.log(1.05)
    worlds |= {
        "truth at the margin, between 2%": World(0.02, log_ratio=edge),
        "truth at the margin, between 1%, within 2%": World(0.01, 0.02, log_ratio=edge),
        "no effect, between 1%, within 2%": World(0.01, 0.02),
    }
    worlds["truth at the margin, last 1.5x noisier"] = replace(
        worlds["truth at the margin, between 1%, within 2%"], noise=1.5
    )
    print("world | treatments | coverage | paired t | naive | width | paired width | TOST | p<.05")
    for name, world in worlds.items():
        for who, rates in zip(("others", "last"), simulate(world, studies), strict=False):
            if world.conditions == 2 and who == "others":
                continue
            cells = " | ".join(f"{value:.3f}" for value in vars(rates).values())
            print(f"{name} | {who} | {cells}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
