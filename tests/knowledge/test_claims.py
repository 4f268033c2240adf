"""The claim of a finding that is shown and pooled: number, bound, no difference or direction."""

from __future__ import annotations

from typing import Any

import pytest

from tare.knowledge.claims import by_digits, claim_of, contradicted
from tests.knowledge.sample import changed, finding

NO_VALUES = {"baseline": None, "treatment": None}
RANGE: dict[str, Any] = {"how": "range", "ratio": None, "low": 1.2, "high": 1.25}
WORDS: dict[str, Any] = {"how": "direction", "ratio": None}


@pytest.mark.parametrize(
    ("effect", "kind"),
    [
        ({}, "number"),
        (RANGE, "bound"),
        ({**RANGE, "ratio": 1.225}, "bound"),
        ({**RANGE, "extreme_of": ["a"]}, "summary"),
        ({"mean_of": ["a", "b"]}, "summary"),
        ({**WORDS, "direction": "none"}, "none"),
        ({**WORDS, "direction": "lower"}, "direction"),
        ({**WORDS, "direction": "varies"}, "summary"),
    ],
    ids=str,
)
def test_the_kind_of_a_claim(effect: dict[str, Any], kind: str) -> None:
    values = NO_VALUES if effect.get("how") in ("range", "direction") else {}
    claim = claim_of(finding(effect=effect, values=values))
    assert claim is not None
    assert claim.kind == kind


def test_the_middle_of_a_range_is_no_number() -> None:
    claim = claim_of(finding(effect={**RANGE, "ratio": 1.225}, values=NO_VALUES))
    assert claim is not None
    assert (claim.ratio, claim.low, claim.high) == (None, 1.2, 1.25)


def test_values_in_steps_are_a_bound() -> None:
    claim = claim_of(finding(values={"step": 1.0}))
    assert claim is not None
    assert (claim.kind, claim.ratio) == ("bound", 1.1)
    assert (claim.low, claim.high) == pytest.approx((2.2 / 3.0, 3.2 / 2.0))


def clash(about: str, other: float | None = None) -> list[dict[str, Any]]:
    return [{"about": about, "other": other, "place": "section 4", "note": "says otherwise"}]


@pytest.mark.parametrize(
    ("about", "other", "ends"),
    [("change", 5.0, (1.05, 1.1)), ("change", 20.0, (1.1, 1.2)), ("points", 0.5, (1.1, 1.25))],
)
def test_two_numbers_of_one_source_are_a_range(
    about: str, other: float, ends: tuple[float, float]
) -> None:
    one = finding(discrepancies=clash(about, other))
    claim = claim_of(one)
    assert claim is not None
    assert (claim.kind, claim.ratio) == ("bound", 1.1)
    assert (claim.low, claim.high) == pytest.approx(ends)
    assert claim.elsewhere is not None
    assert claim.elsewhere[1] == "section 4"
    assert not contradicted(one)


def test_two_numbers_of_opposite_directions_are_none() -> None:
    one = finding(discrepancies=clash("change", -5.0))
    claim = claim_of(one)
    assert claim is not None
    assert claim.kind == "number"
    assert contradicted(one)


def test_of_several_other_numbers_one_of_the_opposite_direction_is_no_range() -> None:
    one = finding(discrepancies=clash("change", 5.0) + clash("change", -5.0))
    claim = claim_of(one)
    assert claim is not None
    assert claim.kind == "number"
    assert contradicted(one)


def test_the_range_of_several_numbers_holds_them_all() -> None:
    claim = claim_of(finding(discrepancies=clash("change", 5.0) + clash("change", 20.0)))
    assert claim is not None
    assert (claim.low, claim.high) == pytest.approx((1.05, 1.2))
    assert claim.elsewhere == (pytest.approx(1.2), "section 4")


def test_a_second_number_settles_no_other_contradiction() -> None:
    assert contradicted(finding(discrepancies=clash("change", 5.0) + clash("statement")))


@pytest.mark.parametrize(
    ("about", "takes_back"), [("statement", True), ("cohens-d", False), ("label", False)]
)
def test_what_takes_an_effect_back(about: str, takes_back: bool) -> None:
    assert contradicted(changed(5.0, discrepancies=clash(about))) is takes_back


@pytest.mark.parametrize(
    ("values", "effect", "allowed"),
    [
        ({"baseline": 0.9, "treatment": 1.2}, {"ratio": 1.3333}, (1.15 / 0.95, 1.25 / 0.85)),
        ({"baseline": 1, "treatment": 2}, {"ratio": 2.0}, (1.5 / 1.5, 2.5 / 0.5)),
        ({"baseline": 16.5, "treatment": 21.3}, {"ratio": 1.2909}, None),
        ({"baseline": 133201, "treatment": 43314}, {"ratio": 0.3252}, None),
        # the printed change is exact
        (
            {"baseline": 0.9, "treatment": 1.2},
            {"ratio": 1.3333, "how": "printed", "printed": 33.33, "printed_as": "percent"},
            None,
        ),
    ],
    ids=["one digit", "whole numbers", "three digits", "six digits", "a printed change"],
)
def test_what_few_printed_digits_allow_is_told_with_a_number(
    values: dict[str, float], effect: dict[str, Any], allowed: tuple[float, float] | None
) -> None:
    found = by_digits(finding(values=values, effect={"how": "two values"} | effect))
    assert found == (None if allowed is None else pytest.approx(allowed))
