"""A finding with its sides swapped still states the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tare.knowledge.chains import chained
from tare.knowledge.claims import claim_of, contradicted
from tests.knowledge.sample import finding, library

if TYPE_CHECKING:
    from tare.knowledge.claims import Claim
    from tare.knowledge.schema import Finding

NO_VALUES = {"baseline": None, "treatment": None}


def turned(one: Finding) -> Finding:
    """The finding with its two sides swapped."""
    (back,) = chained(library([one]).entries.values())
    assert back.links == (one.id,)
    assert (back.finding.baseline, back.finding.treatment) == (one.treatment, one.baseline)
    return back.finding


def claim(one: Finding) -> Claim:
    found = claim_of(one)
    assert found is not None
    return found


def stated(**effect: Any) -> Finding:
    return finding(values=NO_VALUES, effect={"ratio": None, "direction": "higher", **effect})


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (1.2, 1.25, (0.8, 0.8333)),
        (1.4, None, (None, 0.7143)),
        (None, 1.29, (0.7752, None)),
    ],
)
def test_a_bound_stays_a_bound(
    low: float | None, high: float | None, ends: tuple[float | None, float | None]
) -> None:
    back = claim(turned(stated(how="range", low=low, high=high)))
    assert (back.kind, back.low, back.high, back.direction) == ("bound", *ends, "lower")


@pytest.mark.parametrize(
    ("direction", "kind", "other"),
    [("higher", "direction", "lower"), ("none", "none", "none")],
)
def test_what_is_said_in_words_alone_is_said_the_other_way_round(
    direction: str, kind: str, other: str
) -> None:
    back = claim(turned(stated(how="direction", direction=direction)))
    assert (back.kind, back.direction) == (kind, other)


def test_two_values_change_places() -> None:
    back = turned(finding())
    assert (back.values.baseline, back.values.treatment) == (2.2, 2.0)
    assert claim(back).ratio == pytest.approx(2.0 / 2.2, abs=1e-4)


@pytest.mark.parametrize(("about", "other"), [("change", 25.0), ("points", 0.5)])
def test_a_second_number_of_the_source_is_turned_too(about: str, other: float) -> None:
    clash = [{"about": about, "other": other, "place": "section 4", "note": "25% there"}]
    back = claim(turned(finding(discrepancies=clash)))
    assert back.kind == "bound"
    assert (back.low, back.high) == pytest.approx((1 / 1.25, 1 / 1.1), abs=1e-4)


def test_what_is_contradicted_stays_so() -> None:
    clash = [{"about": "statement", "place": "section 4", "note": "says otherwise"}]
    assert contradicted(turned(finding(discrepancies=clash)))


def test_what_a_source_says_of_both_ways_round_is_not_turned() -> None:
    words = {"ratio": None, "how": "direction"}
    there = stated(how="direction")
    back = there.model_copy(
        update={
            "id": "back",
            "baseline": there.treatment,
            "treatment": there.baseline,
            "effect": finding(values=NO_VALUES, effect={**words, "direction": "none"}).effect,
        }
    )
    assert chained(library([there, back]).entries.values()) == []
