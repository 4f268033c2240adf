"""Bootstrap and rank tests beside the intervals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tare.analysis.checks.crosschecks import crosschecks
from tare.analysis.checks.evidence import Evidence
from tare.analysis.inference.averages import average
from tare.analysis.inference.bootstrap import Resampled, hierarchical
from tare.analysis.inference.contrasts import Contrast
from tare.analysis.inference.crosschecks import check_blocks
from tare.analysis.inference.estimates import Estimate, estimate, make_stratum
from tare.analysis.inference.independent import sample
from tare.analysis.inference.verdicts import run_tests
from tests.analysis.inference.test_averages import FACTORS, GRAMBOW, effects_of, noisy, study_of


def pairs(
    deployments: int, blocks: int, between: float, seed: int = 1
) -> dict[tuple[int, int], float]:
    rng = np.random.default_rng(seed)
    life = rng.normal(0, between, deployments)
    return {
        (r + 1, b + 1): float(life[r] + rng.normal(0, 0.01))
        for r in range(deployments)
        for b in range(blocks)
    }


def test_the_same_records_give_the_same_interval() -> None:
    drawn = pairs(4, 5, 0.02)
    assert hierarchical(drawn, by_deployment=True) == hierarchical(drawn, by_deployment=True)


def test_its_width_is_that_of_the_textbook() -> None:
    """Of many units, the bootstrap's interval is the normal one."""
    drawn = pairs(60, 1, 0.05, seed=2)
    values = np.array(list(drawn.values()))
    low, high = hierarchical(drawn, by_deployment=False)
    half = 1.96 * values.std() / math.sqrt(60)
    assert low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_deployments_widen_it_as_blocks_alone_do_not() -> None:
    drawn = pairs(5, 20, 0.05)
    nested, flat = (hierarchical(drawn, by_deployment=flag) for flag in (True, False))
    assert nested[1] - nested[0] > 3 * (flat[1] - flat[0])


def test_missing_blocks_do_no_harm() -> None:
    drawn = pairs(4, 5, 0.02)
    del drawn[2, 3], drawn[4, 1]
    low, high = hierarchical(drawn, by_deployment=True)
    assert low < np.mean(list(drawn.values())) < high


@pytest.mark.parametrize("how", ["mean-of-ratios", "ratio-of-means", "model"])
def test_repetitions_are_drawn_inside_their_condition(how: str) -> None:
    """Cells of very different levels: between them nothing is drawn."""
    rng = np.random.default_rng(5)
    samples = {
        name: sample(list(level * np.exp(rng.normal(0, 0.02, 40))))
        for name, level in {"a": 100.0, "b": 110.0, "c": 5000.0, "d": 5500.0}.items()
    }
    asked = Contrast("x", "y", "f", {}, aa=False, over=("g",), rows=((("a", "b"), ("c", "d")),))
    found = average(asked, how, {n: s.typical for n, s in samples.items()})  # type: ignore[arg-type]
    assert found is not None
    low, high = Resampled(samples).interval(found, how)  # type: ignore[arg-type]
    variance = sum(
        w**2 * samples[n].variance / 40
        for n, w in (*found.baseline.items(), *found.treatment.items())
    )
    assert (low + high) / 2 == pytest.approx(math.log(found.ratio), abs=5e-4)
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.06)


def contradicted() -> Estimate:
    """All blocks but one agree on +4%, and that one takes the mean to nothing."""
    base = {(1, b): 0.001 * b for b in range(1, 31)}
    treated = {cell: y + 0.04 + 0.0001 * cell[1] for cell, y in base.items()}
    treated[1, 30] -= 1.25
    found = estimate(make_stratum({"a": base, "b": treated}, "a", by_deployment=False), "b")
    assert found is not None
    return found


def test_a_strong_contradiction_is_marked() -> None:
    found = contradicted()
    p = run_tests(found, None).difference
    boot, ranks = check_blocks(found, p)
    assert p is not None
    assert ranks.p is not None
    assert p > 0.5
    assert ranks.p < 0.001
    assert (boot.agrees, ranks.agrees) == (True, False)
    moved = replace(found, log_ratio=found.log_ratio + 5)
    assert not check_blocks(moved, p)[0].agrees


def test_a_check_says_so() -> None:
    effects = effects_of(study_of(FACTORS, GRAMBOW), noisy())
    plain = crosschecks(_evidence(effects))
    assert plain is not None
    assert plain.status == "ok"
    effects[0].crosschecks[0].agrees = False
    warned = crosschecks(_evidence(effects))
    assert warned is not None
    assert warned.status == "warning"
    assert "disagrees" in warned.details[0]


def _evidence(effects: list[object]) -> Evidence:
    fields = dict.fromkeys(Evidence.__dataclass_fields__)
    return Evidence(**{**fields, "effects": effects})  # type: ignore[arg-type]
