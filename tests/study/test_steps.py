"""Levels as numbers along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tare.study.steps import numeric_steps

if TYPE_CHECKING:
    from tests.study.conftest import ReadStudy

STUDY = """\
study: steps
database: {{nodes: 3}}
load: {{threads: 8}}
factors:
  f: {levels}
baseline: {{f: {first}}}
"""


@pytest.mark.parametrize(
    ("levels", "first", "values", "title"),
    [
        ("{a: {load.threads: 4}, b: {load: {threads: 16}}}", "a", [4, 16], "Client threads"),
        ("{few: {}, many: {load.threads: 64}}", "few", [8, 64], "Client threads"),
        ("{a: {load.rate: 40000}, b: {load.rate: 80000}}", "a", [40000, 80000], "Offered load"),
        ("{one: {clusters: 1}, two: {clusters: 2}}", "one", [1, 2], "Clusters side by side"),
        ("{s40k: {}, s80k: {}}", "s40k", [40, 80], "f"),  # imported: only the names are known
        ('{"10": {}, "25": {}}', '"10"', [10, 25], "f"),
    ],
)
def test_levels_that_are_numbers(
    read: ReadStudy, levels: str, first: str, values: list[float], title: str
) -> None:
    steps = numeric_steps(read(STUDY.format(levels=levels, first=first)), "f")
    assert steps is not None
    assert list(steps.values.values()) == values
    assert steps.title == title


@pytest.mark.parametrize(
    ("levels", "first"),
    [
        ("{native: {}, docker: {platform: {runtime: docker}}}", "native"),
        ("{only: {load.threads: 4}}", "only"),
        ("{t4: {}, t4b: {}}", "t4"),  # the same number twice
        ("{v1-2: {}, v3: {}}", "v3"),  # two numbers in one name
    ],
)
def test_levels_that_are_none(read: ReadStudy, levels: str, first: str) -> None:
    assert numeric_steps(read(STUDY.format(levels=levels, first=first)), "f") is None
