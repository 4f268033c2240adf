"""Is a treatment noisier? The ratio of variances, on data with a known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from tare.analysis.inference.contrast_estimates import Rules
from tare.analysis.inference.contrasts import Contrast, Contrasts
from tare.analysis.inference.independent import sample
from tare.analysis.inference.variance import (
    Spreads,
    variance_ratios,
    variances_in_blocks,
    variances_of_samples,
)

PAIR = Contrast("a", "b", "f", {"f": "b"}, aa=False)
RULES = Rules(by_deployment=True)


def of_samples(seed: int, ratio: float, n: int = 40, tail: int = 0) -> Spreads:
    rng = np.random.default_rng(seed)
    draw = (lambda: rng.standard_t(tail, n)) if tail else (lambda: rng.normal(0, 1, n))
    samples = {
        "a": sample(list(np.exp(7 + 0.05 * draw()))),
        "b": sample(list(np.exp(7.2 + 0.05 * math.sqrt(ratio) * draw()))),
    }
    ((_, found),) = variances_of_samples(samples, Contrasts([PAIR], [], []))
    return found


def test_the_ratio_is_that_of_the_sample_variances() -> None:
    rng = np.random.default_rng(1)
    values = {"a": np.exp(rng.normal(0, 0.1, 12)), "b": np.exp(rng.normal(0, 0.2, 12))}
    samples = {name: sample(list(own)) for name, own in values.items()}
    ((_, found),) = variances_of_samples(samples, Contrasts([PAIR], [], []))
    assert found.baseline == pytest.approx(np.var(np.log(values["a"]), ddof=1))
    assert found.treatment == pytest.approx(np.var(np.log(values["b"]), ddof=1))
    assert found.df == 22


def test_a_noisier_treatment_is_found_and_an_equal_one_is_not() -> None:
    noisy, alike = of_samples(1, 9.0), of_samples(2, 1.0)
    results = variance_ratios({"throughput": [(PAIR, noisy)], "all.p99": [(PAIR, alike)]})
    assert [r.verdict for r in results] == ["noisier", "not told apart"]
    assert results[0].ci[0] > 1
    assert results[0].treatment_cv > 2 * results[0].baseline_cv
    assert results[1].p_adjusted is not None
    assert results[1].p_adjusted >= results[1].p


def test_swapping_the_two_inverts_the_ratio() -> None:
    found = of_samples(3, 4.0)
    back = Spreads(found.treatment, found.baseline, found.se, found.df, found.trials, "")
    (there,), (again,) = (
        variance_ratios({"x": [(PAIR, found)]}),
        variance_ratios({"x": [(PAIR, back)]}),
    )
    assert there.ratio == pytest.approx(1 / again.ratio)
    assert there.ci == pytest.approx((1 / again.ci[1], 1 / again.ci[0]))


@pytest.mark.parametrize("tail", [0, 3])
def test_intervals_hold_the_truth_also_with_heavy_tails(tail: int) -> None:
    """Five repetitions in each of six cells. Heavy tails: where the F test holds 71%."""
    rng = np.random.default_rng(5)
    cells = tuple((f"a{i}", f"b{i}") for i in range(6))
    asked = Contrast("a", "b", "f", {}, aa=False, over=("g",), rows=(cells,))
    held = f_held = 0
    for _ in range(300):
        noise = rng.standard_t(tail, (12, 5)) if tail else rng.normal(0, 1, (12, 5))
        samples = {
            name: sample(list(np.exp(0.05 * noise[2 * i + side])))
            for i, pair in enumerate(cells)
            for side, name in enumerate(pair)
        }
        ((_, found),) = variances_of_samples(samples, Contrasts([asked], [], []))
        log = math.log(found.treatment / found.baseline)
        held += abs(log) <= special.stdtrit(found.df, 0.975) * found.se
        low, high = np.log(stats.f.ppf([0.025, 0.975], 24, 24))
        f_held += low <= log <= high
    assert held / 300 > 0.91
    if tail:
        assert f_held / 300 < 0.85


def blocks(seed: int, conditions: int, factor: float) -> dict[str, dict[tuple[int, int], float]]:
    """Blocks shift everybody far more than the noise; the last condition is noisier."""
    rng = np.random.default_rng(seed)
    names = ["a", "b", *"cdefg"][:conditions]
    logs: dict[str, dict[tuple[int, int], float]] = {name: {} for name in names}
    for r in range(1, 7):
        lives = rng.normal(0, 0.3, conditions)
        for b in range(1, 11):
            shared = rng.normal(0, 0.2)
            for i, name in enumerate(names):
                scale = 0.02 * (factor if name == "b" else 1.0)
                logs[name][r, b] = shared + lives[i] + rng.normal(0, scale)
    return logs


def contrasts_of(logs: dict[str, dict[tuple[int, int], float]]) -> Contrasts:
    others = [name for name in logs if name != "a"]
    return Contrasts([Contrast("a", n, "f", {"f": n}, aa=False) for n in others], [], [])


def test_what_the_blocks_do_to_everybody_is_taken_away() -> None:
    logs = blocks(1, 5, 3.0)
    found = {c.treatment: s for c, s in variances_in_blocks(logs, contrasts_of(logs), RULES)}
    assert math.sqrt(found["b"].baseline) == pytest.approx(0.02, rel=0.3)
    assert math.sqrt(found["b"].treatment) == pytest.approx(0.06, rel=0.3)
    results = variance_ratios({"throughput": [(PAIR, found["b"])]})
    assert results[0].verdict == "noisier"
    assert "blocks' own effects taken away" in results[0].method


def test_of_two_conditions_nobody_knows_whose_the_blocks_effect_is() -> None:
    logs = blocks(2, 2, 3.0)
    ((_, found),) = variances_in_blocks(logs, contrasts_of(logs), RULES)
    assert "do not tell apart" in found.method
    assert found.treatment / found.baseline < 2


def test_too_few_trials_say_nothing() -> None:
    samples = {"a": sample([1.0, 1.1]), "b": sample([1.0, 1.2])}
    assert list(variances_of_samples(samples, Contrasts([PAIR], [], []))) == []
    logs = {name: {c: y for c, y in own.items() if c in ((1, 1), (1, 2))}
            for name, own in blocks(3, 4, 1.0).items()}  # fmt: skip
    assert list(variances_in_blocks(logs, contrasts_of(logs), RULES)) == []


def test_controls_are_in_no_family() -> None:
    control = Contrast("a", "b", "f", {"f": "b"}, aa=True)
    (result,) = variance_ratios({"x": [(control, of_samples(1, 1.0))]})
    assert result.p_adjusted is None
