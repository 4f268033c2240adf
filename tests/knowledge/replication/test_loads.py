"""Which of a study's loads match a finding."""

from __future__ import annotations

from typing import Any

import pytest

from tare.knowledge.replication.loads import at_load
from tare.knowledge.schema import PublishedLoad
from tare.study.conditions import Condition
from tare.study.schema import Setup


def condition(name: str, **load: Any) -> Condition:
    setup = Setup.model_validate({"load": load})
    return Condition(name=name, levels={"load": name}, setup=setup, deployment="all", aa_of=None)


THREADS = [condition("low", threads=10), condition("high", threads=50)]
SHARES = [condition("two-thirds", threads="66% of max"), condition("full", threads="max")]
RATES = [condition("slow", rate=1000), condition("fast", rate="max"), condition("free")]


def names(stated: dict[str, Any], conditions: list[Condition]) -> list[str]:
    return [one.name for one in at_load(PublishedLoad.model_validate(stated), conditions)]


@pytest.mark.parametrize(
    ("stated", "conditions", "expected"),
    [
        ({"threads": 10, "share": 0.85}, THREADS, ["low"]),
        ({"threads": 25}, THREADS, []),
        ({"threads": 450, "share": 1.0}, SHARES, ["full"]),
        ({"threads": 150, "share": 0.66}, SHARES, ["two-thirds"]),
        ({"share": 0.5}, SHARES, []),
        ({"label": "100% and 66%"}, SHARES, ["two-thirds", "full"]),
        ({"rate": 1000}, RATES, ["slow"]),
        ({"rate": 2000}, RATES, []),
        ({"share": 1.0}, RATES, ["fast"]),
        ({"share": 1.0}, [RATES[0], RATES[2]], ["free"]),  # the closed loop, at full speed
        ({"share": 1.0}, THREADS, []),  # 50 threads are not stated to be the maximum
        ({"label": "light"}, THREADS, ["low"]),
        ({"label": "heavy"}, THREADS, ["high"]),
        ({}, THREADS, ["low", "high"]),
        ({"label": "mean of 15 runs, threads rising by 5"}, THREADS, ["low", "high"]),
        ({}, RATES, ["slow", "fast"]),  # only the rates; the closed loop is the maximum
        ({"label": "any"}, [RATES[0], RATES[2]], ["slow"]),
        ({"label": "heavy"}, [*RATES[::2], condition("more", rate=2000)], ["more"]),
        ({"label": "light"}, [*RATES[::2], condition("more", rate=2000)], ["slow"]),
    ],
)
def test_a_load_is_found_by_its_numbers_or_its_share(
    stated: dict[str, Any], conditions: list[Condition], expected: list[str]
) -> None:
    assert names(stated, conditions) == expected
