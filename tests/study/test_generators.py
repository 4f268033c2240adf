"""The short form of generators, and the specification that tare-load gets for each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.study.generators import KINDS, NUMBERS, generator

PLAIN = {"divide": 1, "modulo": None, "hashed": False, "format": None}


def number(distribution: str, first: int, last: int | None, **more: Any) -> dict[str, Any]:
    return {
        "kind": "number",
        "distribution": distribution,
        "first": first,
        "last": last,
        **PLAIN,
        **more,
    }


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"uniform": "1..100_000"}, number("uniform", 1, 100_000)),
        ({"uniform": "-5..5"}, number("uniform", -5, 5)),
        ({"sequence": "10.."}, number("sequence", 10, None)),
        ({"sequence": "records"}, number("sequence", 0, 499)),
        ({"sequence": "records.."}, number("sequence", 500, None)),
        ({"zipf": "records"}, number("zipf", 0, 499, theta=0.99)),
        ({"zipf": "1..9", "theta": 1.2}, number("zipf", 1, 9, theta=1.2)),
        ({"scrambled_zipfian": "1..9"}, number("scrambled_zipfian", 1, 9)),
        (
            {"latest": "records", "grown_by": "insert"},
            number("latest", 0, 499, theta=0.99, grown_by="INSERT"),
        ),
        ({"hotspot": "1..9", "hot": "10%"}, number("hotspot", 1, 9, hot=0.1, hot_operations=0.8)),
        ({"gaussian": "1..9"}, number("gaussian", 1, 9, sigmas=3.0)),
        (
            {"exponential": "1..9"},
            number("exponential", 1, 9, percentile=95.0, within=0.8571428571),
        ),
        (
            {"uniform": "1..9", "divide": 3, "modulo": 2, "hashed": True, "format": "user%d"},
            number("uniform", 1, 9, divide=3, modulo=2, hashed=True, format="user%d"),
        ),
        ({"like": "id", "modulo": 7}, {"kind": "like", "marker": "id", **PLAIN, "modulo": 7}),
        ({"text": 100}, {"kind": "text", "shortest": 100, "longest": 100}),
        ({"blob": "5..20"}, {"kind": "blob", "shortest": 5, "longest": 20}),
        ({"real": "-1.5..1.5"}, {"kind": "real", "least": -1.5, "most": 1.5}),
        ({"boolean": "30%"}, {"kind": "boolean", "share": 0.3}),
        ({"choice": ["a", "b"]}, {"kind": "choice", "values": [["a", 1.0], ["b", 1.0]]}),
        ({"choice": {"a": 8, "b": 2}}, {"kind": "choice", "values": [["a", 8.0], ["b", 2.0]]}),
        ({"now": True}, {"kind": "now"}),
        ({"constant": None}, {"kind": "constant", "value": None}),
        ("new", {"kind": "constant", "value": "new"}),
        (17, {"kind": "constant", "value": 17}),
    ],
)
def test_each_form_is_told_in_full(written: Any, told: dict[str, Any]) -> None:
    assert generator(written, records=500) == told


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({}, "no kind"),
        ({"zipf": "1..9", "uniform": "1..9"}, "both"),
        ({"zipf": "1..9", "tetha": 1.0}, "no option tetha"),
        ({"zipf": "1..9", "theta": "x"}, "a number"),
        ({"zipf": "1..9", "theta": 99.0}, "0.01 to 10"),
        ({"uniform": "9..1"}, "backwards"),
        ({"uniform": "1.."}, "both ends"),
        ({"uniform": 9}, "not a range"),
        ({"uniform": f"1..{2**63}"}, "64 bits"),
        ({"uniform": "1..9", "format": "user"}, "no %d"),
        ({"uniform": "1..9", "divide": 0}, "at least 1"),
        ({"text": -1}, "not a length|must be"),
        ({"text": "9..1"}, "must be"),
        ({"text": 1 << 30}, "must be"),
        ({"real": "1..0"}, "range of numbers"),
        ({"real": "..."}, "range of numbers"),
        ({"boolean": 2}, "share"),
        ({"choice": []}, "needs values"),
        ({"choice": {"a": 0}}, "more than 0"),
        ({"choice": {"a": -1}}, "at least 0"),
        ({"choice": [[1]]}, "a constant is"),
        ({"now": False}, "now: true"),
        ({"like": 3}, "a text"),
        ([1], "a constant is"),
    ],
)
def test_what_is_no_generator_is_refused_with_the_reason(written: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        generator(written, records=500)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*KINDS, "theta", "format", "hot", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@given(JSON)
def test_anything_is_told_or_refused_and_nothing_else_happens(written: Any) -> None:
    try:
        told = generator(written, records=10)
    except ValueError:
        return
    assert told["kind"] in {"number", *KINDS} - set(NUMBERS)
