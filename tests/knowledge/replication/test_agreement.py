"""Bands, verdicts, and the number of units that would decide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tare.knowledge.library import load_library
from tare.knowledge.replication.agreement import (
    USUAL_MARGIN,
    band_of,
    further,
    judge,
    published_interval,
)
from tare.knowledge.replication.model import Band
from tests.knowledge.replication.effects import effect
from tests.knowledge.sample import BASE, changed, finding

FIVE = {"mean": 0.05}
AROUND_ONE = Band(low=1 / 1.05, high=1.05, basis="margin 5%")
HIGHER = Band(low=1.0, high=math.inf, basis="direction")


def ends(band: Band | None) -> tuple[float, float]:
    assert band is not None
    return band.low, band.high


def stated(**effect: object) -> tuple[float, float]:
    """The band of a finding without values."""
    usual = {"ratio": None, "direction": "none", "how": "direction"}
    nothing = {"baseline": None, "treatment": None}
    return ends(band_of(finding(values=nothing, effect={**usual, **effect}), FIVE))


def test_a_printed_change_has_the_margin_on_either_side_and_what_its_digits_hide() -> None:
    # +5.13% may be anything from 5.125% to 5.135%
    assert ends(band_of(changed(5.13), FIVE)) == pytest.approx((1.05125 / 1.05, 1.05135 * 1.05))


def test_two_coarse_values_stand_for_many_ratios() -> None:
    # Shirinbab Table 2: 0.6 and 0.7 ms are 0.55 to 0.65 and 0.65 to 0.75
    coarse = finding(values={"baseline": 0.6, "treatment": 0.7}, effect={"ratio": 1.1667})
    expected = (0.65 / 0.65 / 1.05, 0.75 / 0.55 * 1.05)
    assert ends(band_of(coarse, FIVE)) == pytest.approx(expected)


def test_no_difference_is_a_ratio_of_one() -> None:
    assert stated() == pytest.approx((1 / 1.05, 1.05))


@pytest.mark.parametrize(
    ("direction", "expected"), [("higher", (1.0, math.inf)), ("lower", (0.0, 1.0))]
)
def test_a_direction_is_a_side_of_one(direction: str, expected: tuple[float, float]) -> None:
    assert stated(direction=direction) == expected


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        ({"low": 1.2, "high": 1.25, "direction": "higher"}, (1.2 / 1.05, 1.25 * 1.05)),
        ({"low": 1.4, "direction": "higher"}, (1.4 / 1.05, math.inf)),  # more than 40%
        ({"high": 1.29, "direction": "higher"}, (1 / 1.05, 1.29 * 1.05)),  # up to 29%
        ({"low": 0.98, "high": 1.12, "direction": "varies"}, (0.98 / 1.05, 1.12 * 1.05)),
    ],
)
def test_a_range_is_widened_by_the_margin(
    effect: dict[str, object], expected: tuple[float, float]
) -> None:
    assert stated(how="range", **effect) == pytest.approx(expected)


def test_without_a_direction_there_is_nothing_to_compare() -> None:
    varies = finding(
        values={"baseline": None, "treatment": None},
        effect={"ratio": None, "direction": "varies", "how": "direction"},
    )
    assert band_of(varies, FIVE) is None


def test_where_no_margin_is_declared_the_usual_one_is_taken_and_it_is_said() -> None:
    band = band_of(changed(0.0), {"p99": 0.1})
    assert band is not None
    assert band.high == pytest.approx(1.0005 * (1 + USUAL_MARGIN))  # 0.0% means up to 0.05%
    assert "none is declared" in band.basis


def test_a_published_interval_that_is_wider_counts_instead() -> None:
    wide = changed(10.0, spread={"ci": [0.9, 1.4]})
    assert ends(band_of(wide, FIVE)) == (0.9, 1.4)


def test_the_interval_of_the_kvm_thesis_follows_from_its_means_and_sds() -> None:
    # Table 2, mixed: 63.40 (sd 5.13) and 69.42 (sd 1.62), n 10
    one = load_library([], {}).entries["bth-kvm-2016.cpu.mixed.100"].finding
    error = math.hypot(5.13 / 63.4, 1.62 / 69.42) / math.sqrt(10)
    half = stats.t.ppf(0.975, 18) * error
    assert published_interval(one) == pytest.approx(
        (1.095 * math.exp(-half), 1.095 * math.exp(half)), rel=1e-9
    )


@pytest.mark.parametrize(
    ("band", "ci", "verdict"),
    [
        (AROUND_ONE, (0.96, 1.04), "agrees"),
        (AROUND_ONE, (0.96, 1.06), "undecided"),
        (AROUND_ONE, (0.5, 2.0), "undecided"),
        (AROUND_ONE, (1.06, 1.10), "disagrees"),
        (AROUND_ONE, (0.80, 0.95), "disagrees"),
        (HIGHER, (1.001, 3.0), "agrees"),
        (HIGHER, (0.9, 0.999), "disagrees"),
        (HIGHER, (1.0, 1.0), "undecided"),
    ],
)
def test_verdicts(band: Band, ci: tuple[float, float], verdict: str) -> None:
    assert judge(band, ci) == verdict


@given(
    st.floats(0.2, 5), st.floats(1.001, 3), st.floats(0.2, 5), st.floats(1.001, 3), st.floats(1, 2)
)
def test_a_narrower_interval_never_turns_a_verdict_round(
    centre: float, half: float, middle: float, width: float, less: float
) -> None:
    band = Band(low=middle / width, high=middle * width, basis="")
    wide = judge(band, (centre / half, centre * half))
    narrow = judge(band, (centre / half ** (1 / less), centre * half ** (1 / less)))
    assert wide == "undecided" or narrow == wide


def test_the_further_units_are_those_of_a_paired_t_test_against_the_nearer_end() -> None:
    # With an sd of 6% and a log distance of 3.78% to the upper end, the standardised effect is
    # 0.63. Tables of the paired t test (two-sided 5%, power 80%) then give 22 pairs.
    found = further(AROUND_ONE, effect(1.011, 0.06, 4))
    assert (found.units, found.unit) == (22 - 4, "block")
    assert found.words == "needs 18 more blocks"


def test_an_estimate_on_the_end_of_the_band_is_never_decided() -> None:
    found = further(AROUND_ONE, effect(1.05, 0.05, 4))
    assert found.units is None
    assert found.words == "no number of blocks that anybody runs would decide"


@pytest.mark.parametrize("ratio", [1.0, 1.02, 1.09])
def test_so_many_further_units_decide_four_times_in_five(ratio: float) -> None:
    sd, units = 0.06, 4
    found = further(AROUND_ONE, effect(ratio, sd, units))
    assert found.units is not None
    rng = np.random.default_rng(11)
    n = units + found.units
    runs = rng.normal(math.log(ratio), sd, (4000, n))
    half = stats.t.ppf(0.975, n - 1) * runs.std(axis=1, ddof=1) / math.sqrt(n)
    low, high = np.exp(runs.mean(axis=1) - half), np.exp(runs.mean(axis=1) + half)
    decided = np.mean(
        [judge(AROUND_ONE, one) != "undecided" for one in zip(low, high, strict=True)]
    )
    # in the middle of the band, both ends must be excluded, which costs some power
    assert 0.55 <= decided <= 0.85 if ratio == 1.0 else 0.75 <= decided <= 0.85


@given(st.floats(0.5, 2), st.floats(0, 1), st.integers(2, 50))
def test_any_number_of_further_units_is_positive_or_none(
    ratio: float, sd: float, units: int
) -> None:
    found = further(AROUND_ONE, effect(ratio, sd, units)).units
    assert found is None or found >= 1


def test_the_sample_finding_is_what_these_tests_take_it_for() -> None:
    assert BASE["values"] == {"baseline": 2.0, "treatment": 2.2}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("docker", (200 / 240 / 1.05, 240 / 200 * 1.05)),
        ("vmware", (160 / 240 / 1.05, 200 / 200 * 1.05)),
    ],
)
def test_a_maximum_found_in_steps_may_be_anything_up_to_the_next(
    name: str, expected: tuple[float, float]
) -> None:
    # Shirinbab, Figure 2: the last step of 40K that was reached
    one = load_library([], {}).entries[f"shirinbab-2020.f2.maximum.{name}"].finding
    band = band_of(one, {"throughput": 0.05})
    assert ends(band) == pytest.approx(expected)
    assert band is not None
    assert band.basis == "margin 5%, and the steps"


@pytest.mark.parametrize(
    ("ci", "verdict"),
    [((1.15, 1.25), "agrees"), ((0.98, 1.02), "agrees"), ((0.7, 0.8), "disagrees")],
)
def test_at_least_as_high_is_not_contradicted_by_higher(
    ci: tuple[float, float], verdict: str
) -> None:
    one = load_library([], {}).entries["shirinbab-2020.conclusion.maximum.docker"].finding
    band = band_of(one, {"throughput": 0.05})
    assert band is not None
    assert judge(band, ci) == verdict
