"""Bootstrap and rank tests beside the intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tare.analysis.checks.crosschecks import crosschecks
from tare.analysis.checks.evidence import Evidence
from tare.analysis.inference.averages import average
from tare.analysis.inference.bootstrap import Resampled, hierarchical
from tare.analysis.inference.contrasts import Contrast
from tare.analysis.inference.crosschecks import check_blocks, judged
from tare.analysis.inference.estimates import Estimate, estimate, make_stratum
from tare.analysis.inference.independent import sample
from tare.analysis.inference.verdicts import run_tests
from tare.analysis.model import CrossCheck
from tests.analysis.crosschecks_simulation import Layout, outcomes
from tests.analysis.inference.test_averages import FACTORS, GRAMBOW, effects_of, noisy, study_of

if TYPE_CHECKING:
    from tare.analysis.model import Effect


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
    """Cells of very different levels: no resampling between them."""
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


def of_units(units: int, **fields: Any) -> Effect:
    """A difference of +10% [+5%, +15%] over so many deployments of a block each, not pooled."""
    (first, *_) = effects_of(study_of(FACTORS, GRAMBOW), noisy())
    usual: dict[str, Any] = {
        "unit_of_analysis": "deployment", "deployments": units, "blocks": units, "df": units - 1.0,
        "ci": (1.05, 1.15), "p": 0.001, "verdict": "different",
    }  # fmt: skip
    return first.model_copy(update=usual | fields)


@pytest.mark.parametrize(
    ("ci", "fields", "status"),
    [
        ((0.99, 1.22), {}, "warning"),
        ((0.99, 1.22), {"verdict": "different within the margin"}, "warning"),
        ((0.99, 1.22), {"verdict": "inconclusive"}, "ok"),  # nothing is claimed
        ((0.99, 1.22), {"aa": True}, "ok"),
        ((0.99, 1.12), {}, "ok"),  # wider by a third: the other is narrower by a quarter
        ((1.01, 1.30), {}, "ok"),  # shows the difference, too
    ],
)
def test_a_much_wider_bootstrap_without_the_difference_contradicts_it(
    ci: tuple[float, float], fields: dict[str, Any], status: str
) -> None:
    other = CrossCheck(name="bootstrap of blocks", ci=ci, p=None, agrees=True)
    effect = of_units(11, crosschecks=[other], **fields)
    effect.crosschecks = judged(effect)
    assert [one.agrees for one in effect.crosschecks] == [status == "ok"]
    found = crosschecks(_evidence([effect]))
    assert found is not None
    assert found.status == status
    assert [one.split(": ")[1] for one in found.details] == ["bootstrap of blocks disagrees"] * (
        status == "warning"
    )


def test_what_stands_beside_an_effect_is_judged_by_its_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = CrossCheck(name="bootstrap", ci=(0.5, 2.0), p=None, agrees=True)
    monkeypatch.setattr(
        "tare.analysis.inference.contrast_estimates.check_independent", lambda *_, **__: [wide]
    )
    effects = effects_of(study_of(FACTORS, GRAMBOW), noisy())
    different = [effect.verdict.startswith("different") for effect in effects]
    assert set(different) == {True, False}
    assert [effect.crosschecks[0].agrees for effect in effects] == [not one for one in different]


@pytest.mark.parametrize(
    ("of", "at_most"),
    [
        (Layout(5, 3, 4, between=0.5, effect=2.0), 0.01),
        (Layout(5, 3, 4, between=0.0, effect=2.0), 0.02),
        (Layout(2, 5, 4, between=0.5, effect=2.0), 0.01),
        (Layout(5, 9, 1, effect=2.0), 0.0),
    ],
)
def test_differences_of_conditions_that_vary_alike_are_hardly_ever_contradicted(
    of: Layout, at_most: float
) -> None:
    rng = np.random.default_rng(3)
    found = [outcomes(rng, of) for _ in range(400)]
    assert sum(one["bootstrap"] or one["ranks"] for one in found) <= at_most * 400
    assert sum(one["different"] for one in found) > 100


def test_of_differences_that_noise_makes_of_a_condition_many_are_contradicted() -> None:
    rng = np.random.default_rng(3)
    found = [outcomes(rng, Layout(5, 3, 4, noisier=4.0)) for _ in range(400)]
    false = [one for one in found if one["different"]]
    assert sum(one["bootstrap"] for one in false) > 0.2 * len(false)


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        ([of_units(3), of_units(10)], "too few units for any to contradict an interval"),
        (
            [of_units(3), of_units(11), of_units(3, df=8.0), of_units(3, blocks=12)],
            "bootstrap and rank tests contradict no interval; in 1 of 4 comparisons units are too "
            "few to",
        ),
        ([of_units(11)], "bootstrap and rank tests contradict no interval"),
        ([of_units(11, p=None)], "too few units for any to contradict an interval"),
    ],
)
def test_where_no_check_could_contradict_it_is_not_said_that_none_did(
    effects: list[Effect], said: str
) -> None:
    found = crosschecks(_evidence(effects))
    assert found is not None
    assert (found.status, found.summary) == ("ok", said)


@pytest.mark.parametrize(("repetitions", "enough"), [(6, False), (7, True), (5000, True)])
def test_seven_repetitions_of_both_are_enough_for_a_rank_test(
    repetitions: int, enough: bool
) -> None:
    effect = of_units(repetitions, unit_of_analysis="repetition", cells=1)
    found = crosschecks(_evidence([effect]))
    assert found is not None
    assert ("too few" not in found.summary) == enough


def _evidence(effects: list[Effect]) -> Evidence:
    fields = dict.fromkeys(Evidence.__dataclass_fields__)
    return Evidence(**{**fields, "effects": effects})  # type: ignore[arg-type]
