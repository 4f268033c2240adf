"""A finding about every case is judged by every case."""

from __future__ import annotations

import math

import pytest

from tare.knowledge.replication.judgement import cases_of, judgement
from tare.knowledge.replication.measured import ComparisonRequest
from tare.knowledge.replication.model import Band
from tests.knowledge.replication.effects import effect
from tests.knowledge.sample import changed, finding

UP_TO_29 = Band(low=1 / 1.05, high=1.29 * 1.05, basis="margin 5% of the range")
PAIRS = (("a", "x"), ("b", "y"), ("c", "z"))


def ranged(**changes: object) -> dict[str, object]:
    return {
        "values": {"baseline": None, "treatment": None},
        "effect": {"ratio": None, "high": 1.29, "direction": "higher", "how": "range", **changes},
    }


def test_a_range_is_said_of_each_pair_and_a_change_of_their_mean() -> None:
    wanted = ComparisonRequest("cpu.util", (PAIRS,))
    assert [one.pairs for one in cases_of(finding(**ranged()), wanted)] == [[one] for one in PAIRS]
    assert cases_of(changed(10.0), wanted) == [wanted]
    assert cases_of(finding(**ranged(mean_of=["b"])), wanted) == [wanted]
    assert cases_of(finding(**ranged()), ComparisonRequest("cpu.util", ())) == []


def test_one_case_beyond_the_range_disagrees_though_the_mean_lies_inside() -> None:
    cases = [effect(1.05, treatment="x"), effect(1.55, treatment="y"), effect(1.10, treatment="z")]
    found = judgement(UP_TO_29, cases, 3)
    assert found is not None
    mean = math.prod(one.ratio for one in cases) ** (1 / 3)
    assert UP_TO_29.low < mean < UP_TO_29.high
    assert (found.verdict, found.effect.treatment) == ("disagrees", "y")
    assert found.notes == ("3 cases, each judged by itself: 1 disagree, 2 agree; shown: y",)


def test_all_cases_have_to_agree_and_the_one_nearest_to_an_end_is_shown() -> None:
    found = judgement(
        UP_TO_29,
        [effect(1.1, treatment="x"), effect(1.25, treatment="y"), effect(1.15, treatment="z")],
        3,
    )
    assert found is not None
    assert (found.verdict, found.effect.treatment, found.further) == ("agrees", "y", None)


def test_what_is_undecided_needs_as_many_units_as_its_worst_case() -> None:
    wide = [effect(1.1, sd_log=0.4, treatment="x"), effect(1.2, sd_log=0.4, treatment="y")]
    alone = [judgement(UP_TO_29, [one], 1) for one in wide]
    units = [one.further.units for one in alone if one and one.further and one.further.units]
    found = judgement(UP_TO_29, [*wide, effect(1.1, treatment="z")], 4)
    assert found is not None
    assert found.further is not None
    assert len(units) == 2
    assert (found.verdict, found.further.units) == ("undecided", max(units))
    assert found.notes[0].startswith(
        "4 cases, each judged by itself: 2 undecided, 1 agree, 1 without an interval"
    )


@pytest.mark.parametrize("cases", [0, 2])
def test_without_an_interval_there_is_no_verdict(cases: int) -> None:
    assert judgement(UP_TO_29, [], cases) is None
