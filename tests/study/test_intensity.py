"""Threads and rates as numbers or as shares of a maximum; phases; the search."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tare.study.intensity import share_of_max
from tare.study.load import Load


@pytest.mark.parametrize(
    ("written", "share"),
    [("max", 1.0), ("66% of max", 0.66), ("12.5% of max", 0.125), ("50%", None), (32, None)],
)
def test_a_share_of_the_maximum(written: object, share: float | None) -> None:
    assert share_of_max(written) == share


def test_a_load_knows_which_number_it_has_to_seek() -> None:
    assert Load(threads="66% of max").sought == "threads"
    assert Load(rate="max").sought == "rate"
    assert Load().sought is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"threads": "150% of max"},
        {"threads": "0% of max"},
        {"threads": "most"},
        {"threads": 1.5},
        {"threads": True},
        {"rate": "0% of max"},
        {"rate": -1},
        {"rate": "fast"},
        {"search": {"latency": "p99<10"}},
        {"search": {"latency": "p98<=10ms"}},
        {"search": {"latency": "p99<=soon"}},
        {"phases": [{"for": "0s", "rate": 1.0}]},
        {"phases": [{"for": "1s"}]},
    ],
)
def test_what_is_no_intensity_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Load.model_validate(wrong)


def test_a_rate_says_whose_it_is_where_it_is_not_each_clients() -> None:
    assert Load(rate=5000.0).intensity == "5,000/s"
    together = Load(rate=5000.0, rate_per="condition")
    assert together.intensity == "5,000/s in all"
    assert (together.each(5000.0, 4), Load().each(5000.0, 4)) == (1250.0, 5000.0)
    assert Load.model_validate(together.model_dump(mode="json")) == together


def test_phases_give_the_measured_time_and_are_written_as_they_were_read() -> None:
    load = Load.model_validate(
        {"phases": [{"for": "30s", "rate": 1000}, {"for": "1m", "rate": 1000, "to": 5000}]}
    )
    assert load.measured_s == 90.0
    assert load.intensity == "1,000 to 5,000/s in 2 phases"
    assert load.model_dump(mode="json")["phases"][0]["for"] == 30.0
    assert Load.model_validate(load.model_dump(mode="json")) == load


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (Load(), "32 in flight"),
        (Load(rate=5000), "5,000/s"),
        (Load(rate="66% of max"), "rate 66% of max"),
        (Load(threads="max"), "max in flight"),
    ],
)
def test_a_load_in_a_few_words(load: Load, words: str) -> None:
    assert load.intensity == words
