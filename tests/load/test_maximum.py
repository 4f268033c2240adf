"""The request of a search for the maximum, and the use of its answer."""

from __future__ import annotations

from typing import Any

import pytest

from tare.errors import LoadError
from tare.load.maximum import maximum, settled, words
from tare.study.load import Load

EVENT: dict[str, Any] = {
    "event": "result",
    "verdict": "found",
    "reasons": [],
    "by": "threads",
    "within": 0.05,
    "latency_limit_us": None,
    "throughput": {"estimate": 9000.0, "low": 8800.0, "high": 9200.0},
    "level": {"estimate": 48.0, "low": 40.0, "high": 64.0},
    "plateau": [48.0, 64.0],
    "fractions": [
        {
            "fraction": 0.66,
            "level": 21.4,
            "throughput": {"estimate": 5940.0, "low": 5800.0, "high": 6080.0},
        }
    ],
    "levels": [],
    "steps": 14,
    "spent_s": 120.0,
}


def test_the_search_is_told_what_the_study_wishes() -> None:
    load = Load.model_validate(
        {"threads": "66% of max", "search": {"within": "3%", "budget": "2m"}}
    )
    assert words(load, [0.66]) == (
        "find-max", "--by", "threads", "--within", "0.03", "--budget", "120s",
        "--step", "10s", "--fraction", "0.66",
    )  # fmt: skip
    target = Load.model_validate({"rate": "max", "search": {"latency": "p99<=10ms"}})
    assert words(target, [1.0])[-2:] == ("--latency", "p99<=10ms")


def test_a_share_of_the_threads_is_the_level_that_gives_this_share() -> None:
    found = maximum(EVENT, "native", "D1")
    assert settled(Load(threads="66% of max"), found).threads == 21
    assert settled(Load(threads="max"), found).threads == 48
    assert "66% of the maximum of native is 21 threads" in found.words(0.66, 21)
    assert "[8,800, 9,200]" in found.words(0.66, 21)


def test_a_share_of_the_rate_stays_a_rate() -> None:
    found = maximum(EVENT | {"by": "rate"}, "native", "D1")
    assert settled(Load(rate="50% of max"), found).rate == 24.0


def test_an_undecided_search_is_used_and_says_so() -> None:
    found = maximum(EVENT | {"verdict": "undecided", "reasons": ["spent"]}, "native", "D1")
    assert found.words(1.0, 48).endswith("undecided: spent")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verdict": "client_limit", "reasons": ["busy"]}, "the load client was the limit"),
        ({"level": None}, "found no maximum"),
        ({"verdict": "maybe"}, "not of this version"),
    ],
)
def test_an_answer_that_is_no_maximum_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(LoadError, match=says):
        maximum(EVENT | change, "native", "D1")
